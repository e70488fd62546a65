"""Documents in batches that are encoded together, and long ones by themselves."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from ..corpus import Document

MAX_CHARACTERS = 1 << 21
"""Characters of a batch: enough for all threads. A longer document is a batch of its own, in pieces."""
_MAX_DOCUMENTS = 1 << 17


def batches(documents: Iterable[Document]) -> Iterator[tuple[list[Document], list[str], Iterator[str] | None]]:
    """Yield documents, their texts, and None; or one long document, no texts, and its pieces, to be read at once."""
    batch: list[Document] = []
    texts: list[str] = []
    size = 0
    for document in documents:
        text, pieces = _gathered(document.pieces)
        if pieces is None:
            batch.append(document)
            texts.append(text)
            size += len(text)
        if batch and (pieces is not None or size >= MAX_CHARACTERS or len(batch) >= _MAX_DOCUMENTS):
            yield batch, texts, None
            batch, texts, size = [], [], 0
        if pieces is not None:
            yield [document], [], pieces
    if batch:
        yield batch, texts, None


def _gathered(pieces: Iterable[str]) -> tuple[str, Iterator[str] | None]:
    """Return the text of a document, and None; or for a long one "", and its pieces."""
    remaining = iter(pieces)
    beginning: list[str] = []
    size = 0
    for piece in remaining:
        beginning.append(piece)
        size += len(piece)
        if size > MAX_CHARACTERS:
            return "", itertools.chain(beginning, remaining)
    return "".join(beginning), None
