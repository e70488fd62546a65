"""Files that must not change while they are read."""

import contextlib
import os
import stat
from collections.abc import Iterator
from typing import NamedTuple


class Stamp(NamedTuple):
    """The size of a file, and the time of its last change in nanoseconds."""

    size: int
    modified: int


def stamp(file: int | str | os.PathLike[str]) -> Stamp | None:
    """Return the stamp of a regular file, by its path or the number of an open file; None for a pipe or a device."""
    status = os.stat(file)  # noqa: PTH116  a number has no Path
    return Stamp(status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def check(file: int | str | os.PathLike[str], seen: Stamp | None, name: str) -> None:
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
    check(file, seen, name)
    seen = seen or stamp(file)
    try:
        yield
    except Exception:
        check(file, seen, name)
        raise
    check(file, seen, name)
