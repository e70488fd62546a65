"""Rows of whole documents for a training loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, SupportsIndex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .order import Order
    from .shards import Integers, IntegerType


class Row(NamedTuple):
    """Some documents, one after the other.

    Attributes:
        ids: The ids, at most the length of a row.
        positions: The place of each id in its part, `int64`: the position ids of a model that does not attend across
            parts.
        cu_seqlens: Where each part starts, and the last one ends, `int32` of shape (parts + 1,), as the kernels for
            sequences of various lengths of FlashAttention and Megatron take it.
        documents: The number of the document of each part, `int64`, as in `TrainingData.documents`.
        mask: Which ids a model is trained on, `bool`; None if the documents are no conversations.
    """

    ids: Integers
    positions: NDArray[np.int64]
    cu_seqlens: NDArray[np.int32]
    documents: NDArray[np.int64]
    mask: NDArray[np.bool_] | None = None


class Rows:
    """Rows of whole documents, as `TrainingData.rows` describes them: `len(rows)`, and `rows[i]`, a `Row`.

    The object is a data set for PyTorch's `DataLoader`, with a function of yours as `collate_fn`. It can be pickled.
    """

    def __init__(
        self,
        read: Callable[[int, int], Integers],
        read_mask: Callable[[int, int], NDArray[np.bool_]] | None,
        parts: NDArray[np.int64],
        starts: NDArray[np.int64],
        order: Order,
        length: int,
        dtype: IntegerType,
    ) -> None:
        self._read, self._read_mask, self._parts, self._starts = read, read_mask, parts, starts
        self.order, self.length, self.dtype = order, length, dtype

    @property
    def padding(self) -> float:
        """The share of all rows, those of other ranks too, that holds no ids."""
        rows = len(self._starts) - 1
        return 1 - float((self._parts[:, 2] - self._parts[:, 1]).sum()) / (rows * self.length) if rows else 0.0

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, index: SupportsIndex) -> Row:
        """Return the documents of row `index`."""
        import numpy as np

        number = self.order.number(index)
        parts = self._parts[self._starts[number] : self._starts[number + 1]]
        lengths = parts[:, 2] - parts[:, 1]
        ends = np.cumsum(lengths)
        ids = [self._read(start, stop) for _, start, stop in parts.tolist()]
        positions = np.arange(ends[-1]) - np.repeat(ends - lengths, lengths)
        cu_seqlens = np.concatenate(([0], ends)).astype(np.int32)
        row = Row(np.concatenate(ids).astype(self.dtype), positions, cu_seqlens, parts[:, 0].copy())
        if self._read_mask is None:
            return row
        return row._replace(mask=np.concatenate([self._read_mask(start, stop) for _, start, stop in parts.tolist()]))

    def __repr__(self) -> str:
        rows = f"{len(self):,} rows of up to {self.length:,} ids, {self.padding:.2%} padding"
        return f"<{rows}, {self.dtype}, {self.order}>"
