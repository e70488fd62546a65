"""The ordinary tokens and the merges of a tokenizer, packed for the page."""

from __future__ import annotations

from ...tokenizer import Tokenizer
from .. import parts
from . import packing


def packed(tokenizer: Tokenizer) -> str:
    """Return the ordinary tokens and the merges of a tokenizer as a block; `tokenizer.js` reads it.

    Its columns are the ids in ascending order, as steps; the length of each token; the bytes of all tokens; and the
    two tokens of each merge, by the places of their ids. Without a list of merges the last two are empty. A
    vocabulary of 200,000 tokens takes about one megabyte.
    """
    ids, spelled = zip(*sorted(parts.ordinary_tokens(tokenizer).items()), strict=True)
    merges = tokenizer.merges if parts.has_merges(tokenizer) else []
    place_of = dict(zip(spelled, range(len(spelled)), strict=True))
    return packing.packed(
        [
            packing.steps(ids),
            list(map(len, spelled)),
            list(b"".join(spelled)),
            [place_of[left] for left, _ in merges],
            [place_of[right] for _, right in merges],
        ]
    )
