"""Texts of tables, as Arrow arrays that the core reads in place: no text becomes a Python object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from .. import _core
from ..files import tables
from ..files.inputs import Source

if TYPE_CHECKING:
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
    import pyarrow as pa

    if cells.type not in (pa.string(), pa.binary(), pa.large_string(), pa.large_binary()):
        cells = cells.cast(pa.large_binary())  # which imports `pyarrow.compute`, and takes 50 ms
    for part in tables.slices(cells, _BYTES):
        yield TextColumn(source, _core.ArrowColumn(part), round(per_row * len(part)))
