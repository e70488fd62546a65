"""Columns of text in Parquet and Arrow files, read with pyarrow."""

from __future__ import annotations

import contextlib
import importlib
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import IO, TYPE_CHECKING, Any, TypeVar

from .. import _core
from .._internal.messages import shown
from . import reading, text_files
from .inputs import Source

if TYPE_CHECKING:
    from pyarrow import Array, ChunkedArray, DataType, RecordBatch

Rows = TypeVar("Rows", "Array | ChunkedArray", "RecordBatch")

# Rows that become Python objects at a time.
_ROWS = 1024
# Bytes of a column that are read at a time. By default pyarrow holds a whole row group, which often is the file.
_BUFFER_BYTES = 1 << 20
# Bytes of text that are decoded at a time, as far as the file tells the size of its text.
_BATCH_BYTES = 4 << 20


def arrow() -> ModuleType:
    """Return the module `pyarrow`, with `pyarrow.parquet`."""
    try:
        importlib.import_module("pyarrow.parquet")
        return importlib.import_module("pyarrow")
    except ImportError:
        raise ImportError("Arrow and Parquet need pyarrow: pip install 'toksmith[parquet]'") from None


def texts(sources: Iterable[Source], errors: str) -> Iterator[str]:
    """Yield the texts of a column, file by file; a few rows are in memory at a time.

    `errors` is "strict" or "replace", for text that is not UTF-8.
    """
    for source in sources:
        row = 0
        for cells, _ in columns(source, _ROWS):
            for text in _values(cells):
                if text is None:
                    raise ValueError(f"{source.name}: row {row}: {without_text(source.field)}")
                if isinstance(text, bytes):
                    text = "".join(text_files.decoded([text], f"{source.name}: row {row}", errors))
                yield text
                row += 1


def _values(cells: Array) -> list[str | bytes | None]:
    import pyarrow as pa

    try:
        values: list[str | bytes | None] = cells.to_pylist()
    except UnicodeDecodeError:  # strings are promised to be UTF-8
        values = cells.cast(pa.large_binary()).to_pylist()
    return values


@contextlib.contextmanager
def _opened(source: Source) -> Iterator[IO[bytes]]:
    """Open a file, which must not change meanwhile. One that is compressed is unpacked into a temporary file."""
    if source.compression is not None:
        if source.open is not None:
            raise ValueError(f"{source.name}: a compressed table is read on this machine only: download it first")
        with tempfile.TemporaryFile() as unpacked:
            _core.decompress(source, unpacked.write)
            unpacked.seek(0)
            yield unpacked
    elif source.open is not None:
        with source.open() as file:
            yield file
    else:
        with Path(source.path).open("rb") as file, reading.unchanged(file.fileno(), source.name, source.seen):
            yield file


@contextlib.contextmanager
def naming(name: str, what: str, *errors: type[Exception]) -> Iterator[None]:
    """Name the file, and say what is wrong, in errors of pyarrow, which have many types; name it in the system's."""
    try:
        yield
    # Names of columns may be no UTF-8.
    except (arrow().ArrowException, UnicodeDecodeError, OSError, *errors) as error:
        if isinstance(error, MemoryError):
            raise
        if isinstance(error, OSError) and (error.errno is not None or type(error) is not OSError):
            error.filename = name if error.filename is None else error.filename
            raise
        raise ValueError(f"{name}: {what}: {shown(str(error))}") from None


