"""What the workers of an engine run: a function that a process keeps, and pieces of shards.

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
from ..data.options import RunOptions
from ..data.table_texts import TextColumn
from ..files import tables
from ..files.inputs import Source
from ..tokenizer import Tokenizer

if TYPE_CHECKING:
    from pyarrow import IntegerArray, RecordBatch, Table

PIECES = "pieces"
"""The folder of pieces."""
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


class Piece(NamedTuple):
    """The facts of a piece that its worker reports to the driver, as JSON."""

    name: str
    """Its folder."""
    texts: int
    """Texts of the part that are not null, including those that were left out."""
    split_tokens: list[int]
    split_documents: list[int]
    text_bytes: int
    special_tokens: int
    """Special tokens that stood in the text."""
    skipped: list[tuple[int, str]]
    """Texts that were left out, the first 10,000: the number of each in the part, and the reason."""
    skipped_count: int
    numbers: tuple[int, int] | None
    """The first and the last number of the column that orders the documents."""


def write_pieces(
    batches: Iterable[RecordBatch | Table],
    work: str,
    tokenizer: Tokenizer,
    options: RunOptions,
    column: str,
    order: str | None,
) -> Iterator[str]:
    """Write the documents of a part as a piece, and yield its facts as JSON; yield nothing if there is no document.

    The first column of a batch has the texts, the second the numbers if there is an order; their names are for
    messages. All machines see the folder `work` of the run under this name.
    """
    texts = _Texts(batches, column, order)
    columns = iter(texts)
    first = next(columns, None)
    if first is None:
        return
    folder = _new_folder(work)
    source = Source(f"column {shown(column)} of a part")
    run = _core.ShardRun(tokenizer._core, [source], folder, options.json())
    run.columns(1, itertools.chain([first], columns))
    end = json.loads(run.finish())
    skipped = [(text["line"] or 0, reason_of(text)) for text in end["skipped"]]
    tokens, documents = ([total[key] for total in end["totals"]] for key in ("ids", "documents"))
    counts = (tokens, documents, end["text_bytes"], end["special_tokens"], skipped, end["skipped_count"])
    yield json.dumps(Piece(folder.name, texts.count, *counts, texts.numbers))


def _new_folder(work: str) -> Path:
    folder = Path(work) / PIECES / uuid.uuid4().hex
    try:
        folder.mkdir()
    except FileNotFoundError:
        message = f"{platform.node()} does not see the folder of the run: out must be a folder that all machines see"
        raise FileNotFoundError(errno.ENOENT, message, work) from None
    return folder


class _Texts:
    """The texts of a part that are not null, and what was seen of them."""

    def __init__(self, batches: Iterable[RecordBatch | Table], column: str, order: str | None) -> None:
        self._batches, self._column, self._order = batches, column, order
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
            raise TypeError(f"column {shown(self._column)} is of type {cells.type}: texts are {_TEXT_TYPES}")
        if self._order is not None:
            self._check_order(rows.column(1).filter(cells.is_valid()), self._order)
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
