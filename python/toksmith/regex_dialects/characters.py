"""The characters that a part of a pattern matches: `regex` itself is run on all code points.

So the tables of the compiled engine are those of the installed `regex`, whatever its version of Unicode, with its own
rules of `(?i)` and of set operations.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

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


# Sets such as `[^\s"a-z]`: looking one up takes time with each member, so known characters are left out of it


class Members(NamedTuple):
    """What stands in a set: the classes as they are written, and the ranges of the characters."""

    negated: bool
    classes: list[str]
    ranges: Ranges


# `regex` reads `\p{` with anything that no property's name has, such as `\p{[L}`, as the letter p and a brace.
CLASS = re.compile(r"\\(?:[sSdDwWh]|[pP](?:\{\^?[A-Za-z0-9_ =:.&-]+\}|[A-Z]))")
HEX = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))")
CONTROLS = {"r": "\r", "n": "\n", "t": "\t", "f": "\f", "v": "\v", "a": "\a"}
SET_OPERATORS = ("--", "&&", "~~", "||")


def members(source: str) -> Members | None:
    r"""Return the members of a set, or None where sets stand inside it or a member is read by other rules.

    >>> members(r"[^\sa-c\n]")
    Members(negated=True, classes=['\\s'], ranges=((10, 11), (97, 100)))
    """
    negated = source.startswith("[^")
    body = source[1 + negated : -1]
    if "[" in body or any(operator in body for operator in SET_OPERATORS):
        return None
    classes, ranges, at = list[str](), list[tuple[int, int]](), 0
    while at < len(body):
        if known := CLASS.match(body, at):
            classes.append(known[0])
            at = known.end()
            if body.startswith("-", at) and at + 1 < len(body):
                return None
            continue
        first, at = _code(body, at)
        last = first
        if body.startswith("-", at) and at + 1 < len(body):
            last, at = _code(body, at + 1)
        if first is None or last is None or last < first:
            return None
        ranges.append((first, last + 1))
    return Members(negated, list(dict.fromkeys(classes)), joined(ranges))


def _code(body: str, at: int) -> tuple[int | None, int]:
    """Return the code point of the character at a place, None if it is no character, and where it ends."""
    if body[at] != "\\":
        return ord(body[at]), at + 1
    if match := HEX.match(body, at):
        code = int(match[1] or match[2] or match[3], 16)
        return (code if code <= 0x10FFFF else None), match.end()
    letter = body[at + 1 : at + 2]
    if letter in CONTROLS and letter:
        return ord(CONTROLS[letter]), at + 2
    is_plain = letter.isascii() and not letter.isalnum() and letter != ""
    return (ord(letter) if is_plain else None), at + 2


def joined(ranges: list[tuple[int, int]]) -> Ranges:
    """Return ranges in order, those that touch as one.

    >>> joined([(5, 7), (1, 2), (2, 4), (6, 9)])
    ((1, 4), (5, 9))
    """
    merged = list[tuple[int, int]]()
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return tuple(merged)


def opposite(ranges: Ranges) -> Ranges:
    """Return the ranges of all other code points.

    >>> opposite(((0, 97), (98, 0x110000)))
    ((97, 98),)
    """
    edges = [0, *(edge for span in ranges for edge in span), CODE_POINTS]
    return tuple((start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if start < end)
