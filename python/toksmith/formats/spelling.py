"""GPT-2's spelling of tokens: a character for each byte.

Printable bytes are written as themselves, the others as the characters from U+0100 on, so that no token holds a
space (GPT-2's release, src/encoder.py).
"""

from __future__ import annotations

PRINTABLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
"""The bytes that are written as themselves."""

BYTE_ORDER = (*PRINTABLE, *(byte for byte in range(256) if byte not in PRINTABLE))
"""The 256 byte values in GPT-2's order: that of the ids in its vocabulary."""


_OTHERS = BYTE_ORDER[len(PRINTABLE) :]
_CHARACTERS = {byte: chr(byte) for byte in PRINTABLE} | {byte: chr(256 + i) for i, byte in enumerate(_OTHERS)}
_BYTES = {ord(character): byte for byte, character in _CHARACTERS.items()}
# A character below U+0100 that spells no byte becomes a character that Latin-1 does not have.
_TRANSLATION = {number: _BYTES.get(number, 0x100) for number in range(0x100)} | _BYTES


def spell(token: bytes) -> str:
    """Return the spelling of a token's bytes.

    >>> spell(b" the")
    'Ġthe'
    """
    return "".join([_CHARACTERS[byte] for byte in token])


def unspell(text: str) -> bytes | None:
    """Return the bytes of a spelling; None if it holds a character that stands for no byte.

    >>> unspell("Ġthe"), unspell("a b")
    (b' the', None)
    """
    try:
        return text.translate(_TRANSLATION).encode("latin-1")
    except UnicodeEncodeError:
        return None
