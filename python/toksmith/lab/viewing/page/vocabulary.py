"""The ordinary tokens and the merges of a tokenizer, packed for the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from . import blocks

if TYPE_CHECKING:
    from ....formats.parts import Parts


class _Merges(NamedTuple):
    """Merges in order. Tokens are given by their index, the position of their id among those of ordinary tokens."""

    left: list[int]
    right: list[int]
    result: list[int]


def packed(parts: Parts) -> str:
    """Return the ordinary tokens and the merges of a tokenizer as a block; `vocabulary.js` reads it.

    A token that a merge makes is not spelled: its bytes are those of its two parts. A vocabulary of 200,000 tokens
    takes about one megabyte.
    """
    tokens = sorted(parts.ordinary.items())
    ids = [id for id, _ in tokens]
    spelled = [token for _, token in tokens]
    merges = _merges(parts, ids, spelled)
    literal = _not_made(len(tokens), merges)
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


def _merges(parts: Parts, ids: list[int], spelled: list[bytes]) -> _Merges:
    index_of_id = dict(zip(ids, range(len(ids)), strict=True))
    index_of = dict(zip(spelled, range(len(spelled)), strict=True))
    merges = _Merges([], [], [])
    for left_id, right_id in parts.core.merges():
        left, right = index_of_id[left_id], index_of_id[right_id]
        merges.left.append(left)
        merges.right.append(right)
        merges.result.append(index_of[spelled[left] + spelled[right]])
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
