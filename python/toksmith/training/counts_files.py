"""Pretoken counts in files, and as tables of Arrow: columns `pretoken`, `count` and `first`, with a head as metadata.

A file has the line `toksmith counts 1`, the head as a line of JSON, the pretokens as the core writes them, and the
SHA-256 of all bytes before it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from .. import _core
from .._internal.messages import shown
from ..files import reading, text_files, whole_files
from ..files.tables import arrow

if TYPE_CHECKING:
    from pyarrow import RecordBatch, Schema, Table

_MAGIC = b"toksmith counts 1\n"
_DIGEST = 32
_MAX_HEAD = 1 << 26
"""Maximum size of the head, which holds a pattern and the names of special tokens."""
_ROWS = 1 << 16
"""Rows that are handed on at a time."""
KEY = b"toksmith"
"""The key of the metadata."""


Head = dict[str, Any]
"""What counts were made under, and how many they are: `_FIELDS`, and whether they are `ordered`; as JSON in files."""
Counts: TypeAlias = "_core.PretokenCounts | _core.OversizedCounts"
"""What can be saved."""
_FIELDS: dict[str, tuple[type, ...]] = {
    "pattern": (str, type(None)),
    "pattern_flags": (int,),
    "unmatched": (str,),
    "unicode": (str, type(None)),
    "special_tokens": (list,),
    "unique": (int,),
    "total": (int,),
    "bytes": (int,),
}


def whole_head(core: Counts, head: Head) -> Head:
    """Return a head with the numbers that `check_whole` compares."""
    return {**head, "unique": len(core), "total": core.total(), "bytes": core.end_place()}


def parse(line: bytes, name: str, where: str) -> Head:
    """Return the head in a line of JSON, which may come from another program, checked."""
    head = text_files.parse(line, name, "file of pretoken counts")
    for field, kinds in _FIELDS.items():
        if not isinstance(head, dict) or not isinstance(head.get(field, ...), kinds):
            raise ValueError(f"{where} has no valid {shown(field)}")
    numbers = (head["unique"], head["bytes"])
    if (
        not all(isinstance(token, str) for token in head["special_tokens"])
        or not 0 <= min(numbers) <= max(numbers) < 2**64
    ):
        raise ValueError(f"{where} has no valid 'special_tokens', 'unique' or 'bytes'")
    return dict(head)


def schema(head: Head | None = None) -> Schema:
    """Return the schema of a table, with the head in its metadata."""
    pa = arrow()
    columns = pa.schema([("pretoken", pa.large_binary()), ("count", pa.uint64()), ("first", pa.uint64())])
    return columns if head is None else columns.with_metadata({KEY: json.dumps(head)})


def batches(core: _core.PretokenCounts, schema: Schema) -> Iterator[RecordBatch]:
    """Yield record batches of counts."""
    pa = arrow()
    for start in range(0, len(core), _ROWS):
        yield pa.record_batch([*map(pa.array, core.to_arrow(start, _ROWS))], schema=schema)


def counts_of(table: Table, end_place: int) -> _core.PretokenCounts:
    """Return the counts in a table. Without a column `first` the rows are in the order of first occurrence."""
    names = table.column_names
    for name in ("pretoken", "count"):
        if names.count(name) != 1:
            raise ValueError(f"the table has no one column {shown(name)}: it has {', '.join(map(shown, names))}")
    with _refusing():
        pretokens, counts = (_core.ArrowColumn(table[name]) for name in ("pretoken", "count"))
        firsts = _core.ArrowColumn(table["first"]) if names.count("first") == 1 else None
        return _core.PretokenCounts.from_arrow(pretokens, counts, firsts, end_place)


def add(counting: _core.Counting, pretokens: object, counts: object) -> None:
    """Add the counts in two columns of Arrow to a counting."""
    with _refusing():
        counting.counts(_core.ArrowColumn(pretokens), _core.ArrowColumn(counts))


@contextlib.contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except TypeError as error:
        raise ValueError(f"the table holds no counts: {error}") from None


def check_whole(core: _core.PretokenCounts, head: Head, name: str) -> None:
    """Check that counts agree with the numbers in a head."""
    if (len(core), core.total()) != (head["unique"], head["total"]):
        raise ValueError(f"{name}: the table holds {len(core)} pretokens, its head says {head['unique']}")


# Files


def save(core: Counts, head: Head, path: str | os.PathLike[str]) -> None:
    """Write counts."""
    head = whole_head(core, head)
    with whole_files.replacing(path) as temporary:
        temporary.write_bytes(_MAGIC + json.dumps(head).encode() + b"\n")
        core.append_to(temporary)
        with temporary.open("ab") as file:
            file.write(_digest(temporary, temporary.stat().st_size))


def load(path: str | os.PathLike[str], min_count: int) -> tuple[_core.PretokenCounts, Head]:
    """Read counts with their head."""
    name = os.fspath(path)
    with reading.open_regular(path) as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise ValueError(f"{name}: not a file of pretoken counts")
        line = file.readline(_MAX_HEAD + 1)
        if len(line) > _MAX_HEAD:
            raise ValueError(f"{name}: the head of the file has more than {_MAX_HEAD} bytes")
        start, end = file.tell(), Path(path).stat().st_size - _DIGEST
        file.seek(max(end, 0))
        if end < start or file.read() != _digest(Path(path), end):
            raise ValueError(f"{name}: checksum mismatch: the file is corrupt or truncated")
    head = parse(line, name, f"{name}: the head of the file")
    with text_files.naming(name):
        return _core.PretokenCounts.read_from(path, start, end, head["unique"], head["bytes"], min_count), head


def _digest(path: Path, size: int) -> bytes:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while size > 0 and (piece := file.read(min(size, 1 << 20))):
            digest.update(piece)
            size -= len(piece)
    return digest.digest()
