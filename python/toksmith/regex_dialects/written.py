r"""Parts of a pattern as they are written for `regex`, and what a whole has to know of them; used by `fancy_regex`.

fancy-regex leaves out an empty match directly behind a match and continues at the next character, while `regex` tries
a longer match at the same place. Empty matches give no pretokens. So a pattern gives the same ones if it fails
wherever the other one would match the empty text: each part has a mark, an empty group, behind what takes a
character, and the whole asks for that group at its end.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_MARK = "(?P<nonempty>)"
IF_NONEMPTY = "(?(nonempty)|(?!))"
"""What the patterns that may match the empty text end with."""
_UNLIMITED = 10**6
_BOUNDS = re.compile(r"\{(\d*)(,?)(\d*)\}")


class Written(NamedTuple):
    """A part of a pattern, written for `regex`.

    `marked` is the pattern with its marks. `shortest` and `longest` count the characters that it takes. `backtracks`
    says that fancy-regex runs the part itself, and does not hand it to its automata.
    """

    pattern: str
    marked: str
    shortest: int
    longest: int
    backtracks: bool

    @property
    def varies(self) -> bool:
        """Whether two matches may differ in length."""
        return self.shortest != self.longest or self.longest >= _UNLIMITED

    def nonempty(self) -> str:
        """Return a pattern that matches as this one where this one takes a character, and nowhere else."""
        if self.shortest:
            return self.pattern
        return f"(?>{self.marked}){IF_NONEMPTY}" if _MARK in self.marked else "(?!)"

    def repeated(self, count: str, mode: str) -> Written:
        """Return the part with its count, such as "*" or "{1,3}", and its mode: "", "?" or "+"."""
        minimum, maximum = _bounds(count)
        return Written(
            f"{self.pattern}{count}{mode}",
            f"(?:{self.marked}){count}{mode}",
            self.shortest * minimum,
            min(self.longest * maximum, _UNLIMITED),
            self.backtracks or mode == "+",
        )

    def grouped(self, opening: str) -> Written:
        """Return the part in a group."""
        is_atomic = opening == "(?>"
        return Written(
            f"{opening}{self.pattern})",
            f"{opening}{self.marked})",
            self.shortest,
            self.longest,
            self.backtracks or is_atomic,
        )


def character(pattern: str, longest: int = 1) -> Written:
    """Return a part that takes a character."""
    return Written(pattern, pattern + _MARK, 1, longest, longest > 1)


def assertion(pattern: str, backtracks: bool = True) -> Written:
    """Return a part that takes no character."""
    return Written(pattern, pattern, 0, 0, backtracks)


def sequence(parts: list[Written]) -> Written:
    """Return parts in a row. One mark is enough where a character is taken in any case."""
    pattern = "".join(part.pattern for part in parts)
    shortest = sum(part.shortest for part in parts)
    marked = pattern + _MARK if shortest else "".join(part.marked for part in parts)
    return Written(
        pattern, marked, shortest, sum(part.longest for part in parts), any(part.backtracks for part in parts)
    )


def alternatives(branches: list[Written]) -> Written:
    """Return alternatives."""
    return Written(
        "|".join(branch.pattern for branch in branches),
        "|".join(branch.marked for branch in branches),
        min(branch.shortest for branch in branches),
        max(branch.longest for branch in branches),
        any(branch.backtracks for branch in branches),
    )


def _bounds(count: str) -> tuple[int, int]:
    braces = _BOUNDS.match(count)
    if not braces:
        return {"?": (0, 1), "*": (0, _UNLIMITED), "+": (1, _UNLIMITED)}[count]
    # Few digits, so that products stay small: a pattern of large counts is refused anyway (`size_limit`).
    minimum, maximum = (int(digits.lstrip("0")[:7] or 0) for digits in (braces[1], braces[3]))
    return minimum, (maximum if braces[3] else _UNLIMITED if braces[2] else minimum)
