"""Ids of a tokenizer beside those that encoding their text gives."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from .._core import align
from ..tokenizer import Tokenizer, tokenizer_of


def retokenization(tokenizer: Tokenizer | object, ids: Iterable[int]) -> list[tuple[int, int, list[int]]]:
    """Return where ids are not those of their own text.

    Returns:
        For each such stretch its start and end in `ids`, and the list of the ids that encoding the text of all `ids`
        has in its place. An empty list means that encoding gives `ids` again.

    Raises:
        KeyError: An id has no token; names the id and its index.
        ValueError: Decoding does more than to join bytes, or encoding does not keep the bytes of the text.
    """
    tokenizer = tokenizer_of(tokenizer)
    # An iterator may have no end: the first wrong id ends the call.
    first, second = itertools.tee(ids)
    text = tokenizer.decode_bytes(first)
    old, new = list(second), tokenizer.encode(text)
    ends = align(tokenizer, old, tokenizer, new).tolist()
    return [
        (start, end, new[other:end_of_other])
        for (start, other), (end, end_of_other) in itertools.pairwise(ends)
        if old[start:end] != new[other:end_of_other]
    ]
