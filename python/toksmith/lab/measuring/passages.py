"""The passage of a document on which two tokenizers differ most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .results import Passage, PassageToken

if TYPE_CHECKING:
    from .encoders import Encoder

# About how many bytes of UTF-8 a passage has. The limit in characters follows from the document's bytes a character.
SHOWN_BYTES = 240


def of(text: str, first: Encoder, second: Encoder, more: bool) -> Passage:
    """Return the passage of a text on which two tokenizers differ most.

    A longer text is cut into passages, at whitespace if there is some, and each passage is encoded by itself.

    Args:
        text: The document.
        first: The tokenizer that the other one is compared with.
        second: The other tokenizer.
        more: Whether to choose the passage with most tokens of `second` for each token of `first`; else with fewest.
    """
    most = max(1, SHOWN_BYTES * len(text) // len(text.encode()))
    found = _passages(text, most)
    if len(found) > 1:
        ratios = np.diff(second.encode(found)[1]) / np.maximum(np.diff(first.encode(found)[1]), 1)
        sizes = np.array([len(passage) for passage in found])
        # A passage of less than half of the length, as the last may be, is not chosen.
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
