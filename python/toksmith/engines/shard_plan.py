"""Which documents of which pieces make each shard, by the rule of one machine.

The driver looks up where a shard ends in the index of a piece, by bisection. So it holds nothing for a document, and
reads a few numbers for a shard, however many documents there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray


class Range(NamedTuple):
    """Consecutive documents of a piece."""

    piece: str
    tokens: int
    """Ids of the whole piece, in the split."""
    documents: int
    """Documents of the whole piece, in the split."""
    start: int
    stop: int


class ShardPlan(NamedTuple):
    """A shard that is to be written."""

    split: int
    number: int
    ranges: list[Range]


def shard_plans(
    split: int,
    pieces: Iterable[tuple[str, int, int]],
    shard_size: int,
    starts_of: Callable[[str, int, int], NDArray[np.int64]],
) -> Iterator[ShardPlan]:
    """Yield the shards of a split: each is closed when it has `shard_size` ids or more.

    Args:
        split: The number of the split.
        pieces: In the order of the documents, the name of each piece with the ids and documents of the split.
        shard_size: Ids of a shard.
        starts_of: Returns where each document of a piece begins, in ids, and where the last ends.
    """
    number, held = 0, 0
    ranges: list[Range] = []
    for piece in pieces:
        for start, stop, tokens in _runs(piece, shard_size - held, shard_size, starts_of):
            ranges.append(Range(*piece, start, stop))
            held += tokens
            if held >= shard_size:
                yield ShardPlan(split, number, ranges)
                number, held, ranges = number + 1, 0, []
    if ranges:
        yield ShardPlan(split, number, ranges)


def _runs(
    piece: tuple[str, int, int],
    room: int,
    shard_size: int,
    starts_of: Callable[[str, int, int], NDArray[np.int64]],
) -> Iterator[tuple[int, int, int]]:
    """Yield the documents of a piece that go into each shard, with their ids; the first shard has `room` left."""
    _, tokens, documents = piece
    if not documents:
        return
    if tokens < room:
        yield 0, documents, tokens
        return
    starts = starts_of(*piece)
    start = 0
    while start < documents:
        end = int(starts[start]) + room
        stop = min(start + 1 + int(starts[start + 1 :].searchsorted(end)), documents)
        yield start, stop, int(starts[stop] - starts[start])
        start, room = stop, shard_size
