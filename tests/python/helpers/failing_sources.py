"""Sources that fail in the middle, so that a run ends there and a later one goes on."""

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from toksmith import Corpus
from toksmith.files.inputs import Source


class Stopped(Exception):
    """What the sources fail with."""


class _File(io.FileIO):
    budget: list[int]
    is_table = False

    def read(self, size: int | None = -1, /) -> Any:
        """Read some bytes, and take them from what may be read."""
        size = -1 if size is None else size
        data = super().read(size if self.is_table or size < 0 else min(size, 300))
        self.budget[0] -= len(data or b"")
        if self.budget[0] < 0:
            raise Stopped("the sources end here")
        return data

    def readall(self) -> bytes:
        """Read all that is left."""
        return b"".join(iter(lambda: self.read(300), b""))


@contextlib.contextmanager
def until_stopped() -> Iterator[None]:
    """Suppress what the sources fail with, whichever library hands it on, and nothing else."""
    try:
        yield
    except (Stopped, OSError, ValueError) as error:
        assert "the sources end here" in str(error), error


def failing(paths: list[Path], max_bytes: int) -> Corpus:
    """Return a corpus of files, of which at most so many bytes can be read."""
    corpus, budget = Corpus(paths), [max_bytes]

    def opened(source: Source) -> _File:
        file = _File(source.path)
        file.budget, file.is_table = budget, source.kind == "column"
        return file

    corpus.sources = [source._replace(open=lambda source=source: opened(source)) for source in corpus.sources]
    return corpus
