"""Texts of tables, as Arrow arrays that the core reads in place: no text becomes a Python object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from .. import _core
from ..files import tables
from ..files.inputs import Source

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pyarrow import Array

# Rows that are decoded at a time, and bytes of text that are handed on at a time.
_ROWS = 4096
_BYTES = 1 << 20


class TextColumn(NamedTuple):
    """Some texts of a source, as `ShardRun.columns` takes them."""

    source: int
    """The number of the source."""
    texts: _core.ArrowColumn
    """The texts, none of them null."""
    progress: int
    """The progress that they stand for."""


class SkippedRow(NamedTuple):
    """A row of a table that was left out."""

    source: int
    text: int
    """The number of texts of the source before the row."""
    reason: str


def texts(source: Source, number: int, start: int, skipped: list[SkippedRow] | None) -> Iterator[TextColumn]:
    """Yield the texts of a table, after the first `start` ones; `number` is its number among all sources.

    Rows without a text are added to `skipped`. Without it, such a row is an error.
    """
    import numpy as np
    import pyarrow as pa

    row = count = 0
    for column, progress in tables.columns(source, _ROWS):
        cells = valid = column
        if cells.null_count:
            cells = cells.cast(pa.large_binary())  # a kind of text that all functions of Arrow take
            for before, null in enumerate(np.flatnonzero(cells.is_null().to_numpy(zero_copy_only=False)).tolist()):
                reason = tables.without_text(row + null, source.field)
                if skipped is None:
                    raise ValueError(f"{source.name}: {reason}")
                skipped.append(SkippedRow(number, count + null - before, reason))
            valid = cells.drop_null()
        row += len(cells)
        new = valid.slice(min(max(start - count, 0), len(valid)))
        count += len(valid)
        yield from columns(new, number, progress / len(cells))


def columns(cells: Array, source: int, per_row: float) -> Iterator[TextColumn]:
    """Yield texts that are not null, about a megabyte together, in place; `per_row` is the progress of each text."""
    cells, offsets = _with_offsets(cells)
    start = 0
    while start < len(cells):
        end = max(int(offsets.searchsorted(offsets[start] + _BYTES, "right")) - 1, start + 1)
        texts = _core.ArrowColumn(cells.slice(start, end - start))
        yield TextColumn(source, texts, round(per_row * (end - start)))
        start = end


def _with_offsets(cells: Array) -> tuple[Array, NDArray[np.int64]]:
    """Return texts with the places in their buffer where each begins and the last ends."""
    import numpy as np
    import pyarrow as pa

    kinds = {pa.string(): np.int32, pa.binary(): np.int32, pa.large_string(): np.int64, pa.large_binary(): np.int64}
    if cells.type not in kinds:
        # A cast imports `pyarrow.compute`, which takes 50 ms.
        cells = cells.cast(pa.large_binary())
    if not len(cells):
        return cells, np.zeros(1, np.int64)
    offsets = np.frombuffer(cells.buffers()[1], kinds[cells.type])
    # Numbers of 64 bits, so that adding to one does not overflow.
    return cells, offsets[cells.offset : cells.offset + len(cells) + 1].astype(np.int64)
