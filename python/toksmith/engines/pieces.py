"""The ids of a part, as a piece: files of which shards are made. An engine runs `write_pieces` on its workers.

A piece is a folder with two files for each split that has documents: the ids of its documents, and where they begin.
The files are those of an unfinished shard, written by the same core. Each piece gets a new name, so a part that an
engine encodes twice has two pieces, and the shards are made of the one whose row the engine hands on.
"""

from __future__ import annotations

import errno
import itertools
import json
import platform
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from .. import _core
from .._internal.messages import shown
from ..data import parquet_texts
from ..data.formats import Raw
from ..data.options import CoreOptions
from ..data.parquet_texts import TextColumn
from ..files import parquet
from ..files.inputs import Source
from ..tokenizer import Tokenizer

PIECES = "pieces"
"""The folder of pieces."""
_TEXT_TYPES = "string, large_string, string_view, binary, large_binary or binary_view"


class SkippedText(NamedTuple):
    """A text that was left out."""

    number: int
    """Its number in the part."""
    reason: str


class Piece(NamedTuple):
    """The facts of a piece that its worker reports to the driver."""

    name: str
    """Its folder."""
    texts: int
    """Texts of the part that are not null, including those that were left out."""
    split_tokens: list[int]
    split_documents: list[int]
    text_bytes: int
    skipped: list[SkippedText]
    """Texts that were left out, the first 10,000."""
    skipped_count: int
    numbers: tuple[int, int] | None
    """The first and the last number of the column that orders the documents."""


class PieceJob(NamedTuple):
    """How parts are encoded, for workers."""

    work: str
    """The folder of the run; all machines see it under this name."""
    tokenizer: Tokenizer
    options: CoreOptions
    column: str
    """The name of the column of texts, for messages."""
    order: str | None
    """The name of the column of numbers."""


def raw_of(work: str | Path, piece: str, split: str, tokens: int, documents: int, dtype: str) -> Raw:
    """Return the files of a split of a piece."""
    folder = Path(work) / PIECES / piece
    return Raw(folder / f"{split}-00000.ids", folder / f"{split}-00000.index", tokens, documents, dtype)


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
    columns = iter(texts)
    first = next(columns, None)
    if first is None:
        return
    folder = new_folder(job.work, PIECES)
    source = Source(f"column {shown(job.column)} of a part")
    run = _core.ShardRun(job.tokenizer._core, [source], folder, job.options)
    run.columns(1, itertools.chain([first], columns), None)
    end = run.finish(None)
    yield json.dumps(
        Piece(
            folder.name,
            texts.count,
            end.split_tokens,
            end.split_documents,
            end.text_bytes,
            [SkippedText(text.line or 0, text.reason) for text in end.skipped],
            end.skipped_count,
            texts.numbers,
        )
    )


def piece_of(row: str) -> Piece:
    """Return the piece that a row of `write_pieces` describes."""
    piece = Piece(*json.loads(row))
    return piece._replace(skipped=[SkippedText(*text) for text in piece.skipped])


def new_folder(work: str, kind: str) -> Path:
    """Make a folder with a new name among the folders of a kind, and return it.

    Raises:
        OSError: The folder cannot be made; or the folder of the run does not exist.
    """
    folder = Path(work) / kind / uuid.uuid4().hex
    try:
        folder.mkdir()
    except FileNotFoundError:
        message = f"{platform.node()} does not see the folder of the run: out must be a folder that all machines see"
        raise FileNotFoundError(errno.ENOENT, message, work) from None
    return folder


class _Texts:
    """The texts of a part that are not null, and what was seen of them."""

    def __init__(self, batches: Iterable[Any], job: PieceJob) -> None:
        self._batches, self._job = batches, job
        self.count = 0
        self.numbers: tuple[int, int] | None = None

    def __iter__(self) -> Iterator[TextColumn]:
        for batch in self._batches:
            for rows in batch.to_batches() if hasattr(batch, "to_batches") else [batch]:
                yield from self._columns(rows)

    def _columns(self, rows: Any) -> Iterator[TextColumn]:
        import pyarrow as pa

        cells = rows.column(0)
        if pa.types.is_null(cells.type):  # a part without texts, whose type Ray does not know
            return
        if not parquet.is_text(cells.type):
            raise TypeError(f"column {shown(self._job.column)} is of type {cells.type}: texts are {_TEXT_TYPES}")
        if self._job.order is not None:
            self._check_order(rows.column(1).filter(cells.is_valid()), self._job.order)
        if cells.null_count:
            cells = cells.cast(pa.large_binary()).drop_null()
        self.count += len(cells)
        yield from parquet_texts.columns(cells, source=0, per_row=0)

    def _check_order(self, column: Any, order: str) -> None:
        import pyarrow as pa

        if not pa.types.is_integer(column.type):
            raise TypeError(f"column {shown(order)} is of type {column.type}: documents are ordered by whole numbers")
        if column.null_count:
            raise ValueError(f"column {shown(order)} has a null: each document needs a number of its own")
        if not len(column):
            return
        numbers = column.to_numpy()
        repeated = numbers[1:][numbers[1:] <= numbers[:-1]].tolist()
        first, last = int(numbers[0]), int(numbers[-1])
        if self.numbers is not None:
            repeated += [first] * (first <= self.numbers[1])
            first = self.numbers[0]
        if repeated:
            raise ValueError(not_rising(order, repeated[0]))
        self.numbers = first, last


def not_rising(order: str, number: int) -> str:
    """Return the message for a number that is not greater than the one before it."""
    return f"column {shown(order)} has the number {number} more than once: each document needs a number of its own"
