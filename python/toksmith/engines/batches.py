"""Ids for the texts of one column of a batch: a dict of lists, or a table or record batch of pyarrow."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .._internal import arguments
from .._internal.messages import shown
from ..formats import identity, native
from ..tokenizer import Tokenizer
from .arrow import encode_arrow, is_wide_for


def batch_function(
    tokenizer: Tokenizer,
    column: str = "text",
    *,
    out: str = "input_ids",
    dtype: Any = None,
    keep: bool = True,
    special: bool = True,
    workers: int | None = 1,
) -> BatchFunction:
    """Return a function of batches for `datasets.Dataset.map(…, batched=True)` and its like.

    Its pickle is the same in every process for an equal tokenizer and equal arguments, so that `datasets` finds in
    its cache what another process has made.

    Args:
        tokenizer: The tokenizer that encodes the texts.
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
    wide = is_wide_for(tokenizer, dtype)
    if workers is not None:
        workers = arguments.checked_workers(workers)
    return BatchFunction(tokenizer, column, out, wide, bool(keep), bool(special), workers)


def encode_batches(
    batches: Iterable[Any],
    column: str,
    tokenizer: Tokenizer,
    *,
    out: str = "input_ids",
    dtype: Any = None,
    keep: bool = True,
    special: bool = True,
    workers: int | None = 1,
) -> Iterator[Any]:
    """Yield each record batch or table of pyarrow with the ids of one column; see `batch_function`."""
    function = batch_function(tokenizer, column, out=out, dtype=dtype, keep=keep, special=special, workers=workers)
    return map(function, batches)


@dataclasses.dataclass(frozen=True, repr=False, slots=True)
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

    def _of_dict(self, batch: Mapping[str, Any]) -> dict[str, list[Any]]:
        import numpy as np

        place_of(self.column, list(batch))
        column = batch[self.column]
        if isinstance(column, str):
            raise TypeError(f"column {shown(self.column)} is one text, not a list: call map with batched=True")
        column = list(column)
        texts = [text for text in column if text is not None]
        threads = arguments.checked_workers(self.workers)
        ids, starts = self.tokenizer._core.encode_batch_to_numpy(texts, self.special, threads)
        ids = ids if self.wide else ids.astype(np.uint16)
        parts = (ids[start:end] for start, end in itertools.pairwise(starts.tolist()))
        return {self.out: [None if text is None else next(parts) for text in column]}

    def _of_table(self, table: Any) -> Any:
        texts = column_of(table, self.column)
        dtype = "uint32" if self.wide else "uint16"
        ids = encode_arrow(self.tokenizer, texts, dtype=dtype, special=self.special, workers=self.workers)
        if not self.keep:
            return type(table).from_arrays([ids], names=[self.out])
        if self.out in table.column_names:
            return table.set_column(table.column_names.index(self.out), self.out, ids)
        return table.append_column(self.out, ids)

    def __reduce__(self) -> tuple[Any, ...]:
        # The records of a tokenizer's training and files are left out: equal tokenizers may differ in them.
        state = (type(self.tokenizer), self.tokenizer.fingerprint, *native.state(self.tokenizer._parts))
        return _restored, (*state, self.column, self.out, self.wide, self.keep, self.special, self.workers)

    def __repr__(self) -> str:
        return f"<function of batches: {shown(self.column)} to {shown(self.out)}, by {self.tokenizer!r}>"


def _restored(kind: type[Tokenizer], digest: str, head: bytes, core: bytes, *options: Any) -> BatchFunction:
    identity.check("Tokenizer", isinstance(kind, type) and issubclass(kind, Tokenizer))
    return BatchFunction(kind._of(identity.restored(digest, head, core)), *options)


def column_of(batch: Any, name: str) -> Any:
    """Return the column of a name of a record batch or a table of pyarrow.

    Raises:
        TypeError: `batch` is neither.
        ValueError: There is no such column, or there are several.
    """
    if not hasattr(batch, "column_names") or not hasattr(batch, "column"):
        raise TypeError(f"a batch must be a pyarrow.RecordBatch or a pyarrow.Table, not {type(batch).__name__}")
    return batch.column(place_of(name, batch.column_names))


def place_of(name: str, names: Sequence[str]) -> int:
    """Return the place of a column among the names of a batch.

    Raises:
        ValueError: There is no column of this name, or there are several.

    >>> place_of("text", ["id", "text"])
    1
    """
    if name not in names:
        raise ValueError(f"there is no column {shown(name)}: the batch has {', '.join(map(shown, names))}")
    if names.count(name) > 1:
        raise ValueError(f"the batch has {names.count(name)} columns {shown(name)}: rename all but one of them")
    return names.index(name)
