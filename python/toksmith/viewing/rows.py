"""Tokens in rows with their ids below, broken into lines of a width."""

from __future__ import annotations

import bisect
import itertools
from typing import TYPE_CHECKING

from .flow import END, FAINT, SEPARATOR, Made, colour, ends_line, framed, pieces
from .spans import spaced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .flow import Blocks
    from .spans import Spans


def drawn(spans: Spans, blocks: Blocks, colours: bool, width: int) -> Iterator[str]:
    """Yield the rows of tokens and ids, two lines each. See `terminal.drawn`."""
    cells = _Cells(spans, colours)
    held: list[int] = []
    place = 0
    for ids in pieces(blocks):
        keys = held + [2 * id + number % 2 for number, id in enumerate(ids, place)]
        place += len(ids)
        starts = cells.row_starts(keys, width)
        # The last row may go on with the next ids.
        held = keys[starts[-1] :]
        yield "".join(cells.row(keys[start:stop]) for start, stop in itertools.pairwise(starts))
    if held:
        yield cells.row(held)


class _Cells:
    """What stands in the columns of a token, by its key: twice its id, and 1 more for tokens of odd number."""

    def __init__(self, spans: Spans, colours: bool) -> None:
        self._spans, self._colours = spans, colours
        self._between = " " if colours else SEPARATOR
        self._widths = Made(lambda key: _columns(self._text(key), str(key // 2)))
        self._uppers, self._lowers = Made(self._upper), Made(self._lower)
        self._ends_line = Made(lambda key: ends_line(spans[key // 2]))

    def row_starts(self, keys: list[int], width: int) -> list[int]:
        """Return where rows start. A row is full, or ends a line, but for the last, which may be empty."""
        ends = [*itertools.accumulate(width + 1 for width in map(self._widths.__getitem__, keys))]
        line_ends = [*itertools.compress(itertools.count(1), map(self._ends_line.__getitem__, keys))]
        starts = [0]
        for line_end in [*line_ends, len(keys)]:
            while (start := starts[-1]) < line_end:
                room = (ends[start - 1] if start else 0) + width + 1
                # A token that is wider than a row has one of its own.
                starts.append(max(bisect.bisect_right(ends, room, start, line_end), start + 1))
        if len(starts) > 1 and starts[-1:] != line_ends[-1:]:
            starts.pop()
        return starts

    def row(self, keys: list[int]) -> str:
        """Return the two lines of a row."""
        upper = self._between.join(map(self._uppers.__getitem__, keys))
        lower = self._between.join(map(self._lowers.__getitem__, keys))
        return f"{upper.rstrip()}\n{lower.rstrip()}\n"

    def _text(self, key: int) -> str:
        span = self._spans[key // 2]
        return spaced(span.token) if self._colours else framed(span)

    def _upper(self, key: int) -> str:
        text = self._text(key)
        padded = text + " " * (self._widths[key] - _columns(text))
        return f"{colour(self._spans[key // 2], key % 2)}{padded}{END}" if self._colours else padded

    def _lower(self, key: int) -> str:
        padded = str(key // 2).ljust(self._widths[key])
        return f"{FAINT}{padded}{END}" if self._colours else padded


def _columns(*texts: str) -> int:
    """Return the columns that the widest of the texts takes on a terminal."""
    from rich.cells import cell_len

    return max(map(cell_len, texts))
