"""Training as minbpe and rustbpe have it: merges are pairs of ids; ids 0 to 255 are the 256 bytes, merges follow."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Literal

from .. import _core
from .._internal import arguments
from ..patterns import Pattern
from ..training.counting import count_pretokens

GPT4_PATTERN = (
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*"""
    r"""|\s*[\r\n]|\s+(?!\S)|\s+"""
)
"""GPT-4's pattern as minbpe and rustbpe spell it."""


def learn(
    texts: Iterable[str], vocab_size: int, pattern: Pattern, ties: Literal["first", "smallest_ids"]
) -> list[tuple[int, int, int]]:
    """Return the merges of a training, each as left id, right id and how often the pair occurred.

    There are fewer than `vocab_size - 256` merges if no pair is left.
    """
    size = operator.index(vocab_size)
    if not 256 <= size < 2**32:
        raise ValueError(f"vocab_size must be at least 256, the single bytes, and at most 2^32 - 1, not {size}")
    counts = count_pretokens(map(arguments.checked_text, texts), pattern=pattern)
    learned = _core.learn(counts._core, {"max_merges": size - 256, "ties": ties})
    return [(left, right, count) for left, right, _, count in learned.merges()]
