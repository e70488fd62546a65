"""One pass over documents: their sizes and scripts, and how many tokens each tokenizer makes of them."""

from __future__ import annotations

import collections
import itertools
import tempfile
from collections.abc import Iterable, Iterator
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import characters
from .characters import CharacterCounter, Characters
from .encoders import Encoder
from .texts import Document

# Shorter documents in bytes are left out, since they differ by chance: one token more is half as many again of two.
MIN_BYTES = 100
# Characters that are kept of a document, to choose what is shown of it.
KEPT_CHARACTERS = 50_000


class Kept(NamedTuple):
    """A document that is kept."""

    document: int  # its number in its file, from 0
    file: int  # the number of its file
    text: str  # its first `KEPT_CHARACTERS` characters
    first: int  # tokens that the first tokenizer makes of it
    second: int  # tokens that the second one makes of it

    @property
    def difference(self) -> float:
        """How many more tokens the second tokenizer makes, divided by those of the first; negative for fewer."""
        return self.second / self.first - 1


class Differing:
    """Keeps the documents on which the second tokenizer makes fewest, and most, tokens for each token of the first.

    Documents of less than `MIN_BYTES` are left out. Of equal documents the first one is kept.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self.fewer: list[Kept] = []
        self.more: list[Kept] = []

    def add(self, documents: list[Kept], sizes: NDArray[np.int64]) -> None:
        """Consider some documents, each with its size in bytes."""
        if not self._count:
            return
        first = np.array([document.first for document in documents])
        second = np.array([document.second for document in documents])
        rows = np.flatnonzero((sizes >= MIN_BYTES) & (first > 0))
        ratio = second[rows] / first[rows]
        self.fewer = self._best(self.fewer, documents, rows[ratio < 1], ratio[ratio < 1])
        self.more = self._best(self.more, documents, rows[ratio > 1], -ratio[ratio > 1])

    def _best(
        self, kept: list[Kept], documents: list[Kept], rows: NDArray[np.intp], order: NDArray[np.float64]
    ) -> list[Kept]:
        best = [documents[row] for row in rows[np.argsort(order, kind="stable")[: self._count]].tolist()]
        shortened = [document._replace(text=document.text[:KEPT_CHARACTERS]) for document in best]
        return sorted(kept + shortened, key=lambda document: -abs(document.difference))[: self._count]


# Characters of documents that are encoded together: enough for all threads.
BATCH_CHARACTERS = 1 << 21
# A longer document is encoded in parts.
LONG_CHARACTERS = BATCH_CHARACTERS


class Table(NamedTuple):
    """Counts of documents: arrays of shape (documents,); `tokens` has the shape (tokenizers, documents).

    `file`, `language` and `script` are places in `names`; all other arrays are counts. `letters` counts the
    characters that belong to a script, and `unspaced` those that belong to a script without spaces between words.
    """

    names: list[str]
    file: NDArray[np.int32]
    language: NDArray[np.int32]
    script: NDArray[np.int32]
    bytes: NDArray[np.int64]
    characters: NDArray[np.int64]
    words: NDArray[np.int64]
    letters: NDArray[np.int64]
    unspaced: NDArray[np.int64]
    tokens: NDArray[np.int64]

    def rows(self, chosen: NDArray[np.intp]) -> Table:
        """Return the table of some documents."""
        columns: list[Any] = [column[..., chosen] for column in self[1:]]
        return Table(self.names, *columns)


class Measured(NamedTuple):
    """The result of one pass."""

    table: Table  # counts of the documents
    counts: list[NDArray[np.int64]]  # for each tokenizer how often each id occurs: `int64`, by id
    # For each tokenizer but the first the documents on which it differs most from the first.
    differing: list[Differing]


class Measuring:
    """Measures documents. Memory holds some megabytes of text with their ids, and 80 bytes or more a document."""

    def __init__(self, encoders: list[Encoder], examples: int) -> None:
        self._encoders = encoders
        self._characters = CharacterCounter()
        self._names: dict[str, int] = {}
        self._parts: list[tuple[NDArray[np.integer[Any]], ...]] = []
        self._counts = [np.zeros(1, np.int64) for _ in encoders]
        self._differing = [Differing(examples) for _ in encoders[1:]]
        self._documents: collections.Counter[int] = collections.Counter()

    def measure(self, documents: Iterable[Document]) -> Measured:
        """Take all documents.

        Raises:
            ValueError: There is no text.
        """
        batch: list[tuple[Document, str]] = []
        size = 0
        for document in documents:
            text, following = _gathered(document.pieces)
            if following is None:
                batch.append((document, text))
                size += len(text)
            if size >= BATCH_CHARACTERS or following is not None:
                self._add_batch(batch)
                batch, size = [], 0
            if following is not None:
                self._add_long(document, text, following)
        self._add_batch(batch)
        if not any(counts.any() for counts in self._counts):
            raise ValueError("there is no text to compare on: all documents are empty, or there is none")
        return Measured(self._table(), self._counts, self._differing)

    def _number(self, name: str) -> int:
        return self._names.setdefault(name, len(self._names))

    def _add_batch(self, batch: list[tuple[Document, str]]) -> None:
        if not batch:
            return
        documents, texts = [document for document, _ in batch], [text for _, text in batch]
        tokens = np.empty((len(self._encoders), len(texts)), np.int64)
        for number, encoder in enumerate(self._encoders):
            ids, starts = encoder.encode(texts)
            tokens[number] = np.diff(starts)
            self._count(number, ids)
        self._add(documents, texts, self._characters.count(texts), tokens)

    def _add_long(self, document: Document, first: str, following: Iterator[str]) -> None:
        """Add a document in parts: the first tokenizer reads it, all others read it again from a temporary file."""
        parts: list[Characters] = []
        sizes: list[int] = []
        tokens = np.zeros((len(self._encoders), 1), np.int64)
        with tempfile.TemporaryFile() as file:
            for number, encoder in enumerate(self._encoders):
                file.seek(0)
                pieces: Iterator[str] = (file.read(size).decode() for size in sizes)
                if number == 0:
                    pieces = self._copied(itertools.chain([first], following), file, sizes, parts)
                for ids in encoder.encode_long(pieces):
                    tokens[number] += len(ids)
                    self._count(number, ids)
        sums = Characters(*(np.sum(column, axis=0) for column in zip(*parts, strict=True)))
        self._add([document], [first], sums, tokens)

    def _copied(
        self, pieces: Iterable[str], file: IO[bytes], sizes: list[int], parts: list[Characters]
    ) -> Iterator[str]:
        """Yield the pieces of a document, and write each to a file, its size and its characters to lists."""
        inside = False
        for piece in itertools.chain.from_iterable(map(_slices, pieces)):
            parts.append(self._characters.count([piece], inside))
            inside = not piece[-1].isspace()
            if len(self._encoders) > 1:
                sizes.append(file.write(piece.encode()))
            yield piece

    def _count(self, number: int, ids: NDArray[np.uint32]) -> None:
        new = np.bincount(ids)
        counts = self._counts[number]
        if len(new) > len(counts):
            counts = self._counts[number] = np.concatenate([counts, np.zeros(len(new) - len(counts), np.int64)])
        counts[: len(new)] += new

    def _add(
        self, documents: list[Document], texts: list[str], counts: Characters, tokens: NDArray[np.int64]
    ) -> None:
        files = [self._number(document.file) for document in documents]
        languages = [self._number(document.language or "") for document in documents]
        scripts = [self._number(name) for name in characters.dominating(counts.scripts)]
        part = (
            np.array(files, np.int32),
            np.array(languages, np.int32),
            np.array(scripts, np.int32),
            counts.bytes,
            counts.characters,
            counts.words,
            counts.scripts[:, 1:].sum(axis=1),
            counts.scripts[:, characters.UNSPACED].sum(axis=1),
            tokens,
        )
        self._parts.append(part)  # in the order of the fields of `Table`
        numbers = []
        for file in files:
            numbers.append(self._documents[file])
            self._documents[file] += 1
        for other, differing in enumerate(self._differing, 1):
            rows = zip(numbers, files, texts, tokens[0].tolist(), tokens[other].tolist(), strict=True)
            differing.add([Kept(*row) for row in rows], counts.bytes)

    def _table(self) -> Table:
        columns: list[Any] = [np.concatenate(column, axis=-1) for column in zip(*self._parts, strict=True)]
        return Table(list(self._names), *columns)


def _gathered(pieces: Iterable[str]) -> tuple[str, Iterator[str] | None]:
    """Return a whole document and None, or the beginning of a long one and the pieces that follow."""
    remaining = iter(pieces)
    beginning: list[str] = []
    size = 0
    for piece in remaining:
        beginning.append(piece)
        size += len(piece)
        if size > LONG_CHARACTERS:
            return "".join(beginning), remaining
    return "".join(beginning), None


def _slices(text: str) -> Iterator[str]:
    for start in range(0, len(text), BATCH_CHARACTERS):
        yield text[start : start + BATCH_CHARACTERS]
