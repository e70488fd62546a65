"""Bytes that are a part of some UTF-8 text, and texts that they are a part of."""

from __future__ import annotations

import codecs
import itertools
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_CONTINUATIONS = range(0x80, 0xC0)
# The first byte of a character of two, three and four bytes.
_LEADS = {2: range(0xC2, 0xE0), 3: range(0xE0, 0xF0), 4: range(0xF0, 0xF5)}
# Planes without characters: hardly any vocabulary has tokens for their bytes, so these stay apart.
_RARE = (0xF1, 0xF2, 0xF3)


def is_in_text(data: bytes) -> bool:
    r"""Return whether some UTF-8 text has these bytes somewhere.

    >>> is_in_text(b"\xa9 \xe2\x80"), is_in_text(b"\xff"), is_in_text(b"\xed\xa0"), is_in_text(b"\x80" * 4)
    (True, False, False, False)
    """
    head, rest = _apart(data)
    if len(head) > 3:
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(rest)
    except UnicodeDecodeError:
        return False
    return True


def tail_of(data: bytes) -> tuple[int, str, tuple[int, int] | None]:
    r"""Return bytes that are in some text as: bytes that end a character, whole characters, the range of the last.

    The range is that of the code points of which the last bytes are the beginning, from its first to behind its last;
    None where the bytes end with a whole character.

    >>> tail_of(b"\xa9a\xe2\x80") == (1, "a", (0x2000, 0x2040))
    True
    """
    head, rest = _apart(data)
    decoder = codecs.getincrementaldecoder("utf-8")()
    text = decoder.decode(rest)
    begun = decoder.getstate()[0]
    return len(head), text, _range(begun) if begun else None


def _range(begun: bytes) -> tuple[int, int]:
    missing = _length(begun[0]) - len(begun)
    value = begun[0] & (0x7F >> _length(begun[0]))
    for byte in begun[1:]:
        value = value << 6 | byte & 0x3F
    # Some of these are no characters: overlong ones, surrogates, those above the last one.
    return value << 6 * missing, (value + 1) << 6 * missing


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
    head, rest = _apart(data)
    if not rest:
        yield from _valid(before + data + after for before, after in _around(len(head)))
        return
    decoder = codecs.getincrementaldecoder("utf-8")()
    decoder.decode(rest)
    begun = decoder.getstate()[0]
    befores = list(_befores(len(head))) if head else [b""]
    afters = list(_runs(_length(begun[0]) - len(begun))) if begun else [b""]
    # All of the one kind are seen with the first ones of the other.
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
    """Yield what may stand before the last `count` bytes of a character, to make it whole."""
    for length in (4, 3, 2):
        if length > count:
            leads = sorted(_LEADS[length], key=lambda lead: lead not in _RARE)
            for inner in itertools.islice(_runs(length - count - 1), 24):
                yield from (bytes([lead]) + inner for lead in leads)


def _around(count: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield what may stand before and after `count` bytes inside of a character."""
    for length in (4, 3, 2):
        for after in range(length - count):
            for last in itertools.islice(_runs(after), 16):
                for before in itertools.islice(_runs(length - count - after - 1), 16):
                    for lead in sorted(_LEADS[length], key=lambda lead: lead not in _RARE):
                        yield bytes([lead]) + before, last


def _runs(count: int) -> Iterator[bytes]:
    """Yield runs of `count` continuation bytes: all of one, a sample of longer ones."""
    if count == 0:
        yield b""
    elif count == 1:
        yield from (bytes([byte]) for byte in _CONTINUATIONS)
    else:
        chosen = random.Random(count)
        for _ in range(192):
            yield bytes(chosen.choices(_CONTINUATIONS, k=count))
