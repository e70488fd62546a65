"""`Document` against encoding the whole text anew after each edit."""

from __future__ import annotations

import functools
import json
import random
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import regex
from splitting import outcomes

import toksmith
from toksmith import Document, Tokenizer, patterns

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]
PATTERNS = (r"\w+|\s", r"[a-z]+", r"\S+\n?|\s+", r"(?i:the|low)+|\p{L}|.", r" ?[^\s]+|\s+(?!\S)|\s", r"\w+|[^\w\s]+",
            r"\s*\S+", r"\S+\s*", r"\p{Lu}?\p{Ll}+|\p{N}{1,3}|\s+|.", r"[^\n]*\n|[^\n]+", r"\s?\p{L}+|\s?\p{N}|[^\s]",
            r"\p{L}\p{M}*|\p{M}+|\s", r"\s*[\r\n]+|\s+|\S", r"\d|\D+", r".", r"(?s:.{1,4})",
            r"'[a-z]+| ?\p{L}+|\d+(?=\s)|\s+|[^\s]",
            r"a(?!b)|b+|[^ab]+", r"[\r\n]+|[^\r\n]+", r" +(?= )| ?\S+|\s", r"(?:ab|ba|a|b)+|\W",
            r"[\p{L}\p{M}]+|[0-9]+(?![a-z])|[0-9]|\s+(?=\s)|\s|\p{P}+")  # fmt: skip
"""Some with parts that look ahead, some that leave text out, with cuts in many places and in none."""
KINDS = {"named": len(patterns.NAMED), "compiled": 24, "file": 120, "long": 3, "none": 1}
"""How many tokenizers there are of each kind."""
EDITS = 40
"""Edits of each document."""
LONG = "<|" + "a b\n" * 1000 + "|>"
"""A special token that a cut may lie far inside of."""
SPECIALS = ["<|end|>", "<|a b|>", " \n x", "b a", "\n\n", "é"]
PIECES = ("a", "b", "x", "the", " the", "low", "er", "A", "ing", "'s", "'LL", "l", "  ", " ", " ", "\n", "\n\n",
          "\r\n", "\t", "\u00a0", "\u3000", "\u200b", "\u0085", "1", "23", "4567", "٣", ".", "!", "/", "—", "_", "é",
          "e\u0301", "\u0301", "A\u0316\u0301", "か", "\u3099", "한", "ᄒ\u1161\u11ab", "日本", "語。", "ſ", "ß", "İ",
          "😀", "👩\u200d👩", "\u2581", "<s>", "</s>", "<|end|>", "<|end", "|>", "<|a", " b|>", " \n", "x", "b a",
          "<0x0A>", "wor", "ld", "\x00", "\ufeff")  # fmt: skip


def _trained(pattern: str | None, special_tokens: list[str]) -> Tokenizer:
    texts = ["".join(random.Random(1).choices(PIECES[:40], k=4000)), "the lower the lowest theme 'll 日本語。 é"]
    return toksmith.train(iter(texts), 420, special_tokens=special_tokens, pattern=pattern)


@functools.cache
def compiled() -> list[str]:
    """Return patterns that are compiled: some of its own, and published ones that no name stands for."""
    rows = json.loads((ROOT / "tests/data/published_patterns.json").read_text(encoding="utf-8"))
    published = dict.fromkeys(row["stages"][0].get("pattern", "") for row in rows if len(row["stages"]) == 1)
    usable = []
    for pattern in [*PATTERNS, *filter(None, published)]:
        try:
            explained = patterns.explain(pattern)
        except (ValueError, regex.error):
            continue
        if str(explained).startswith("compiled"):
            usable.append(pattern)
    return usable


def _of_file(number: int) -> Tokenizer | None:
    """Return the tokenizer of a random file of Hugging Face's, with any normalizer and either kind of model."""
    import pipeline_files
    import pipelines
    from choices import Input

    file = pipeline_files.Maker(Input(random.Random(number).randbytes(1024))).file
    loaded = pipelines.load(file)
    return None if loaded is None else loaded.core


@functools.cache
def tokenizer(kind: str, number: int) -> Tokenizer | None:
    """Return a tokenizer of a kind, or None if it is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "named":
            return _trained(sorted(patterns.NAMED)[number], SPECIALS)
        if kind == "compiled":
            return _trained(compiled()[number % len(compiled())], SPECIALS)
        if kind == "long":
            return _trained(["gpt2", "o200k", r"\w+|\s"][number], [*SPECIALS, LONG])
        if kind == "file":
            return _of_file(number)
        return _trained(None, SPECIALS)


def edit(document: Document, text: str, rng: random.Random, soup: Callable[[int], str]) -> str:
    """Make a random edit; returns the text after it."""
    start = rng.choice((len(text), rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)))
    end = min(len(text), start + rng.choice((0, 0, 1, 2, 5, 40, 400 if len(text) > 3000 else 3)))
    new = rng.choice((soup(rng.randrange(4)), soup(1), "", text[start:end], soup(rng.randrange(60))))
    after = text[:start] + new + text[end:]
    how = rng.randrange(4)
    if how == 0:
        document.update(after)
    elif start == len(text) and how == 1:
        document.append(new)
    else:
        document.replace(start, end, new)
    return after


def documents(data: bytes) -> None:
    """A document after each of some edits: the ids of the whole text, and those before `changed` as they were."""
    rng = random.Random(data)
    if not data:  # the process that others are forked from
        for some_kind, count in KINDS.items():
            [tokenizer(some_kind, number) for number in range(count)]
    kind = rng.choices(list(KINDS), weights=(9, 9, 6, 1, 1))[0]
    made = tokenizer(kind, rng.randrange(KINDS[kind]))
    if made is None:
        outcomes["refused"] += 1
        return
    few = rng.sample(PIECES, rng.choice((3, 8, len(PIECES))))
    rare = [LONG, LONG[:2500], LONG[2500:]]

    def soup(count: int) -> str:
        some = rng.choices(few, k=count)
        if kind == "long" and count and rng.random() < 0.1:
            some[rng.randrange(count)] = rng.choice(rare)
        return "".join(some)

    special, chunk = rng.random() < 0.8, rng.choice((256, 512) if kind == "long" else (1, 7, 64, 512))
    text = soup(rng.choice((0, 20, 100, 400)))
    document = Document(made, text, special=special, chunk_bytes=chunk)
    kept: list[tuple[Any, Any]] = []
    before = made.encode_to_numpy(text, special=special)
    for _ in range(EDITS):
        previous, text = text, edit(document, text, rng, soup)
        expected = made.encode_to_numpy(text, special=special)
        ids, changed = document.ids, document.changed
        assert np.array_equal(ids, expected), (kind, made, chunk, previous, text)
        assert np.array_equal(before[:changed], expected[:changed]), ("changed", kind, made, chunk, previous, text)
        assert len(document) == len(expected) and changed <= len(expected)
        if rng.random() < 0.3:
            kept = [*kept[-3:], (ids, expected)]
        before = expected
        outcomes[f"compared, {kind}, {'bounded' if document.is_bounded else 'unbounded'}"] += 1
    assert document.text == text
    assert all(np.array_equal(ids, expected) for ids, expected in kept), "an array has changed"
