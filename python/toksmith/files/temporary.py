"""Temporary files and folders: where they are made, and how they are removed if the process is killed."""

from __future__ import annotations

import contextlib
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .new_file import NewFile

_PREFIX, _SUFFIX = "toksmith-", ".tmp"


def folder() -> str:
    """Return what `tempfile.gettempdir()` returns.

    Importing `tempfile` takes longer than learning a thousand merges, and asking it writes a file. It is asked only
    if the first folder that it would try is not usable, or if it is imported already and may have another setting.
    """
    if "tempfile" not in sys.modules and os.name == "posix":
        given = (os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
        first = next(filter(None, given), "/tmp")
        if os.path.isdir(first) and os.access(first, os.R_OK | os.W_OK | os.X_OK):
            return os.path.abspath(first)
    import tempfile

    return tempfile.gettempdir()


def file() -> NewFile:
    """Return a new, empty file in the temporary folder; `close`, or the end of a `with`, removes it.

    `NewFile` says what a killed process leaves behind.
    """
    from pathlib import Path

    from .new_file import NewFile

    return NewFile(Path(folder()), "temporary")


@contextlib.contextmanager
def own_folder() -> Iterator[str]:
    """Yield a new, empty folder in the temporary folder, and remove it in the end.

    The folder is locked until then. On all systems but Windows, the next call removes a folder that a killed process
    left behind. For a single file, `file` is better.
    """
    import shutil
    import tempfile

    from . import new_file

    _remove_abandoned()
    while True:
        path = tempfile.mkdtemp(_SUFFIX, _PREFIX)
        with contextlib.ExitStack() as stack:
            # Before the folder is locked, another process may take it for an abandoned one.
            with contextlib.suppress(FileNotFoundError):
                is_ours = stack.enter_context(new_file.locked(path))
            if os.path.isdir(path) and is_ours:
                try:
                    yield path
                finally:
                    shutil.rmtree(path, ignore_errors=True)
                return


def _remove_abandoned() -> None:
    import shutil

    from . import new_file

    for name in _names(folder()):
        if name.startswith(_PREFIX) and name.endswith(_SUFFIX):
            path = os.path.join(folder(), name)
            with contextlib.suppress(OSError), new_file.locked(path, needed=True) as is_abandoned:
                if is_abandoned and new_file.is_own(path, is_folder=True):
                    shutil.rmtree(path, ignore_errors=True)


def _names(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []
