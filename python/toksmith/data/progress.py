"""How far a run is: bytes, documents, tokens, speed, time left and the current source."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Sequence

from .. import _core
from .._internal.messages import counted, printable
from .._internal.progress import Report, reporter
from ..files.inputs import Source

_STAGE = "encode"
# Characters of the name of a source that a bar shows.
_MAX_NAME = 40


class Watch:
    """Tells how far a run is; `report` gets (stage, done, total) in bytes of the sources, if there is one."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.report: Report | None = None
        self._sources = sources
        self._before = [0, *itertools.accumulate(source.size or 0 for source in sources)]
        # The total is not known where a source has no size.
        self._total = 0 if any(source.size is None for source in sources) else self._before[-1]
        self._done = 0

    def begin(self, core: _core.ShardRun) -> None:
        """Watch a run."""
        self._core = core

    def report_of(self, first: int) -> Report | None:
        """Return the callable to which the core reports while it reads sources from the number `first` on."""
        if (report := self.report) is None:
            return None
        start, offset = self._core.at()
        source = self._sources[max(first, start)]
        base = self._before[max(first, start)]
        is_at_offset = source.compression is None and source.format in ("text", "jsonl") and source.is_regular
        if first <= start and is_at_offset:
            base += offset

        def shifted(_stage: str, done: int, _total: int) -> None:
            self._done = base + done
            report(_STAGE, min(self._done, self._total) if self._total else self._done, self._total)

        return shifted

    def end(self, text_bytes: int) -> None:
        """Report the end."""
        if self.report is not None:
            self.report(_STAGE, self._total or self._done or text_bytes, self._total)

    def facts(self) -> list[str]:
        """Return what a bar shows beside the bytes."""
        documents, tokens, source = self._core.counts()
        name = printable(self._sources[min(source, len(self._sources) - 1)].name)
        return [
            f"{tokens / 1e6:,.1f} M tokens",
            counted(documents, "document"),
            name if len(name) <= _MAX_NAME else f"…{name[1 - _MAX_NAME :]}",
        ]


@contextlib.contextmanager
def watching(progress: bool | str | Report, sources: Sequence[Source]) -> Iterator[Watch]:
    """Watch a run in the way the caller asked for: as a bar, in lines of JSON, through a callable, or not at all."""
    if isinstance(progress, str) and progress != "json":
        raise ValueError(f'progress is True, False, "json" or a callable, not {progress!r}')
    watch = Watch(sources)
    with reporter(progress, watch.facts) as watch.report:
        yield watch
