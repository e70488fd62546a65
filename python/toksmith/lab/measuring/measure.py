"""One pass over documents: their sizes and scripts, and how many tokens each tokenizer makes of them."""

from __future__ import annotations

import collections
import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...encoding import text_streaming
from . import scripts
from .characters import CharacterCounter, Characters
from .differing import Differing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from .encoders import Encoder
    from .texts import Document

# Characters of documents that are encoded together: enough for all threads.
BATCH_CHARACTERS = 1 << 21
# A longer document is encoded in parts.
LONG_CHARACTERS = text_streaming.CHUNK_CHARACTERS


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
    """The result of one pass.

    Attributes:
        table: Counts of the documents.
        counts: For each tokenizer how often each id occurs: `int64`, by id.
        differing: For each tokenizer but the first the documents on which it differs most from the first.
    """

    table: Table
    counts: list[NDArray[np.int64]]
    differing: list[Differing]


class Measuring:
    """Measures documents. Memory holds some megabytes of text with their ids, and 80 bytes or more a document.

    Args:
        encoders: The tokenizers.
        examples: How many documents to keep for each tokenizer but the first, with fewer tokens, and with more.
        workers: Threads.
    """

    def __init__(self, encoders: list[Encoder], examples: int, workers: int) -> None:
        self._encoders, self._workers = encoders, workers
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
        batch: list[str] = []
        about: list[tuple[int, int]] = []
        held = 0
        for document in documents:
            place = self._number(document.file), self._number(document.language or "")
            whole, rest = _gathered(document.pieces)
            if rest is None:
                batch.append(whole)
                about.append(place)
                held += len(whole)
            if held >= BATCH_CHARACTERS or rest is not None:
                self._add_batch(about, batch)
                batch, about, held = [], [], 0
            if rest is not None:
                self._add_long(place, whole, rest)
        self._add_batch(about, batch)
        if not any(counts.any() for counts in self._counts):
            raise ValueError("there is no text to compare on: all documents are empty, or there is none")
        return Measured(self._table(), self._counts, self._differing)

    def _number(self, name: str) -> int:
        return self._names.setdefault(name, len(self._names))

    def _add_batch(self, about: list[tuple[int, int]], texts: list[str]) -> None:
        if not texts:
            return
        tokens = np.empty((len(self._encoders), len(texts)), np.int64)
        for number, encoder in enumerate(self._encoders):
            ids, starts = encoder.encode(texts)
            tokens[number] = np.diff(starts)
            self._count(number, ids)
        self._add(about, texts, self._characters.count(texts), tokens)

    def _add_long(self, place: tuple[int, int], first: str, rest: Iterator[str]) -> None:
        """Add a document in parts. One part is in memory, or more of a text that cannot be cut there."""
        tokens = np.zeros((len(self._encoders), 1), np.int64)
        cutters = [_Cutter(encoder) for encoder in self._encoders]
        parts: list[Characters] = []
        inside = False
        for piece in itertools.chain.from_iterable(map(_slices, itertools.chain([first], rest))):
            parts.append(self._characters.count([piece], inside))
            inside = not piece[-1].isspace()
            for number, cutter in enumerate(cutters):
                tokens[number] += self._encoded(number, cutter.push(piece))
        for number, cutter in enumerate(cutters):
            tokens[number] += self._encoded(number, cutter.finish())
        sums = Characters(*(np.sum(column, axis=0) for column in zip(*parts, strict=True)))
        self._add([place], [first], sums, tokens)

    def _encoded(self, number: int, text: str) -> int:
        if not text:
            return 0
        ids = self._encoders[number].encode_long(text)
        self._count(number, ids)
        return len(ids)

    def _count(self, number: int, ids: NDArray[np.uint32]) -> None:
        found = np.bincount(ids)
        counts = self._counts[number]
        if len(found) > len(counts):
            counts = np.concatenate([counts, np.zeros(len(found) - len(counts), np.int64)])
            self._counts[number] = counts
        counts[: len(found)] += found

    def _add(
        self, about: list[tuple[int, int]], texts: list[str], found: Characters, tokens: NDArray[np.int64]
    ) -> None:
        files = [file for file, _ in about]
        script = [self._number(name) for name in scripts.dominating(found.scripts)]
        part = (
            np.array(files, np.int32),
            np.array([language for _, language in about], np.int32),
            np.array(script, np.int32),
            found.bytes,
            found.characters,
            found.words,
            found.scripts[:, 1:].sum(axis=1),
            found.scripts[:, scripts.UNSPACED].sum(axis=1),
            tokens,
        )
        self._parts.append(part)  # in the order of the fields of `Table`
        numbers = []
        for file in files:
            numbers.append(self._documents[file])
            self._documents[file] += 1
        for other, differing in enumerate(self._differing, 1):
            differing.add(numbers, files, texts, found.bytes, tokens[0], tokens[other])

    def _table(self) -> Table:
        columns: list[Any] = [np.concatenate(column, axis=-1) for column in zip(*self._parts, strict=True)]
        return Table(list(self._names), *columns)


class _Cutter:
    """Cuts a long text into parts whose ids are those of the whole; into one part if the tokenizer cannot cut it."""

    def __init__(self, encoder: Encoder) -> None:
        core = None if encoder.tokenizer is None else encoder.tokenizer._core
        can_cut = core is not None and text_streaming.can_cut(core)
        self._chunker = text_streaming.Chunker(core, False) if core is not None and can_cut else None
        self._pieces: list[str] = []

    def push(self, text: str) -> str:
        if self._chunker is not None:
            return self._chunker.push(text)
        self._pieces.append(text)
        return ""

    def finish(self) -> str:
        return "".join(self._pieces) if self._chunker is None else self._chunker.finish()


def _gathered(pieces: Iterable[str]) -> tuple[str, Iterator[str] | None]:
    """Return a whole document and None, or the beginning of a long one and the pieces that follow."""
    rest = iter(pieces)
    found: list[str] = []
    held = 0
    for piece in rest:
        found.append(piece)
        held += len(piece)
        if held > LONG_CHARACTERS:
            return "".join(found), rest
    return "".join(found), None


def _slices(text: str) -> Iterator[str]:
    for start in range(0, len(text), BATCH_CHARACTERS):
        yield text[start : start + BATCH_CHARACTERS]
