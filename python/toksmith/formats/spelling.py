"""GPT-2's spelling of tokens: a character for each byte.

Printable bytes are written as themselves, the others as the characters from U+0100 on, so that no token holds a
space (GPT-2's release, src/encoder.py).
"""

from __future__ import annotations

import functools

PRINTABLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
"""The bytes that are written as themselves."""

BYTE_ORDER = (*PRINTABLE, *(byte for byte in range(256) if byte not in PRINTABLE))
"""The 256 byte values in GPT-2's order: that of the ids in its vocabulary."""


@functools.lru_cache(maxsize=1)
def _characters() -> dict[int, str]:
    others = BYTE_ORDER[len(PRINTABLE) :]
    return {byte: chr(byte) for byte in PRINTABLE} | {byte: chr(256 + i) for i, byte in enumerate(others)}


@functools.lru_cache(maxsize=1)
def _translation() -> dict[int, int]:
    """Return the table of `str.translate` from spellings to characters with the numbers of the bytes.

    A character below U+0100 that spells no byte becomes one that Latin-1 does not have.
    """
    bytes_of = {ord(character): byte for byte, character in _characters().items()}
    return {number: bytes_of.get(number, 0x100) for number in range(0x100)} | bytes_of


def spell(token: bytes) -> str:
    """Return the spelling of a token's bytes.

    >>> spell(b" the")
    'Ġthe'
    """
    characters = _characters()
    return "".join([characters[byte] for byte in token])


def unspell(text: str) -> bytes | None:
    """Return the bytes of a spelling; None if it holds a character that stands for no byte.

    >>> unspell("Ġthe"), unspell("a b")
    (b' the', None)
    """
    try:
        return text.translate(_translation()).encode("latin-1")
    except UnicodeEncodeError:
        return None
