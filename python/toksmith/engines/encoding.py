"""Ids for the batches of a part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer


def encode_batches(
    batches: Iterable[Any],
    column: str,
    tokenizer: Tokenizer,
    *,
    out: str = "input_ids",
    dtype: Any = None,
    keep: bool = True,
    special: bool = True,
    workers: int | None = 1,
) -> Iterator[Any]:
    """Yield each batch with the ids of the texts of one column, as a column of lists; see `Tokenizer.batch`.

    Args:
        batches: Record batches or tables of pyarrow.
        column: The name of the column of texts.
        tokenizer: What encodes them.
        out: The name of the column of ids.
        dtype: Type of the ids: `uint32`, the default, or `uint16`.
        keep: Whether the columns of the batch stay.
        special: Whether special tokens become their ids.
        workers: Threads for each batch; None: all cores.

    Raises:
        ValueError: There is no such column; or an id of the tokenizer does not fit into `dtype`.
        TypeError: The column is of another type.
    """
    return map(
        tokenizer.batch(column, out=out, dtype=dtype, keep=keep, special=special, workers=workers), iter(batches)
    )
