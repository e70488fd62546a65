"""Tokens in rows with their ids below, broken into lines of a width.

The drawing of an id is made once. A text is then drawn by a few operations on arrays of ids for each row, without a
step of Python for each token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .flow import END, FAINT, SEPARATOR, colour, ends_line, framed
from .spans import spaced

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from .flow import Blocks
    from .spans import Span, Spans

    Places = NDArray[np.int64]

# Ids that are drawn together: enough that the calls of NumPy cost little, and few enough for a near cache.
_BLOCK = 1 << 13
# Ids below this have their number in a table, others in a dict, so that one id of four billion takes no memory.
_TABLE_IDS = 1 << 22
# The drawings of a token: the token with an even number, with an odd number, and its id; then the same three for the
# last token of a row, after which the line ends without a separator.
_UPPER, _LOWER, _LAST, _DRAWINGS = 0, 2, 3, 6


def drawn(spans: Spans, blocks: Blocks, colours: bool, width: int) -> Iterator[str]:
    """Yield the rows of tokens and ids, two lines each. See `terminal.drawn`."""
    cells = _Cells(spans, colours)
    held = np.empty(0, np.int64)
    done = 0
    for ids in _arrays(blocks):
        numbers = np.concatenate([held, cells.numbers(ids)])
        starts = cells.row_starts(numbers, width)
        yield cells.rows(numbers, starts, done)
        # The next ids may continue the last row.
        held = numbers[starts[-1] :]
        done += int(starts[-1])
    if len(held):
        yield cells.rows(held, np.array([0, len(held)]), done)


def _arrays(blocks: Blocks) -> Iterator[Places]:
    """Yield the ids in arrays of a size that is handled at a time."""
    for block in blocks:
        ids = np.asarray(block, np.int64)
        for start in range(0, len(ids), _BLOCK):
            yield ids[start : start + _BLOCK]


class _Cells:
    """The columns of each token. A token has a number here: how many others were met before it."""

    def __init__(self, spans: Spans, colours: bool) -> None:
        self._spans, self._colours = spans, colours
        self._between = " " if colours else SEPARATOR
        # For each id, one more than its number; 0 for an id that was not met.
        self._table = np.zeros(0, np.int32)
        self._number_of: dict[int, int] = {}
        # For each number.
        self._widths = np.zeros(0, np.int64)
        self._ends_line = np.zeros(0, np.bool_)
        self._drawings = np.zeros(0, object)

    def numbers(self, ids: Places) -> Places:
        """Return the number of each id; `KeyError` for an id that has no token."""
        least, most = int(ids.min()), int(ids.max())
        if least < 0 or most >= _TABLE_IDS:
            distinct, inverse = np.unique(ids, return_inverse=True)
            self._meet(distinct.tolist())
            return np.array([self._number_of[id] for id in distinct.tolist()])[inverse.reshape(-1)]
        if most >= len(self._table):
            self._table = _longer(self._table, max(most + 1, 2 * len(self._table)))
        found = self._table[ids]
        if not found.all():
            new = np.unique(ids[found == 0]).tolist()
            self._meet(new)
            self._table[new] = [self._number_of[id] + 1 for id in new]
            found = self._table[ids]
        return found.astype(np.int64) - 1

    def _meet(self, ids: Sequence[int]) -> None:
        """Make the drawings of ids, of which some may be new."""
        made = {id: self._cell(id, self._spans[id]) for id in ids if id not in self._number_of}
        first = len(self._number_of)
        count = first + len(made)
        if count > len(self._widths):
            room = max(count, 2 * len(self._widths))
            self._widths, self._ends_line = _longer(self._widths, room), _longer(self._ends_line, room)
            self._drawings = _longer(self._drawings, room * _DRAWINGS)
        for number, (id, (width, drawings)) in enumerate(made.items(), first):
            self._number_of[id] = number
            self._widths[number], self._ends_line[number] = width, ends_line(self._spans[id])
            self._drawings[number * _DRAWINGS : (number + 1) * _DRAWINGS] = drawings

    def _cell(self, id: int, span: Span) -> tuple[int, list[str]]:
        """Return the columns that a token takes, and its drawings."""
        text, below = spaced(span.token) if self._colours else framed(span), str(id)
        columns = _columns(text)
        width = max(columns, len(below))
        upper, lower = text + " " * (width - columns), below.ljust(width)
        if self._colours:
            inner = [f"{colour(span, 0)}{upper}{END}", f"{colour(span, 1)}{upper}{END}", f"{FAINT}{lower}{END}"]
        else:
            inner = [upper, upper, lower]
        return width, [*(cell + self._between for cell in inner), *(f"{cell.rstrip()}\n" for cell in inner)]

    def row_starts(self, numbers: Places, width: int) -> Places:
        """Return where rows start. Each row is full or ends a line, except the last, which may be empty."""
        count = len(numbers)
        taken = self._widths[numbers] + 1
        ends = np.cumsum(taken)
        # A token that is wider than a row has one of its own.
        places = np.arange(count)
        full = np.maximum(np.searchsorted(ends, ends - taken + (width + 1), "right"), places + 1)
        ending = self._ends_line[numbers]
        line_ends = np.append(np.flatnonzero(ending) + 1, count)
        behind: list[int] = np.minimum(full, line_ends[np.cumsum(ending) - ending]).tolist()
        starts = [0]
        while (start := behind[starts[-1]]) < count:
            starts.append(start)
        if ending[-1]:
            starts.append(count)
        return np.array(starts)

    def rows(self, numbers: Places, starts: Places, done: int) -> str:
        """Return the lines of the rows between `starts`; `done` tokens came before the first."""
        count, sizes = int(starts[-1]), np.diff(starts)
        places = np.arange(count)
        first = numbers[:count] * _DRAWINGS
        lasts = starts[1:] - 1
        upper = first + (places + done) % 2 + _UPPER
        lower = first + _LOWER
        upper[lasts] += _LAST
        lower[lasts] += _LAST
        # The first line of a row comes after two lines of each row before it; the second line after the first, too.
        order = np.empty(2 * count, np.int64)
        order[places + np.repeat(starts[:-1], sizes)] = upper
        order[places + np.repeat(starts[1:], sizes)] = lower
        return "".join(self._drawings[order].tolist())


def _longer(column: NDArray[Any], count: int) -> NDArray[Any]:
    """Return a column with room for more."""
    longer = np.zeros(count, column.dtype)
    longer[: len(column)] = column
    return longer


def _columns(text: str) -> int:
    """Return the columns that a text, which has no control character, takes on a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
