"""Merges as minbpe and rustbpe have them: pairs of ids; ids 0 to 255 are the 256 bytes, and merges follow."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from .. import _core
from ..tokenizer import Tokenizer
from ..training.counting import count_pretokens_from_iterator

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .._internal.choices import Ties
    from ..patterns import Pattern

    Pair = tuple[int, int]


def learn(texts: Iterable[str], vocab_size: int, pattern: Pattern, ties: Ties) -> list[tuple[int, int, int]]:
    """Return the merges of a training, each as left id, right id and how often the pair occurred.

    There are fewer than `vocab_size - 256` merges if no pair is left.

    Raises:
        ValueError: `vocab_size` is less than the 256 bytes, or more than there are ids.
    """
    size = operator.index(vocab_size)
    if not 256 <= size < 2**32:
        raise ValueError(f"vocab_size must be at least 256, the single bytes, and at most 2^32 - 1, not {size}")
    counts = count_pretokens_from_iterator(texts, pattern=pattern)
    learned = _core.learn_merges(counts._core, size - 256, ties=ties)
    return [(merge.left, merge.right, merge.count) for merge in learned.merges()]


def tokenizer_of(merges: Iterable[Pair], pattern: Pattern, special_tokens: Mapping[str, int]) -> Tokenizer:
    """Return the tokenizer of these merges, whose ids count up from 256, in order."""
    tokens = [bytes([byte]) for byte in range(256)]
    pairs = []
    for left, right in merges:
        pairs.append((tokens[left], tokens[right]))
        tokens.append(tokens[left] + tokens[right])
    return Tokenizer(dict(enumerate(tokens)), pairs, special_tokens, pattern=pattern)
