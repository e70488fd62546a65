"""The function that `Tokenizer.batch` returns: from a batch of texts to a batch with ids."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .._internal import columns
from .._internal.messages import shown
from ..formats import identity

if TYPE_CHECKING:
    from .arrow_columns import ArrowColumns


def _restored(kind: Any, digest: str, head: bytes, core: bytes, *arguments: Any) -> BatchFunction:
    """Return the function of a pickle."""
    tokenizer: Any = identity.restore(kind, digest, head, core)
    return BatchFunction(tokenizer, *arguments)


class BatchFunction:
    """Encodes one column of a batch; see `Tokenizer.batch`. Immutable, picklable, and equal for equal parts."""

    __slots__ = ("_column", "_keep", "_out", "_special", "_tokenizer", "_wide", "_workers")

    def __init__(
        self,
        tokenizer: ArrowColumns,
        column: str,
        out: str,
        wide: bool,
        keep: bool,
        special: bool,
        workers: int | None,
    ) -> None:
        for name in (column, out):
            if not isinstance(name, str):
                raise TypeError(f"the name of a column is a str, not {type(name).__name__}")
        self._tokenizer, self._column, self._out = tokenizer, column, out
        self._wide, self._keep, self._special, self._workers = wide, keep, special, workers

    def __call__(self, batch: Any) -> Any:
        """Return the batch with ids; a dict for a dict, a table for a table."""
        if isinstance(batch, Mapping):
            return self._of_dict(batch)
        if not hasattr(batch, "column_names") or not hasattr(batch, "append_column"):
            raise TypeError(
                f"a batch is a dict of lists, a pyarrow.Table or a pyarrow.RecordBatch, not {type(batch).__name__}: "
                "give map batched=True"
            )
        return self._of_table(batch)

    def _of_dict(self, batch: Mapping[str, Any]) -> dict[str, list[Any]]:
        import numpy as np

        columns.place_of(self._column, list(batch))
        texts = batch[self._column]
        if isinstance(texts, str):
            raise TypeError(f"column {shown(self._column)} is one text, not a list: give map batched=True")
        texts = list(texts)
        given = [text for text in texts if text is not None]
        ids, starts = self._tokenizer._core.encode_batch_to_numpy(given, self._special, self._threads())
        ids = ids if self._wide else ids.astype(np.uint16)
        parts = (ids[start:end] for start, end in itertools.pairwise(starts.tolist()))
        return {self._out: [None if text is None else next(parts) for text in texts]}

    def _of_table(self, table: Any) -> Any:
        texts = table.column(columns.place_of(self._column, table.column_names))
        dtype = "uint32" if self._wide else "uint16"
        ids = self._tokenizer.encode_arrow(texts, dtype=dtype, special=self._special, workers=self._workers)
        if not self._keep:
            return type(table).from_arrays([ids], names=[self._out])
        if self._out in table.column_names:
            return table.set_column(table.column_names.index(self._out), self._out, ids)
        return table.append_column(self._out, ids)

    def _threads(self) -> int:
        from .._internal import arguments

        return arguments.checked_workers(self._workers)

    def _parts(self) -> tuple[Any, ...]:
        return self._tokenizer, self._column, self._out, self._wide, self._keep, self._special, self._workers

    def __eq__(self, other: object) -> bool:
        return self._parts() == other._parts() if isinstance(other, BatchFunction) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._parts())

    def __reduce__(self) -> tuple[Any, ...]:
        # The records of a tokenizer's training and files are left out: equal tokenizers may differ in them.
        kind, digest = type(self._tokenizer), self._tokenizer.fingerprint
        return _restored, (kind, digest, *identity.state(self._tokenizer), *self._parts()[1:])

    def __repr__(self) -> str:
        return f"<function of batches: {shown(self._column)} to {shown(self._out)}, by {self._tokenizer!r}>"
