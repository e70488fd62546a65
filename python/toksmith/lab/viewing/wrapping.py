r"""Lines of a terminal that end between signs: a terminal by itself breaks `\xe7` wherever its width ends."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from . import flow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SIGNS = re.compile(r"(\x1b\[[0-9;]*m)|\n|(\\x[0-9a-f]{2}|\\u\{[0-9a-f]+\}|\\.)|[^\x1b\n\\]+|.")


def wrapped(parts: Iterable[str], width: int) -> Iterator[str]:
    r"""Yield a drawing with a line end before each escape that the end of a line would break.

    Args:
        parts: The drawing, in parts that break no escape.
        width: The columns of the terminal.

    >>> "".join(wrapped(["ab\\xe7"], 4)), "".join(wrapped(["abcde\\xe7"], 4))
    ('ab\n\\xe7', 'abcde\n\\xe7')
    """
    colour, column = "", 0
    for part in parts:
        pieces = []
        for sign in _SIGNS.finditer(part):
            text, is_escape = sign[0], sign[2] is not None
            if sign[1] is not None:
                colour = "" if text == flow.END else text
            elif text == "\n":
                column = 0
            elif is_escape:
                if column + len(text) > width:
                    pieces.append(f"{flow.END}\n{colour}" if colour else "\n")
                    column = 0
                column += len(text)
            else:
                column = _after(text, column, width)
            pieces.append(text)
        yield "".join(pieces)


def _after(text: str, column: int, width: int) -> int:
    """Return the column behind a text that the terminal breaks where a line is full."""
    if text.isascii():
        return (column + len(text) - 1) % width + 1
    from rich.cells import cell_len

    for character in text:
        size = cell_len(character)
        column = size if column + size > width else column + size
    return column
