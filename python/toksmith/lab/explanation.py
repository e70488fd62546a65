"""How a text is encoded, merge by merge."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from .. import reference
from .._internal.messages import shown
from ..tokenizer import Tokenizer, tokenizer_of
from . import parts


class Step:
    """One merge: `left` and `right`, whose rank was the lowest, became one of the `pieces`.

    A step unpacks as (left, right, rank, pieces). Cost: `pieces` are made when they are asked for, in time linear in
    the pretoken.
    """

    __slots__ = ("_index", "_steps", "left", "rank", "right")

    left: bytes  # the left piece of the pair
    right: bytes  # the right piece
    rank: int  # the rank of the pair

    def __init__(self, steps: Steps, index: int) -> None:
        self._steps, self._index = steps, index
        start, middle, end, self.rank = steps._merges[index]
        self.left, self.right = steps._word[start:middle], steps._word[middle:end]

    @property
    def pieces(self) -> tuple[bytes, ...]:
        """The pieces of the pretoken after this step."""
        return self._steps.pieces(self._index + 1)

    def __iter__(self) -> Iterator[bytes | int | tuple[bytes, ...]]:
        return iter((self.left, self.right, self.rank, self.pieces))

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, (Step, tuple)) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Step(left={shown(self.left)}, right={shown(self.right)}, rank={self.rank})"


class Steps(Sequence[Step]):
    """The merges of one pretoken, in order. Memory is linear in the pretoken: a merge has three places and a rank."""

    __slots__ = ("_merges", "_word")

    def __init__(self, word: bytes, merges: list[tuple[int, int, int, int]]) -> None:
        self._word, self._merges = word, merges

    def pieces(self, count: int) -> tuple[bytes, ...]:
        """Return the pieces after the first `count` merges. A merge removes the cut in its middle."""
        gone = {middle for _, middle, _, _ in self._merges[:count]}
        cuts = [0, *(place for place in range(1, len(self._word)) if place not in gone), len(self._word)]
        return tuple(self._word[start:end] for start, end in itertools.pairwise(cuts))

    def __len__(self) -> int:
        return len(self._merges)

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> list[Step]: ...
    def __getitem__(self, index: int | slice) -> Step | list[Step]:
        places = range(len(self._merges))[index]
        return Step(self, places) if isinstance(places, int) else [Step(self, place) for place in places]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Steps):
            return (self._word, self._merges) == (other._word, other._merges)
        return list(self) == other if isinstance(other, list) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        first = ", ".join(map(repr, self[:3]))
        return f"[{first}]" if len(self) <= 3 else f"[{first}, … ({len(self)} steps)]"


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
    steps: Sequence[Step]
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
        ValueError: The text has a lone surrogate; or the tokenizer merges characters, or changes the text first.

    >>> import toksmith
    >>> tokenizer = toksmith.train_from_iterator(["low low lower"], 258)
    >>> [step.pieces for step in toksmith.explain(tokenizer, "low")[0].steps]
    [(b'l', b'ow'), (b'low',)]
    """
    tokenizer = tokenizer_of(tokenizer)
    if parts.merges_characters(tokenizer):
        raise ValueError("explain shows merges of bytes; this tokenizer merges characters (see docs/huggingface.md)")
    parts.check_plain(tokenizer, text, special, "explain")
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
            steps = steps_of(pretoken, rank_of)
            whole = ignores_merges and pretoken in ids
            tokens = (pretoken,) if whole else steps.pieces(len(steps))
            explanations.append(Explanation(pretoken, [ids[token] for token in tokens], steps, whole=whole))
    return explanations


def steps_of(word: bytes, rank_of: reference.RankFunction) -> Steps:
    """Return the steps of `reference.encode_steps`, in time n log n: pairs wait in a heap, by rank and place."""
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
    merges = []
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
    return Steps(word, merges)
