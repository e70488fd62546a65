"""The order in which several processes read numbered things, and how they share them."""

from __future__ import annotations

import bisect
import functools
import itertools
import operator
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

from .._internal import arguments
from .permutation import Permutation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Order:
    """The numbers below a count that one of `ranks` processes reads, in the order of a seed and an epoch.

    Rank r has every `ranks`-th number of the order, from place r on; all ranks have equally many. The numbers are in
    groups of these sizes, which stay together: groups are shuffled, and the numbers in each.
    """

    def __init__(
        self, what: str, groups: Sequence[int], *, seed: int | None, rank: int, ranks: int, epoch: int
    ) -> None:
        self._what = what
        self.seed = None if seed is None else arguments.whole("seed", seed)
        self.ranks = arguments.checked_limit("ranks", ranks, 1)
        self.rank = arguments.checked_limit("rank", rank, 0)
        self.epoch = arguments.checked_limit("epoch", epoch, 0)
        if self.rank >= self.ranks:
            raise ValueError(f"rank is {self.rank}, and ranks are numbered from 0 to {self.ranks - 1}")
        self._count = sum(groups) // self.ranks
        numbers: Iterable[int] = range(len(groups))
        if self.seed is not None and len(groups) > 1:
            order = self._permutation(0, len(groups))
            numbers = [order[number] for number in numbers]
        firsts = [0, *itertools.accumulate(groups)]
        # Of each group in the order: its number, its first number, and its size.
        self._groups = [(group, firsts[group], groups[group]) for group in numbers]
        self._starts = [0, *itertools.accumulate(size for _, _, size in self._groups)]

    def _permutation(self, group: int, size: int) -> Permutation:
        return _permutation(size, (self.seed or 0) + group, self.epoch)

    def __len__(self) -> int:
        return self._count

    def __str__(self) -> str:
        order = "in order" if self.seed is None else f"by seed {self.seed}, epoch {self.epoch}"
        return order + (f", rank {self.rank} of {self.ranks}" if self.ranks > 1 else "")

    def number(self, index: SupportsIndex) -> int:
        """Return the number at an index of the order of this rank."""
        place = checked_index(index, self._count, self._what) * self.ranks + self.rank
        at = bisect.bisect_right(self._starts, place) - 1
        group, first, size = self._groups[at]
        place -= self._starts[at]
        return first + (place if self.seed is None else self._permutation(group, size)[place])

    def numbers(self, indices: Any) -> NDArray[np.int64]:
        """Return the numbers at several indices of an order of one group."""
        import numpy as np

        places = np.asarray(indices, np.int64)
        if len(places):
            checked_index(places.min(), self._count, self._what)
            checked_index(places.max(), self._count, self._what)
        places = places % max(self._count, 1) * self.ranks + self.rank
        return places if self.seed is None or not self._count else self._permutation(0, self._starts[-1]).many(places)


_permutation = functools.lru_cache(8)(Permutation)


def checked_index(index: SupportsIndex, count: int, what: str) -> int:
    """Return an index of a sequence of `count` things, from the end if it is negative."""
    number = operator.index(index)
    if not -count <= number < count:
        raise IndexError(f"there is no {what} {number:,}: there are {count:,}, numbered from 0")
    return number + count if number < 0 else number
