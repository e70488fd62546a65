"""Texts of Parquet files, as bytes with offsets: no text becomes an object of Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..common.messages import shown
from ..files import watching

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .sources import Given

    Note = Callable[[int, int, str], None]

# Rows that are decoded at a time, and bytes of text that are handed on at a time.
_ROWS = 4096
_BYTES = 1 << 20


def texts(given: list[Given], first: int, start: tuple[int, int], skip: bool, note: Note) -> Iterator[Any]:
    """Yield what `ShardRun.texts` takes for Parquet files: for each its number, then its texts.

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
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise ImportError("reading Parquet needs pyarrow: pip install 'toksmith[parquet]'") from None
    opened = given.open() if given.open is not None else open(given.path, "rb")  # noqa: PTH123, SIM115
    with opened as file:
        if given.open is None:
            watching.check(file.fileno(), given.seen, given.name)
        try:
            table = parquet.ParquetFile(file)
        except pa.ArrowInvalid as error:
            raise ValueError(f"{given.name}: this is no whole Parquet file: {error}") from None
        yield from _cells(table, given, passed, skip, note)
        if given.open is None:
            watching.check(file.fileno(), given.seen, given.name)


def _cells(table: Any, given: Given, passed: int, skip: bool, note: Callable[[int, str], None]) -> Iterator[Any]:
    import numpy as np
    import pyarrow as pa

    names, column = table.schema_arrow.names, given.column
    if column not in names:
        raise ValueError(f"{given.name}: there is no column {shown(column)}, only {names}: name one with column=…")
    row = count = 0
    per_row = (given.seen or (0, 0))[0] / max(table.metadata.num_rows, 1)
    for batch in table.iter_batches(batch_size=_ROWS, columns=[column]):
        cells = batch.column(0)
        if pa.types.is_dictionary(cells.type):
            cells = cells.dictionary_decode()
        if not _is_text(cells.type):
            raise ValueError(f"{given.name}: the column {shown(column)} holds {cells.type}, not text")
        if cells.null_count:
            for before, null in enumerate(np.flatnonzero(cells.is_null().to_numpy(zero_copy_only=False)).tolist()):
                why = f"row {row + null}: the column {shown(column)} holds no text"
                if not skip:
                    raise ValueError(f"{given.name}: {why}")
                note(count + null - before, why)
            cells = cells.drop_null()
        row += batch.num_rows
        cells = cells.slice(min(max(passed - count, 0), len(cells)))
        count += batch.num_rows - batch.column(0).null_count
        yield from _chunks(cells.cast(pa.large_binary()), per_row)


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    tests = ("is_string", "is_large_string", "is_binary", "is_large_binary", "is_string_view", "is_binary_view")
    return any(getattr(pa.types, test)(kind) for test in tests if hasattr(pa.types, test))


def _chunks(cells: Any, per_row: float) -> Iterator[tuple[bytes, bytes, int]]:
    """Yield texts of about a megabyte together: their bytes, where each begins and the last ends, the progress."""
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
