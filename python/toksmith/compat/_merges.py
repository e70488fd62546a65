"""Training as minbpe and rustbpe have it: merges are pairs of ids; ids 0 to 255 are the 256 bytes, merges follow."""

import operator
from collections.abc import Iterable, Mapping
from typing import Literal

from .. import _core
from .._internal import arguments
from ..patterns import Pattern
from ..tokenizer import Tokenizer
from ..training.counting import count_pretokens

Pair = tuple[int, int]
Merges = Mapping[Pair, int]
"""The id that each pair of ids is merged into, from 256 on."""

GPT4_PATTERN = (
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*"""
    r"""|\s*[\r\n]|\s+(?!\S)|\s+"""
)
"""GPT-4's pattern as minbpe and rustbpe spell it."""


def learn(
    texts: Iterable[str], vocab_size: int, pattern: Pattern, ties: Literal["first", "smallest_ids"]
) -> tuple[dict[Pair, int], list[int]]:
    """Return the merges of a training, and how often the pair of each occurred.

    There are fewer than `vocab_size - 256` merges if no pair is left.
    """
    size = operator.index(vocab_size)
    if not 256 <= size < 2**32:
        raise ValueError(f"vocab_size must be at least 256, the single bytes, and at most 2^32 - 1, not {size}")
    counts = count_pretokens(map(arguments.checked_text, texts), pattern=pattern)
    rows = _core.learn(counts._core, {"max_merges": size - 256, "ties": ties}).merges()
    return {(left, right): id for id, (left, right, _, _) in enumerate(rows, 256)}, [count for *_, count in rows]


def vocab_of(merges: Merges) -> dict[int, bytes]:
    """Return the tokens of merges by id: the bytes, then the merges."""
    vocab = {byte: bytes([byte]) for byte in range(256)}
    for (left, right), id in merges.items():
        vocab[id] = vocab[left] + vocab[right]
    return vocab


def tokenizer_of(merges: Merges, special_tokens: Mapping[str, int], pattern: Pattern) -> Tokenizer:
    """Return the tokenizer of merges."""
    vocab = vocab_of(merges)
    pairs = [(vocab[left], vocab[right]) for left, right in merges]
    return Tokenizer(vocab, pairs, special_tokens, pattern=pattern)
