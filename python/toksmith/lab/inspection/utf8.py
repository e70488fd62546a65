"""Bytes that are a part of some UTF-8 text, and texts that they are a part of."""

from __future__ import annotations

import codecs
import itertools
import random
from collections.abc import Iterator
from typing import NamedTuple

from .inside import Codes

_CONTINUATIONS = range(0x80, 0xC0)
# The first byte of a character of two, three and four bytes.
_LEADS = {2: range(0xC2, 0xE0), 3: range(0xE0, 0xF0), 4: range(0xF0, 0xF5)}
# The code points of characters of so many bytes.
_CHARACTERS = {2: ((0x80, 0x800),), 3: ((0x800, 0xD800), (0xE000, 0x10000)), 4: ((0x10000, 0x110000),)}
# Planes without characters: hardly any vocabulary has tokens for their bytes, so these stay apart.
_RARE = (0xF1, 0xF2, 0xF3)


def is_in_text(data: bytes) -> bool:
    r"""Return whether some UTF-8 text has these bytes somewhere.

    >>> is_in_text(b"\xa9 \xe2\x80"), is_in_text(b"\xff"), is_in_text(b"\xed\xa0"), is_in_text(b"\x80" * 4)
    (True, False, False, False)
    """
    head, tail = _apart(data)
    if len(head) > 3:
        return False
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(tail)
    except UnicodeDecodeError:
        return False
    begun = decoder.getstate()[0]
    # Python refuses some characters, such as surrogates, only after their last byte.
    return not begun or any(_last(begun).meet(*codes) for codes in _CHARACTERS[_length(begun[0])])


class Shape(NamedTuple):
    """The characters that some bytes of a text belong to.

    Attributes:
        firsts: The code points that the first character may be, if it begins before the bytes; else empty.
        text: The whole characters.
        last: The code points that the last character may be, if it begins in the bytes and ends after them; else
            None.
    """

    firsts: list[Codes]
    text: str
    last: Codes | None


def shape(data: bytes) -> Shape:
    r"""Return the characters that bytes of a text are parts of.

    >>> shape(b"a\xe2\x80")
    Shape(firsts=[], text='a', last=Codes(low=8192, width=64, period=0, minimum=0))
    """
    head, tail = _apart(data)
    # If no character follows these bytes, more bytes of their own character may follow.
    firsts = [_first(head, after) for after in range(1 if tail else 4 - len(head))] if head else []
    decoder = codecs.getincrementaldecoder("utf-8")()
    text = decoder.decode(tail)
    begun = decoder.getstate()[0]
    return Shape(firsts, text, _last(begun) if begun else None)


def _first(head: bytes, after: int) -> Codes:
    """Return the code points whose UTF-8 has these continuation bytes, followed by `after` more."""
    known = len(head) + after
    return Codes(_bits(head) << 6 * after, 1 << 6 * after, 1 << 6 * known, {1: 0x80, 2: 0x800, 3: 0x10000}[known])


def _last(begun: bytes) -> Codes:
    """Return the code points whose UTF-8 begins with these bytes."""
    length = _length(begun[0])
    missing = 6 * (length - len(begun))
    # Some of these code points are no characters: overlong forms, surrogates, numbers above the last code point.
    lead = begun[0] & (0x7F >> length)
    return Codes((lead << 6 * (len(begun) - 1) | _bits(begun[1:])) << missing, 1 << missing)


def _bits(continuations: bytes) -> int:
    value = 0
    for byte in continuations:
        value = value << 6 | byte & 0x3F
    return value


def _apart(data: bytes) -> tuple[bytes, bytes]:
    """Return the bytes before the first one that begins a character, and the rest."""
    start = next((at for at, byte in enumerate(data) if byte & 0xC0 != 0x80), len(data))
    return data[:start], data[start:]


def _length(lead: int) -> int:
    return 4 if lead >= 0xF0 else 3 if lead >= 0xE0 else 2


def texts_with(data: bytes) -> Iterator[str]:
    r"""Yield texts that have these bytes, which are no whole characters, somewhere; the same in each run.

    >>> next(texts_with(b"\xe6\x97")).encode()[:2] == b"\xe6\x97"
    True
    """
    head, tail = _apart(data)
    if not tail:
        yield from _valid(before + data + after for before, after in _around(len(head)))
        return
    decoder = codecs.getincrementaldecoder("utf-8")()
    decoder.decode(tail)
    begun = decoder.getstate()[0]
    befores = list(_befores(len(head))) if head else [b""]
    afters = list(_runs(_length(begun[0]) - len(begun))) if begun else [b""]
    # By diagonals, so that each beginning comes early together with the first ends, and each end with the first
    # beginnings.
    for sum_ in range(len(befores) + len(afters) - 1):
        for first in range(max(0, sum_ - len(afters) + 1), min(sum_ + 1, len(befores))):
            yield from _valid(iter([befores[first] + data + afters[sum_ - first]]))


def _valid(candidates: Iterator[bytes]) -> Iterator[str]:
    for candidate in candidates:
        try:
            yield candidate.decode()
        except UnicodeDecodeError:
            continue


def _befores(count: int) -> Iterator[bytes]:
    """Yield bytes that make a whole character when they stand before its last `count` bytes."""
    for length in (4, 3, 2):
        if length > count:
            leads = sorted(_LEADS[length], key=lambda lead: lead not in _RARE)
            for inner in itertools.islice(_runs(length - count - 1), 24):
                yield from (bytes([lead]) + inner for lead in leads)


def _around(count: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield pairs of bytes that make a whole character before and after `count` bytes inside it."""
    for length in (4, 3, 2):
        for after in range(length - count):
            for last in itertools.islice(_runs(after), 16):
                for before in itertools.islice(_runs(length - count - after - 1), 16):
                    for lead in sorted(_LEADS[length], key=lambda lead: lead not in _RARE):
                        yield bytes([lead]) + before, last


def _runs(count: int) -> Iterator[bytes]:
    """Yield runs of `count` continuation bytes: all runs of one byte, a fixed sample of longer ones."""
    if count == 0:
        yield b""
    elif count == 1:
        yield from (bytes([byte]) for byte in _CONTINUATIONS)
    else:
        chosen = random.Random(count)
        for _ in range(192):
            yield bytes(chosen.choices(_CONTINUATIONS, k=count))
