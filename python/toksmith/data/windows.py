"""Windows of ids for a training loop, in order or in a seeded order that takes no memory, split among processes."""

from __future__ import annotations

import hashlib
import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex

from .._internal.messages import shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike, NDArray

# With fewer rounds the orders of small numbers are visibly uneven; each round takes a microsecond in Python.
_ROUNDS = 6
_MASK = 2**64 - 1
# Constants of the finalizer of splitmix64 (Steele, Lea and Flood, 2014).
_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


class _Data(Protocol):
    """Ids that windows are cut from: a `TrainingData`."""

    split: str

    def __len__(self) -> int: ...
    def read(self, start: int, stop: int) -> NDArray[Any]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...


class Windows:
    """Windows of a split, as `TrainingData.windows` describes them: `len(windows)`, and `windows[i]`, a new array.

    The object is a data set for PyTorch's `DataLoader`, with any number of workers, and a random-access source for
    JAX's grain. It can be pickled.
    """

    def __init__(
        self,
        data: _Data,
        length: int,
        *,
        targets: bool,
        seed: int | None,
        stride: int | None,
        rank: int,
        ranks: int,
        epoch: int,
        dtype: DTypeLike,
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
            raise IndexError(f"window {at:,} of {len(self):,}: they are numbered from 0")
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

        places = np.asarray(indices, np.int64)
        if len(places) and not (-len(self) <= places.min() and places.max() < len(self)):
            raise IndexError(f"windows {places.min():,} to {places.max():,} of {len(self):,}")
        numbers = places % len(self) * self.ranks + self.rank
        order = self._order
        starts: list[int] = ((numbers if order is None else order.many(numbers)) * self.stride).tolist()
        return starts


def _remade(data: _Data, length: int, options: dict[str, Any]) -> Windows:
    return Windows(data, length, **options)


def _at_least(name: str, value: SupportsIndex, minimum: int) -> int:
    number = operator.index(value)
    if number < minimum:
        raise ValueError(f"{name} is at least {minimum}, not {number}")
    return number


def _checked_type(requested: DTypeLike, stored: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type of the ids in windows, which must have room for the ids: below 2^31 in practice."""
    import numpy as np

    dtype: np.dtype[Any] = np.dtype(requested)
    needed = min(np.iinfo(stored).max, 2**31 - 1)
    if not np.issubdtype(dtype, np.integer) or np.iinfo(dtype).max < needed:
        raise ValueError(f"dtype is {shown(str(dtype))}, which cannot hold ids of {stored}: use int64 or int32")
    return dtype


class Permutation:
    """A bijection of the numbers 0 to `size` - 1, chosen by a seed: the same on every machine and in every version.

    It is a Feistel network: a number is a cell of a table of about √size rows and columns, and each round adds to the
    row a hash of the column, and to the column a hash of the row. A number that lands in one of the few cells beyond
    `size` goes through the rounds again. So the order takes constant memory, and constant time for each number.

    Args:
        size: How many numbers there are, at most 2^62.
        seed: Any whole numbers. Another seed gives another order.

    >>> order = Permutation(10, 7)
    >>> [order[i] for i in range(10)]
    [6, 9, 0, 7, 3, 5, 1, 8, 4, 2]
    """

    __slots__ = ("_columns", "_keys", "_rows", "size")

    def __init__(self, size: int, *seed: int) -> None:
        self.size = operator.index(size)
        if not 0 <= self.size <= 2**62:
            raise ValueError(f"size is between 0 and 2^62, not {size}")
        self._rows = math.isqrt(max(self.size - 1, 0)) + 1
        self._columns = -(-self.size // self._rows) or 1
        text = ",".join(str(operator.index(number)) for number in seed).encode()
        digest = hashlib.blake2b(text, digest_size=_ROUNDS * 8, person=b"toksmith").digest()
        self._keys = [int.from_bytes(digest[at : at + 8], "little") for at in range(0, len(digest), 8)]

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> int:
        """Return the number at a place of the order.

        Raises:
            IndexError: There is no such place.
        """
        number = operator.index(index)
        if not 0 <= number < self.size:
            raise IndexError(f"place {number} of {self.size}")
        while True:
            number = self._step(number)
            if number < self.size:
                return number

    def _step(self, number: int) -> int:
        row, column = divmod(number, self._columns)
        for key in self._keys:
            row = (row + _mixed(column ^ key) % self._rows) % self._rows
            column = (column + _mixed(row ^ ~key & _MASK) % self._columns) % self._columns
        return row * self._columns + column

    def many(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers at several places, `int64` of the same shape; the places are not checked."""
        import numpy as np

        numbers = self._steps(np.asarray(indices, np.int64).astype(np.uint64))
        while (beyond := numbers >= np.uint64(self.size)).any():
            numbers[beyond] = self._steps(numbers[beyond])
        return numbers.astype(np.int64)

    def _steps(self, numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
        import numpy as np

        rows, columns = np.uint64(self._rows), np.uint64(self._columns)
        row, column = numbers // columns, numbers % columns
        for key in self._keys:
            row = (row + _all_mixed(column ^ np.uint64(key)) % rows) % rows
            column = (column + _all_mixed(row ^ np.uint64(~key & _MASK)) % columns) % columns
        permuted: NDArray[np.uint64] = row * columns + column
        return permuted


def _mixed(number: int) -> int:
    number = (number + _STEP) & _MASK
    number = ((number ^ number >> 30) * _FIRST) & _MASK
    number = ((number ^ number >> 27) * _SECOND) & _MASK
    return number ^ number >> 31


def _all_mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return `_mixed` of each: products of arrays keep their lowest 64 bits."""
    import numpy as np

    numbers = numbers + np.uint64(_STEP)
    numbers = (numbers ^ numbers >> np.uint64(30)) * np.uint64(_FIRST)
    numbers = (numbers ^ numbers >> np.uint64(27)) * np.uint64(_SECOND)
    mixed: NDArray[np.uint64] = numbers ^ numbers >> np.uint64(31)
    return mixed
