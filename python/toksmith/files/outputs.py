"""Comparing the files that are written with those that are read."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

STANDARD_INPUT = "-"


def check_not_read(out: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Refuse an output that is one of the inputs, also by another name: a link, symbolic or hard.

    Cost: a call of the system for each input, but only where `out` is a file already.

    Args:
        out: The file that would be written.
        inputs: The files that are read; "-" is standard input. Files that do not exist are skipped: reading them
            fails later. An iterator is read only if `out` is a file already.

    Raises:
        ValueError: `out` is one of the inputs; names both.
    """
    written = _regular(out)
    if written is None:
        return
    for path in inputs:
        read = _regular(path)
        if read is not None and os.path.samestat(written, read):
            name = "standard input" if path == STANDARD_INPUT else os.fspath(path)
            other_name = "" if name == os.fspath(out) else f", as {name}"
            raise ValueError(f"{os.fspath(out)}: this file is read too{other_name}: name another one to write")


def _regular(path: str | os.PathLike[str]) -> os.stat_result | None:
    """Return the status of a regular file; None for any other: a device or a pipe may be both read and written."""
    try:
        status = os.fstat(0) if path == STANDARD_INPUT else Path(path).stat()
    except (OSError, ValueError):
        return None
    return status if stat.S_ISREG(status.st_mode) else None
