r"""The members of a set such as `[^\s"a-z]`: classes, which `regex` must look up, and characters, which are known.

Looking a set up takes time with each member. So the characters are left out of it where that changes nothing.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from . import characters
from .characters import Ranges


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
    edges = [0, *(edge for span in ranges for edge in span), characters.CODE_POINTS]
    return tuple((start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if start < end)
