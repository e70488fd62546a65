"""Pretoken counts as tables of Arrow: columns `pretoken`, `count` and `first`, and all else in the metadata."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, TypedDict

from .. import _core
from .._internal.choices import Unmatched
from .._internal.messages import shown
from ..files import text_files

if TYPE_CHECKING:
    from pyarrow import RecordBatch, Schema, Table

_ROWS = 1 << 16
"""Rows that are handed on at a time."""
_KEY = b"toksmith"
"""The key of the metadata."""


class Head(TypedDict, total=False):
    """What counts were made under, and how many they are. It stands in files and tables as JSON."""

    pattern: str | None
    pattern_flags: int
    unmatched: Unmatched
    unicode: str | None
    special_tokens: list[str]
    ordered: bool
    unique: int
    total: int
    bytes: int


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


def arrow() -> ModuleType:
    """Return the module `pyarrow`, with `pyarrow.parquet`."""
    try:
        importlib.import_module("pyarrow.parquet")
        return importlib.import_module("pyarrow")
    except ImportError:
        raise ImportError("Arrow and Parquet need pyarrow: pip install 'toksmith[parquet]'") from None


def whole_head(core: _core.PretokenCounts, head: Head) -> Head:
    """Return a head with the numbers that `check_whole` compares."""
    return {**head, "unique": len(core), "total": core.total(), "bytes": core.end_place()}


def parse(line: bytes, name: str, where: str) -> Head:
    """Return the head in a line of JSON, which may come from another program, checked."""
    head = text_files.parse(text_files.text_of(line, name), name, "file of pretoken counts")
    for field, kinds in _FIELDS.items():
        if not isinstance(head, dict) or not isinstance(head.get(field, ...), kinds):
            raise ValueError(f"{where} has no valid {shown(field)}")
    numbers = (head["unique"], head["bytes"])
    if (
        not all(isinstance(token, str) for token in head["special_tokens"])
        or not 0 <= min(numbers) <= max(numbers) < 2**64
    ):
        raise ValueError(f"{where} has no valid 'special_tokens', 'unique' or 'bytes'")
    checked: Head = head
    return checked


def plain_schema() -> Schema:
    """Return the columns of a table with their types."""
    pa = arrow()
    return pa.schema([("pretoken", pa.large_binary()), ("count", pa.uint64()), ("first", pa.uint64())])


def schema(head: Head) -> Schema:
    """Return the schema of a table, with the head in its metadata."""
    return plain_schema().with_metadata({_KEY: json.dumps(head)})


def batches(core: _core.PretokenCounts, schema: Schema) -> Iterator[RecordBatch]:
    """Yield record batches of counts."""
    pa = arrow()
    for start in range(0, len(core), _ROWS):
        columns = _core.counts_to_arrow(core, start, _ROWS)
        yield pa.record_batch([pa.array(column) for column in columns], schema=schema)


def head_of(schema: Schema) -> bytes | None:
    """Return the head in the metadata of a schema as JSON; None if there is none."""
    line: bytes | None = (schema.metadata or {}).get(_KEY)
    return line


def counts_of(table: Table, end_place: int) -> _core.PretokenCounts:
    """Return the counts in a table. Without a column `first` the rows are in the order of first occurrence."""
    names = table.column_names
    for name in ("pretoken", "count"):
        if names.count(name) != 1:
            raise ValueError(f"the table has no one column {shown(name)}: it has {', '.join(map(shown, names))}")
    try:
        pretokens, counts = (_core.ArrowColumn(table[name]) for name in ("pretoken", "count"))
        firsts = _core.ArrowColumn(table["first"]) if names.count("first") == 1 else None
        return _core.counts_from_arrow(pretokens, counts, firsts, end_place)
    except TypeError as error:
        raise ValueError(f"the table holds no counts: {error}") from None


def check_whole(core: _core.PretokenCounts, head: Head, name: str) -> None:
    """Check that counts agree with the numbers in a head."""
    if (len(core), core.total()) != (head["unique"], head["total"]):
        raise ValueError(f"{name}: the table holds {len(core)} pretokens, its head says {head['unique']}")
