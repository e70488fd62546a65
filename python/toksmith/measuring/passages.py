"""The passage of a document that shows best how two tokenizers differ on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .results import Passage, PassageToken

if TYPE_CHECKING:
    from .encoders import Encoder

# Bytes of a passage, about; of a script of several bytes a character it has fewer characters.
SHOWN_BYTES = 240


def of(text: str, first: Encoder, second: Encoder, more: bool) -> Passage:
    """Return the passage of a text on which the second tokenizer has most tokens for each of the first, or fewest.

    A text that is longer than a passage is cut at whitespace where there is some, and each passage is encoded by
    itself. `more` asks for most tokens.
    """
    most = max(1, SHOWN_BYTES * len(text) // len(text.encode()))
    found = _passages(text, most)
    if len(found) > 1:
        ratios = np.diff(second.encode(found)[1]) / np.maximum(np.diff(first.encode(found)[1]), 1)
        sizes = np.array([len(passage) for passage in found])
        # The last passage may be too short to tell anything.
        order = np.where(sizes >= most // 2, ratios if more else -ratios, -np.inf)
        found = [found[int(order.argmax())]]
    passage = found[0]
    return Passage(passage, _of(first, passage), _of(second, passage))


def _passages(text: str, most: int) -> list[str]:
    found, start = [], 0
    while start < len(text):
        stop = start + most
        if stop < len(text):
            # At the last whitespace in the second half.
            cut = next((place for place in range(stop, stop - most // 2, -1) if text[place].isspace()), stop)
            stop = cut
        found.append(text[start:stop])
        start = stop
    return found


def _of(encoder: Encoder, text: str) -> tuple[PassageToken, ...] | None:
    tokens = encoder.tokens(text)
    return None if tokens is None else tuple(PassageToken(id, token) for id, token in tokens)
