"""Reading whole files that may come from a stranger: never more bytes than a limit, whatever the file is.

All loaders use this module. It imports nothing that takes long, since loading a rank file takes milliseconds.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

MAX_BYTES = 1 << 28
"""Most bytes of a file that holds a tokenizer: ten times the largest published one."""
_PIECE = 1 << 20


def read(path: str | os.PathLike[str], most: int = MAX_BYTES) -> bytes:
    """Return the content of a file, pipe or device that ends within `most` bytes.

    Cost: a larger regular file is refused unread; of a pipe or device at most one byte more than `most` is read.

    Args:
        path: The file. A file descriptor is refused.
        most: Bytes that the file may have.

    Raises:
        OSError: The file cannot be read, or is a folder.
        ValueError: The file is larger; names the file and the limit.
    """
    # fspath: an int would be a file descriptor. pathlib takes long to import.
    with open(os.fspath(path), "rb") as file:  # noqa: PTH123
        status = os.fstat(file.fileno())
        size = status.st_size if stat.S_ISREG(status.st_mode) else 0
        # One byte more than the size: one call reads a file that has not grown, and sees its end.
        data = file.read(size + 1) if size <= most else b""
        if len(data) > size or size == 0:
            data += _rest(file, most - len(data))
    if max(len(data), size) > most:
        raise ValueError(f"{os.fspath(path)}: larger than {most} bytes: no file of this kind is")
    return data


def _rest(file: IO[bytes], most: int) -> bytes:
    """Return the rest of the file, at most one byte more than `most`."""
    pieces, room = [], most + 1
    while room > 0 and (piece := file.read(min(room, _PIECE))):
        pieces.append(piece)
        room -= len(piece)
    return b"".join(pieces)
