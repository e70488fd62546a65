"""The ordinary tokens and the merges of a tokenizer, packed for the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ... import anatomy
from ...tokenizer import Tokenizer
from . import blocks


class _Merges(NamedTuple):
    """Merges in order. Tokens are given by their index, the position of their id among those of ordinary tokens."""

    left: list[int]
    right: list[int]
    result: list[int]


def packed(tokenizer: Tokenizer) -> str:
    """Return the ordinary tokens and the merges of a tokenizer as a block; `vocabulary.js` reads it.

    A token that a merge makes is not spelled: its bytes are those of its two parts. A vocabulary of 200,000 tokens
    takes about one megabyte.
    """
    ids, spelled = zip(*sorted(anatomy.ordinary_tokens(tokenizer).items()), strict=True)
    merges = _merges(tokenizer, spelled)
    literal = _not_made(len(ids), merges)
    return blocks.packed(
        [
            blocks.steps(ids),
            blocks.steps(literal),
            [len(spelled[index]) for index in literal],
            list(b"".join(spelled[index] for index in literal)),
            merges.left,
            merges.right,
            blocks.steps(merges.result),
        ]
    )


def _merges(tokenizer: Tokenizer, spelled: Sequence[bytes]) -> _Merges:
    index_of = dict(zip(spelled, range(len(spelled)), strict=True))
    merges = _Merges([], [], [])
    for left, right in tokenizer.merges:
        merges.left.append(index_of[left])
        merges.right.append(index_of[right])
        merges.result.append(index_of[left + right])
    return merges


def _not_made(count: int, merges: _Merges) -> list[int]:
    """Return the tokens that must be spelled: no merge makes them, or a merge needs them before they are made."""
    known, literal = bytearray(count), []
    for left, right, result in zip(*merges, strict=True):
        for part in (left, right):
            if not known[part]:
                known[part] = True
                literal.append(part)
        known[result] = True
    literal += [index for index in range(count) if not known[index]]
    return sorted(literal)
