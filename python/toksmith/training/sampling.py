"""A sample of the text of files: stretches that are spread evenly over them."""

from __future__ import annotations

import bisect
import itertools
import time
from typing import TYPE_CHECKING, NamedTuple

from .. import _core
from ..files import documents, parquet, watching

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..files.inputs import Source

STRETCH_BYTES = 1 << 18
"""Bytes of files that a stretch covers: enough for many documents, and few enough for a hundred in a sample."""
# Most text of a stretch: a compressed file has more text than bytes.
_MOST_TEXT = 4 * STRETCH_BYTES


class Stretch(NamedTuple):
    """Consecutive texts, each a document or a part of one."""

    texts: list[str]
    text_bytes: int
    file_bytes: float
    """Bytes on the disk that hold the texts."""
    seconds: float
    """The time of reading a file that can be read from its beginning only, such as a compressed one."""


def sizes_of(sources: list[Source]) -> list[int]:
    """Return the bytes of files on the disk.

    Raises:
        OSError: A file does not exist.
        ValueError: A file is a pipe or a device.
    """
    stamps = [watching.stamp(source.path) for source in sources]
    for source, stamp in zip(sources, stamps, strict=True):
        if stamp is None:
            raise ValueError(f"{source.path}: this is no regular file, and can be read once only: give a file")
    return [stamp[0] for stamp in stamps if stamp is not None]


def stretches(sources: list[Source], most: int) -> Iterator[Stretch]:
    """Yield stretches of about `most` bytes of the files together, or all there is, in the order of the files.

    A compressed file or a table is read from its beginning, up to its share.

    Raises:
        OSError, ValueError, ImportError: As `documents.of` and `sizes_of`.
    """
    sizes = sizes_of(sources)
    starts = [0, *itertools.accumulate(sizes)]
    total = starts[-1]
    count = -(-min(total, most) // STRETCH_BYTES)
    fronts: dict[int, _Front] = {}
    for number in range(count):
        place = total * number // count
        end = min(place + STRETCH_BYTES, total * (number + 1) // count)
        file = bisect.bisect_right(starts, place) - 1
        while place < end and file < len(sources):
            stop = min(end, starts[file + 1])
            if place < stop:
                yield _part(sources[file], sizes[file], place - starts[file], stop - starts[file], fronts, file)
                place = stop
            file += 1


def _part(source: Source, size: int, start: int, stop: int, fronts: dict[int, _Front], file: int) -> Stretch:
    if source.compression is None and source.column is None:
        return _between(source, start, stop)
    if file not in fronts:
        fronts[file] = _Front(source, size)
    return fronts[file].take(stop - start)


def _between(source: Source, start: int, stop: int) -> Stretch:
    """Return the lines that begin between two places of a file; or the bytes between, of a file without lines."""
    before = 1 if start else 0  # the byte that tells whether a line begins at `start`
    with open(source.path, "rb") as file:  # noqa: PTH123
        file.seek(start - before)
        data = file.read(stop - start + before)
        first = data.find(b"\n") + 1 if before else 0
        if before and not first and source.field is None:
            first = before
        lines = data[first:] if first or not before else b""
        if lines and not lines.endswith(b"\n"):
            lines += file.readline(STRETCH_BYTES if source.field is None else -1)
    if source.field is None:
        texts = [lines.decode(errors="replace")]
    else:
        texts = list(_records(source.path, source.field, lines, start - before + first))
    return _stretch(texts, len(lines))


def _records(name: str, field: str, lines: bytes, offset: int) -> Iterator[str]:
    for line in lines.split(b"\n"):
        json = line.decode(errors="replace").lstrip("\ufeff").strip()
        if json:
            try:
                yield _core.record_text(json.encode(), field, replace=True)
            except ValueError as error:
                raise ValueError(f"{name}: the line at byte {offset}: {error}") from None
        offset += len(line) + 1


class _Front:
    """A file that can be read from its beginning only."""

    def __init__(self, source: Source, size: int) -> None:
        self._size, self._rows = size, 0
        self._taken = 0.0
        self._late, self._has_records = 0, source.field is not None
        self._texts = itertools.chain.from_iterable(documents.of(source, "replace", self._read))
        if source.column is not None:
            with open(source.path, "rb") as file:  # noqa: PTH123
                self._rows = parquet.opened(file, source.path).metadata.num_rows

    def _read(self, count: int) -> None:
        # A block of records counts as taken when the next one is read; a block of text, which is one piece, at once.
        self._taken += self._late if self._has_records else count
        self._late = count

    def take(self, file_bytes: int) -> Stretch:
        """Return the texts that follow, as many as so many bytes of the file hold."""
        began, before, held = time.perf_counter(), self._taken, 0
        texts = []
        is_whole = self._size <= STRETCH_BYTES
        while held < _MOST_TEXT and (is_whole or self._taken - before < file_bytes):
            text = next(self._texts, None)
            if text is None:
                self._taken = self._size
                break
            texts.append(text)
            held += len(text)
            if self._rows:
                self._taken += self._size / self._rows
        return _stretch(texts, self._taken - before)._replace(seconds=time.perf_counter() - began)


def _stretch(texts: list[str], file_bytes: float) -> Stretch:
    return Stretch(texts, sum(len(text.encode()) for text in texts), file_bytes, 0.0)
