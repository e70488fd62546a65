"""The figures of `toksmith.compare` in plain Python, a character, a token and a resample at a time."""

import collections
import itertools
import math
import random
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import regex

Encode = Callable[[str], list[int]]

SCRIPTS = ("Latin", "Cyrillic", "Greek", "Han", "Hiragana", "Katakana", "Hangul", "Devanagari", "Thai", "Arabic")
UNSPACED = {"Han", "Hiragana", "Katakana", "Thai"}


def script_of(character: str) -> str | None:
    """Return the script of a character, of the few that tests have."""
    return next((name for name in SCRIPTS if regex.fullmatch(rf"\p{{Script={name}}}", character)), None)


def dominating(text: str) -> str:
    """Return the script that most characters of a text are in."""
    counts = collections.Counter(filter(None, map(script_of, text)))
    kana = counts["Hiragana"] + counts["Katakana"]
    if kana and kana >= 0.1 * (kana + counts["Han"]):
        counts["Japanese"] = kana + counts["Han"]
        for name in ("Hiragana", "Katakana", "Han"):
            del counts[name]
    if not counts:
        return "no script"
    return max(counts, key=lambda name: (counts[name], name == "Japanese"))


def sizes(texts: Iterable[str], encode: Encode) -> list[tuple[int, int, int, int]]:
    """Return bytes, characters, words and tokens of each text."""
    return [(len(text.encode()), len(text), len(text.split()), len(encode(text))) for text in texts]


def interval(
    above: Sequence[int], below: Sequence[int], resamples: int, level: float, seed: int
) -> tuple[float, float]:
    """Return the bootstrap interval of a ratio of sums, drawn as `compare` draws."""
    count = len(above)
    drawn = np.random.default_rng(seed).integers(0, count, (resamples, count)).tolist()
    ratios = []
    for rows in drawn:
        ratios.append(sum(above[row] for row in rows) / sum(below[row] for row in rows))
    ratios.sort()
    return _quantile(ratios, (1 - level) / 2), _quantile(ratios, (1 + level) / 2)


def _quantile(values: Sequence[float], share: float) -> float:
    place = share * (len(values) - 1)
    low = math.floor(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


def renyi_efficiency(ids: Iterable[int], vocab_size: int, alpha: float) -> float:
    """Return the Rényi efficiency from its definition."""
    counts = collections.Counter(ids)
    total = sum(counts.values())
    shares = [count / total for count in counts.values()]
    if alpha == 1:
        entropy = -sum(share * math.log2(share) for share in shares)
    else:
        entropy = math.log2(sum(share**alpha for share in shares)) / (1 - alpha)
    return entropy / math.log2(vocab_size)


def documents(text: str, count: int, seed: int) -> list[str]:
    """Cut a text into so many documents of different lengths, some of which are empty."""
    rng = random.Random(seed)
    cuts = sorted([0, len(text), *rng.choices(range(len(text)), k=count - 1)])
    return [text[start:stop] for start, stop in itertools.pairwise(cuts)]
