"""Progress of reading texts, shown as a bar or reported to a callable."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import TypeAlias

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

Report: TypeAlias = "Callable[[str, int, int], object]"
"""Takes the stage, how many bytes are done, and how many there are; 0 if that is not known."""

# Seconds between two drawings.
_REFRESH = 0.1


@contextlib.contextmanager
def reading(progress: bool | Report, total: int) -> Iterator[Callable[[int], object]]:
    """Yield a function that takes the number of bytes of each part that is read.

    Args:
        progress: True shows a bar on standard error, and a line of text in a notebook. A callable is called with
            ("encode", done, total). False is silence.
        total: All bytes; 0 if they are not known.
    """
    done, due = 0, 0.0
    with contextlib.ExitStack() as stack:
        report = _bar(stack, total) if progress is True else progress or None

        def add(size: int) -> None:
            nonlocal done, due
            done += size
            if report is not None and (progress is not True or time.monotonic() >= due):
                report("encode", done, total)
                due = time.monotonic() + _REFRESH

        yield add


def _bar(stack: contextlib.ExitStack, total: int) -> Report:
    console = Console(stderr=True)
    if console.is_jupyter:  # where a bar of `rich` needs widgets
        return lambda _, done, total: print(f"\rencoding {done / 1e6:,.1f} MB", end="", file=sys.stderr)
    columns = (TextColumn("encoding"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    # Drawn when something was read, not by a thread, which the system may refuse to start.
    bar = stack.enter_context(Progress(*columns, console=console, transient=True, auto_refresh=False))
    task = bar.add_task("", total=total or None)
    return lambda _, done, total: bar.update(task, completed=done, refresh=True)
