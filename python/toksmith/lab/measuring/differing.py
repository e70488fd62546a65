"""The documents on which two tokenizers differ most, kept while all documents pass by once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# Shorter documents in bytes are left out, since they differ by chance: one token more is half as many again of two.
LEAST_BYTES = 100
# Characters that are kept of a document, to choose what is shown of it.
KEPT_CHARACTERS = 50_000


class Kept(NamedTuple):
    """A document that is kept.

    Attributes:
        document: Its number in its file, from 0.
        file: The number of its file.
        text: Its first `KEPT_CHARACTERS` characters.
        first: Tokens that the first tokenizer makes of it.
        second: Tokens that the second one makes of it.
    """

    document: int
    file: int
    text: str
    first: int
    second: int

    @property
    def difference(self) -> float:
        """How many more tokens the second tokenizer makes, divided by those of the first; negative for fewer."""
        return self.second / self.first - 1


class Differing:
    """Keeps the documents on which the second tokenizer makes fewest, and most, tokens for each token of the first.

    Documents of less than `LEAST_BYTES` are left out. Of equal documents the first one is kept.

    Args:
        most: How many documents of either kind to keep.
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
        """Consider some documents. All arguments have one entry for each.

        Args:
            numbers: The number of the document in its file, from 0.
            files: The number of its file.
            texts: Its text, or the beginning of a long one.
            sizes: Its size in bytes.
            first: Tokens that the first tokenizer makes of it.
            second: Tokens that the second one makes of it.
        """
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
