"""Columns of numbers as text: compressed, in base64. `unpack.js` reads them."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...tokenizer import Tokenizer
from .. import parts
from ..automata import Automaton


def packed(columns: Sequence[ArrayLike]) -> str:
    """Return columns of numbers below 2^32 as a text of letters, digits and `+/=`.

    Each column is its length and then its numbers byte by byte: first the lowest byte of all numbers, last the
    highest. Bytes of one rank are alike, so this compresses better than number by number.
    """
    blocks = []
    for column in columns:
        numbers = np.asarray(column, "<u4")
        blocks += [np.array([len(numbers)], "<u4").tobytes(), numbers.view(np.uint8).reshape(-1, 4).T.tobytes()]
    return base64.b64encode(zlib.compress(b"".join(blocks), 9)).decode()


def steps(numbers: ArrayLike) -> NDArray[np.int64]:
    """Return, for each number, its distance from the number after the previous one.

    For 0, 1, 2, … these are zeros. A step back is a large number, since distances are taken modulo 2^32.
    """
    places = np.asarray(numbers, np.int64)
    if len(places):
        places = (places - np.concatenate([[-1], places[:-1]]) - 1) & 0xFFFF_FFFF
    return places


def of_automaton(automaton: Automaton) -> str:
    """Return an automaton as a block; `automaton.js` reads it. Classes are packed as stretches of equal ones."""
    firsts = np.flatnonzero(np.diff(automaton.classes, prepend=255))
    return packed([steps(firsts), automaton.classes[firsts], [automaton.symbols], automaton.transitions])


def of_vocabulary(tokenizer: Tokenizer) -> str:
    """Return the ordinary tokens and the merges of a tokenizer as a block; `tokenizer.js` reads it.

    Its columns are the ids in ascending order, as steps; the length of each token; the bytes of all tokens; and the
    two tokens of each merge, by the places of their ids. Without a list of merges the last two are empty. A
    vocabulary of 200,000 tokens takes about one megabyte.
    """
    ids, spelled = zip(*sorted(parts.ordinary_tokens(tokenizer).items()), strict=True)
    merges = tokenizer.merges if parts.has_merges(tokenizer) else []
    place_of = dict(zip(spelled, range(len(spelled)), strict=True))
    return packed(
        [
            steps(ids),
            list(map(len, spelled)),
            list(b"".join(spelled)),
            [place_of[left] for left, _ in merges],
            [place_of[right] for _, right in merges],
        ]
    )
