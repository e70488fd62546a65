"""Ids for the texts of a column of Arrow, or of a batch: a dict of lists, or a table or record batch of pyarrow."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .. import _core
from .._internal import arguments
from .._internal.messages import shown
from ..tokenizer import Tokenizer, restored, tokenizer_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike, NDArray
    from pyarrow import Array, ChunkedArray, RecordBatch, Table


def encode_arrow(
    tokenizer: Tokenizer | object,
    texts: object,
    *,
    dtype: DTypeLike | None = None,
    large: bool = False,
    special: bool = True,
    workers: int | None = None,
) -> Any:
    """Return the ids of each text of an Arrow column, as an Arrow array of lists; null for a null text.

    Texts are read in place, without Python objects. Bytes that are not UTF-8 are encoded as by `Tokenizer.encode`.

    Args:
        tokenizer: The tokenizer that encodes them: a `Tokenizer`, or what `Tokenizer.from_pretrained` takes.
        texts: An object with `__arrow_c_array__` or `__arrow_c_stream__`, of strings or binary values: an array or
            chunked array of pyarrow, a series of Polars or pandas (3 and later), a relation of DuckDB with one
            column. A stream is read to its end before the first text is encoded.
        dtype: Type of the ids: `uint32`, the default, or `uint16`.
        large: Whether the lists have offsets of 64 bits, which count more than 2^31 - 1 ids: a `large_list`.
        special: Whether special tokens become their ids.
        workers: Threads; default: all cores.

    Returns:
        One array, also for a column in chunks: a `pyarrow.ListArray` or `LargeListArray` for texts of pyarrow. For
        all others an object with `__arrow_c_array__`, which `polars.Series`, `pyarrow.array` and others take.

    Raises:
        TypeError: `texts` is not an Arrow array, or one of another type.
        ValueError: The array is malformed; an id of the tokenizer does not fit into `dtype`; or there are more than
            2^31 - 1 ids, without `large`.

    >>> import pyarrow as pa
    >>> from toksmith import Tokenizer
    >>> encode_arrow(Tokenizer(), pa.array(["ab", None, ""])).to_pylist()
    [[97, 98], None, []]
    """
    tokenizer = tokenizer_of(tokenizer)
    wide = _is_wide_for(tokenizer, dtype)
    column = _core.ArrowColumn(texts)
    return _like(texts, column.encode(tokenizer._core, special, arguments.checked_workers(workers), wide, large))


def count_arrow(
    tokenizer: Tokenizer | object, texts: object, *, special: bool = True, workers: int | None = None
) -> Any:
    """Return how many ids each text of an Arrow column has, as an Arrow array of `int64`; null for a null text.

    No ids are kept. Arguments and errors are those of `encode_arrow`.

    >>> import pyarrow as pa
    >>> from toksmith import Tokenizer
    >>> count_arrow(Tokenizer(), pa.array(["ab", None, ""])).to_pylist()
    [2, None, 0]
    """
    column = _core.ArrowColumn(texts)
    return _like(texts, column.count(tokenizer_of(tokenizer)._core, special, arguments.checked_workers(workers)))


def batch_function(
    tokenizer: Tokenizer | object,
    column: str = "text",
    *,
    out: str = "input_ids",
    dtype: DTypeLike | None = None,
    keep: bool = True,
    special: bool = True,
    workers: int | None = 1,
) -> BatchFunction:
    """Return a function of batches for `datasets.Dataset.map(…, batched=True)` and its like.

    Its pickle is the same in every process for an equal tokenizer and equal arguments, so that `datasets` finds in
    its cache what another process has made.

    Args:
        tokenizer: The tokenizer that encodes the texts: a `Tokenizer`, or what `Tokenizer.from_pretrained` takes.
        column: The name of the column of texts.
        out: The name of the column of ids.
        dtype: Type of the ids: `uint32`, the default, or `uint16`.
        keep: Whether a returned table also has the columns of the table that it is called with. `datasets` adds them
            to a dict by itself.
        special: Whether special tokens become their ids.
        workers: Threads for each batch; None: all cores. Use one if `num_proc` or an engine starts a process for each
            core.

    Returns:
        A function that takes a dict of lists and returns a dict with `out`, a list of arrays of ids; or takes a
        `pyarrow.Table` or `RecordBatch`, as `with_format("arrow")` passes it, and returns one of the same kind with
        `out` as a column of lists.

    Raises:
        ValueError: An id of the tokenizer does not fit into `dtype`. The function raises it if the column is missing.
        TypeError: The name of a column is not a str. The function raises it if the column is of another type.

    >>> from toksmith import Tokenizer
    >>> ids = batch_function(Tokenizer(), "text")({"text": ["ab", ""]})["input_ids"]
    >>> [each.tolist() for each in ids]
    [[97, 98], []]
    """
    for name in (column, out):
        if not isinstance(name, str):
            raise TypeError(f"the name of a column must be a str, not {type(name).__name__}")
    tokenizer = tokenizer_of(tokenizer)
    wide = _is_wide_for(tokenizer, dtype)
    if workers is not None:
        workers = arguments.checked_workers(workers)
    return BatchFunction(tokenizer, column, out, wide, bool(keep), bool(special), workers)


def encode_batches(
    batches: Iterable[RecordBatch | Table], column: str, tokenizer: Tokenizer | object, **options: Any
) -> Iterator[Any]:
    """Yield each record batch or table of pyarrow with the ids of one column; the options are `batch_function`'s."""
    arguments.check_keywords(encode_batches, options, batch_function)
    return map(batch_function(tokenizer, column, **options), batches)


