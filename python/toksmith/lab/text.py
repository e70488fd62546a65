"""Tables as text, and results as JSON has them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any


def aligned(rows: Sequence[Sequence[str]], *, words_last: bool = False) -> str:
    """Return rows as lines of columns. One column holds words, the first or the last; numbers are right-aligned.

    >>> print(aligned([("split", "tokens"), ("val", "3")]))
    split  tokens
    val         3
    >>> print(aligned([("12", "1", "a.txt"), ("3", "10", "b")], words_last=True))
    12  1 a.txt
     3 10 b
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    words, between = (len(widths) - 1, " ") if words_last else (0, "  ")
    lines = (
        between.join(
            cell if words_last and place == words else cell.ljust(width) if place == words else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return "\n".join(line if words_last else line.rstrip() for line in lines)


def plain(value: Any) -> Any:
    r"""Return a result as dicts, lists, numbers and str. In bytes, what is not text is `\xNN`, and a backslash `\\`.

    A field of a dataclass whose metadata has `left_out` is left out.

    >>> plain({1: (b"\xff", 2.5, None)})
    {'1': ['\\xff', 2.5, None]}
    """
    if isinstance(value, bytes):
        return value.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
    if dataclasses.is_dataclass(value):
        fields = (field for field in dataclasses.fields(value) if not field.metadata.get("left_out"))
        return {field.name: plain(getattr(value, field.name)) for field in fields}
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return value
