"""Tables of plain text, of any width: a terminal wraps them, and a program can take them apart."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as lines: the first column at the left, numbers at the right, two spaces between columns.

    >>> print(aligned([("split", "tokens"), ("train", "12"), ("val", "3")]), end="")
    split  tokens
    train      12
    val         3
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines) + "\n"


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as `wc` writes them: numbers at the right, the last column as it is, one space between.

    >>> print(columns([("12", "1", "a.txt"), ("3", "10", "b")]), end="")
    12  1 a.txt
     3 10 b
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    lines = (
        " ".join([*(cell.rjust(width) for cell, width in zip(numbers, widths, strict=True)), name])
        for *numbers, name in rows
    )
    return "\n".join(lines) + "\n"
