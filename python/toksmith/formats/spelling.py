"""GPT-2's spelling of tokens: a character for each byte.

Printable bytes are written as themselves, the others as the characters from U+0100 on, so that no token holds a
space (GPT-2's release, src/encoder.py).

>>> spell(b" the"), unspell("Ġthe"), unspell("a b")
('Ġthe', b' the', None)
"""

from __future__ import annotations

from .._core import spell, unspell

__all__ = ["BYTE_ORDER", "spell", "unspell"]

BYTE_ORDER = tuple(sorted(range(256), key=lambda byte: spell(bytes([byte]))))
"""The 256 byte values in GPT-2's order, that of the ids in its vocabulary: by their characters."""
