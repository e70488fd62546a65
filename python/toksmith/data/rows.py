"""Rows of whole documents for a training loop."""

from __future__ import annotations

import bisect
import functools
import itertools
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, SupportsIndex

from ..files import tables, whole_files
from .packing import pack
from .shards import ROW_GROUP_IDS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .._internal.choices import LongDocument
    from .order import Order
    from .shards import Integers, IntegerType


# Documents that are packed at a time.
_GROUP = 1 << 20
# Groups whose rows stay in memory.
_PACKED_GROUPS = 2
_NOT_TRAINED = -100
"""The label of an id without a loss, as PyTorch's `cross_entropy` has it."""


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


class PackedRows:
    """The rows of `count` documents, packed group by group; `places` says where documents begin, and the last ends.

    `counts` has the number of rows of each group.
    """

    def __init__(
        self, places: Callable[[int, int], NDArray[np.int64]], count: int, length: int, long: LongDocument
    ) -> None:
        self._places, self._count, self.length, self._long = places, count, length, long
        self._group_size = _GROUP
        self._packed = functools.lru_cache(_PACKED_GROUPS)(self._pack)
        self.counts: list[int] = []
        self.ids = 0
        for group in range(-(-count // self._group_size)):
            parts, starts = self._packed(group)
            self.counts.append(len(starts) - 1)
            self.ids += int((parts[:, 2] - parts[:, 1]).sum())
        self._firsts = [0, *itertools.accumulate(self.counts)]

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name != "_packed"}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        self._packed = functools.lru_cache(_PACKED_GROUPS)(self._pack)

    def _pack(self, group: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the parts of a group of documents, each with its document, start and end, and where rows begin."""
        import numpy as np

        first = group * self._group_size
        places = self._places(first, min(first + self._group_size, self._count))
        parts, starts = pack(np.diff(places), self.length, long=self._long)
        parts[:, 1:] += places[parts[:, :1]]
        parts[:, 0] += first
        return parts, starts

    def __getitem__(self, number: int) -> NDArray[np.int64]:
        """Return the parts of a row."""
        group = bisect.bisect_right(self._firsts, number) - 1
        parts, starts = self._packed(group)
        row = number - self._firsts[group]
        return parts[starts[row] : starts[row + 1]]


class Rows:
    """Rows of whole documents, as `TrainingData.rows` describes them: `len(rows)`, and `rows[i]`, a `Row`.

    The object is a data set for PyTorch's `DataLoader`, with a function of yours as `collate_fn`. It can be pickled.
    """

    def __init__(
        self,
        read: Callable[[int, int], Integers],
        read_mask: Callable[[int, int], NDArray[np.bool_]] | None,
        packed: PackedRows,
        order: Order,
        dtype: IntegerType,
    ) -> None:
        self._read, self._read_mask, self._packed = read, read_mask, packed
        self.order, self.length, self.dtype = order, packed.length, dtype

    @property
    def padding(self) -> float:
        """The share of all rows, those of other ranks too, that holds no ids."""
        rows = sum(self._packed.counts)
        return 1 - self._packed.ids / (rows * self.length) if rows else 0.0

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, index: SupportsIndex) -> Row:
        """Return the documents of row `index`."""
        import numpy as np

        parts = self._packed[self.order.number(index)]
        lengths = parts[:, 2] - parts[:, 1]
        ends = np.cumsum(lengths)
        ids = [self._read(start, stop) for _, start, stop in parts.tolist()]
        positions = np.arange(ends[-1]) - np.repeat(ends - lengths, lengths)
        cu_seqlens = np.concatenate(([0], ends)).astype(np.int32)
        row = Row(np.concatenate(ids).astype(self.dtype), positions, cu_seqlens, parts[:, 0].copy())
        if self._read_mask is None:
            return row
        return row._replace(mask=np.concatenate([self._read_mask(start, stop) for _, start, stop in parts.tolist()]))

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the rows to a Parquet file, in their order, for a trainer that reads packed files, such as TRL's.

        The columns are lists of `int32`: `input_ids`; `labels`, which are -100 where a model is not trained, and at
        the first id of each part, which follows nothing; and `seq_lengths`, the lengths of the parts.

        The file is whole, or not there. About a million ids are in memory at a time.

        Raises:
            OSError: The file cannot be written.
            ImportError: pyarrow is not installed.
        """
        pa = tables.arrow()
        numbers = pa.list_(pa.int32())
        schema = pa.schema([(name, numbers) for name in ("input_ids", "labels", "seq_lengths")])
        size = max(1, ROW_GROUP_IDS // self.length)
        with (
            whole_files.replacing(path) as new,
            new.open("wb") as file,
            pa.parquet.ParquetWriter(file, schema, compression="zstd") as writer,
        ):
            for start in range(0, len(self), size):
                rows = [_lists(self[number]) for number in range(start, min(start + size, len(self)))]
                columns = zip(*rows, strict=True)
                writer.write_table(pa.table([pa.array(list(column), numbers) for column in columns], schema=schema))

    def __repr__(self) -> str:
        rows = f"{len(self):,} rows of up to {self.length:,} ids, {self.padding:.2%} padding"
        return f"<{rows}, {self.dtype}, {self.order}>"


def _lists(row: Row) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Return the ids, the labels and the lengths of the parts of a row."""
    import numpy as np

    follows = row.positions > 0
    is_trained = follows if row.mask is None else row.mask & follows
    ids = row.ids.astype(np.int32)
    return ids, np.where(is_trained, ids, np.int32(_NOT_TRAINED)), np.diff(row.cu_seqlens)
