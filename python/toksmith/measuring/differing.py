"""The documents on which two tokenizers differ most, kept while others pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# A shorter document differs by chance: of two tokens, one more is a half more.
LEAST_BYTES = 100
# Characters that are kept of a document, to choose what is shown of it.
KEPT_CHARACTERS = 50_000


class Kept(NamedTuple):
    """A document: its number in its file, from 0, the number of the file, its beginning, its tokens under both."""

    document: int
    file: int
    text: str
    first: int
    second: int

    @property
    def difference(self) -> float:
        """How many more tokens the second tokenizer makes, as a share of those of the first."""
        return self.second / self.first - 1


class Differing:
    """Keeps the documents on which a second tokenizer makes fewest tokens for each of the first, and most.

    Documents of less than 100 bytes are left out. Of equals the first one is kept.

    Args:
        most: How many of either kind.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.fewer: list[Kept] = []
        self.more: list[Kept] = []

    def add(
        self,
        numbers: Sequence[int],
        files: Sequence[int],
        texts: Sequence[str],
        sizes: NDArray[np.int64],
        first: NDArray[np.int64],
        second: NDArray[np.int64],
    ) -> None:
        """Take documents, with their numbers in their files, their sizes in bytes, and their tokens under both."""
        if not self._most:
            return
        able = np.flatnonzero((sizes >= LEAST_BYTES) & (first > 0))
        ratio = second[able] / first[able]
        self.fewer = self._best(self.fewer, able[ratio < 1], ratio[ratio < 1], numbers, files, texts, first, second)
        self.more = self._best(self.more, able[ratio > 1], -ratio[ratio > 1], numbers, files, texts, first, second)

    def _best(
        self,
        kept: list[Kept],
        rows: NDArray[np.int64],
        order: NDArray[np.float64],
        numbers: Sequence[int],
        files: Sequence[int],
        texts: Sequence[str],
        first: NDArray[np.int64],
        second: NDArray[np.int64],
    ) -> list[Kept]:
        chosen = rows[np.argsort(order, kind="stable")[: self._most]].tolist()
        new = [
            Kept(numbers[row], files[row], texts[row][:KEPT_CHARACTERS], int(first[row]), int(second[row]))
            for row in chosen
        ]
        return sorted(kept + new, key=lambda one: -abs(one.difference))[: self._most]
