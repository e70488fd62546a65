"""What the workers of an engine run: a function that a process keeps, pieces of shards, and whole shards.

A piece has the ids of a part: a folder with two files for each split that has documents, the ids of its documents and
where they begin. The files are those of an unfinished shard, written by the same core. Each piece gets a new name, so
a part that an engine encodes twice has two pieces, and the shards are made of the one whose row the engine hands on.
"""

from __future__ import annotations

import errno
import functools
import itertools
import json
import pickle
import platform
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .._internal.messages import shown
from ..data import table_texts
from ..data.folder import reason_of
from ..data.manifest import WIDTHS
from ..data.options import RunOptions
from ..data.shards import FORMATS, Raw, complete
from ..data.table_texts import TextColumn
from ..files import tables
from ..files.inputs import Source
from ..tokenizer import Tokenizer

if TYPE_CHECKING:
    from pyarrow import IntegerArray, RecordBatch, Table

PIECES = "pieces"
"""The folder of pieces."""
SHARDS = "shards"
"""The folder of shards."""
_TEXT_TYPES = "string, large_string, string_view, binary, large_binary or binary_view"


class KeptFunction:
    """Calls a function. Unpickled in another process, it uses the equal function that the process made before.

    So a process of an engine makes a tokenizer once, and not for each batch.
    """

    __slots__ = ("_data", "_function")

    def __init__(self, function: Callable[..., object], data: bytes | None = None) -> None:
        self._function = function
        self._data = data or pickle.dumps(function)

    def __call__(self, *arguments: object) -> Any:
        """Return what the function returns."""
        return self._function(*arguments)

    def __reduce__(self) -> tuple[object, ...]:
        return _kept, (self._data,)


@functools.lru_cache(maxsize=8)  # each may hold a tokenizer of some ten megabytes
def _kept(data: bytes) -> KeptFunction:
    return KeptFunction(pickle.loads(data), data)


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
    special_tokens: int
    """Special tokens that stood in the text."""
    skipped: list[SkippedText]
    """Texts that were left out, the first 10,000."""
    skipped_count: int
    numbers: tuple[int, int] | None
    """The first and the last number of the column that orders the documents."""

    @classmethod
    def of(cls, row: str) -> Piece:
        """Return the piece that a row of `write_pieces` describes."""
        piece = cls(*json.loads(row))
        return piece._replace(skipped=[SkippedText(*text) for text in piece.skipped])


class SplitOfPiece(NamedTuple):
    """The documents of a split in a piece."""

    piece: str
    tokens: int
    documents: int

    def raw(self, work: str | Path, split: str, dtype: str) -> Raw:
        """Return its files."""
        ids, index = (Path(work, PIECES, self.piece, f"{split}-00000.{suffix}") for suffix in ("ids", "index"))
        return Raw(ids, index, self.tokens, self.documents, dtype)


class Range(NamedTuple):
    """Consecutive documents of a split in a piece."""

    part: SplitOfPiece
    start: int
    stop: int


class PieceJob(NamedTuple):
    """How parts are encoded."""

    work: str
    """The folder of the run; all machines see it under this name."""
    tokenizer: Tokenizer
    options: RunOptions
    column: str
    """The name of the column of texts, for messages."""
    order: str | None
    """The name of the column of numbers."""


def write_pieces(batches: Iterable[RecordBatch | Table], job: PieceJob) -> Iterator[str]:
    """Write the documents of a part as a piece, and yield its facts as JSON; yield nothing if there is no document.

    The first column of a batch has the texts, the second the numbers if there is an order.
    """
    texts = _Texts(batches, job)
    columns = iter(texts)
    first = next(columns, None)
    if first is None:
        return
    folder = _new_folder(job.work, PIECES)
    source = Source(f"column {shown(job.column)} of a part")
    run = _core.ShardRun(job.tokenizer._core, [source], folder, job.options.json())
    run.columns(1, itertools.chain([first], columns), None)
    end = json.loads(run.finish(None))
    skipped = [SkippedText(text["line"] or 0, reason_of(text)) for text in end["skipped"]]
    tokens, documents = ([total[key] for total in end["totals"]] for key in ("ids", "documents"))
    counts = (tokens, documents, end["text_bytes"], end["special_tokens"], skipped, end["skipped_count"])
    yield json.dumps(Piece(folder.name, texts.count, *counts, texts.numbers))


