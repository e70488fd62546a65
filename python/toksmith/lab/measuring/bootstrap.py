"""Confidence intervals of ratios of sums, by the bootstrap over documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# More documents than this are first divided among so many blocks at random, and blocks are drawn instead. The
# intervals hardly change, and time and memory depend on the number of blocks instead of the number of documents.
BLOCKS = 2000
# Fewer documents than this say too little about others: there is no interval.
LEAST_DOCUMENTS = 8


@dataclass(frozen=True)
class Estimate:
    """A ratio with its confidence interval.

    Attributes:
        value: The ratio.
        low: The lower end of the interval; None if there is no interval: with fewer than 8 documents or no resamples.
        high: The upper end; None likewise.
    """

    value: float
    low: float | None = None
    high: float | None = None


class Bootstrap:
    """Draws documents with replacement, as many as there are, again and again: the percentile bootstrap.

    The drawn documents depend only on the seed and on the number of documents, so all ratios of one set of documents
    use the same draws.

    Args:
        resamples: How often documents are drawn.
        level: The share of the resamples that an interval holds, such as 0.95.
        seed: The seed of the random numbers.
    """

    def __init__(self, resamples: int, level: float, seed: int) -> None:
        self.resamples, self.level, self.seed = resamples, level, seed
        self._of_blocks: NDArray[np.float64] | None = None

    def sums(self, columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the sums of each resample, of shape (resamples, columns).

        Args:
            columns: Numbers of each document, of shape (columns, documents).
        """
        count = columns.shape[1]
        found: NDArray[np.float64]
        if count <= BLOCKS:
            found = self._times(count) @ columns.T.astype(np.float64)
            return found
        block = np.random.default_rng([self.seed, count]).permutation(count) % BLOCKS
        sums = np.stack([np.bincount(block, column, BLOCKS) for column in columns])
        if self._of_blocks is None:
            self._of_blocks = self._times(BLOCKS)
        found = self._of_blocks @ sums.T
        return found

    def _times(self, count: int) -> NDArray[np.float64]:
        """Return how often each of `count` documents is drawn, of shape (resamples, documents)."""
        drawn = np.random.default_rng(self.seed).integers(0, count, (self.resamples, count))
        drawn += np.arange(self.resamples)[:, None] * count
        times = np.bincount(drawn.ravel(), minlength=self.resamples * count)
        return times.reshape(self.resamples, count).astype(np.float64)

    def ratios(self, columns: NDArray[np.int64], pairs: list[tuple[int, int]]) -> list[Estimate | None]:
        """Return the ratio of the sums of each pair of columns; None where the second is 0.

        Args:
            columns: As in `sums`.
            pairs: Two column numbers each: the dividend and the divisor.
        """
        totals = columns.sum(axis=1)
        drawn = self.sums(columns) if columns.shape[1] >= LEAST_DOCUMENTS and self.resamples else None
        return [self._ratio(totals, drawn, above, below) for above, below in pairs]

    def _ratio(
        self, totals: NDArray[np.int64], drawn: NDArray[np.float64] | None, above: int, below: int
    ) -> Estimate | None:
        if not totals[below]:
            return None
        value = float(totals[above] / totals[below])
        if drawn is None:
            return Estimate(value)
        # In a resample the divisor may be 0, such as the number of words.
        has_any = drawn[:, below] > 0
        if not has_any.any():
            return Estimate(value)
        ratios = drawn[has_any, above] / drawn[has_any, below]
        low, high = np.quantile(ratios, [(1 - self.level) / 2, (1 + self.level) / 2])
        return Estimate(value, float(low), float(high))
