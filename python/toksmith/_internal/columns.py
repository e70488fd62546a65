"""Columns of a table by their names."""

from __future__ import annotations

from collections.abc import Sequence

from .messages import shown


def place_of(name: str, names: Sequence[str]) -> int:
    """Return the place of a column among the names of a batch.

    Raises:
        ValueError: There is no column of this name, or there are several.

    >>> place_of("text", ["id", "text"])
    1
    """
    if name not in names:
        raise ValueError(f"there is no column {shown(name)}: the batch has {', '.join(map(shown, names))}")
    if names.count(name) > 1:
        raise ValueError(f"the batch has {names.count(name)} columns {shown(name)}: rename all but one of them")
    return names.index(name)