def columns(source: Source, rows: int) -> Iterator[tuple[Array, int]]:
    """Yield a column of text as arrays of at most `rows` strings or bytes, and the progress that each stands for.

    Rows without a text are null. Memory: some megabytes, whatever the size of row groups, and the longest text; of an
    Arrow file, one batch.
    """
    pa = arrow()
    unread = f"pyarrow cannot read the column {shown(source.field)}"
    with _opened(source) as file, naming(source.name, unread):
        for cells, progress in _parquet(source, file, rows) if source.format == "parquet" else _arrow(source, file):
            is_packed = pa.types.is_dictionary(cells.type)
            kind = cells.type.value_type if is_packed else cells.type
            if not is_text(kind):
                raise ValueError(f"{source.name}: the column {shown(source.field)} holds {kind}, not text")
            step = rows
            if is_packed:  # a long text in many rows shall take little memory
                values = cells.dictionary
                longest = max(values.nbytes if values.nbytes <= _BATCH_BYTES else _longest(values), 1)
                step = max(min(rows, _BATCH_BYTES // longest), 1)
            for start in range(0, len(cells), step):
                part = cells.slice(start, step)
                if is_packed:
                    part = part.dictionary_decode()
                part = getattr(part, "storage", part)
                _check_lengths(source, part)
                yield part, progress * len(part) // len(cells)


def slices(rows: Rows, max_bytes: int) -> Iterator[Rows]:
    """Yield a column or a batch in slices of at most so many bytes, or of one row."""
    if len(rows) > 1 and rows.nbytes > max_bytes:
        half = len(rows) // 2
        yield from slices(rows.slice(0, half), max_bytes)
        yield from slices(rows.slice(half), max_bytes)
    elif len(rows):
        yield rows


def _longest(cells: Array) -> int:
    import pyarrow as pa
    from pyarrow import compute

    cells = getattr(cells, "storage", cells)
    lengths = compute.binary_length(cells.cast(pa.large_binary()))
    return compute.max(lengths).as_py() or 0


def _check_lengths(source: Source, cells: Array) -> None:
    if cells.nbytes > source.max_record_bytes and _longest(cells) > source.max_record_bytes:
        limit = f"max_record_bytes={source.max_record_bytes}"
        raise ValueError(
            f"{source.name}: a text of the column {shown(source.field)} is longer than {limit}: raise the limit"
        )


def _parquet(source: Source, file: IO[bytes], rows: int) -> Iterator[tuple[Array, int]]:
    with naming(source.name, "not a Parquet file, or truncated"):
        table = arrow().parquet.ParquetFile(file, buffer_size=_BUFFER_BYTES, pre_buffer=False)
    names, pick = _picking(source, table.schema_arrow)
    metadata = table.metadata
    # Of all columns: where the metadata of a column is damaged, asking pyarrow for it ends the process.
    size = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    rows = max(min(rows, _BATCH_BYTES * metadata.num_rows // max(size, 1)), 1)
    per_row = (source.size or 0) / max(metadata.num_rows, 1)
    # One column is one task: another thread would only take it over while this one waits.
    # Each row group alone: pyarrow does not put the dictionaries of several ones together inside of structs.
    for group in range(metadata.num_row_groups):
        for batch in table.iter_batches(rows, [group], names, use_threads=False):
            yield pick(batch), round(per_row * len(batch))


def _arrow(source: Source, file: IO[bytes]) -> Iterator[tuple[Array, int]]:
    import pyarrow as pa

    is_file = file.read(6) == b"ARROW1"
    file.seek(0)
    with naming(source.name, "not an Arrow file, or truncated"):
        reader: Any = pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)
    _, pick = _picking(source, reader.schema)
    batches = map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader
    done = 0
    for batch in batches:
        cells = pick(batch)
        try:
            cells.validate(full=True)
        except pa.ArrowInvalid as error:  # offsets are checked before the text, which is checked by its readers
            if "UTF8" not in str(error):
                raise
        done, before = file.tell(), done
        yield cells, max(done - before, 0)


def _picking(source: Source, schema: Any) -> tuple[list[str] | None, Callable[[RecordBatch], Array]]:
    """Return the columns that are read, and what makes the texts of a batch of them."""
    if not source.fields:
        return None, _records
    paths = [_path(source.name, field, schema) for field in source.fields]

    def pick(batch: RecordBatch) -> Array:
        columns = [_inner(batch.column(path[0]), path[1:]) for path in paths]
        return columns[0] if len(columns) == 1 else _joined(columns, source.field_separator)

    return [*source.fields], pick


def _joined(columns: list[Array], separator: str) -> Array:
    """Return the texts of each row joined; null if one of them is."""
    import pyarrow as pa
    from pyarrow import compute

    texts = [column.cast(pa.large_string()) for column in columns]
    return compute.binary_join_element_wise(*texts, pa.scalar(separator, pa.large_string()))


def _records(batch: RecordBatch) -> Array:
    import pyarrow as pa

    return pa.array([as_json(row) for row in batch.to_pylist()], pa.large_string())


def as_json(record: object) -> str:
    """Return a record as JSON; what JSON has no type for becomes text.

    Fields that are null are left out: in a table, structs have every field of every row.
    """
    return json.dumps(_without_nulls(record), ensure_ascii=False, default=str)


def _without_nulls(value: Any) -> object:
    if callable(getattr(value, "tolist", None)):  # NumPy's numbers and arrays
        value = value.tolist()
    if isinstance(value, Mapping):
        return {name: _without_nulls(field) for name, field in value.items() if field is not None}
    return [*map(_without_nulls, value)] if isinstance(value, (list, tuple)) else value


def _path(file: str, field: str, schema: Any) -> list[str]:
    """Return the name of the column, and the names of fields in it: `a.b` is the field `b` of the column `a`.

    It is an error if several columns, or fields, fit.
    """
    import pyarrow as pa

    paths: list[list[str]] = []
    for path in {(field,), tuple(field.split("."))}:
        kinds = [pa.struct(list(schema))]
        for name in path:
            structs = filter(pa.types.is_struct, kinds)
            kinds = [struct.field(place).type for struct in structs for place in struct.get_all_field_indices(name)]
        paths += [[*path]] * len(kinds)
    if not paths:
        there = f"there is no column {shown(field)}, only {shown(schema.names, 400)}"
        raise ValueError(f"{file}: {there}: name one with column=…")
    if len(paths) > 1:
        raise ValueError(f"{file}: the column {shown(field)} is there twice: rename one of them")
    return paths[0]


def _inner(cells: Array, path: list[str]) -> Array:
    if not path:
        return cells
    from pyarrow import compute

    return compute.struct_field(cells, path)


def without_text(column: str) -> str:
    """Return what is wrong with a row that has a null."""
    return f"the column {shown(column)} holds no text"


def is_text(kind: DataType) -> bool:
    """Return whether a type holds strings or bytes. A type that wraps another one must wrap strings."""
    import pyarrow as pa

    strings = ("is_string", "is_large_string", "is_string_view")
    binary = ("is_binary", "is_large_binary", "is_binary_view", "is_fixed_size_binary")
    tests = strings if isinstance(kind, pa.BaseExtensionType) else strings + binary
    storage = getattr(kind, "storage_type", kind)
    return any(getattr(pa.types, test)(storage) for test in tests if hasattr(pa.types, test))
