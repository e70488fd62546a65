"""How far a long call has come: in bars, in a line of text in a notebook, in lines of JSON, or through a callable."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import TaskID

Report = Callable[[str, int, int], object]
Write = Callable[[str, int, int, float, bool], None]
Facts = Callable[[], Sequence[str]]

_NAMES = {
    "count": "counting pretokens",
    "merge": "learning merges",
    "encode": "encoding",
    "decode": "decoding",
    "check": "checking",
}
# Seconds between two drawings of a bar.
_REFRESH = 0.1
_BAR_WIDTH = 12
_OTHER_WIDTH = _BAR_WIDTH + len("counting pretokens 100%  0:00:00 ")
"""The width of all that stands beside the facts."""
# Seconds between two lines of one stage.
_TEXT_SECONDS = 0.5
_JSON_SECONDS = 0.25


@contextlib.contextmanager
def reporter(progress: bool | str | Report, facts: Facts = tuple) -> Iterator[Report | None]:
    """Yield the callable to which the core reports, or None.

    True shows a bar on standard error, and a line of text in a notebook; "json" writes lines of JSON there. A
    callable is called with (stage, done, total), about every 40 ms, where stage is "count", "encode" or "decode" (in
    bytes) or "merge" (in merges), and total is 0 while it is not known. False is silence. `facts` returns texts to
    show beside a bar.
    """
    if not progress or callable(progress):
        yield progress or None
    elif progress == "json":
        with _throttled(_write_json, _JSON_SECONDS) as report:
            yield report
    elif in_notebook():  # `rich` would need widgets there, and shows nothing without them
        with _throttled(_write_text, _TEXT_SECONDS) as report:
            yield report
    else:
        bars = Bars(facts)
        with bars.drawn:
            yield bars.report


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
    """A bar for each stage, with share, facts and time left. `rich` draws the bars, and reports update them."""

    def __init__(self, facts: Facts = tuple) -> None:
        from rich import progress as rich
        from rich.console import Console

        # Text is no markup: it may be the name of a file, such as `[1].txt`.
        # The time left follows the rate of the last seconds. Merges become cheaper as their pairs become rarer, so
        # the average since the start would give far too long a time.
        # A bar is drawn when the call reports, not by a thread, which the system may refuse to start.
        self.drawn = rich.Progress(
            rich.TextColumn("{task.description}", markup=False),
            rich.BarColumn(_BAR_WIDTH),
            rich.TaskProgressColumn(),
            rich.TextColumn("{task.fields[facts]}", markup=False),
            rich.TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            speed_estimate_period=10,
            auto_refresh=False,
        )
        self._tasks: dict[str, TaskID] = {}
        self._facts, self._due = facts, 0.0

    def report(self, stage: str, done: int, total: int) -> None:
        """Set how far a stage is; the first call for it adds its bar.

        The total is 0 while it is not known. Beside the bar are the rate and the facts, the most important first,
        without those that the terminal has no room for.
        """
        from rich.cells import cell_len

        if stage not in self._tasks:
            self._tasks[stage] = self.drawn.add_task(_NAMES.get(stage, stage), total=total or None, facts="")
        task = self._tasks[stage]
        self.drawn.update(task, completed=done, total=total or None)
        speed = self.drawn.tasks[task].speed or 0
        rate = f"{speed:,.0f} merges/s" if stage == "merge" else f"{speed / 1e6:,.1f} MB/s"
        beside = [*([rate] if speed else ()), *self._facts()]
        while beside and cell_len(", ".join(beside)) > self.drawn.console.width - _OTHER_WIDTH:
            beside.pop()
        self.drawn.update(task, facts=", ".join(beside))
        if time.monotonic() >= self._due:
            self.drawn.refresh()
            self._due = time.monotonic() + _REFRESH


# Lines


def in_notebook() -> bool:
    """Return whether this runs in a notebook, whose standard error is no terminal but can replace a written line."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and type(shell).__name__ != "TerminalInteractiveShell"


def _write_text(stage: str, done: int, total: int, seconds: float, is_last: bool) -> None:
    """Write a line of text over the last one of the same stage."""
    print(f"\r{_line(stage, done, total, seconds)}", end="\n" if is_last else "", file=sys.stderr, flush=True)


def _write_json(stage: str, done: int, total: int, seconds: float, _: bool) -> None:
    """Write a line of JSON: stage, done, total (0 while it is not known), seconds of the stage."""
    line = {"stage": stage, "done": done, "total": total, "seconds": round(seconds, 3)}
    print(json.dumps(line), file=sys.stderr, flush=True)


@contextlib.contextmanager
def _throttled(write: Write, every: float) -> Iterator[Report]:
    """Yield a callable that passes on one report in `every` seconds, and the last one of each stage."""
    last: tuple[str, int, int] | None = None
    start = due = 0.0

    def finish() -> None:
        if last is not None:
            write(*last, time.monotonic() - start, True)

    def report(stage: str, done: int, total: int) -> None:
        nonlocal last, start, due
        now = time.monotonic()
        if last is None or stage != last[0]:
            finish()
            start = due = now
        last = stage, done, total
        if now >= due:
            due = now + every
            write(stage, done, total, now - start, False)

    try:
        yield report
    finally:
        finish()


def _line(stage: str, done: int, total: int, seconds: float) -> str:
    """Return one line of text.

    >>> _line("count", 250_000_000, 500_000_000, 2.0)
    'counting pretokens: 50%, 250.0 of 500.0 MB, 2 s'
    >>> _line("merge", 1234, 0, 7.2)
    'learning merges: 1,234 merges, 7 s'
    """
    share = f"{100 * done // total}%, " if total else ""
    numbers = (f"{number:,}" if stage == "merge" else f"{number / 1e6:,.1f}" for number in (done, total))
    amount = " of ".join(numbers) if total else next(numbers)
    return f"{_NAMES.get(stage, stage)}: {share}{amount} {'merges' if stage == 'merge' else 'MB'}, {seconds:.0f} s"
