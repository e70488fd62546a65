"""Texts of Parquet files, as bytes with offsets: no text becomes a Python object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..files import parquet, watching

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
        cells = found.cast(pa.large_binary())  # a kind of text that all functions of Arrow take
        if cells.null_count:
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


def chunks(cells: Any, per_row: float) -> Iterator[tuple[bytes, bytes, int]]:
    """Yield texts of about a megabyte together: their bytes, where each begins and the last ends, the progress.

    Args:
        cells: An array of pyarrow of type `large_binary`, no text of it null.
        per_row: The progress that a text stands for.
    """
    import numpy as np

    if not len(cells):
        return
    _, ends, data = cells.buffers()
    offsets = np.frombuffer(ends, np.int64)[cells.offset : cells.offset + len(cells) + 1]
    start = 0
    while start < len(cells):
        limit = offsets[start] + _BYTES
        end = max(int(np.searchsorted(offsets, limit, "right")) - 1, start + 1)
        low, high = int(offsets[start]), int(offsets[end])
        text = b"" if data is None else data.slice(low, high - low).to_pybytes()
        yield text, (offsets[start : end + 1] - low).astype("<i8").tobytes(), round(per_row * (end - start))
        start = end
