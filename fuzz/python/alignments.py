"""`toksmith.surgery.align` against its definition: where as many bytes come before in both."""

from __future__ import annotations

import functools
import random

import numpy as np
from splitting import outcomes

import toksmith
from toksmith import Tokenizer

PIECES = (*"abelow r中é\n", "low", "<s>", " the", "lower", "the theme", "a" * 40, " " * 20)
PAIRS = 50
"""Pairs of ids of each input."""


@functools.cache
def tokenizers() -> list[Tokenizer]:
    """Return tokenizers with tokens of all lengths, one of them with a token without bytes, one with sparse ids."""
    rng, made = random.Random(1), []
    for size in (257, 264, 280, 310, 380):
        texts = ["".join(rng.choices(PIECES, k=300)) for _ in range(3)]
        for pattern in ("gpt2", None):
            made.append(toksmith.train(iter(texts), size, special_tokens=["<s>"], pattern=pattern))
    made.append(Tokenizer({**made[-1].vocab, 1000: b""}, None, ["<s>"]))
    made.append(Tokenizer({**made[0].vocab, 3_000_000: b"low"}, None, ["<s>"]))
    return made


def naive(lengths: list[list[int]]) -> list[list[int]]:
    """Return where tokens of both end, from the lengths of their tokens."""
    places: list[dict[int, int]] = [{0: 0}, {0: 0}]
    for place, row in zip(places, lengths, strict=True):
        end = 0
        for count, length in enumerate(row, 1):
            end += length
            place.setdefault(end, count)
    common = [[place[end] for place in places] for end in sorted(places[0].keys() & places[1].keys())]
    everything = [len(row) for row in lengths]
    return [*(common[:-1] or common[:1]), everything] if everything != common[-1] else common


def ids_of(rng: random.Random, tokenizer: Tokenizer, data: bytes) -> list[int]:
    """Return ids of bytes that are not always their own: the bytes are cut anywhere first."""
    cuts = sorted(rng.choices(range(len(data) + 1), k=rng.randrange(4)))
    ids = []
    for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
        ids += tokenizer.encode(data[start:end])
        if 1000 in tokenizer.vocab and rng.random() < 0.5:
            ids += [1000] * rng.randrange(3)
    return ids


def alignments(data: bytes) -> None:
    """`toksmith.surgery.align`."""
    rng = random.Random(data)
    for _ in range(PAIRS):
        pair = rng.choices(tokenizers(), k=2)
        text = "".join(rng.choices(PIECES, k=rng.choice((0, 1, 3, 10, 30)))).encode()
        both = [ids_of(rng, tokenizer, text) for tokenizer in pair]
        lengths = [[len(one.token_bytes(id)) for id in ids] for one, ids in zip(pair, both, strict=True)]
        ends = toksmith.surgery.align(pair[0], both[0], pair[1], np.array(both[1], rng.choice((np.uint32, np.int64))))
        assert ends.tolist() == naive(lengths), (text, both)
        outcomes["compared"] += 1
