"""Progress as text: one line that is written anew, for notebooks; lines of JSON, for programs."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping

Report = Callable[[str, int, int], object]
Write = Callable[[str, int, int, float, bool], None]

# Seconds between two lines of one stage.
_TEXT_SECONDS = 0.5
_JSON_SECONDS = 0.25


def in_notebook() -> bool:
    """Return whether this runs in a notebook, whose standard error is no terminal but can replace a written line."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and type(shell).__name__ != "TerminalInteractiveShell"


@contextlib.contextmanager
def text_line(names: dict[str, str]) -> Iterator[Report]:
    """Yield a callable that reports in one line of text for each stage, by its name in `names`, on standard error."""
    longest = 0

    def write(stage: str, done: int, total: int, seconds: float, is_last: bool) -> None:
        nonlocal longest
        line = _line(names.get(stage, stage), stage, done, total, seconds)
        longest = max(longest, len(line))
        print(f"\r{line:{longest}}", end="\n" if is_last else "", file=sys.stderr, flush=True)

    with _throttled(write, _TEXT_SECONDS) as report:
        yield report


@contextlib.contextmanager
def json_lines(more: Callable[[], Mapping[str, object]] = dict) -> Iterator[Report]:
    """Yield a callable that reports in lines of JSON, on standard error: stage, done, total, seconds of the stage.

    The last state of each stage is always written. The total is 0 while it is not known. `more` returns the other
    fields of each line.
    """

    def write(stage: str, done: int, total: int, seconds: float, is_last: bool) -> None:
        line = json.dumps({"stage": stage, "done": done, "total": total, "seconds": round(seconds, 3), **more()})
        print(line, file=sys.stderr, flush=True)

    with _throttled(write, _JSON_SECONDS) as report:
        yield report


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


def _line(name: str, stage: str, done: int, total: int, seconds: float) -> str:
    """Return one line of text.

    >>> _line("counting pretokens", "count", 250_000_000, 500_000_000, 2.0)
    'counting pretokens: 50%, 250.0 of 500.0 MB, 2 s'
    >>> _line("learning merges", "merge", 1234, 0, 7.2)
    'learning merges: 1,234 merges, 7 s'
    """
    share = f"{100 * done // total}%, " if total else ""
    numbers = (f"{number:,}" if stage == "merge" else f"{number / 1e6:,.1f}" for number in (done, total))
    amount = " of ".join(numbers) if total else next(numbers)
    return f"{name}: {share}{amount} {'merges' if stage == 'merge' else 'MB'}, {seconds:.0f} s"
