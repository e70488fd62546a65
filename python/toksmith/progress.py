"""How far a long call has come, on the terminal or through a callback."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Report = Callable[[str, int, int], Any]

_NAMES = {"count": "counting pretokens", "merge": "learning merges", "encode": "encoding", "decode": "decoding"}


@contextlib.contextmanager
def reporter(progress: bool | Report) -> Iterator[Report | None]:
    """Yield what the core reports to, or None.

    Args:
        progress: True shows a bar on standard error; a callable is called with (stage, done, total), about
            every 40 ms, where stage is "count" (in bytes) or "merge" (in merges) and total is 0 while
            it is not known; False is silence.
    """
    if not progress:
        yield None
    elif callable(progress):
        yield progress
    else:
        with _bar() as report:
            yield report


@contextlib.contextmanager
def _bar() -> Iterator[Report]:
    from rich import progress as rich
    from rich.console import Console

    columns = (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.TaskProgressColumn(),
        rich.TimeElapsedColumn(),
    )
    with rich.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def report(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(_NAMES.get(stage, stage), total=None)
            bar.update(tasks[stage], completed=done, total=total or None)

        yield report
