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
    """The texts."""
    progress: int
    """The progress that they stand for."""
    null_reason: str = ""
    """What is wrong with a row without a text."""


def texts(source: Source, number: int, start: int) -> Iterator[TextColumn]:
    """Yield the rows of a table from the number `start` on; `number` is its number among all sources."""
    row = 0
    for cells, progress in tables.columns(source, _ROWS):
        new = cells.slice(min(max(start - row, 0), len(cells)))
        row += len(cells)
        yield from columns(new, number, progress / len(cells), tables.without_text(source.field))


def columns(cells: Array, source: int, per_row: float, null_reason: str = "") -> Iterator[TextColumn]:
    """Yield texts, about a megabyte together, in place; `per_row` is the progress of each text."""
    import pyarrow as pa

    if cells.type not in (pa.string(), pa.binary(), pa.large_string(), pa.large_binary()):
        cells = cells.cast(pa.large_binary())  # which imports `pyarrow.compute`, and takes 50 ms
    for part in tables.slices(cells, _BYTES):
        yield TextColumn(source, _core.ArrowColumn(part), round(per_row * len(part)), null_reason)
