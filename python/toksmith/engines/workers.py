"""What the workers of an engine run: a function that a process keeps, and pieces of shards.

A piece has the ids of a part: a folder with two files for each split that has documents, the ids of its documents and
where they begin. The files are those of an unfinished shard, written by the same core. Each piece gets a new name, so
a part that an engine encodes twice has two pieces, and the shards are made of the one whose row the engine hands on.
"""

import errno
import functools
import itertools
import json
import pickle
import platform
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from .. import _core
from .._internal.messages import shown
from ..data import table_texts
from ..data.table_texts import TextColumn
from ..files import tables
from ..files.inputs import Source
from ..tokenizer import Tokenizer

PIECES = "pieces"
"""The folder of pieces."""
Piece = dict[str, Any]
"""What a worker reports of a piece to the driver: its `name`, how many `texts` are not null, the first and last of
the `numbers` that order them, and what the core tells at the end of a run."""
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


def write_pieces(
    batches: Iterable[pa.RecordBatch | pa.Table],
    work: str,
    tokenizer: Tokenizer,
    options: str,
    column: str,
    order: str | None,
) -> Iterator[str]:
    """Write the documents of a part as a piece, and yield its facts as JSON; yield nothing if there is no document.

    The first column of a batch has the texts, the second the numbers if there is an order; their names are for
    messages. All machines see the folder `work` of the run under this name.
    """
    facts: Piece = {"texts": 0, "numbers": None}
    columns = _texts(batches, column, order, facts)
    first = next(columns, None)
    if first is None:
        return
    folder = Path(work) / PIECES / uuid.uuid4().hex
    try:
        folder.mkdir()
    except FileNotFoundError:
        message = f"{platform.node()} does not see the folder of the run: out must be a folder that all machines see"
        raise FileNotFoundError(errno.ENOENT, message, work) from None
    source = Source(f"column {shown(column)} of a part")
    run = _core.ShardRun(tokenizer._core, [source], folder, options)
    run.columns(1, itertools.chain([first], columns))
    yield json.dumps({**json.loads(run.finish()), **facts, "name": folder.name})


def _texts(
    batches: Iterable[pa.RecordBatch | pa.Table], column: str, order: str | None, facts: Piece
) -> Iterator[TextColumn]:
    """Yield the texts of a part that are not null; count them in `facts`, with their first and last number."""
    parts = (batch.to_batches() if hasattr(batch, "to_batches") else [batch] for batch in batches)
    for rows in itertools.chain.from_iterable(parts):
        cells = rows.column(0)
        if pa.types.is_null(cells.type):  # a part without texts, whose type Ray does not know
            continue
        if not tables.is_text(cells.type):
            raise TypeError(f"column {shown(column)} is of type {cells.type}: texts are {_TEXT_TYPES}")
        if order is not None:
            _check_order(rows.column(1).filter(cells.is_valid()), order, facts)
        if cells.null_count:
            cells = cells.cast(pa.large_binary()).drop_null()
        facts["texts"] += len(cells)
        yield from table_texts.columns(cells, source=0, per_row=0)


def _check_order(column: pa.IntegerArray, order: str, facts: Piece) -> None:
    if not pa.types.is_integer(column.type):
        raise TypeError(f"column {shown(order)} is of type {column.type}: documents are ordered by whole numbers")
    if column.null_count:
        raise ValueError(f"column {shown(order)} has a null: each document needs a number of its own")
    for number in column.to_pylist():
        before = facts["numbers"]
        check_rising(order, before, number)
        facts["numbers"] = number if before is None else before[0], number


def check_rising(order: str, numbers: Sequence[int] | None, number: int) -> None:
    """Check that a number of the column that orders the documents is above those before it."""
    if numbers is not None and number <= numbers[1]:
        raise ValueError(
            f"column {shown(order)} has the number {number} more than once: each document needs a number of its own"
        )
