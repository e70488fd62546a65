"""Numbers with their units, for people."""

from __future__ import annotations


def counted(count: int, name: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "document"), counted(1200, "document")
    ('1 document', '1,200 documents')
    """
    return f"{count:,} {name}{'' if count == 1 else 's'}"


def size(count: float) -> str:
    """Return a number of bytes in the largest unit.

    >>> size(1), size(999), size(33_500_000), size(3.4e9)
    ('1 byte', '999 bytes', '33.5 MB', '3.4 GB')
    """
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if count >= factor:
            return f"{count / factor:,.1f} {unit}"
    return counted(round(count), "byte")
