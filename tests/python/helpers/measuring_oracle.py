"""The figures of `toksmith.lab.compare` in plain Python, a character, a token and a resample at a time."""

import itertools
import math
import random
from collections.abc import Callable, Iterable, Sequence

import numpy as np

Encode = Callable[[str], list[int]]


def sizes(texts: Iterable[str], encode: Encode) -> list[tuple[int, int, int]]:
    """Return bytes, characters and tokens of each text."""
    return [(len(text.encode()), len(text), len(encode(text))) for text in texts]


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


def documents(text: str, count: int, seed: int) -> list[str]:
    """Cut a text into so many documents of different lengths, some of which are empty."""
    rng = random.Random(seed)
    cuts = sorted([0, len(text), *rng.choices(range(len(text)), k=count - 1)])
    return [text[start:stop] for start, stop in itertools.pairwise(cuts)]
