"""One pass over documents: their sizes, and how many tokens each tokenizer makes of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .encoders import Encoder
from .texts import Document

BATCH_CHARACTERS = 1 << 21
"""Characters of documents that are encoded together: enough for all threads. A longer one is encoded in parts."""


class Table(NamedTuple):
    """Counts of documents: arrays of shape (documents,); `tokens` has the shape (tokenizers, documents).

    `file` and `language` are places in `names`.
    """

    names: list[str]
    file: NDArray[np.int32]
    language: NDArray[np.int32]
    bytes: NDArray[np.int64]
    characters: NDArray[np.int64]
    tokens: NDArray[np.int64]

    def rows(self, chosen: NDArray[np.intp]) -> Table:
        """Return the table of some documents."""
        columns: list[Any] = [column[..., chosen] for column in self[1:]]
        return Table(self.names, *columns)


class Measuring:
    """Measures documents. Memory holds some megabytes of text with their ids, and 40 bytes or more a document."""

    def __init__(self, encoders: list[Encoder]) -> None:
        self._encoders = encoders
        self._names: dict[str, int] = {}
        self._rows: list[tuple[int, int, int, int]] = []
        self._tokens: list[NDArray[np.int64]] = []

    def measure(self, documents: Iterable[Document]) -> Table:
        """Take all documents.

        Raises:
            ValueError: There is no text.
        """
        batch: list[str] = []
        size = 0
        for document in documents:
            text, following = _gathered(document.pieces)
            if following is not None:
                self._add_batch(batch)
                self._add_long(document, itertools.chain([text], following))
                batch, size = [], 0
                continue
            self._add(document, len(text.encode()), len(text))
            batch.append(text)
            size += len(text)
            if size >= BATCH_CHARACTERS:
                self._add_batch(batch)
                batch, size = [], 0
        self._add_batch(batch)
        if not any(tokens.any() for tokens in self._tokens):
            raise ValueError("there is no text to compare on: all documents are empty, or there is none")
        columns = np.array(self._rows, np.int64).T
        file, language, bytes, characters = columns
        tokens = np.concatenate(self._tokens, axis=1)
        return Table(list(self._names), file.astype(np.int32), language.astype(np.int32), bytes, characters, tokens)

    def _add(self, document: Document, size: int, characters: int) -> None:
        file, language = (
            self._names.setdefault(name, len(self._names)) for name in (document.file, document.language or "")
        )
        self._rows.append((file, language, size, characters))

    def _add_batch(self, texts: list[str]) -> None:
        if texts:
            self._tokens.append(np.stack([np.diff(encoder.encode(texts)[1]) for encoder in self._encoders]))

    def _add_long(self, document: Document, pieces: Iterable[str]) -> None:
        """Add a document in parts, which all tokenizers take in turn: none is far ahead of the others."""
        sizes = np.zeros(2, np.int64)
        tokens = np.zeros((len(self._encoders), 1), np.int64)
        copies = itertools.tee(_measured(pieces, sizes), len(self._encoders))
        counts = [map(len, encoder.encode_long(copy)) for encoder, copy in zip(self._encoders, copies, strict=True)]
        for of_all in itertools.zip_longest(*counts, fillvalue=0):
            tokens[:, 0] += of_all
        self._add(document, *sizes.tolist())
        self._tokens.append(tokens)


def _gathered(pieces: Iterable[str]) -> tuple[str, Iterator[str] | None]:
    """Return a whole document and None, or the beginning of a long one and the pieces that follow."""
    remaining = iter(pieces)
    beginning: list[str] = []
    size = 0
    for piece in remaining:
        beginning.append(piece)
        size += len(piece)
        if size > BATCH_CHARACTERS:
            return "".join(beginning), remaining
    return "".join(beginning), None


def _measured(pieces: Iterable[str], sizes: NDArray[np.int64]) -> Iterator[str]:
    """Yield the pieces in parts of a batch, and add their bytes and characters to `sizes`."""
    for piece in pieces:
        for start in range(0, len(piece), BATCH_CHARACTERS):
            part = piece[start : start + BATCH_CHARACTERS]
            sizes += [len(part.encode()), len(part)]
            yield part
