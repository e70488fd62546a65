"""Sources that fail in the middle, so that a run ends there and a later one goes on."""

import io
from pathlib import Path
from typing import Any

from toksmith import Corpus


class Stopped(Exception):
    """What the sources fail with."""


class _File(io.FileIO):
    budget: list[int]

    def read(self, size: int | None = -1, /) -> Any:
        """Read some bytes, and take them from what may be read."""
        data = super().read(-1 if size is None else min(size, 300) if size > 0 else size)
        self.budget[0] -= len(data or b"")
        if self.budget[0] < 0:
            raise Stopped("stopped")
        return data

    def readall(self) -> bytes:
        """Read all that is left."""
        return b"".join(iter(lambda: self.read(300), b""))


def failing(paths: list[Path], max_bytes: int) -> Corpus:
    """Return a corpus of files, of which at most so many bytes can be read."""
    corpus, budget = Corpus(paths), [max_bytes]

    def opened(path: str) -> _File:
        file = _File(path)
        file.budget = budget
        return file

    corpus.sources = [source._replace(open=lambda path=source.path: opened(path)) for source in corpus.sources]
    return corpus
