"""The order in which several processes read numbered things, and how they share them."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, SupportsIndex

from .._core import Permutation
from .._internal import arguments

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Order:
    """The numbers below `count` that one of `ranks` processes reads, in the order of a seed and an epoch.

    Rank r has every `ranks`-th number of the order, from place r on; all ranks have equally many.
    """

    def __init__(self, what: str, count: int, *, seed: int | None, rank: int, ranks: int, epoch: int) -> None:
        self._what = what
        self.seed = None if seed is None else arguments.whole("seed", seed)
        self.ranks = arguments.checked_limit("ranks", ranks, 1)
        self.rank = arguments.checked_limit("rank", rank, 0)
        self.epoch = arguments.checked_limit("epoch", epoch, 0)
        if self.rank >= self.ranks:
            raise ValueError(f"rank is {self.rank}, and ranks are numbered from 0 to {self.ranks - 1}")
        self._count = count // self.ranks
        self._order = None if self.seed is None or not self._count else Permutation(count, self.seed, self.epoch)

    def __len__(self) -> int:
        return self._count

    def __str__(self) -> str:
        order = "in order" if self.seed is None else f"by seed {self.seed}, epoch {self.epoch}"
        return order + (f", rank {self.rank} of {self.ranks}" if self.ranks > 1 else "")

    def number(self, index: SupportsIndex) -> int:
        """Return the number at an index of the order of this rank."""
        place = checked_index(index, self._count, self._what) * self.ranks + self.rank
        return place if self._order is None else self._order[place]

    def numbers(self, indices: Any) -> NDArray[np.int64]:
        """Return the numbers at several indices."""
        import numpy as np

        places = np.asarray(indices, np.int64)
        if len(places):
            checked_index(places.min(), self._count, self._what)
            checked_index(places.max(), self._count, self._what)
        places = places % max(self._count, 1) * self.ranks + self.rank
        return places if self._order is None else self._order.many(places)


def checked_index(index: SupportsIndex, count: int, what: str) -> int:
    """Return an index of a sequence of `count` things, from the end if it is negative."""
    number = operator.index(index)
    if not -count <= number < count:
        raise IndexError(f"there is no {what} {number:,}: there are {count:,}, numbered from 0")
    return number + count if number < 0 else number
