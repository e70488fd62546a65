"""Ids of two texts in a row."""

from __future__ import annotations

from typing import NamedTuple


class EncodedPair(NamedTuple):
    """Ids with a border: what `Tokenizer.encode_pair` and `Tokenizer.append` return.

    Attributes:
        ids: All ids.
        border: How many of them are before the border.
        crosses: Whether the whole text, encoded at once, has a token with bytes of both sides.
    """

    ids: list[int]
    border: int
    crosses: bool
