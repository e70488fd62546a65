"""Bytes, characters, words and scripts of texts, counted in NumPy for a whole batch at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from . import scripts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class Characters(NamedTuple):
    """Counts of several texts: arrays of `int64` of shape (texts,).

    `scripts` has the shape (texts, scripts): the characters of each script, in the order of `scripts.NAMES`.
    """

    bytes: NDArray[np.int64]
    characters: NDArray[np.int64]
    words: NDArray[np.int64]
    scripts: NDArray[np.int64]


class CharacterCounter:
    """Counts characters of texts.

    A word is a run of characters between whitespace, as in `str.split`. A character is a code point.
    """

    def __init__(self) -> None:
        self._scripts = scripts.ScriptTable()
        self._is_space = np.zeros(0x110000, bool)
        # All whitespace is in the Basic Multilingual Plane.
        self._is_space[[point for point in range(0x10000) if chr(point).isspace()]] = True

    def count(self, texts: Sequence[str], inside: bool = False) -> Characters:
        """Return the counts of each text.

        Args:
            texts: The texts.
            inside: Whether the first text continues a word whose beginning was counted before.

        Raises:
            ValueError: A text has a lone surrogate.
        """
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        starts = np.concatenate([[0], lengths.cumsum()])
        points = _code_points("".join(texts))
        is_letter = ~self._is_space[points]
        begins = is_letter.copy()
        begins[1:] &= ~is_letter[:-1]
        # The first character of a text begins a word whatever the text before it ends with.
        firsts = starts[:-1][lengths > 0]
        begins[firsts] = is_letter[firsts]
        if inside and len(points):
            begins[0] = False
        row = np.repeat(np.arange(len(texts)) * len(scripts.NAMES), lengths)
        of_scripts = np.bincount(row + self._scripts.of(points), minlength=len(texts) * len(scripts.NAMES))
        sizes = np.ones(len(points), np.uint8)
        for least in (0x80, 0x800, 0x10000):
            sizes += points >= least
        return Characters(
            _sums(sizes, starts), lengths, _sums(begins, starts), of_scripts.reshape(len(texts), len(scripts.NAMES))
        )


def _code_points(text: str) -> NDArray[np.uint32]:
    try:
        if text.isascii():
            return np.frombuffer(text.encode(), np.uint8).astype(np.uint32)
        return np.frombuffer(text.encode("utf-32-le"), "<u4").astype(np.uint32, copy=False)
    except UnicodeEncodeError as error:
        raise ValueError(f"a text has a lone surrogate, {text[error.start]!r}: it is no Unicode text") from None


def _sums(values: NDArray[np.generic], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sum of the values of each text."""
    totals = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=totals[1:], dtype=np.int64)
    found: NDArray[np.int64] = totals[starts[1:]] - totals[starts[:-1]]
    return found
