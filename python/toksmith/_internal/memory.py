"""The memory that this process has and may have, and memory limits as numbers or texts."""

import contextlib
import operator
import os
import re
from pathlib import Path
from typing import SupportsIndex

from .messages import shown

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


def limit(value: int | str | SupportsIndex | None, name: str = "memory_limit") -> int:
    """Return a limit in bytes: of a number, of a text such as "2GB" or "1.5 GiB", or half of the available memory.

    `name` is that of the option.

    >>> limit("2GB"), limit("1.5 MiB"), limit(10**9)
    (2000000000, 1572864, 1000000000)
    """
    if value is None:
        return max(installed() // 2, 1 << 20)
    error = f'{name} is a number of bytes or a text such as "2GB", not {shown(value)}'
    if isinstance(value, str):
        match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([kmgt]i?|)b?\s*", value.lower())
        if not match:
            raise ValueError(error)
        number = int(float(match[1]) * _UNITS[match[2]])
    elif isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(error)
    else:
        number = operator.index(value)
    if number < 1:
        raise ValueError(f"{name} is at least 1 byte, not {shown(value)}")
    return min(number, 2**62)


def installed() -> int:
    """Return the bytes of memory that this process may have: the machine's, or less if its cgroup has a limit."""
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        memory = 8 << 30  # the system does not say
    for path in _cgroup_files():
        with contextlib.suppress(OSError, ValueError), path.open() as file:
            memory = min(memory, int(file.read()))
    return memory


def taken() -> tuple[int, int]:
    """Return the bytes of memory and of address space that this process takes; zeros if the system does not say."""
    with contextlib.suppress(OSError, ValueError), open("/proc/self/statm") as file:
        size, resident, *_ = (int(pages) * os.sysconf("SC_PAGE_SIZE") for pages in file.read().split())
        return resident, size
    return 0, 0


def remaining() -> int:
    """Return the bytes of memory that this process may still take: of `installed`, and of a limit on addresses."""
    resident, size = taken()
    available = installed() - resident
    if resource is not None and (soft := resource.getrlimit(resource.RLIMIT_AS)[0]) != resource.RLIM_INFINITY:
        available = min(available, soft - size)
    return max(available, 0)


class Use:
    """The memory that this process has taken since now, beside a limit."""

    def __init__(self, limit: int | None) -> None:
        self._limit, self._before = limit, taken()[0]

    def facts(self) -> list[str]:
        """Return such as "RAM 0.4 of 2.0 GB"; nothing if the system does not say."""
        now = taken()[0]
        return [use_of(max(now - self._before, 0), self._limit)] if now else []


def use_of(number: int, limit: int | None) -> str:
    """Return bytes of memory in use, beside a limit, as a text.

    >>> use_of(412_000_000, 500_000_000), use_of(412_000_000, 2_000_000_000), use_of(7_000_000, None)
    ('RAM 412 of 500 MB', 'RAM 0.4 of 2.0 GB', 'RAM 7 MB')
    """
    unit, places, name = (1e9, 1, "GB") if max(number, limit or 0) >= 10**9 else (1e6, 0, "MB")
    bound = "" if limit is None else f" of {limit / unit:,.{places}f}"
    return f"RAM {number / unit:,.{places}f}{bound} {name}"


def _cgroup_files() -> list[Path]:
    """Return the paths of files that may limit this process: those of its own group and of all groups around it."""
    try:
        lines = Path("/proc/self/cgroup").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return []
    paths = []
    for line in lines:
        _, controllers, name = line.split(":", 2)
        if controllers == "":
            root, limit_file = "/sys/fs/cgroup", "memory.max"
        elif "memory" in controllers.split(","):
            root, limit_file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
        else:
            continue
        # Each group has a limit. In a container only the root of the path that the host knows may exist.
        folder = f"{root}/{name.strip('/')}".rstrip("/")
        while len(folder) >= len(root):
            paths.append(Path(folder, limit_file))
            folder = folder.rpartition("/")[0]
    return paths
