"""Memory of the Python workers that an engine starts, watched from the process that started the engine (Linux)."""

from __future__ import annotations

import collections
import threading
from pathlib import Path
from typing import Any

from typing_extensions import Self

INTERVAL = 0.01
"""Seconds between two looks. What is held for less is not seen."""
MARKS = ("ray::IDLE", "ray::MapBatches", "pyspark.daemon")
"""What the command line of a worker holds before and while it runs a function of batches."""


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


def memory(pid: int) -> tuple[float, float] | None:
    """Return the resident and the private memory of a process in MB; None if it is no worker, or has ended."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace")
        if not any(mark in command for mark in MARKS):
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
        self.most: dict[int, tuple[float, float]] = {}
        """The most resident and the most private memory of each worker, in MB."""

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
                if found := memory(pid):
                    resident, private = self.most.get(pid, (0.0, 0.0))
                    self.most[pid] = max(resident, found[0]), max(private, found[1])


def above(idle: dict[int, tuple[float, float]], busy: dict[int, tuple[float, float]]) -> tuple[float, float]:
    """Return how far the most memory of a worker stands above that of an idle one: resident and private, in MB."""
    least = [min(pair[place] for pair in idle.values()) for place in (0, 1)]
    resident, private = (max(pair[place] for pair in busy.values()) - least[place] for place in (0, 1))
    return resident, private
