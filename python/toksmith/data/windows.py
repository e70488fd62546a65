"""Windows of ids for a training loop, in order or in a seeded order, split among processes."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from .._internal.messages import shown
from .permutation import Permutation

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import SupportsIndex

    import numpy as np
    from numpy.typing import NDArray

    from .dataset import TrainingData


class Windows:
    """Windows of a split, as `TrainingData.windows` describes them: `len(windows)`, and `windows[i]`, a new array.

    The object is a data set for PyTorch's `DataLoader`, with any number of workers, and a random-access source for
    JAX's grain. It can be pickled.
    """

    def __init__(
        self,
        data: TrainingData,
        length: int,
        *,
        targets: bool,
        seed: int | None,
        stride: int | None,
        rank: int,
        ranks: int,
        epoch: int,
        dtype: Any,
    ) -> None:
        self.data = data
        self.length = _at_least("length", length, 1)
        self.targets = bool(targets)
        self.seed = None if seed is None else operator.index(seed)
        self.stride = self.length if stride is None else _at_least("stride", stride, 1)
        self.ranks = _at_least("ranks", ranks, 1)
        self.rank = _at_least("rank", rank, 0)
        self.epoch = _at_least("epoch", epoch, 0)
        if self.rank >= self.ranks:
            raise ValueError(f"rank is {self.rank}, and ranks are numbered from 0 to {self.ranks - 1}")
        self.dtype = _checked_type(dtype, data.dtype)
        self.size = self.length + self.targets
        self._count = (len(data) - self.size) // self.stride + 1 if len(data) >= self.size else 0
        if self._count < self.ranks:
            raise ValueError(
                f"the split {data.split!r} has {len(data):,} ids, which are {self._count:,} windows of "
                f"{self.size:,} ids: too few for {self.ranks} ranks"
            )
        self._order = None if self.seed is None else Permutation(self._count, self.seed, self.epoch)

    def __reduce__(self) -> tuple[Any, ...]:
        names = ("targets", "seed", "stride", "rank", "ranks", "epoch", "dtype")
        return _remade, (self.data, self.length, {name: getattr(self, name) for name in names})

    def __repr__(self) -> str:
        order = "in order" if self.seed is None else f"by seed {self.seed}, epoch {self.epoch}"
        share = f", rank {self.rank} of {self.ranks}" if self.ranks > 1 else ""
        return (
            f"<{len(self):,} windows of {self.size:,} ids, stride {self.stride:,}, {self.dtype}, {order}{share}, "
            f"of {self.data!r}>"
        )

    def __len__(self) -> int:
        return self._count // self.ranks

    def start(self, index: SupportsIndex) -> int:
        """Return where in the split window `index` begins."""
        at = operator.index(index)
        if not -len(self) <= at < len(self):
            raise IndexError(f"window {at:,} of {len(self):,}: they are numbered from 0 on")
        number = at % len(self) * self.ranks + self.rank
        return (number if self._order is None else self._order[number]) * self.stride

    def __getitem__(self, index: SupportsIndex) -> NDArray[Any]:
        """Return the ids of window `index`: a new array of shape (length,), or (length + 1,) with targets."""
        start = self.start(index)
        return self.data.read(start, start + self.size).astype(self.dtype)

    def __getitems__(self, indices: Sequence[int]) -> list[NDArray[Any]]:
        """Return several windows as rows of one array: PyTorch's `DataLoader` asks for a batch at a time."""
        import numpy as np

        rows = np.empty((len(indices), self.size), self.dtype)
        for row, start in zip(rows, self._starts(indices), strict=True):
            row[:] = self.data.read(start, start + self.size)
        return list(rows)

    def _starts(self, indices: Sequence[int]) -> list[int]:
        import numpy as np

        given = np.asarray(indices, np.int64)
        if len(given) and not (-len(self) <= given.min() and given.max() < len(self)):
            raise IndexError(f"windows {given.min():,} to {given.max():,} of {len(self):,}")
        numbers = given % len(self) * self.ranks + self.rank
        order = self._order
        starts: list[int] = ((numbers if order is None else order.many(numbers)) * self.stride).tolist()
        return starts


def _remade(data: TrainingData, length: int, options: dict[str, Any]) -> Windows:
    return Windows(data, length, **options)


def _at_least(name: str, value: SupportsIndex, least: int) -> int:
    number = operator.index(value)
    if number < least:
        raise ValueError(f"{name} is at least {least}, not {number}")
    return number


def _checked_type(given: Any, stored: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type of the ids in windows, which must have room for the ids: below 2^31 in practice."""
    import numpy as np

    dtype: np.dtype[Any] = np.dtype(given)
    needed = min(np.iinfo(stored).max, 2**31 - 1)
    if not np.issubdtype(dtype, np.integer) or np.iinfo(dtype).max < needed:
        raise ValueError(f"dtype is {shown(str(dtype))}, which has no room for ids of {stored}: give int64 or int32")
    return dtype
