"""How a text is encoded, merge by merge."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .. import reference
from .._internal.messages import shown
from ..tokenizer import Tokenizer, tokenizer_of
from . import parts

Merge: TypeAlias = "tuple[int, int, int, int]"
"""The start of the left piece, the start of the right one, its end, and the rank of the pair."""


class Step:
    """One merge: `left` and `right`, whose rank was the lowest, became one of the `pieces`.

    A step unpacks as (left, right, rank, pieces). Cost: `pieces` are made when they are asked for, in time linear in
    the pretoken.
    """

    __slots__ = ("_count", "_merges", "_word", "left", "rank", "right")

    left: bytes  # the left piece of the pair
    right: bytes  # the right piece
    rank: int  # the rank of the pair

    def __init__(self, word: bytes, merges: Sequence[Merge], count: int) -> None:
        start, middle, end, self.rank = merges[count - 1]
        self.left, self.right = word[start:middle], word[middle:end]
        self._word, self._merges, self._count = word, merges, count

    @property
    def pieces(self) -> tuple[bytes, ...]:
        """The pieces of the pretoken after this step."""
        return pieces_of(self._word, self._merges[: self._count])

    def __iter__(self) -> Iterator[bytes | int | tuple[bytes, ...]]:
        return iter((self.left, self.right, self.rank, self.pieces))

    def __repr__(self) -> str:
        return f"Step(left={shown(self.left)}, right={shown(self.right)}, rank={self.rank})"


@dataclass(frozen=True)
class Explanation:
    """One pretoken, or one special token, on its way to ids.

    `steps` are the merges in the order in which they happen, each with the pair, its rank, and the pieces after it,
    which are made when they are asked for; none for a special token. Under rank semantics, and with `ignore_merges`,
    a pretoken that is a token is encoded to that token without merging: `whole` says so. Its `steps` are the merges
    of its bytes all the same; if they do not end in the token, `is_merged` is False.
    """

    text: bytes
    ids: list[int]
    steps: list[Step]
    special: bool = False
    whole: bool = False

    @property
    def is_merged(self) -> bool:
        """Whether `ids` are what the steps end in."""
        return not self.special and len(self.text) - len(self.steps) == len(self.ids)


def explain(tokenizer: Tokenizer | object, text: str, *, special: bool = True) -> list[Explanation]:
    """Return how each pretoken of `text` is encoded: every merge with its pair and rank, and the ids.

    Where a pretoken that is a token is encoded without merging, `whole` is True, and the merges are shown all the
    same. For people and for tests: it runs in plain Python, with memory linear in the text.

    Args:
        tokenizer: A `Tokenizer`, or what `Tokenizer.from_pretrained` takes, such as "gpt2".
        text: Any text.
        special: Whether special tokens in the text become their ids.

    Raises:
        ValueError: The text has a lone surrogate; or the tokenizer merges characters or names of tokens, leaves
            merges out at random, or changes the text first.

    >>> import toksmith
    >>> tokenizer = toksmith.train(iter(["low low lower"]), 258)
    >>> [step.pieces for step in toksmith.lab.explain(tokenizer, "low")[0].steps]
    [(b'l', b'ow'), (b'low',)]
    """
    tokenizer = tokenizer_of(tokenizer)
    if parts.merges_characters(tokenizer):
        raise ValueError("explain shows merges of bytes; this tokenizer merges characters (see docs/huggingface.md)")
    if parts.merges_names(tokenizer):
        raise ValueError("explain shows merges of bytes; this tokenizer merges by names of tokens, or at random")
    parts.check_plain(tokenizer, text, special)
    ids = {token: id for id, token in parts.ordinary_tokens(tokenizer).items()}
    rank_of = reference.rank_function(tokenizer.merges if parts.has_merges(tokenizer) else ids)
    split, ignores_merges = parts.pattern(tokenizer).core().split, parts.ignores_merges(tokenizer)
    specials = tokenizer.special_tokens if special else {}
    explanations = []
    for piece, is_special in reference.split_special(text, specials):
        if is_special:
            explanations.append(Explanation(piece.encode(), [specials[piece]], [], special=True))
            continue
        for pretoken in split(piece.encode()):
            merges = merges_of(pretoken, rank_of)
            steps = [Step(pretoken, merges, count) for count in range(1, len(merges) + 1)]
            whole = ignores_merges and pretoken in ids
            tokens = (pretoken,) if whole else pieces_of(pretoken, merges)
            explanations.append(Explanation(pretoken, [ids[token] for token in tokens], steps, whole=whole))
    return explanations


def pieces_of(word: bytes, merges: Sequence[Merge]) -> tuple[bytes, ...]:
    """Return the pieces of a pretoken after some merges, each of which removes the cut in its middle."""
    gone = {middle for _, middle, _, _ in merges}
    cuts = [0, *(place for place in range(1, len(word)) if place not in gone), len(word)]
    return tuple(word[start:end] for start, end in itertools.pairwise(cuts))


def merges_of(word: bytes, rank_of: reference.RankFunction) -> list[Merge]:
    """Return the merges of `reference.encode_steps`, in time n log n: pairs wait in a heap, by rank and place."""
    ends = list(range(1, len(word) + 1))  # the end of the piece that begins at each byte
    starts = list(range(-1, len(word)))  # the start of the piece that ends at each byte
    waiting: list[tuple[int, int, int, int]] = []

    def add(start: int, middle: int) -> None:
        end = ends[middle]
        rank = rank_of(word[start:middle], word[middle:end])
        if rank is not None:
            heapq.heappush(waiting, (rank, start, middle, end))

    for start in range(len(word) - 1):
        add(start, start + 1)
    merges: list[Merge] = []
    while waiting:
        rank, start, middle, end = heapq.heappop(waiting)
        if ends[start] != middle or ends[middle] != end:
            continue  # one of the two pieces has become a part of another piece
        merges.append((start, middle, end, rank))
        ends[start], ends[middle], starts[end] = end, 0, start
        if start > 0:
            add(starts[start], start)
        if end < len(word):
            add(start, end)
    return merges
