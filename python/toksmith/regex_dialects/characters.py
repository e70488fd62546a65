"""The characters that a part of a pattern matches: `regex` itself is run on all code points.

So the tables of the compiled engine are those of the installed `regex`, whatever its version of Unicode, with its own
rules of `(?i)` and of set operations.
"""

from __future__ import annotations

import functools
import re

Ranges = tuple[tuple[int, int], ...]
"""Code points; the end of each range is exclusive."""

CODE_POINTS = 0x110000
ALL = ((0, CODE_POINTS),)
_CLASS = re.compile(r"\\([dswp])")
_OPPOSITE_CLASS = re.compile(r"\\([DSWP])")


@functools.lru_cache(maxsize=1)
def all_characters() -> str:
    """Return all code points in order, surrogates included: 4 MB, made in 3 ms."""
    in_utf32 = bytearray(4 * CODE_POINTS)  # the lowest byte of each first; the highest is zero
    in_utf32[0::4] = bytes(range(256)) * (CODE_POINTS >> 8)
    in_utf32[1::4] = b"".join(bytes([byte]) * 256 for byte in range(256)) * (CODE_POINTS >> 16)
    in_utf32[2::4] = b"".join(bytes([plane]) * 65536 for plane in range(CODE_POINTS >> 16))
    return in_utf32.decode("utf-32-le", "surrogatepass")


@functools.lru_cache(maxsize=256)
def matched(source: str) -> Ranges:
    """Return the ranges of code points that a pattern of exactly one character matches, with its flags written in it.

    Cost: some milliseconds to some tens, once for each `source`.

    >>> matched("[a-cx]"), matched("(?i:k)")
    (((97, 100), (120, 121)), ((75, 76), (107, 108), (8490, 8491)))
    """
    import regex

    matches = regex.compile(f"{source}+", cache_pattern=False).finditer(all_characters())
    return tuple(match.span() for match in matches)


def negated(items: str) -> str:
    r"""Return an expression for one character that is not in a set, given the items of the set.

    `regex` 2026.11.15 matches every character by a negated set that has a class and the opposite class, such as
    `[^\s\S]`, which should match none. So a lookahead excludes the items where that could be.

    >>> negated("ab"), negated(r"\s\S")
    ('[^ab]', '(?:(?![\\s\\S])[\\s\\S])')
    """
    if _CLASS.search(items) and _OPPOSITE_CLASS.search(items):
        return f"(?:(?![{items}])[\\s\\S])"
    return f"[^{items}]"


def folded(characters: frozenset[str]) -> dict[str, Ranges]:
    """Return for each character the ranges that it matches under `(?i)`.

    One search finds the matches of all characters together; then each is searched among those only.
    """
    import regex

    letters = sorted(characters)
    any_of = "|".join(f"(?i:{regex.escape(letter)})" for letter in letters)
    candidates = [chr(code) for start, end in matched(f"(?V0)(?:{any_of})") for code in range(start, end)]
    ranges = {}
    for letter in letters:
        pattern = regex.compile(f"(?V0)(?i:{regex.escape(letter)})", cache_pattern=False)
        ranges[letter] = tuple((ord(other), ord(other) + 1) for other in candidates if pattern.match(other))
    return ranges
