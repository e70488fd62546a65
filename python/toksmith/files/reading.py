"""Reading whole files that may come from a stranger: never more bytes than a limit, whatever the file is."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from .. import _core

MAX_BYTES = 1 << 28
"""Maximum size of a file that holds a tokenizer: ten times the largest published one."""
_PIECE = 1 << 20
_HEAD_BYTES = 1 << 12


def read(path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> bytes:
    """Return the content of a file, pipe or device that ends within `max_bytes`.

    Cost: a larger regular file is refused unread; of a pipe or device at most one byte more than `max_bytes` is read.

    Raises:
        OSError: The file cannot be read, or is a folder.
        ValueError: The file is larger, or a Git LFS pointer or an HTML page stands in its place; names the file.
    """
    with Path(path).open("rb") as file:
        status = os.fstat(file.fileno())
        size = status.st_size if stat.S_ISREG(status.st_mode) else 0
        pieces, room = [], max_bytes + 1 if size <= max_bytes else 0
        # One byte more than the size: one call reads a file that has not grown, and sees its end.
        while room > 0 and (piece := file.read(min(room, max(size + 1, _PIECE)))):
            pieces.append(piece)
            room -= len(piece)
    if room == 0:
        raise ValueError(f"{os.fspath(path)}: larger than {max_bytes} bytes: no file of this kind is")
    data = b"".join(pieces)
    _core.check_whole(path, data[:_HEAD_BYTES])
    return data
