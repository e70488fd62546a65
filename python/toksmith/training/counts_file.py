"""Files of pretoken counts: toksmith's own, and tables of Arrow and Parquet.

toksmith's own format begins with the line `toksmith counts 1` and a line of JSON (pattern, special tokens, how many);
then come the pretokens as the core writes them, then the SHA-256 of all bytes before it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .. import _core
from ..files import text_files, whole_files
from . import counts_table
from .counts_table import Head

if TYPE_CHECKING:
    from pyarrow import RecordBatch

_MAGIC = b"toksmith counts 1\n"
_DIGEST = 32
_MAX_HEAD = 1 << 26
"""Maximum size of the head, which holds a pattern and the names of special tokens."""
_EXPANSION = 1 << 10
"""Maximum number of bytes of a table for each byte of its file. No table of different pretokens compresses better."""
_TABLES = (".parquet", ".arrow", ".feather")


def save(core: _core.PretokenCounts, head: Head, path: str | os.PathLike[str]) -> None:
    """Write counts; the suffix of the name decides the format."""
    head = counts_table.whole_head(core, head)
    suffix = Path(path).suffix.lower()
    with whole_files.replacing(path) as temporary:
        if suffix in _TABLES:
            _save_table(core, head, temporary, suffix)
            return
        temporary.write_bytes(_MAGIC + json.dumps(head).encode() + b"\n")
        core.append_to(temporary)
        with temporary.open("ab") as file:
            file.write(_digest(temporary, temporary.stat().st_size))


def load(path: str | os.PathLike[str]) -> tuple[_core.PretokenCounts, Head]:
    """Read counts with their head, whatever the name of the file."""
    name = os.fspath(path)
    with Path(path).open("rb") as file:
        begin = file.read(len(_MAGIC))
        if begin[:4] == b"PAR1" or begin[:6] == b"ARROW1":
            return _load_table(Path(path), is_parquet=begin[:4] == b"PAR1")
        if begin != _MAGIC:
            raise ValueError(f"{name}: not a file of pretoken counts")
        line = file.readline(_MAX_HEAD + 1)
        if len(line) > _MAX_HEAD:
            raise ValueError(f"{name}: the head of the file has more than {_MAX_HEAD} bytes")
        start, end = file.tell(), Path(path).stat().st_size - _DIGEST
        file.seek(max(end, 0))
        if end < start or file.read() != _digest(Path(path), end):
            raise ValueError(f"{name}: checksum mismatch: the file is corrupt or truncated")
    head = counts_table.parse(line, name, f"{name}: the head of the file")
    with text_files.naming(name):
        return _core.PretokenCounts.read_from(path, start, end, head["unique"], head["bytes"]), head


def _digest(path: Path, size: int) -> bytes:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while size > 0 and (piece := file.read(min(size, 1 << 20))):
            digest.update(piece)
            size -= len(piece)
    return digest.digest()


def _save_table(core: _core.PretokenCounts, head: Head, path: Path, suffix: str) -> None:
    pa = counts_table.arrow()
    schema = counts_table.schema(head)
    with path.open("wb") as file:
        if suffix == ".parquet":
            writer = pa.parquet.ParquetWriter(file, schema, compression="zstd")
        else:
            writer = pa.ipc.new_file(file, schema)
        with writer:
            for batch in counts_table.batches(core, schema):
                writer.write_batch(batch)


def _load_table(path: Path, is_parquet: bool) -> tuple[_core.PretokenCounts, Head]:
    pa = counts_table.arrow()
    name = str(path)
    try:
        with path.open("rb") as file:
            table = pa.parquet.ParquetFile(file) if is_parquet else pa.ipc.open_file(file)
            schema = table.schema_arrow if is_parquet else table.schema
            line = counts_table.head_of(schema) or b"null"
            head = counts_table.parse(line, name, f"{name}: the head of the file")
            batches = table.iter_batches() if is_parquet else map(table.get_batch, range(table.num_record_batches))
            max_bytes = (path.stat().st_size + (1 << 16)) * _EXPANSION
            rows = pa.Table.from_batches(_limited(batches, max_bytes, name), schema)
        with text_files.naming(name):
            core = counts_table.counts_of(rows, head["bytes"])
    except (pa.ArrowException, KeyError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # an error of the system, not of the content
            raise
        raise ValueError(f"{path}: not a table of pretoken counts, or truncated: {error}") from None
    counts_table.check_whole(core, head, name)
    return core, head


def _limited(batches: Iterable[RecordBatch], max_bytes: int, name: str) -> Iterator[RecordBatch]:
    """Yield the batches, which may have at most `max_bytes` in all."""
    for batch in batches:
        max_bytes -= batch.nbytes
        if max_bytes < 0:
            raise ValueError(f"{name}: the table holds more than {_EXPANSION} times as many bytes as the file has")
        yield batch
