"""One pass over documents: their sizes, and how many tokens each tokenizer makes of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..batches import batches
from .encoders import Encoder
from .texts import Document


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
        for batch, texts, pieces in batches(documents):
            if pieces is None:
                sizes = [(len(text.encode()), len(text)) for text in texts]
                tokens = np.stack([encoder.count(texts) for encoder in self._encoders])
            else:
                sizes, tokens = self._of_long(pieces)
            self._tokens.append(tokens)
            for document, (size, characters) in zip(batch, sizes, strict=True):
                file, language = map(self._number, (document.file, document.language or ""))
                self._rows.append((file, language, size, characters))
        if not any(tokens.any() for tokens in self._tokens):
            raise ValueError("there is no text to compare on: all documents are empty, or there is none")
        columns = np.array(self._rows, np.int64).T
        file, language, bytes, characters = columns
        tokens = np.concatenate(self._tokens, axis=1)
        return Table(list(self._names), file.astype(np.int32), language.astype(np.int32), bytes, characters, tokens)

    def _number(self, name: str) -> int:
        return self._names.setdefault(name, len(self._names))

    def _of_long(self, pieces: Iterator[str]) -> tuple[list[tuple[int, int]], NDArray[np.int64]]:
        """Return the size of a document and its tokens. All tokenizers take a part in turn: none is far ahead."""
        size = characters = 0

        def measured() -> Iterator[str]:
            nonlocal size, characters
            for piece in pieces:
                size += len(piece.encode())
                characters += len(piece)
                yield piece

        copies = itertools.tee(measured(), len(self._encoders))
        counts = [encoder.count_long(copy) for encoder, copy in zip(self._encoders, copies, strict=True)]
        tokens = np.zeros((len(counts), 1), np.int64)
        for of_all in itertools.zip_longest(*counts, fillvalue=0):
            tokens[:, 0] += of_all
        return [(size, characters)], tokens
