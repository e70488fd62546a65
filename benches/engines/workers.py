"""Memory and processor time of the processes that an engine starts, seen from the one that started it (Linux)."""

from __future__ import annotations

import collections
import os
import threading
from pathlib import Path
from typing import Any

from typing_extensions import Self

INTERVAL = 0.01
"""Seconds between two looks. What is held for less is not seen."""
IDLE = ("ray::IDLE", "pyspark.daemon")
"""What the command line of a worker holds that runs nothing."""
COUNTING = ("MapBatches(KeptFunction)", "pyspark.daemon")
"""What it holds while it runs a function of batches."""


def descendants(pid: int) -> list[int]:
    """Return the processes below a process."""
    children = collections.defaultdict(list)
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = place.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue  # it has ended
        children[int(text.rpartition(")")[2].split()[1])].append(int(place.parent.name))
    found, waiting = [], [pid]
    while waiting:
        waiting += (own := children[waiting.pop()])
        found += own
    return found


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process and those below it took so far, those that ended among them."""
    ticks = 0
    for one in (pid, *descendants(pid)):
        try:
            text = Path(f"/proc/{one}/stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        ticks += sum(map(int, text.rpartition(")")[2].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def memory(pid: int, marks: tuple[str, ...]) -> tuple[float, float] | None:
    """Return the resident and the private memory of a process in MB; None if its command line has no such mark."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace")
        if not any(mark in command for mark in marks):
            return None
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    fields = dict(line.split(":", 1) for line in lines)
    resident, private = (int(fields[name].split()[0]) / 1024 for name in ("VmRSS", "RssAnon"))
    return resident, private


class Watch:
    """Looks at the memory of all workers below a process, again and again, while a `with` block runs."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self.most = (0.0, 0.0)
        """The most resident and the most private memory of a worker, in MB."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        looks = 0
        while not self._ended.wait(INTERVAL):
            if looks % 20 == 0:
                pids = descendants(self._pid)  # rarely: it reads a file of each process of the machine
            looks += 1
            for pid in pids:
                if found := memory(pid, COUNTING):
                    self.most = max(self.most[0], found[0]), max(self.most[1], found[1])


def now(pid: int) -> tuple[float, float]:
    """Return the resident and the private memory, in MB, of the largest worker below a process, as it is now."""
    found = [pair for one in descendants(pid) if (pair := memory(one, IDLE))]
    return max(pair[0] for pair in found), max(pair[1] for pair in found)
