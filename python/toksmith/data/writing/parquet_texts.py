"""Texts of Parquet files, as Arrow arrays that the core reads in place: no text becomes a Python object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import _core
from ...files import parquet, watching

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from .sources import Given

    Note = Callable[[int, int, str], None]

# Rows that are decoded at a time, and bytes of text that are handed on at a time.
_ROWS = 4096
_BYTES = 1 << 20


def texts(given: list[Given], first: int, start: tuple[int, int], skip: bool, note: Note) -> Iterator[Any]:
    """Yield the items that `ShardRun.texts` takes for Parquet files: for each file its number, then its texts.

    Args:
        given: The files.
        first: The number of the first of them among all sources.
        start: Where to begin: the number of a source, and how many of its texts to pass over.
        skip: Whether a row without a text is left out; else it is an error.
        note: Called with the number of the source, the number of the text that would follow, and what is wrong, for
            each row that is left out.
    """
    for number, one in enumerate(given, first):
        if number < start[0]:
            continue
        yield number
        passed = start[1] if number == start[0] else 0
        yield from _file(one, passed, skip, lambda text, why, number=number: note(number, text, why))  # type: ignore[misc]


def _file(given: Given, passed: int, skip: bool, note: Callable[[int, str], None]) -> Iterator[Any]:
    opened = given.open() if given.open is not None else open(given.path, "rb")  # noqa: PTH123, SIM115
    with opened as file:
        if given.open is None:
            watching.check(file.fileno(), given.seen, given.name)
        yield from _texts(parquet.opened(file, given.name), given, passed, skip, note)
        if given.open is None:
            watching.check(file.fileno(), given.seen, given.name)


def _texts(table: Any, given: Given, passed: int, skip: bool, note: Callable[[int, str], None]) -> Iterator[Any]:
    import numpy as np
    import pyarrow as pa

    assert given.column is not None
    row = count = 0
    per_row = (given.seen or (0, 0))[0] / max(table.metadata.num_rows, 1)
    for found in parquet.columns(table, given.column, given.name, _ROWS):
        cells = texts = found
        if cells.null_count:
            cells = cells.cast(pa.large_binary())  # a kind of text that all functions of Arrow take
            for before, null in enumerate(np.flatnonzero(cells.is_null().to_numpy(zero_copy_only=False)).tolist()):
                why = parquet.without_text(row + null, given.column)
                if not skip:
                    raise ValueError(f"{given.name}: {why}")
                note(count + null - before, why)
            texts = cells.drop_null()
        row += len(cells)
        wanted = texts.slice(min(max(passed - count, 0), len(texts)))
        count += len(texts)
        yield from chunks(wanted, per_row)


def chunks(cells: Any, per_row: float) -> Iterator[tuple[_core.ArrowColumn, int]]:
    """Yield texts of about a megabyte together, in place, with their progress.

    Args:
        cells: An array of pyarrow that holds texts, none of them null.
        per_row: The progress that a text stands for.
    """
    cells, offsets = _with_offsets(cells)
    start = 0
    while start < len(cells):
        end = max(int(offsets.searchsorted(offsets[start] + _BYTES, "right")) - 1, start + 1)
        yield _core.ArrowColumn(cells.slice(start, end - start)), round(per_row * (end - start))
        start = end


def _with_offsets(cells: Any) -> tuple[Any, NDArray[Any]]:
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
