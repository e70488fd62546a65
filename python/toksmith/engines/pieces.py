"""The ids of a part, as a piece: files of which shards are made. An engine runs `write_pieces` on its workers.

A piece is a folder with two files for each split that has documents: the ids of its documents, and where they begin.
The files are those of an unfinished shard, written by the same core. Each piece gets a new name, so a part that an
engine encodes twice has two pieces, and the shards are made of the one whose row the engine hands on.
"""

from __future__ import annotations

import errno
import json
import platform
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .._internal.messages import shown
from ..data.writing import parquet_texts
from ..data.writing.formats import Raw
from ..data.writing.sources import Given
from ..files import parquet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..tokenizer import Tokenizer

PIECES = "pieces"
"""The folder of pieces."""
_NO_SNAPSHOTS = 1e9
"""Seconds between two states of a run, so many that there is none: a piece that is not whole is made anew."""
_CHUNK_BYTES = 1 << 20
_TEXT_TYPES = "string, large_string, string_view, binary, large_binary or binary_view"


class Piece(NamedTuple):
    """The facts of a piece that its worker reports to the driver."""

    name: str
    """Its folder."""
    texts: int
    """Texts of the part that are not null, including those that were left out."""
    totals: list[tuple[int, int]]
    """Ids and documents of each split."""
    documents: int
    text_bytes: int
    skipped: list[tuple[int, int, str | None]]
    """Texts that were left out, the first 10,000: number in the part, place in the text, what is wrong."""
    skipped_count: int
    numbers: tuple[int, int] | None
    """The first and the last number of the column that orders the documents."""


class PieceJob(NamedTuple):
    """How parts are encoded, for workers."""

    work: str
    """The folder of the run; all machines see it under this name."""
    tokenizer: Tokenizer
    for_core: dict[str, Any]
    """Options of `ShardRun` that are the same for every piece."""
    column: str
    """The name of the column of texts, for messages."""
    order: str | None
    """The name of the column of numbers."""


def raw_of(work: str | Path, piece: str, split: str, tokens: int, documents: int, width: int) -> Raw:
    """Return the files of a split of a piece."""
    folder = Path(work) / PIECES / piece
    return Raw(folder / f"{split}-00000.ids", folder / f"{split}-00000.index", tokens, documents, width)


def write_pieces(batches: Iterable[Any], job: PieceJob) -> Iterator[str]:
    """Write the documents of a part as a piece, and yield its facts as JSON; yield nothing if there is no document.

    Args:
        batches: Record batches or tables of pyarrow: a column of texts, and one of numbers if there is an order.
        job: How they are encoded.

    Raises:
        ValueError: A text is not UTF-8 (names its number in the part), a number is null, or is not greater than the
            one before it.
        TypeError: A column is of another type.
        OSError: The folder cannot be written to.
    """
    texts = _Texts(batches, job)
    chunks = iter(texts)
    first = next(chunks, None)
    if first is not None:
        yield json.dumps(_written(texts, first, chunks, job))


def piece_of(row: str) -> Piece:
    """Return the piece that a row of `write_pieces` describes."""
    return Piece(*json.loads(row))


def new_folder(work: str, kind: str) -> Path:
    """Make a folder with a new name among the folders of a kind, and return it.

    Raises:
        OSError: The folder cannot be made; or the folder of the run does not exist.
    """
    folder = Path(work) / kind / uuid.uuid4().hex
    try:
        folder.mkdir()
    except FileNotFoundError:
        message = f"{platform.node()} does not see the folder of the run: out is a folder that all machines see"
        raise FileNotFoundError(errno.ENOENT, message, work) from None
    return folder


def _written(texts: _Texts, first: Any, rest: Iterator[Any], job: PieceJob) -> Piece:
    folder, name = new_folder(job.work, PIECES), f"column {shown(job.column)} of a part"
    run = _core.ShardRun(
        job.tokenizer._core,
        [Given(name, name).for_core],
        folder,
        chunk_bytes=_CHUNK_BYTES,
        snapshot_seconds=_NO_SNAPSHOTS,
        snapshot=None,
        **job.for_core,
    )

    def chunks() -> Iterator[Any]:
        yield first
        yield from rest

    run.texts(1, chunks(), None, is_checked=False)
    totals, [documents], text_bytes, skipped, skipped_count = run.finish(None)[4:9]
    listed = [(number, place, reason) for _, number, place, reason in skipped]
    return Piece(folder.name, texts.count, totals, documents, text_bytes, listed, skipped_count, texts.numbers)


class _Texts:
    """The texts of a part that are not null, as `ShardRun.texts` takes them, and what was seen of them."""

    def __init__(self, batches: Iterable[Any], job: PieceJob) -> None:
        self._batches, self._job = batches, job
        self.count = 0
        self.numbers: tuple[int, int] | None = None

    def __iter__(self) -> Iterator[Any]:
        for batch in self._batches:
            for rows in batch.to_batches() if hasattr(batch, "to_batches") else [batch]:
                yield from self._of(rows)

    def _of(self, rows: Any) -> Iterator[Any]:
        import pyarrow as pa

        cells = rows.column(0)
        if pa.types.is_null(cells.type):  # a part without texts, whose type Ray does not know
            return
        if not parquet.is_text(cells.type):
            raise TypeError(f"column {shown(self._job.column)} is of type {cells.type}: texts are {_TEXT_TYPES}")
        if self._job.order is not None:
            self._look_at(rows.column(1).filter(cells.is_valid()))
        if cells.null_count:
            cells = cells.cast(pa.large_binary()).drop_null()
        self.count += len(cells)
        yield from parquet_texts.chunks(cells, 0)

    def _look_at(self, numbers: Any) -> None:
        """Check that the numbers rise."""
        import pyarrow as pa

        name = shown(self._job.order or "")
        if not pa.types.is_integer(numbers.type):
            raise TypeError(f"column {name} is of type {numbers.type}: documents are ordered by whole numbers")
        if numbers.null_count:
            raise ValueError(f"column {name} has no number for a document: each has one of its own")
        if not len(numbers):
            return
        found = numbers.to_numpy()
        refused = found[1:][found[1:] <= found[:-1]].tolist()
        first, last = int(found[0]), int(found[-1])
        if self.numbers is not None:
            refused += [first] * (first <= self.numbers[1])
            first = self.numbers[0]
        if refused:
            raise ValueError(not_rising(self._job.order or "", refused[0]))
        self.numbers = first, last


def not_rising(order: str, number: int) -> str:
    """Return the message for a number that is not greater than the one before it."""
    return f"column {shown(order)} has the number {number} more than once: each document has one of its own"
