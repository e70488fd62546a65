"""Packing: which documents share a row of a fixed length."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .. import _core
from .._internal import arguments
from .._internal.choices import LongDocument

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def pack(
    lengths: Iterable[int], length: int, *, long: LongDocument = "split"
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Put documents into rows of at most `length` tokens, by best-fit decreasing.

    The longest part comes first. Each goes into the row with the least room that is enough, the first of several, or
    into a new row. Empty documents are in no row. The same lengths give the same rows.

    Args:
        lengths: How many tokens each document has.
        length: How many tokens a row has.
        long: What becomes of a document that is longer than a row: "split" makes parts of it, none lost, "truncate"
            keeps its beginning, "drop" leaves it out.

    Returns:
        `parts`, `int64` of shape (n, 3): the number of the document, and the start and end of the part in it; and
        `starts`, `int64` of shape (rows + 1,): row `i` is `parts[starts[i]:starts[i + 1]]`.

    >>> import itertools
    >>> parts, starts = pack([5, 3, 9, 2], 8)
    >>> [parts[start:end].tolist() for start, end in itertools.pairwise(starts)]
    [[[2, 0, 8]], [[0, 0, 5], [1, 0, 3]], [[3, 0, 2], [2, 8, 9]]]
    """
    arguments.one_of("long", long, LongDocument)
    row = arguments.checked_limit("length", length, 1)
    parts, starts = _core.pack(list(lengths), row, long)
    return parts.reshape(-1, 3), starts
