"""Numbers, tables, bytes and values as text; results as JSON has them; checks of arguments."""

from __future__ import annotations

import dataclasses
import operator
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def counted(count: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "document"), counted(1200, "document")
    ('1 document', '1,200 documents')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def size(count: float) -> str:
    """Return a number of bytes in the largest unit.

    >>> size(999), size(33_500_000)
    ('999 bytes', '33.5 MB')
    """
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if count >= factor:
            return f"{count / factor:,.1f} {unit}"
    return counted(round(count), "byte")


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


def quoted(value: object) -> str:
    """Return the beginning of a value's `repr`, for a message."""
    text = repr(value[:81] if isinstance(value, (str, bytes)) else value)
    return text if len(text) <= 83 else f"{text[:80]}…"


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


def at_least(name: str, value: int, minimum: int) -> int:
    """Return an argument that is a whole number.

    Raises:
        TypeError: It is no whole number.
        ValueError: It is below the minimum.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} is a whole number, not {type(value).__name__}: {quoted(value)}")
    number = operator.index(value)
    if number < minimum:
        raise ValueError(f"{name} is at least {minimum}, not {number}")
    return number


def threads(workers: int | None) -> int:
    """Return how many threads may be used; None is all cores that this process may run on."""
    if workers is not None:
        return at_least("workers", workers, 1)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file that has all of the data in the end, or is as it was before."""
    target = Path(path).resolve()
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
