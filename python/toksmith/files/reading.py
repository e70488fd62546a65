"""Reading files that may come from a stranger, never beyond a limit, and files that must not change meanwhile."""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from .. import _core

MAX_BYTES = 1 << 28
"""Maximum size of a file that holds a tokenizer: ten times the largest published one."""
_PIECE = 1 << 20
_HEAD_BYTES = 1 << 12
_GIVEN = ("/dev/stdin", "/dev/fd/", "/proc/")


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file to read. A named pipe, a socket or a device is an error at once; `open` may wait for ever.

    What the process was given open may also be a pipe: `/dev/stdin`, and names in `/dev/fd` and `/proc`.

    Raises:
        OSError: The file cannot be opened, is a folder, or is no regular file.
    """
    name = os.fsdecode(path)
    is_given = name.startswith(_GIVEN)
    more_flags = getattr(os, "O_NOCTTY", 0) | (0 if is_given else getattr(os, "O_NONBLOCK", 0))
    # The file owns its descriptor from the start: an exit by a signal closes it once.
    file = open(path, "rb", opener=lambda path, flags: os.open(path, flags | more_flags))  # noqa: SIM115
    try:
        if not (stat.S_ISREG(os.fstat(file.fileno()).st_mode) or is_given):
            raise OSError(errno.EINVAL, "not a regular file", name)
    except BaseException:
        file.close()
        raise
    return file


def read(path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> bytes:
    """Return the content of a file that ends within `max_bytes`. `open_regular` says which files are opened.

    Cost: a larger regular file is refused unread; of a pipe at most one byte more than `max_bytes` is read.

    Raises:
        OSError: The file cannot be read, or is no regular file.
        ValueError: The file is larger, or a Git LFS pointer or an HTML page stands in its place; names the file.
    """
    with open_regular(path) as file:
        status = os.fstat(file.fileno())
        size = status.st_size if stat.S_ISREG(status.st_mode) else 0
        pieces, room = [], max_bytes + 1 if size <= max_bytes else 0
        # One byte more than the size: one call reads a file that has not grown, and sees its end.
        while room > 0 and (piece := file.read(min(room, max(size + 1, _PIECE)))):
            pieces.append(piece)
            room -= len(piece)
    if room == 0:
        raise ValueError(f"{os.fspath(path)}: larger than {max_bytes} bytes, the limit for a file of this kind")
    data = b"".join(pieces)
    _core.check_head(path, data[:_HEAD_BYTES], plain=False)
    return data


# Files that must not change while they are read


class Stamp(NamedTuple):
    """The size of a file, and the time of its last change in nanoseconds."""

    size: int
    modified: int


def stamp(file: int | str | os.PathLike[str]) -> Stamp | None:
    """Return the stamp of a regular file, by its path or the number of an open file; None for a pipe or a device."""
    status = os.stat(file)  # noqa: PTH116  a number has no Path
    return Stamp(status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def check_unchanged(file: int | str | os.PathLike[str], seen: Stamp | None, name: str) -> None:
    """Raise an `OSError` if a file has changed since its stamp was taken."""
    now = stamp(file) if seen is not None else None
    if seen is None or now == seen:
        return
    how = ""
    if now is None:
        what = "was replaced by something that is no file"
    elif now.size != seen.size:
        what = "became shorter" if now.size < seen.size else "became longer"
        how = f", from {seen.size} to {now.size} bytes"
    elif seen.size == 0:
        return  # a file of Linux's /proc has size 0, and the time of the call
    else:
        what = "was changed"
    raise OSError(f"{name}: the file {what} while it was read{how}: wait until nothing writes to it, or give a copy")


@contextlib.contextmanager
def unchanged(file: int, name: str, seen: Stamp | None = None) -> Iterator[None]:
    """Watch an open file, read inside: a change since `seen` or now is the error, whatever reading failed with."""
    check_unchanged(file, seen, name)
    seen = seen or stamp(file)
    try:
        yield
    except Exception:
        check_unchanged(file, seen, name)
        raise
    check_unchanged(file, seen, name)
