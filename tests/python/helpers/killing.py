"""Kills of workers in the middle of their work. What runs on a worker is nested, so that engines send it as it is."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

Kill = Callable[[], None]


def once(mark: Path, kill_executor: bool = False) -> Kill:
    """What kills the process that calls it first; with `kill_executor` the executor of Spark that started it."""

    def kill() -> None:
        try:
            mark.touch(exist_ok=False)
        except FileExistsError:
            return
        process = os.getpid()
        if kill_executor:  # the executor starts a daemon, which forks the workers
            daemon = Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()
            process = int(daemon[1])
        os.kill(process, signal.SIGKILL)

    return kill


def batches(kill: Kill) -> Any:
    """A function of batches for `mapInArrow` that kills in the middle of a partition."""

    def function(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            kill()
            yield batch

    return function


def block(kill: Kill) -> Any:
    """The same of blocks, for `map_batches`."""

    def function(block: Any) -> Any:
        kill()
        return block

    return function


def while_tokenizing(engine: Any, encoding: Kill, patch: pytest.MonkeyPatch) -> None:
    """Let the workers of an engine be killed while a piece is being written."""
    encoded = engine._encoded

    def encode_and_kill(self: Any, data: Any, column: str, order: str | None, encode: Any) -> list[str]:
        def function(batches: Iterable[Any]) -> Any:
            def given() -> Iterator[Any]:
                yield from batches
                encoding()

            return encode(given())

        rows: list[str] = encoded(self, data, column, order, function)
        return rows

    patch.setattr(engine, "_encoded", encode_and_kill)
