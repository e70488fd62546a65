"""Tokens in rows with their ids below, broken into lines of a width."""

from __future__ import annotations

import bisect
import itertools
from typing import TYPE_CHECKING, NamedTuple

from .flow import END, FAINT, SEPARATOR, colour, ends_line, framed, pieces
from .spans import spaced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .flow import Blocks
    from .spans import Span, Spans


class Cell(NamedTuple):
    """A token of a row: what stands in the upper and in the lower line, and how many columns both take."""

    upper: str
    lower: str
    width: int
    ends_line: bool


class Cells(dict[int, Cell]):
    """The cell of each id, doubled and plus 1 for tokens of odd number; made when it is first asked for."""

    def __init__(self, spans: Spans, colours: bool) -> None:
        super().__init__()
        self._spans, self._colours = spans, colours

    def __missing__(self, key: int) -> Cell:
        span = self._spans[key // 2]
        made = self[key] = _coloured(span, key % 2) if self._colours else _framed(span)
        return made


def drawn(spans: Spans, blocks: Blocks, colours: bool, width: int) -> Iterator[str]:
    """Yield the rows of tokens and ids, two lines each. See `terminal.drawn`."""
    cells = Cells(spans, colours)
    between = " " if colours else SEPARATOR
    held: list[Cell] = []
    place = 0
    for ids in pieces(blocks):
        held += map(cells.__getitem__, (2 * id + (place + at) % 2 for at, id in enumerate(ids)))
        place += len(ids)
        # A row that is not full and ends the block may go on.
        *whole, held = _rows(held, width)
        yield "".join(_row(row, between) for row in whole)
    if held:
        yield _row(held, between)


def _rows(cells: list[Cell], width: int) -> list[list[Cell]]:
    """Return the cells in rows: as many as fit into the width, one at least, and none behind the end of a line."""
    ends = list(itertools.accumulate(cell.width + 1 for cell in cells))
    breaks = [place + 1 for place, cell in enumerate(cells) if cell.ends_line]
    rows, start = [], 0
    while start < len(cells):
        room = (ends[start - 1] if start else 0) + width + 1
        stop = max(bisect.bisect_right(ends, room, start), start + 1)
        line_end = bisect.bisect_right(breaks, start)
        if line_end < len(breaks):
            stop = min(stop, breaks[line_end])
        rows.append(cells[start:stop])
        start = stop
    return rows or [[]]


def _row(cells: list[Cell], between: str) -> str:
    upper = between.join(cell.upper for cell in cells)
    lower = between.join(cell.lower for cell in cells)
    return f"{upper.rstrip()}\n{lower.rstrip()}\n"


def _coloured(span: Span, parity: int) -> Cell:
    text, number, width = _aligned(spaced(span.token), span.id)
    return Cell(f"{colour(span, parity)}{text}{END}", f"{FAINT}{number}{END}", width, ends_line(span))


def _framed(span: Span) -> Cell:
    text, number, width = _aligned(framed(span), span.id)
    return Cell(text, number, width, ends_line(span))


def _aligned(text: str, id: int) -> tuple[str, str, int]:
    from rich.cells import cell_len

    taken, number = cell_len(text), str(id)
    width = max(taken, len(number))
    return text + " " * (width - taken), number.ljust(width), width