def _new_folder(work: str, kind: str) -> Path:
    folder = Path(work) / kind / uuid.uuid4().hex
    try:
        folder.mkdir()
    except FileNotFoundError:
        message = f"{platform.node()} does not see the folder of the run: out must be a folder that all machines see"
        raise FileNotFoundError(errno.ENOENT, message, work) from None
    return folder


class _Texts:
    """The texts of a part that are not null, and what was seen of them."""

    def __init__(self, batches: Iterable[RecordBatch | Table], job: PieceJob) -> None:
        self._batches, self._job = batches, job
        self.count = 0
        self.numbers: tuple[int, int] | None = None

    def __iter__(self) -> Iterator[TextColumn]:
        for batch in self._batches:
            for rows in batch.to_batches() if hasattr(batch, "to_batches") else [batch]:
                yield from self._columns(rows)

    def _columns(self, rows: RecordBatch) -> Iterator[TextColumn]:
        import pyarrow as pa

        cells = rows.column(0)
        if pa.types.is_null(cells.type):  # a part without texts, whose type Ray does not know
            return
        if not tables.is_text(cells.type):
            raise TypeError(f"column {shown(self._job.column)} is of type {cells.type}: texts are {_TEXT_TYPES}")
        if self._job.order is not None:
            self._check_order(rows.column(1).filter(cells.is_valid()), self._job.order)
        if cells.null_count:
            cells = cells.cast(pa.large_binary()).drop_null()
        self.count += len(cells)
        yield from table_texts.columns(cells, source=0, per_row=0)

    def _check_order(self, column: IntegerArray, order: str) -> None:
        import pyarrow as pa

        if not pa.types.is_integer(column.type):
            raise TypeError(f"column {shown(order)} is of type {column.type}: documents are ordered by whole numbers")
        if column.null_count:
            raise ValueError(f"column {shown(order)} has a null: each document needs a number of its own")
        for number in column.to_pylist():
            check_rising(order, self.numbers, number)
            self.numbers = number if self.numbers is None else self.numbers[0], number


def check_rising(order: str, numbers: tuple[int, int] | None, number: int) -> None:
    """Check that a number of the column that orders the documents is above those before it."""
    if numbers is not None and number <= numbers[1]:
        raise ValueError(
            f"column {shown(order)} has the number {number} more than once: each document needs a number of its own"
        )


def write_shard(name: str, work: str, form: str, dtype: str) -> str:
    """Write the shard whose ranges are in a file of the driver; return its files and its manifest entry, as JSON."""
    ranges = [
        Range(SplitOfPiece(*part), start, stop)
        for part, start, stop in json.loads(Path(work, SHARDS, f"{name}.json").read_text())
    ]
    split, _, number = name.rpartition("-")
    raws = [documents.part.raw(work, split, dtype) for documents in ranges]
    pieces = [(raw.ids, raw.starts_file, start, stop) for raw, (_, start, stop) in zip(raws, ranges, strict=True)]
    folder = _new_folder(work, SHARDS)
    ids, index = folder / f"{name}.ids", folder / f"{name}.index"
    tokens = _core.join_pieces(ids, index, FORMATS[form].header_bytes, WIDTHS[dtype], pieces)
    raw = Raw(ids, index, tokens, sum(documents.stop - documents.start for documents in ranges), dtype)
    files, entry = complete(raw, FORMATS[form], FORMATS[form].stem(split, int(number)))
    if ids not in files:
        ids.unlink()
    return json.dumps([{f"{SHARDS}/{folder.name}/{path.name}": name for path, name in files.items()}, entry])
