"""How far a long call has come, on the terminal or through a callback."""

from __future__ import annotations

import contextlib
import time

from . import progress_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Report = Callable[[str, int, int], Any]

_NAMES = {
    "count": "counting pretokens",
    "merge": "learning merges",
    "encode": "encoding",
    "decode": "decoding",
    "check": "checking",
}
# Seconds between two drawings of a bar.
_REFRESH = 0.1


@contextlib.contextmanager
def reporter(progress: bool | Report) -> Iterator[Report | None]:
    """Yield the callable to which the core reports, or None.

    Args:
        progress: True shows a bar on standard error, and a line of text in a notebook. A callable is called with
            (stage, done, total), about every 40 ms, where stage is "count", "encode" or "decode" (in bytes) or
            "merge" (in merges), and total is 0 while it is not known. False is silence.
    """
    if not progress:
        yield None
    elif callable(progress):
        yield progress
    else:
        # In a notebook `rich` would need widgets, and shows nothing without them.
        with progress_lines.text_line(_NAMES) if progress_lines.in_notebook() else _bar() as report:
            yield report


def summing(report: Report | None, stage: str, total: int) -> Callable[[int], None]:
    """Return a function that takes the size of each part that is done, and reports the sum.

    >>> read = summing(print, "encode", 10)
    >>> read(4), read(6)
    encode 4 10
    encode 10 10
    (None, None)
    """
    done = 0

    def add(size: int) -> None:
        nonlocal done
        done += size
        if report:
            report(stage, done, total)

    return add


class Bars:
    """A bar for each stage, with rate and time left. `rich` draws the bars, and reports update them."""

    def __init__(self) -> None:
        from rich import progress as rich
        from rich.console import Console

        columns = (
            rich.TextColumn("{task.description}"),
            rich.BarColumn(),
            rich.TaskProgressColumn(),
            rich.TextColumn("{task.fields[rate]}"),
            rich.TimeElapsedColumn(),
            rich.TextColumn("left:"),
            rich.TimeRemainingColumn(),
        )
        # The time left follows the rate of the last seconds. Merges become cheaper as their pairs become rarer, so
        # the average since the start would give far too long a time.
        # A bar is drawn when the call reports, not by a thread, which the system may refuse to start.
        self.drawn = rich.Progress(
            *columns, console=Console(stderr=True), transient=True, speed_estimate_period=10, auto_refresh=False
        )
        self._tasks: dict[str, Any] = {}

    def update(self, stage: str, done: int, total: int) -> None:
        """Set how far a stage is; the first call for it adds its bar."""
        if stage not in self._tasks:
            self._tasks[stage] = self.drawn.add_task(_NAMES.get(stage, stage), total=None, rate="")
        task = self._tasks[stage]
        self.drawn.update(task, completed=done, total=total or None)
        self.drawn.update(task, rate=rate(stage, self.drawn.tasks[task].speed))


@contextlib.contextmanager
def _bar() -> Iterator[Report]:
    bars = Bars()
    with bars.drawn:
        due = 0.0

        def report(stage: str, done: int, total: int) -> None:
            nonlocal due
            bars.update(stage, done, total)
            if time.monotonic() >= due:
                bars.drawn.refresh()
                due = time.monotonic() + _REFRESH

        yield report


def rate(stage: str, speed: float | None) -> str:
    """Return the speed of a stage, in its own unit for each second.

    >>> rate("count", 250e6), rate("merge", 31743.0), rate("merge", None)
    ('250.0 MB/s', '31,743 merges/s', '')
    """
    if not speed:
        return ""
    return f"{speed:,.0f} merges/s" if stage == "merge" else f"{speed / 1e6:,.1f} MB/s"
