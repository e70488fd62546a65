"""Word ids: for each id of a text, the number of the pretoken that it is in."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...tokenizer import Tokenizer


def word_ids(tokenizer: Tokenizer, text: str, special: bool) -> list[int]:
    """Return for each id the number of its pretoken; an added token counts as one. Dropped text has no number."""
    return tokenizer._core.encode_words(text, special)[2]
