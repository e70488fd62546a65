"""Columns of text in Parquet files, read with pyarrow."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

from .._internal.messages import shown
from . import text_files, watching
from .inputs import Source

if TYPE_CHECKING:
    from pyarrow import Array, DataType
    from pyarrow.parquet import ParquetFile

# Rows that become Python objects at a time.
_ROWS = 1024
# Bytes of a column that are read at a time. By default pyarrow holds a whole row group, which often is the file.
_BUFFER_BYTES = 1 << 20
# Bytes of text that are decoded at a time, as far as the file tells the size of its text.
_BATCH_BYTES = 4 << 20


def texts(sources: Iterable[Source], errors: str) -> Iterator[str]:
    """Yield the texts of a column, file by file; a few rows are in memory at a time.

    `errors` is "strict" or "replace", for text that is not UTF-8.
    """
    for source in sources:
        assert source.column is not None
        row = 0
        with Path(source.path).open("rb") as file, watching.unchanged(file.fileno(), source.path):
            for cells in columns(opened(file, source.path), source.column, source.path, _ROWS):
                for text in _values(cells):
                    if text is None:
                        raise ValueError(f"{source.path}: {without_text(row, source.column)}")
                    yield text if isinstance(text, str) else _decoded(text, errors, f"{source.path}: row {row}")
                    row += 1


def _values(cells: Array) -> list[str | bytes | None]:
    import pyarrow as pa

    try:
        values: list[str | bytes | None] = cells.to_pylist()
    except UnicodeDecodeError:  # strings are promised to be UTF-8
        values = cells.cast(pa.large_binary()).to_pylist()
    return values


def _decoded(text: bytes, errors: str, name: str) -> str:
    try:
        return text.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        raise text_files.not_utf8(name, error.start) from None


@contextlib.contextmanager
def naming(name: str) -> Iterator[None]:
    """Name the file in errors of pyarrow, which have many types, and in those of the system."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:  # names of columns may be no UTF-8
        if isinstance(error, MemoryError):
            raise
        if isinstance(error, OSError) and (error.errno is not None or type(error) is not OSError):
            error.filename = name if error.filename is None else error.filename
            raise
        raise ValueError(f"{name}: not a Parquet file, or truncated: {shown(str(error))}") from None


def opened(file: IO[bytes], name: str) -> ParquetFile:
    """Return the table in an open file; `name` is the name of the file in messages."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise ImportError("reading Parquet needs pyarrow: pip install 'toksmith[parquet]'") from None
    with naming(name):
        return parquet.ParquetFile(file, buffer_size=_BUFFER_BYTES, pre_buffer=False)


def columns(table: ParquetFile, column: str, name: str, rows: int) -> Iterator[Array]:
    """Yield a column of text as arrays of at most `rows` strings or bytes. Rows without a text are null.

    Memory: some megabytes, whatever the size of row groups, and the longest text.
    """
    import pyarrow as pa

    with naming(name):
        names = table.schema_arrow.names
        if column not in names:
            raise ValueError(f"{name}: there is no column {shown(column)}, only {names}: name one with column=…")
        rows = min(rows, _rows_of(table))
        # One column is one task: another thread would only take it over while this one waits.
        for batch in table.iter_batches(batch_size=rows, columns=[column], use_threads=False):
            cells = batch.column(0)
            if pa.types.is_dictionary(cells.type):
                cells = cells.dictionary_decode()
            if not is_text(cells.type):
                raise ValueError(f"{name}: the column {shown(column)} holds {cells.type}, not text")
            yield getattr(cells, "storage", cells)


def _rows_of(table: ParquetFile) -> int:
    """Return how many rows have at most about `_BATCH_BYTES`, by the sizes of row groups that the file tells."""
    metadata = table.metadata
    # Of all columns: where the metadata of a column is damaged, asking pyarrow for it ends the process.
    size = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    rows: int = _BATCH_BYTES * metadata.num_rows // max(size, 1)
    return max(rows, 1)


def without_text(row: int, column: str) -> str:
    """Return the message for a null."""
    return f"row {row}: the column {shown(column)} holds no text"


def is_text(kind: DataType) -> bool:
    """Return whether a type holds strings or bytes. A type that wraps another one must wrap strings."""
    import pyarrow as pa

    strings = ("is_string", "is_large_string", "is_string_view")
    binary = ("is_binary", "is_large_binary", "is_binary_view", "is_fixed_size_binary")
    tests = strings if isinstance(kind, pa.BaseExtensionType) else strings + binary
    storage = getattr(kind, "storage_type", kind)
    return any(getattr(pa.types, test)(storage) for test in tests if hasattr(pa.types, test))
