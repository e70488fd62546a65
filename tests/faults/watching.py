"""What another process writes just now, files without a name included: as Linux tells it."""

import contextlib
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE = 120.0
"""Seconds to wait for what will happen soon, on a machine that has other things to do."""


def wait_until(happens: Callable[[], bool], child: subprocess.Popen[str] | None = None) -> bool:
    """Wait until something happens; returns False if the child ended before it did."""
    deadline = time.monotonic() + PATIENCE
    while not happens():
        if child is not None and child.poll() is not None:
            return False
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.001)
    return True


def bytes_in_new_files(pid: int, folder: Path) -> int:
    """Return how many bytes there are in the files without a name, or with a hidden one, that a process writes."""
    found: dict[int, int] = {}
    with contextlib.suppress(OSError):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                name = str(descriptor.readlink())
                if name.startswith(f"{folder}/") and (name.endswith(" (deleted)") or "/." in name):
                    status = descriptor.stat()
                    found[status.st_ino] = status.st_size
    return sum(found.values())


def has_new_file(pid: int, folder: Path) -> bool:
    """Return whether a process has a new file open in a folder."""
    with contextlib.suppress(OSError):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                name = str(descriptor.readlink())
                if name.startswith(f"{folder}/") and (name.endswith(" (deleted)") or "/." in name):
                    return True
    return False


def names(folder: Path) -> list[str]:
    """Return all that is in a folder, hidden or not."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
