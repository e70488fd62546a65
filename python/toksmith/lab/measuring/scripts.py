"""The script of each character (Unicode's property Script), and the script that a document is written in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import scripts as unicode_scripts

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_SCRIPT, OTHER, JAPANESE = "no script", "other scripts", "Japanese"
NAMES = (NO_SCRIPT, OTHER, *(name.replace("_", " ") for name in unicode_scripts.WIDELY_USED))
"""The names of the numbers that `ScriptTable.of` returns: no script, a script that is not listed, listed scripts."""

_UNSPACED = {"Han", "Hiragana", "Katakana", "Bopomofo", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan", "Yi"}
UNSPACED = np.array([name in _UNSPACED for name in NAMES])
"""Which scripts are written without spaces between words."""
_JAPANESE = [NAMES.index(name) for name in ("Han", "Hiragana", "Katakana")]
# Chinese text quotes some kana; Japanese text has more of it than this share of its letters.
_KANA_SHARE = 0.1
_NUMBERS = {name.replace(" ", "_"): number for number, name in enumerate(NAMES)}
_NUMBERS |= dict.fromkeys(unicode_scripts.NO_SCRIPT, NAMES.index(NO_SCRIPT))
_UNKNOWN = 255
_CODE_POINTS = 0x110000


class ScriptTable:
    """The scripts of code points, each looked up when it is first met: looking all up would take seconds."""

    def __init__(self) -> None:
        self._table = np.full(_CODE_POINTS, _UNKNOWN, np.uint8)

    def of(self, code_points: NDArray[np.uint32]) -> NDArray[np.uint8]:
        """Return the number of the script of each code point: its place in `NAMES`."""
        found = self._table[code_points]
        if (found == _UNKNOWN).any():
            self._learn(np.unique(code_points[found == _UNKNOWN]))
            found = self._table[code_points]
        return found

    def _learn(self, code_points: NDArray[np.uint32]) -> None:
        for character, script in unicode_scripts.find("".join(map(chr, code_points.tolist()))).items():
            self._table[ord(character)] = _NUMBERS.get(script, NAMES.index(OTHER))


def dominating(counts: NDArray[np.int64]) -> list[str]:
    """Return the script of each document: the one that most of its characters belong to.

    Characters of no script (digits, punctuation, spaces, emoji) do not count. In a document in which kana are at
    least a tenth of kana and Han together, both count as one script, "Japanese". Of scripts with equal counts the
    first in `NAMES` is taken.

    Args:
        counts: How many characters of each script a document has, of shape (documents, scripts).
    """
    counts = counts.copy()
    counts[:, NAMES.index(NO_SCRIPT)] = 0
    together = counts[:, _JAPANESE].sum(axis=1)
    kana = together - counts[:, NAMES.index("Han")]
    is_japanese = (kana > 0) & (kana >= _KANA_SHARE * together)
    counts[np.ix_(is_japanese, _JAPANESE)] = 0
    best = counts.argmax(axis=1)
    most = counts.max(axis=1, initial=0)
    is_japanese &= together >= most
    names = np.array([*NAMES, JAPANESE], object)
    best[most == 0] = NAMES.index(NO_SCRIPT)
    best[is_japanese] = len(NAMES)
    found: list[str] = names[best].tolist()
    return found
