"""The size of what `regex` would build for a pattern, estimated from its text before it is compiled.

`regex` copies a part that is repeated at least n times n times, so a pattern of 30 characters can take gigabytes.
`patterns` checks the size before each compilation, wherever the pattern comes from.
"""

from __future__ import annotations

import re
import sys

from .._internal.messages import shown

MAX_PARTS = 50_000
"""Most parts of a pattern, each counted as often as `regex` writes it out. A part takes at most 2 KB.

The largest published patterns have some hundred.
"""
MAX_LENGTH = 50_000
"""Most characters of a pattern."""

# Flags of `regex`.
_VERBOSE = 0x40
_VERSION1 = 0x100
_FULLCASE = 0x4000

# Parts of a range under full case folding, where `regex` adds all sequences that fold into the range.
_RANGE_PARTS = 200
# A larger count is cut to this one.
_COUNT_LIMIT = 10**15

_INLINE = re.compile(r"\(\?([A-Za-z0-9-]+)")
_PIECE = re.compile(
    r"\\."  # an escape
    r"|(?P<set>\[\^?(?:\\.|[^\\])?(?:\\.|[^\]\\])*(?:\]|\\?\Z))"
    r"|\{(?P<least>[0-9]*)(?P<comma>,?)[0-9]*\}"
    r"|(?P<flags>\(\?[A-Za-z0-9-]*\))"  # a quantifier after flags belongs to the part before them
    r"|(?P<other>.)",
    re.S,
)
_LEAST = re.compile(r"\{([0-9\s]*)(#?)")


def check(text: str, flags: int = 0) -> None:
    """Refuse a pattern of more than `MAX_PARTS` parts. Cost: linear in the length, up to `MAX_LENGTH`."""
    check_length(text)
    count = parts(text, flags)
    if count > MAX_PARTS:
        raise ValueError(
            f"the pattern {shown(text)} comes to {count} parts, more than {MAX_PARTS}: it is not compiled; a part "
            "that is repeated at least n times counts n times"
        )


def check_length(text: str) -> None:
    """Refuse a pattern of more than `MAX_LENGTH` characters."""
    if len(text) > MAX_LENGTH:
        raise ValueError(
            f"the pattern {shown(text)} has {len(text)} characters, more than {MAX_LENGTH}: it is not compiled"
        )


def parts(text: str, flags: int = 0) -> int:
    """Return an upper bound of the parts that `regex` builds for a pattern, at most about 10^15.

    A pattern that `regex` reads by other rules (version 1, verbose, comments, POSIX classes in sets) is not parsed
    here: its bound is the length times the product of all repeat counts.
    """
    inline = "".join(_INLINE.findall(text))
    version1 = bool(flags & _VERSION1) or "V1" in inline or _default_is_version1()
    weight = _RANGE_PARTS if version1 or flags & _FULLCASE or "f" in inline else 1
    is_verbose = bool(flags & _VERBOSE) or "x" in inline
    if version1 or is_verbose or "(?#" in text or "[:" in text:
        return _loose(text, weight, is_verbose)
    return _close(text, weight)


def _default_is_version1() -> bool:
    """Return whether the program has changed the default version of `regex` to version 1."""
    if "regex" not in sys.modules:  # a program that changed it has imported it
        return False
    import regex  # another thread may still be importing it: this waits

    return bool(regex.DEFAULT_VERSION == regex.VERSION1)


def _loose(text: str, weight: int, is_verbose: bool) -> int:
    """Return the bound for any structure: the length times the product of all counts."""
    total = max(len(text) + (weight - 1) * text.count("-"), 1)
    for match in _LEAST.finditer(text):
        # In a verbose pattern a comment begins at #, and the digits of the count may continue after it.
        count = _COUNT_LIMIT if match[2] and is_verbose else int("".join(match[1].split())[:15] or 1)
        total = min(total * max(count, 1), _COUNT_LIMIT)
    return total


def _close(text: str, weight: int) -> int:
    """Return the parts of a pattern, read as `regex` reads its version 0."""
    outer: list[int] = []
    total, last = 0, 0
    for piece in _PIECE.finditer(text):
        character = piece["other"] or ""
        if piece["least"] is not None:
            minimum = piece["least"] or ("0" if piece["comma"] else "1")
            last, before = min(last * max(int(minimum[:15]), 1), _COUNT_LIMIT), last
            total += last - before
        elif piece["set"] is not None:
            last = len(piece["set"]) - 2 + (weight - 1) * piece["set"].count("-")
            total += last
        elif piece["flags"] is not None:
            total, last = total + 1, max(last, 1)
        elif character == "(":
            outer.append(total)
            total, last = 0, 0
        elif character == ")" and outer:
            last = total
            total += outer.pop()
        elif character not in ("*", "+", "?", "|"):
            total, last = total + 1, 1
    return min(total + sum(outer), _COUNT_LIMIT)
