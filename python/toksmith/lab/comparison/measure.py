"""One pass over documents: their sizes, and how many tokens each tokenizer makes of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...files.documents import Document
from ..batches import batches
from .encoders import Encoder


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


def measure(encoders: list[Encoder], documents: Iterable[Document]) -> Table:
    """Return the counts of documents. Memory holds some megabytes of text with their ids, and 40 bytes or more each.

    Raises:
        ValueError: There is no text.
    """
    names: dict[str, int] = {}
    rows: list[tuple[int, int, int, int]] = []
    counts: list[NDArray[np.int64]] = []
    for batch, texts, pieces in batches(documents):
        if pieces is None:
            sizes = [(len(text.encode()), len(text)) for text in texts]
            counts.append(np.stack([encoder.count(texts) for encoder in encoders]))
        else:
            size, of_all = _of_long(encoders, pieces)
            sizes = [size]
            counts.append(of_all)
        for document, (size_in_bytes, characters) in zip(batch, sizes, strict=True):
            file, language = (names.setdefault(name, len(names)) for name in (document.source, document.label or ""))
            rows.append((file, language, size_in_bytes, characters))
    if not any(tokens.any() for tokens in counts):
        raise ValueError("there is no text to compare on: all documents are empty, or there is none")
    file_of, language_of, bytes, characters_of = np.array(rows, np.int64).T
    tokens = np.concatenate(counts, axis=1)
    return Table([*names], file_of.astype(np.int32), language_of.astype(np.int32), bytes, characters_of, tokens)


def _of_long(encoders: list[Encoder], pieces: Iterator[str]) -> tuple[tuple[int, int], NDArray[np.int64]]:
    """Return the size of a document and its tokens. All tokenizers take a part in turn: none is far ahead."""
    size = characters = 0

    def measured() -> Iterator[str]:
        nonlocal size, characters
        for piece in pieces:
            size += len(piece.encode())
            characters += len(piece)
            yield piece

    copies = itertools.tee(measured(), len(encoders))
    counts = [encoder.count_long(copy) for encoder, copy in zip(encoders, copies, strict=True)]
    tokens = np.zeros((len(counts), 1), np.int64)
    for of_all in itertools.zip_longest(*counts, fillvalue=0):
        tokens[:, 0] += of_all
    return (size, characters), tokens
