"""The ids that `decode` takes."""

from __future__ import annotations

import operator
from typing import Any


def checked(sequence: Any) -> list[int]:
    """Return ids as `decode` takes them: a sequence of integers of 32 bits, without a sign.

    Raises:
        TypeError: It is no sequence, or one of its items is no integer.
        OverflowError: An integer is negative or too large.
    """
    if isinstance(sequence, (str, bytes)) or not hasattr(sequence, "__getitem__"):
        raise TypeError(f"ids must be a sequence of int, not {type(sequence).__name__}")
    ids = [operator.index(id) for id in sequence]
    for id in ids:
        if not 0 <= id < 1 << 32:
            raise OverflowError(f"id {id} is {'negative' if id < 0 else 'more than 32 bits'}")
    return ids
