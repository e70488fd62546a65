"""Bytes, characters, words and scripts of texts, counted in NumPy for a whole batch at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import characters as unicode

NO_SCRIPT, OTHER, JAPANESE = "no script", "other scripts", "Japanese"
NAMES = (NO_SCRIPT, OTHER, *(name.replace("_", " ") for name in unicode.WIDELY_USED))
"""The scripts that are counted: none, one that is not listed, and listed ones."""

_UNSPACED = {"Han", "Hiragana", "Katakana", "Bopomofo", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan", "Yi"}
UNSPACED = np.array([name in _UNSPACED for name in NAMES])
"""Which scripts are written without spaces between words."""
_JAPANESE = [NAMES.index(name) for name in ("Han", "Hiragana", "Katakana")]
# Chinese text quotes some kana; Japanese text has more of it than this share of its letters.
_KANA_SHARE = 0.1
_NUMBERS = {name.replace(" ", "_"): number for number, name in enumerate(NAMES)}
_NUMBERS |= dict.fromkeys(unicode.NO_SCRIPT, NAMES.index(NO_SCRIPT))
_UNKNOWN = 255
_CODE_POINTS = 0x110000


class Characters(NamedTuple):
    """Counts of several texts: arrays of `int64` of shape (texts,).

    `scripts` has the shape (texts, scripts): the characters of each script, in the order of `NAMES`.
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
        # Each script is looked up when it is first met: looking all up would take seconds.
        self._scripts = np.full(_CODE_POINTS, _UNKNOWN, np.uint8)
        self._is_space = np.zeros(_CODE_POINTS, bool)
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
        row = np.repeat(np.arange(len(texts)) * len(NAMES), lengths)
        of_scripts = np.bincount(row + self._scripts_of(points), minlength=len(texts) * len(NAMES))
        sizes = np.ones(len(points), np.uint8)
        for first in (0x80, 0x800, 0x10000):
            sizes += points >= first
        return Characters(
            _sums(sizes, starts), lengths, _sums(begins, starts), of_scripts.reshape(len(texts), len(NAMES))
        )

    def _scripts_of(self, points: NDArray[np.uint32]) -> NDArray[np.uint8]:
        """Return the number of the script of each code point: its place in `NAMES`."""
        unknown = np.unique(points[self._scripts[points] == _UNKNOWN])
        for character, script in unicode.scripts_of("".join(map(chr, unknown.tolist()))).items():
            self._scripts[ord(character)] = _NUMBERS.get(script, NAMES.index(OTHER))
        return self._scripts[points]


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
    return np.diff(totals[starts])


def dominating(counts: NDArray[np.int64]) -> list[str]:
    """Return the script of each document: the one that most of its characters belong to.

    Characters of no script (digits, punctuation, spaces, emoji) do not count. In a document in which kana are at
    least a tenth of kana and Han together, both count as one script, "Japanese". Of scripts with equal counts the
    first in `NAMES` is taken.
    """
    counts = counts.copy()
    counts[:, NAMES.index(NO_SCRIPT)] = 0
    together = counts[:, _JAPANESE].sum(axis=1)
    kana = together - counts[:, NAMES.index("Han")]
    is_japanese = (kana > 0) & (kana >= _KANA_SHARE * together)
    counts[np.ix_(is_japanese, _JAPANESE)] = 0
    best = counts.argmax(axis=1)
    largest = counts.max(axis=1, initial=0)
    is_japanese &= together >= largest
    names = np.array([*NAMES, JAPANESE], object)
    best[largest == 0] = NAMES.index(NO_SCRIPT)
    best[is_japanese] = len(NAMES)
    return list(names[best])
