"""Text that arrives in pieces to arrays of ids, some megabytes at a time, and ids that arrive to pieces of text."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from .._core import DecodeStream
from .._core import Tokenizer as CoreTokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CHUNK_CHARACTERS = 1 << 21
"""Characters of text that are encoded together: enough for all threads.

With four times as many, memory goes back to the system and is cleared anew for each chunk, which takes longer.
"""
# Characters at the end of a chunk that are searched for a place to cut, before the whole chunk is searched.
_TAIL_CHARACTERS = 1 << 16
# A special token has no more bytes than this: a cut after so many characters of a tail is a cut of the whole text.
_MAX_SPECIAL_BYTES = 1 << 12
# Ids in an array, for a text that cannot be cut.
_ARRAY_IDS = 1 << 18


class Size:
    """How many characters and bytes of UTF-8 the texts have that went through `measured`."""

    characters = bytes = 0

    def measured(self, texts: Iterable[str]) -> Iterator[str]:
        """Yield the texts, and count them."""
        for text in texts:
            self.characters += len(text)
            self.bytes += len(text.encode())
            yield text


def lists(core: CoreTokenizer, texts: Iterable[str], special: bool) -> Iterator[list[int]]:
    """Yield the ids of the joined pieces as they come."""
    stream = core.stream(special)
    for text in texts:
        yield stream.push(text)
    yield stream.finish()


def arrays(
    core: CoreTokenizer, texts: Iterable[str], special: bool, workers: int | None
) -> Iterator[NDArray[np.uint32]]:
    """Yield the ids of the joined pieces in arrays. See `Tokenizer.encode_iterable`."""
    if not can_cut(core):
        import numpy as np

        ids = itertools.chain.from_iterable(lists(core, texts, special))
        while batch := list(itertools.islice(ids, _ARRAY_IDS)):
            yield np.array(batch, np.uint32)
        return
    for i, chunk in enumerate(_chunks(core, texts, special)):
        yield core.encode_to_numpy(chunk, special, workers, i > 0)


def count(core: CoreTokenizer, texts: Iterable[str], special: bool, workers: int | None) -> int:
    """Return how many ids the joined pieces have. Memory does not grow with their length if text can be cut."""
    if not can_cut(core):
        return sum(map(len, lists(core, texts, special)))
    return sum(core.count(chunk, special, workers, i > 0) for i, chunk in enumerate(_chunks(core, texts, special)))


def can_cut(core: CoreTokenizer) -> bool:
    """Return whether text can be cut between special tokens."""
    return bool(core.late_cut("a a a a a a a a a a a a a a a a", False))


def _chunks(core: CoreTokenizer, texts: Iterable[str], special: bool) -> Iterator[str]:
    """Yield the joined pieces in texts whose ids, joined, are those of the whole."""
    pieces: list[str] = []
    buffered, min_chunk = 0, CHUNK_CHARACTERS
    for text in texts:
        pieces.append(text)
        buffered += len(text)
        if buffered < min_chunk:
            continue
        ready, tail = _split(core, pieces, special)
        pieces, buffered = [tail], len(tail)
        # A text without a place to cut is searched again when it is twice as long, so that all searches are linear.
        min_chunk = max(CHUNK_CHARACTERS, 2 * buffered)
        if ready:
            yield ready
    if tail := "".join(pieces):
        yield tail


def _split(core: CoreTokenizer, pieces: list[str], special: bool) -> tuple[str, str]:
    """Return the joined pieces of an unfinished text in two parts: up to a late cut, and the remainder.

    Without such a cut all text is in the remainder. The list is consumed. The last pieces are cut before they are
    joined with the others: copying the whole would take as long as encoding it.
    """
    last: list[str] = []
    characters = 0
    while pieces and characters < _TAIL_CHARACTERS:
        last.append(pieces.pop())
        characters += len(last[-1])
    tail = "".join(reversed(last))
    start = max(0, len(tail) - _TAIL_CHARACTERS)
    cut = core.late_cut(tail[start:], special)
    if (start or pieces) and cut <= _MAX_SPECIAL_BYTES:  # so early it may be inside a special token
        tail, start = "".join([*pieces, tail]), 0
        pieces.clear()
        cut = core.late_cut(tail, special)
    if not cut:
        return "", tail
    pieces.append(tail[: start + cut])
    return "".join(pieces), tail[start + cut :]


def pieces(stream: DecodeStream, ids: Iterator[int]) -> Iterator[str]:
    """Yield the text of ids, piece by piece, and end it. See `DecodeStream.pieces`."""
    for id in ids:
        if text := stream.push(id):
            yield text
        if stream.stopped is not None:
            break
    if tail := stream.flush():
        yield tail
