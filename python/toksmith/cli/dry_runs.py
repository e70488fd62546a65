"""`toksmith train --dry-run`: what a training will take, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._internal import memory
from .._internal.numbers import counted, size
from .options import UsageError

if TYPE_CHECKING:
    from ..training.estimate import Estimate
    from ..training.options import Options


def estimated(files: list[str], options: Options, **how: Any) -> Estimate:
    """Return the estimate; standard input is refused, since it can be read once only."""
    if "-" in files:
        raise UsageError("--dry-run reads a part of the files, and standard input can be read once only: give files")
    from ..training import estimate

    return estimate.estimate(files, options, **how)


def shown(found: Estimate, options: Options, memory_limit: str | None) -> str:
    """Return the estimate as lines, the last of which warn of what will not fit."""
    about = "" if found.is_whole else "about "
    amount = "all of it" if found.is_whole else f"{size(found.sample_bytes)} of text"
    threads = counted(found.workers, "thread")
    rows = [
        ("files", f"{found.files:,}, {size(found.file_bytes)} on the disk"),
        ("text", f"{about}{size(found.text_bytes)}"),
        ("sample", f"{amount}, {found.sample_pretokens:,} different pretokens"),
        ("pretokens", f"{about}{rounded(found.pretokens)} different ones{growth(found)}"),
        ("counting", f"about {duration(found.count_seconds)}, with {threads}"),
        ("learning", f"about {duration(found.learn_seconds)}, for {options.max_merges:,} merges"),
        ("memory", f"up to about {size(found.memory)}, of {size(memory.installed())} that there are"),
    ]
    lines = [f"{name + ':':<11}{what}\n" for name, what in rows]
    return "".join([*lines, *warnings_of(found, memory.limit(memory_limit))])


def growth(found: Estimate) -> str:
    """Return how the number of different pretokens grows with the text, unless all of the text was counted."""
    return "" if found.is_whole else f" (they grow as the text to the power of {found.growth:.2f})"


def warnings_of(found: Estimate, limit: int) -> list[str]:
    """Return a line for each thing that will not fit, with what to do."""
    lines = []
    if found.counts > limit // 2:
        lines.append(
            f"the counts will take about {size(found.counts)}, and they may take {size(limit // 2)}, half of "
            "--memory-limit: raise it, or train on less text\n"
        )
    if found.memory > memory.installed():
        lines.append(
            "this machine has too little memory: train on less text, or leave rare pretokens out with "
            "--min-pretoken-count\n"
        )
    return lines


def rounded(count: int) -> str:
    """Return a number rounded to two digits if it has five or more.

    >>> rounded(1234), rounded(4_123_456)
    ('1,234', '4,100,000')
    """
    places = max(0, len(str(count)) - 2) if count >= 10_000 else 0
    return f"{round(count, -places):,}"


def duration(seconds: float) -> str:
    """Return a time in words.

    >>> duration(0.2), duration(75), duration(7300)
    ('a second', '1 min 15 s', '2 h 1 min')
    """
    whole = max(1, round(seconds))
    if whole == 1:
        return "a second"
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
