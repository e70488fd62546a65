"""The documents of files and of iterables, as text."""

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
    elif source.texts is not None:
        for text in _decoded(source.texts, errors):
            for part in [text] if separator is None else filter(None, text.split(separator)):
                yield Document(source.name, [part])
    else:
        # A file of text has no fields.
        label = None if source.is_text else label
        stream = _core.DocumentStream(source, label=label, replace=errors == "replace", separator=separator)
        yield from _documents(source.name, _parts(stream, read))


def _parts(stream: _core.DocumentStream, read: Read | None) -> Iterator[tuple[str, bool, str | None]]:
    while batch := stream.read():
        yield from batch[0]
        if read:
            read(batch[1])


def _documents(name: str, parts: Iterator[tuple[str, bool, str | None]]) -> Iterator[Document]:
    for text, ends, label in parts:
        pieces = [text] if ends else itertools.chain([text], _pieces(parts))
        yield Document(name, pieces, label)
        for _ in pieces:  # that were not taken
            pass


def _pieces(parts: Iterator[tuple[str, bool, str | None]]) -> Iterator[str]:
    for text, ends, _ in parts:
        yield text
        if ends:
            return


def _decoded(texts: Iterable[object], errors: str) -> Iterator[str]:
    for number, text in enumerate(texts, 1):
        if isinstance(text, bytes):
            text = "".join(text_files.decoded([text], f"text number {number}", errors))
        if not isinstance(text, str):
            raise TypeError(
                f"text number {number} is {type(text).__name__}: texts are str or bytes; paths are given as a list"
            )
        yield text


def _rows(source: Source, errors: str, label: str | None) -> Iterator[Document]:
    texts = tables.texts([source], errors)
    labels = itertools.repeat(None) if label is None else tables.texts([source._replace(fields=(label,))], errors)
    for text, name in zip(texts, labels, strict=label is not None):
        yield Document(source.name, [text], name)
