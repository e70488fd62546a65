"""The documents of files and of iterables, as text."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from .. import _core
from . import tables, text_files
from .inputs import Source

Read = Callable[[int], object]


class Document(NamedTuple):
    """A document with the name of its source. Its text comes in pieces, to be taken before the next document."""

    source: str
    pieces: Iterable[str]
    label: str | None = None


def of(
    source: Source, errors: str, read: Read | None = None, separator: str | None = None, label: str | None = None
) -> Iterator[Document]:
    """Yield the documents of a source; a piece of one is some megabytes at the most.

    Memory does not grow with the size of a file of text. A record and its line are each held whole.

    With a separator, documents without text are left out. `label` is the name of a second field, or column, whose
    text becomes the label of each document. For all else, and for the errors, see `Corpus.documents`.
    """
    if source.kind == "column":
        yield from _rows(source, errors, label)
    elif not source.is_text:
        stream = _core.RecordStream(source, label=label, replace=errors == "replace", separator=separator)
        while batch := stream.read():
            for text, name in batch[0]:
                yield Document(source.name, [text], name)
            if read:
                read(batch[1])
    else:
        if source.texts is None:
            texts: Iterable[Iterable[str]] = [text_files.decoded(_blocks(source, read), source.path, errors)]
        else:
            texts = _decoded(source.texts, errors)
        for pieces in texts:
            for document in [pieces] if separator is None else split(pieces, separator):
                yield Document(source.name, document)


def split(pieces: Iterable[str], separator: str) -> Iterator[Iterable[str]]:
    """Yield the documents between separators that are not empty, as pieces, of a text that comes in pieces.

    >>> [list(document) for document in split(["a<", "e>b", "c<e><e>", "d<"], "<e>")]
    [['a'], ['b', 'c'], ['d', '<']]
    """
    for _, document in itertools.groupby(_numbered(pieces, separator), lambda numbered: numbered[0]):
        yield (piece for _, piece in document)


def _numbered(pieces: Iterable[str], separator: str) -> Iterator[tuple[int, str]]:
    number, pending = 0, ""
    for piece in pieces:
        *ended, tail = (pending + piece).split(separator)
        for text in ended:
            if text:
                yield number, text
            number += 1
        # The end of a piece may be the beginning of a separator.
        overlap = next((size for size in range(len(separator) - 1, 0, -1) if tail.endswith(separator[:size])), 0)
        pending = tail[len(tail) - overlap :]
        if len(tail) > overlap:
            yield number, tail[: len(tail) - overlap]
    if pending:
        yield number, pending


def _decoded(texts: Iterable[object], errors: str) -> Iterator[Iterable[str]]:
    for number, text in enumerate(texts, 1):
        if isinstance(text, bytes):
            text = "".join(text_files.decoded([text], f"text number {number}", errors))
        if not isinstance(text, str):
            raise TypeError(
                f"text number {number} is {type(text).__name__}: texts are str or bytes; paths are given as a list"
            )
        yield [text]


def _blocks(source: Source, read: Read | None) -> Iterator[bytes]:
    stream = _core.ByteStream(source)
    while block := stream.read():
        if read:
            read(stream.take_progress())
        yield block


def _rows(source: Source, errors: str, label: str | None) -> Iterator[Document]:
    texts = tables.texts([source], errors)
    labels = itertools.repeat(None) if label is None else tables.texts([source._replace(field=label)], errors)
    for text, name in zip(texts, labels, strict=label is not None):
        yield Document(source.name, [text], name)
