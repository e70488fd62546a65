"""Writing a shard from the pieces of several parts: an engine runs this on its workers once all parts are encoded."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..data.writing.folder import form_of
from ..data.writing.formats import INDEX_HEAD_BYTES, Raw, complete, naming
from .pieces import new_folder, raw_of
from .shard_plan import Range

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from ..data.writing.formats import Format

SHARDS = "shards"
"""The folder of shards."""
_WINDOW = 1 << 20
"""Bytes of ids, or documents, that are copied at a time."""


class ShardJob(NamedTuple):
    """How shards are written, for workers."""

    work: str
    """The folder of the run; all machines see it under this name."""
    form: str
    """The name of the format."""
    width: int
    """The bytes of an id."""


def write_shard(name: str, job: ShardJob) -> str:
    """Write the shard whose plan the driver has left in a file, and return its entry in the manifest, as JSON.

    Raises:
        OSError: A file cannot be read or written.
    """
    form = form_of(job.form)
    plan = Path(job.work, SHARDS, f"{name}.json")
    folder = new_folder(job.work, SHARDS)
    ranges = [Range(*one) for one in json.loads(plan.read_text())]
    raw = _copied(ranges, name, folder, form, job)
    files, told = complete(raw, form)
    if raw.ids not in files.values():
        raw.ids.unlink()
    split, _, number = name.rpartition("-")
    stem = form.stem(split, int(number))
    parts = {f"{SHARDS}/{folder.name}/{path.name}": f"{stem}{suffix}" for suffix, path in files.items()}
    return json.dumps({"file": f"{stem}{form.suffix}", "index": f"{stem}.index.npy", **told, "parts": parts})


def _copied(ranges: list[Range], name: str, folder: Path, form: Format, job: ShardJob) -> Raw:
    """Copy the ranges into the two files of an unfinished shard."""
    split = name.rpartition("-")[0]
    ids_path, index_path = folder / f"{name}.ids", folder / f"{name}.index"
    tokens = 0
    with naming(ids_path), ids_path.open("wb") as ids, naming(index_path), index_path.open("wb") as index:
        ids.write(bytes(form.head_bytes))
        index.write(bytes(INDEX_HEAD_BYTES + 8))
        for one in ranges:
            raw = raw_of(job.work, one.piece, split, one.tokens, one.documents, job.width)
            first, last = int(raw.starts[one.start]), int(raw.starts[one.stop])
            for part in _bytes_of(raw.ids, first * job.width, last * job.width):
                ids.write(part)
            _write_ends(index, raw, one, tokens - first)
            tokens += last - first
    return Raw(ids_path, index_path, tokens, sum(one.stop - one.start for one in ranges), job.width)


def _write_ends(index: BinaryIO, raw: Raw, documents: Range, offset: int) -> None:
    """Write where documents end in the shard."""
    ends = raw.starts[1:]
    for start in range(documents.start, documents.stop, _WINDOW):
        index.write((ends[start : min(start + _WINDOW, documents.stop)] + offset).astype("<i8").tobytes())


def _bytes_of(path: Path, start: int, stop: int) -> Iterator[bytes]:
    with naming(path), path.open("rb") as file:
        file.seek(start)
        while start < stop:
            part = file.read(min(stop - start, _WINDOW))
            if not part:
                raise OSError(errno.EIO, "the file is shorter than it was when it was written", str(path))
            start += len(part)
            yield part
