"""Shards from the pieces of several parts: which documents make each, by the rule of one machine, and writing them.

The driver looks up where a shard ends in the index of a piece, by bisection. So it holds nothing for a document, and
reads a few numbers for a shard, however many documents there are. Workers write the shards once all parts are
encoded.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from ..data.formats import FORMATS, Raw, complete, naming
from ..data.manifest import NPY_HEADER_BYTES, WIDTHS
from .pieces import new_folder, raw_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHARDS = "shards"
"""The folder of shards."""
_BLOCK = 1 << 20
"""Bytes of ids, or documents, that are copied at a time."""


class SplitOfPiece(NamedTuple):
    """The documents of a split in a piece."""

    piece: str
    tokens: int
    documents: int


class Range(NamedTuple):
    """Consecutive documents of a piece, with the numbers of the whole piece in the split."""

    piece: str
    tokens: int
    documents: int
    start: int
    stop: int


class ShardPlan(NamedTuple):
    """A shard that is to be written."""

    split: int
    number: int
    ranges: list[Range]


def shard_plans(
    split: int,
    pieces: Iterable[SplitOfPiece],
    shard_size: int,
    starts_of: Callable[[SplitOfPiece], NDArray[np.int64]],
) -> Iterator[ShardPlan]:
    """Yield the shards of a split: each is closed when it has `shard_size` ids or more.

    Args:
        split: The number of the split.
        pieces: The pieces, in the order of the documents.
        shard_size: Ids of a shard.
        starts_of: Returns where each document of a piece begins, in ids, and where the last ends.
    """
    number, size = 0, 0
    ranges: list[Range] = []
    for piece in pieces:
        for start, stop, tokens in _runs(piece, shard_size - size, shard_size, starts_of):
            ranges.append(Range(*piece, start, stop))
            size += tokens
            if size >= shard_size:
                yield ShardPlan(split, number, ranges)
                number, size, ranges = number + 1, 0, []
    if ranges:
        yield ShardPlan(split, number, ranges)


def _runs(
    piece: SplitOfPiece,
    room: int,
    shard_size: int,
    starts_of: Callable[[SplitOfPiece], NDArray[np.int64]],
) -> Iterator[tuple[int, int, int]]:
    """Yield the documents of a piece that go into each shard, with their ids; the first shard has `room` left."""
    if not piece.documents:
        return
    if piece.tokens < room:
        yield 0, piece.documents, piece.tokens
        return
    starts = starts_of(piece)
    start = 0
    while start < piece.documents:
        end = int(starts[start]) + room
        stop = min(start + 1 + int(starts[start + 1 :].searchsorted(end)), piece.documents)
        yield start, stop, int(starts[stop] - starts[start])
        start, room = stop, shard_size


class ShardJob(NamedTuple):
    """How shards are written, for workers."""

    work: str
    """The folder of the run; all machines see it under this name."""
    form: str
    """The name of the format."""
    dtype: str
    """The type of the ids."""


def write_shard(name: str, job: ShardJob) -> str:
    """Write the shard whose plan is in a file of the driver; return its files and its manifest entry, as JSON.

    Raises:
        OSError: A file cannot be read or written.
    """
    form = FORMATS[job.form]
    plan = Path(job.work, SHARDS, f"{name}.json")
    folder = new_folder(job.work, SHARDS)
    split, _, number = name.rpartition("-")
    ranges = [Range(*values) for values in json.loads(plan.read_text())]
    raw = Raw(
        folder / f"{name}.ids",
        folder / f"{name}.index",
        _copy(ranges, split, folder / name, form.header_bytes, job),
        sum(documents.stop - documents.start for documents in ranges),
        job.dtype,
    )
    files, entry = complete(raw, form, form.stem(split, int(number)))
    if raw.ids not in files:
        raw.ids.unlink()
    return json.dumps([{f"{SHARDS}/{folder.name}/{path.name}": name for path, name in files.items()}, entry])


def _copy(ranges: list[Range], split: str, stem: Path, header_bytes: int, job: ShardJob) -> int:
    """Copy the ranges into the two files of an unfinished shard; return the number of their ids."""
    ids_path, index_path = (stem.with_name(f"{stem.name}.{suffix}") for suffix in ("ids", "index"))
    tokens, width = 0, WIDTHS[job.dtype]
    with naming(ids_path), ids_path.open("wb") as ids, naming(index_path), index_path.open("wb") as index:
        ids.write(bytes(header_bytes))
        index.write(bytes(NPY_HEADER_BYTES + 8))
        for documents in ranges:
            raw = raw_of(job.work, documents.piece, split, documents.tokens, documents.documents, job.dtype)
            first, last = int(raw.starts[documents.start]), int(raw.starts[documents.stop])
            for block in _blocks(raw.ids, first * width, last * width):
                ids.write(block)
            _write_ends(index, raw, documents, tokens - first)
            tokens += last - first
    return tokens


def _write_ends(index: BinaryIO, raw: Raw, documents: Range, offset: int) -> None:
    ends = raw.starts[1:]
    for start in range(documents.start, documents.stop, _BLOCK):
        index.write((ends[start : min(start + _BLOCK, documents.stop)] + offset).astype("<i8").tobytes())


def _blocks(path: Path, start: int, stop: int) -> Iterator[bytes]:
    with naming(path), path.open("rb") as file:
        file.seek(start)
        while start < stop:
            block = file.read(min(stop - start, _BLOCK))
            if not block:
                raise OSError(errno.EIO, "the file is shorter than it was when it was written", str(path))
            start += len(block)
            yield block
