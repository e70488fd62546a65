"""Bytes that are a part of some UTF-8 text, and texts that they are a part of."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
"""Code points."""

# The lowest code point of characters with so many continuation bytes.
_LOWEST = {1: 0x80, 2: 0x800, 3: 0x10000}
_CODE_POINTS = 0x110000
_SURROGATES = (0xD800, 0xE000)
# Characters that are tried before or after some bytes.
_MAX_TRIED = 512


def is_in_text(data: bytes) -> bool:
    r"""Return whether some UTF-8 text has these bytes somewhere.

    >>> is_in_text(b"\xa9 \xe2\x80"), is_in_text(b"\xff"), is_in_text(b"\xed\xa0"), is_in_text(b"\x80" * 4)
    (True, False, False, False)
    """
    head, tail = _apart(data)
    if len(head) > 3:
        return False
    try:
        _, begun = _decoded(tail)
    except UnicodeDecodeError:
        return False
    # Python refuses some characters, such as surrogates, only after their last byte.
    return not begun or len(_last(begun)) > 0


class Shape(NamedTuple):
    """The characters that some bytes of a text belong to."""

    # The code points that the first character may be, if it begins before the bytes; an array for each number of its
    # bytes that may come after them.
    firsts: list[Codes]
    text: str  # the whole characters
    last: Codes | None  # the code points that the last character may be, if it ends after the bytes


def shape(data: bytes) -> Shape:
    r"""Return the characters that bytes of a text are parts of.

    >>> firsts, text, last = shape(b"a\xe2\x80")
    >>> firsts, text, last[[0, -1]].tolist()
    ([], 'a', [8192, 8255])
    """
    head, tail = _apart(data)
    # If no character follows these bytes, more bytes of their own character may follow.
    firsts = [_first(head, after) for after in range(1 if tail else 4 - len(head))] if head else []
    text, begun = _decoded(tail)
    return Shape(firsts, text, _last(begun) if begun else None)


def _decoded(data: bytes) -> tuple[str, bytes]:
    """Return the whole characters of bytes that begin with one, and the bytes of a last one that is not whole."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    return decoder.decode(data), decoder.getstate()[0]


def _first(head: bytes, after: int) -> Codes:
    """Return the code points whose UTF-8 has these continuation bytes, followed by `after` more at its end."""
    known = len(head) + after
    starts = np.arange(_bits(head) << 6 * after, _CODE_POINTS, 1 << 6 * known)
    return _characters((starts[:, None] + np.arange(1 << 6 * after)).ravel(), _LOWEST[known])


def _last(begun: bytes) -> Codes:
    """Return the code points whose UTF-8 begins with these bytes."""
    length = 4 if begun[0] >= 0xF0 else 3 if begun[0] >= 0xE0 else 2
    missing = 6 * (length - len(begun))
    lead = begun[0] & (0x7F >> length)
    low = (lead << 6 * (len(begun) - 1) | _bits(begun[1:])) << missing
    return _characters(np.arange(low, low + (1 << missing)), _LOWEST[length - 1])


def _characters(codes: Codes, lowest: int) -> Codes:
    """Return the code points that are characters, from the lowest on."""
    is_character = (codes >= lowest) & (codes < _CODE_POINTS)
    return codes[is_character & ~((codes >= _SURROGATES[0]) & (codes < _SURROGATES[1]))]


def _bits(continuations: bytes) -> int:
    value = 0
    for byte in continuations:
        value = value << 6 | byte & 0x3F
    return value


def _apart(data: bytes) -> tuple[bytes, bytes]:
    """Return the bytes before the first one that begins a character, and the rest."""
    start = next((at for at, byte in enumerate(data) if byte & 0xC0 != 0x80), len(data))
    return data[:start], data[start:]


def texts_with(data: bytes) -> Iterator[str]:
    r"""Yield texts that have these bytes, which are no whole characters, somewhere; the same in each run.

    >>> next(texts_with(b"\xe6\x97")).encode()[:2] == b"\xe6\x97"
    True
    """
    firsts, text, last = shape(data)
    befores = _tried(np.concatenate(firsts)) if firsts else [""]
    afters = [""] if last is None else _tried(last)
    # By diagonals, so that each beginning comes early together with the first ends, and each end with the first
    # beginnings.
    for sum_ in range(len(befores) + len(afters) - 1):
        for first in range(max(0, sum_ - len(afters) + 1), min(sum_ + 1, len(befores))):
            yield f"{befores[first]}{text}{afters[sum_ - first]}"


def _tried(codes: Codes) -> list[str]:
    """Return some of the characters, in a random order that is the same in each run."""
    return list(map(chr, np.random.default_rng(0).permutation(codes)[:_MAX_TRIED].tolist()))