@dataclasses.dataclass(frozen=True, slots=True)
class BatchFunction:
    """Encodes one column of a batch; see `batch_function`. Immutable, picklable, and equal for equal parts."""

    tokenizer: Tokenizer
    column: str
    out: str
    wide: bool
    keep: bool
    special: bool
    workers: int | None

    def __call__(self, batch: Any) -> Any:
        """Return the batch with ids; a dict for a dict, a table for a table."""
        if isinstance(batch, Mapping):
            return self._of_dict(batch)
        if not hasattr(batch, "column_names") or not hasattr(batch, "append_column"):
            raise TypeError(
                "a batch must be a dict of lists, a pyarrow.Table or a pyarrow.RecordBatch, not "
                f"{type(batch).__name__}: call map with batched=True"
            )
        return self._of_table(batch)

    def _of_dict(
        self, batch: Mapping[str, Iterable[str | None]]
    ) -> dict[str, list[NDArray[np.uint32 | np.uint16] | None]]:
        _check_column(self.column, list(batch))
        column = batch[self.column]
        if isinstance(column, str):
            raise TypeError(f"column {shown(self.column)} is one text, not a list: call map with batched=True")
        column = list(column)
        texts = ["" if text is None else text for text in column]
        threads = arguments.checked_workers(self.workers)
        ids, starts = self.tokenizer._core.encode_batch_to_numpy(texts, self.special, threads)
        ids = ids if self.wide else ids.astype("uint16")
        parts = (ids[start:end] for start, end in itertools.pairwise(starts.tolist()))
        return {self.out: [None if text is None else part for text, part in zip(column, parts, strict=True)]}

    def _of_table(self, table: RecordBatch | Table) -> RecordBatch | Table:
        texts = column_of(table, self.column)
        dtype = "uint32" if self.wide else "uint16"
        ids = encode_arrow(self.tokenizer, texts, dtype=dtype, special=self.special, workers=self.workers)
        if not self.keep:
            return type(table).from_arrays([ids], names=[self.out])
        if self.out in table.column_names:
            return table.set_column(table.column_names.index(self.out), self.out, ids)
        return table.append_column(self.out, ids)

    def __reduce__(self) -> tuple[object, ...]:
        # The records of a tokenizer's training and files are left out: equal tokenizers may differ in them.
        state = (type(self.tokenizer), self.tokenizer.fingerprint, *self.tokenizer._core.state())
        return _restored, (*state, self.column, self.out, self.wide, self.keep, self.special, self.workers)


def _restored(kind: type[Tokenizer], fingerprint: str, fields: str, core: bytes, *options: Any) -> BatchFunction:
    return BatchFunction(restored(kind, fingerprint, fields, core), *options)


def column_of(batch: RecordBatch | Table, name: str) -> Array | ChunkedArray:
    """Return the column of a name; a `ValueError` if there is none or several."""
    if not hasattr(batch, "column_names") or not hasattr(batch, "column"):
        raise TypeError(f"a batch must be a pyarrow.RecordBatch or a pyarrow.Table, not {type(batch).__name__}")
    _check_column(name, batch.column_names)
    return batch.column(name)


def _check_column(name: str, names: list[str]) -> None:
    if name not in names:
        raise ValueError(f"there is no column {shown(name)}: the batch has {', '.join(map(shown, names))}")
    if names.count(name) > 1:
        raise ValueError(f"the batch has {names.count(name)} columns {shown(name)}: rename all but one of them")


def _is_wide_for(tokenizer: Tokenizer, dtype: DTypeLike | None) -> bool:
    """Return whether ids are `uint32`, not `uint16`, into which all ids of the tokenizer must fit."""
    wide = arguments.is_wide(dtype, True)
    if not wide and tokenizer.max_id >= 2**16:
        raise ValueError(
            f'the tokenizer has ids up to {tokenizer.max_id}, which do not fit into uint16: pass dtype="uint32"'
        )
    return wide


def _like(texts: object, array: _core.ArrowArray) -> Any:
    if type(texts).__module__.partition(".")[0] != "pyarrow":
        return array
    import pyarrow as pa

    return pa.array(array)
