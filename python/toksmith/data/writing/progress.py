"""How far a run is: bytes, documents, tokens, speed, time left and the current source."""

from __future__ import annotations

import contextlib
import itertools
import time
from typing import TYPE_CHECKING, Any

from ..._internal import progress_lines
from ..._internal.messages import printable
from ..._internal.numbers import counted
from ..._internal.progress import bar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from typing_extensions import Self

    from ... import _core
    from ..._internal.progress import Report
    from .sources import Given

_STAGE = "encode"
_NAMES = {_STAGE: "tokenizing"}
# Characters of the name of a source that a bar shows.
_MAX_NAME = 40


class Watch:
    """Reports a run in the way the caller asked for: as a bar, in lines of JSON, through a callable, or not at all.

    Args:
        progress: As in `tokenize`.
        given: The sources.
    """

    def __init__(self, progress: bool | str | Report, given: list[Given]) -> None:
        if isinstance(progress, str) and progress != "json":
            raise ValueError(f'progress is True, False, "json" or a callable, not {progress!r}')
        self._progress, self._given = progress, given
        sizes = [one.seen[0] if one.seen else 0 for one in given]
        self._before = [0, *itertools.accumulate(sizes)]
        # The total is not known where a source has no size.
        self._total = 0 if any(one.seen is None for one in given) else self._before[-1]
        self._core: _core.ShardRun | None = None
        self._at = (0, 0)
        self._stack = contextlib.ExitStack()
        self._report: Report | None = None
        self._done = 0

    def __enter__(self) -> Self:
        if callable(self._progress):
            self._report = self._progress
        elif self._progress == "json":
            self._report = self._stack.enter_context(progress_lines.json_lines(self._details))
        elif self._progress:
            in_notebook = progress_lines.in_notebook()
            shown = progress_lines.text_line(_NAMES) if in_notebook else bar(_NAMES, self._facts())
            self._report = self._stack.enter_context(shown)
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def begin(self, core: _core.ShardRun, at: tuple[int, int]) -> None:
        """Watch a run that begins at a source, and at a place in it."""
        self._core, self._at = core, at

    @contextlib.contextmanager
    def group(self, first: int, end: int) -> Iterator[Report | None]:
        """Yield the callable to which the core reports while it reads some sources."""
        report = self._report
        if report is None:
            yield None
            return
        start = max(first, self._at[0])
        base = self._before[start]
        one = self._given[start]
        if start == self._at[0] and one.kind == "file" and one.compression is None and one.seen and one.open is None:
            base += self._at[1]

        def told(_: str, done: int, __: int) -> None:
            self._done = base + done
            report(_STAGE, min(self._done, self._total) if self._total else self._done, self._total)

        yield told

    def end(self, manifest: dict[str, Any]) -> None:
        """Report the end."""
        if self._report is not None:
            done = self._total or self._done or manifest["totals"]["text_bytes"]
            self._report(_STAGE, done, self._total)

    def _details(self) -> dict[str, Any]:
        if self._core is None:
            return {}
        documents, tokens, text_bytes, source, _, _ = self._core.counts()
        name = self._given[min(source, len(self._given) - 1)].name
        return {"documents": documents, "tokens": tokens, "text_bytes": text_bytes, "source": name}

    def _facts(self) -> Callable[[int], list[str]]:
        """Return a function that takes how many bytes are done, and returns the texts that a bar shows."""
        start, first = time.monotonic(), None

        def shown(done: int) -> list[str]:
            nonlocal first
            details = self._details()
            first = (done, details.get("tokens", 0)) if first is None else first
            return facts(details, done - first[0], first[1], time.monotonic() - start)

        return shown


def facts(details: dict[str, Any], done: int, tokens_before: int, seconds: float) -> list[str]:
    """Return the texts that a bar shows beside the share, the most important first.

    >>> details = {"documents": 1200, "tokens": 2_500_000, "source": "web/a.jsonl.zst"}
    >>> facts(details, 9_000_000, 500_000, 2.0)
    ['4.5 MB/s', '2.5 M tokens', '1,200 documents', '1.0 M tokens/s', 'web/a.jsonl.zst']
    """
    if not details:
        return [""]
    seconds = max(seconds, 1e-9)
    tokens = details["tokens"]
    name = printable(details["source"])
    return [
        f"{done / seconds / 1e6:,.1f} MB/s",
        f"{tokens / 1e6:,.1f} M tokens",
        counted(details["documents"], "document"),
        f"{(tokens - tokens_before) / seconds / 1e6:,.1f} M tokens/s",
        name if len(name) <= _MAX_NAME else f"…{name[1 - _MAX_NAME :]}",
    ]
