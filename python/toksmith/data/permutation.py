"""An order of numbers that is computed from a seed, and takes no memory."""

from __future__ import annotations

import hashlib
import math
import operator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# An int, or an array of uint64. NumPy's types say that the sum of such an array and an int is signed.
_Numbers = Any

# With fewer rounds the orders of small numbers are visibly uneven; each round takes a microsecond in Python.
_ROUNDS = 6
_MASK = 2**64 - 1
# Constants of the finalizer of splitmix64 (Steele, Lea and Flood, 2014).
_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


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
        """Return the number at a place of the order."""
        number = operator.index(index)
        if not 0 <= number < self.size:
            raise IndexError(f"place {number} of {self.size}")
        number = self._step(number)
        while number >= self.size:
            number = self._step(number)
        return int(number)

    def many(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers at several places, `int64` of the same shape; the places are not checked."""
        import numpy as np

        numbers: NDArray[np.uint64] = self._step(np.asarray(indices, np.int64).astype(np.uint64))
        while (beyond := numbers >= self.size).any():
            numbers[beyond] = self._step(numbers[beyond])
        return numbers.astype(np.int64)

    def _step(self, number: _Numbers) -> _Numbers:
        row, column = number // self._columns, number % self._columns
        for key in self._keys:
            row = (row + _mixed(column ^ key) % self._rows) % self._rows
            column = (column + _mixed(row ^ ~key & _MASK) % self._columns) % self._columns
        return row * self._columns + column


def _mixed(number: _Numbers) -> _Numbers:
    """Return a hash of a number, or of each in an array, whose products keep their lowest 64 bits."""
    number = (number + _STEP) & _MASK
    number = ((number ^ number >> 30) * _FIRST) & _MASK
    number = ((number ^ number >> 27) * _SECOND) & _MASK
    return number ^ number >> 31
