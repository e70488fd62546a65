"""The inputs that `encode` and `encode_batch` take: texts, lists of words, and pairs of either."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


def ids(sequence: Any) -> list[int]:
    """Return ids as `decode` takes them: a sequence of integers of 32 bits, without a sign.

    Raises:
        TypeError: It is no sequence, or one of its items is no integer.
        OverflowError: An integer is negative or too large.
    """
    if isinstance(sequence, (str, bytes)) or not hasattr(sequence, "__getitem__"):
        raise TypeError(f"ids must be a sequence of int, not {type(sequence).__name__}")
    checked = [operator.index(id) for id in sequence]
    for id in checked:
        if not 0 <= id < 1 << 32:
            raise OverflowError(f"id {id} is {'negative' if id < 0 else 'more than 32 bits'}")
    return checked


def words(sequence: Any, is_pretokenized: bool) -> Sequence[str]:
    """Return the texts of a sequence: its words, or the sequence itself as the only text."""
    return sequence if is_pretokenized else [sequence]


def checked(sequence: Any, is_pretokenized: bool) -> Any:
    """Return a sequence, checked: a text, or a list of words.

    Raises:
        TypeError: The sequence is neither.
    """
    if not is_pretokenized and not isinstance(sequence, str):
        raise TypeError(f"a text must be a str, not {type(sequence).__name__}")
    if is_pretokenized:
        if isinstance(sequence, str) or not all(isinstance(word, str) for word in sequence):
            raise TypeError("with is_pretokenized, a text must be a list of str")
        return list(sequence)
    return sequence


def sequences(item: Any, is_pretokenized: bool) -> list[Any]:
    """Return the one or two sequences of one item of a batch, checked."""
    pair = isinstance(item, (tuple, list)) and (not is_pretokenized or _is_pair_of_words(item))
    if pair and len(item) != 2:
        raise TypeError(f"an item of a batch is one sequence or two, not {len(item)}")
    return [checked(sequence, is_pretokenized) for sequence in (item if pair else [item])]


def _is_pair_of_words(item: Sequence[Any]) -> bool:
    return len(item) == 2 and not any(isinstance(part, str) for part in item)
