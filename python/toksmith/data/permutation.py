"""An order of numbers that is computed from a seed, and takes no memory."""

from __future__ import annotations

import hashlib
import math
import operator
import struct
from typing import TYPE_CHECKING, Any, SupportsIndex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

_MAX_SIZE = 2**62
_MASK = 2**64 - 1
_ROUNDS = 6  # with fewer the orders of small numbers are visibly uneven


class Permutation:
    """A bijection of the numbers 0 to `size` - 1, chosen by a seed: the same on every machine and in every version.

    It takes constant memory, and constant time for each number.

    It is a Feistel network: a number is a cell of a table of about √size rows and columns, and each round adds to the
    row a hash of the column, and to the column a hash of the row. A number that lands in one of the few cells beyond
    the size goes through the rounds again.

    Args:
        size: How many numbers there are, at most 2^62.
        *seed: Any whole numbers. Another seed gives another order.

    >>> order = Permutation(10, 7)
    >>> list(map(order.__getitem__, range(10)))
    [6, 9, 0, 7, 3, 5, 1, 8, 4, 2]
    """

    def __init__(self, size: SupportsIndex, *seed: SupportsIndex) -> None:
        self.size = operator.index(size)
        if not 0 <= self.size <= _MAX_SIZE:
            raise ValueError(f"size is between 0 and 2^62, not {self.size}")
        text = ",".join(str(operator.index(number)) for number in seed)
        digest = hashlib.blake2b(text.encode(), digest_size=8 * _ROUNDS, person=b"toksmith").digest()
        self._keys = struct.unpack(f"<{_ROUNDS}Q", digest)
        self._rows = math.isqrt(max(self.size - 1, 0)) + 1
        self._columns = max(-(-self.size // self._rows), 1)

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: SupportsIndex) -> int:
        """Return the number at a place of the order."""
        number = operator.index(index)
        if not 0 <= number < self.size:
            raise self._no_place(number)
        while (number := self._step(number)) >= self.size:
            pass
        return number

    def many(self, indices: ArrayLike) -> NDArray[np.int64]:
        """Return the numbers at several places, as `int64` of the same shape.

        Raises:
            IndexError: A place is not there.
        """
        import numpy as np

        places = np.asarray(indices, np.int64)
        numbers = places.reshape(-1).astype(np.uint64)
        if len(wrong := places[(places < 0) | (places >= self.size)]):
            raise self._no_place(int(wrong[0]))
        beyond = np.arange(len(numbers))
        while len(beyond):
            numbers[beyond] = self._step(numbers[beyond])
            beyond = beyond[numbers[beyond] >= self.size]
        return numbers.astype(np.int64).reshape(places.shape)

    def _step(self, number: Any) -> Any:
        """Return the cell to which the rounds bring a number, an int or an array of `uint64`."""
        row, column = number // self._columns, number % self._columns
        for key in self._keys:
            row = (row + _hashed(column ^ key) % self._rows) % self._rows
            column = (column + _hashed(row ^ ~key & _MASK) % self._columns) % self._columns
        return row * self._columns + column

    def _no_place(self, place: int) -> IndexError:
        return IndexError(f"place {place} of {self.size}")


def _hashed(number: Any) -> Any:
    """Return a step of `SplitMix64` (Steele, Lea and Flood, 2014) modulo 2^64, in which arrays wrap by themselves."""
    number = number + 0x9E3779B97F4A7C15 & _MASK
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    number = (number ^ number >> 27) * 0x94D049BB133111EB & _MASK
    return number ^ number >> 31
