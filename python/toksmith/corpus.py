"""`Corpus`: where texts come from, and how they are read."""

from __future__ import annotations

import contextlib
import copy
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from . import _core
from ._internal import arguments, memory
from ._internal.choices import Errors, InputFormat
from ._internal.messages import shown
from .files import inputs, tables, text_files
from .files.inputs import Source

FilePath = str | os.PathLike[str]
TextSources = FilePath | Iterable[str | bytes | os.PathLike[str]]
"""A path, a list or tuple of paths, or any other iterable, of texts."""


class Document(NamedTuple):
    """A document with the name of its source. Its text comes in pieces, to be taken before the next document."""

    source: str
    pieces: Iterable[str]
    label: str | None = None


class Corpus:
    """Texts from files, from standard input or from an iterable.

    All functions that read texts take a corpus, or the first argument of one.

    The compression and the format of a file are found from its beginning; its name is a hint. A document is a line of
    JSON lines, an object of a JSON array, a row of a table (CSV, TSV, and with pyarrow Parquet and Arrow), a text of
    a WARC file, what the files of a tar archive have, or any other file of text. Files are read as bytes: no newline
    translation, a BOM of text stays.

    Args:
        sources: A path, a glob, a folder, a URL that `fsspec` opens, or "-" for standard input; a list or tuple of
            them; or any other iterable, of texts, each a document.
        field: The name of the text in records; "a.b" is the field "b" of "a". Default: "text". With it, a pipe is
            JSON lines. Several names, as ["title", "text"], are texts that are joined.
        column: The same, and the one that counts in Parquet and Arrow files.
        field_separator: What joins the texts of several fields.
        input_format: "text", "jsonl", "json", "csv", "tsv", "parquet", "arrow", "tar" or "warc": the format of files.
        document_separator: A string that separates documents in files of text and in the texts of an iterable, and is
            no token. Records and columns are not cut.
        errors: "strict" refuses text that is not UTF-8, "replace" reads invalid bytes as U+FFFD.
        max_record_bytes: Bytes, or a text such as "2GB": no line of JSON, row, text in an archive or document that
            cannot be cut may be longer. They are held whole, and a small compressed file may stand for any size.

    Raises:
        FileNotFoundError: A file is missing, or a glob or folder has none.
        ValueError: An option is wrong, or no file has a use for `field` or `column`; a file is of a kind
            that is not read, or its name says text and its beginning JSON.
        ImportError: A URL needs fsspec, which is not installed.

    >>> corpus = Corpus(iter(["one|two", "three"]), document_separator="|")
    >>> ["".join(document.pieces) for document in corpus.documents()]
    ['one', 'two', 'three']
    """

    __slots__ = ("document_separator", "errors", "reading", "sources")

    reading: dict[str, str | list[str] | None]
    """The options that say where the text is in a file."""
    sources: list[Source]
    """The files, in the order in which they are read; or the iterable, as the only source."""

    def __init__(
        self,
        sources: TextSources,
        *,
        field: str | Sequence[str] | None = None,
        column: str | Sequence[str] | None = None,
        field_separator: str = inputs.FIELD_SEPARATOR,
        input_format: InputFormat | None = None,
        document_separator: str | None = None,
        errors: Errors = "strict",
        max_record_bytes: int | str = inputs.MAX_RECORD_BYTES,
    ) -> None:
        arguments.one_of("errors", errors, Errors)
        if input_format is not None:
            arguments.one_of("input_format", input_format, InputFormat)
        limit = memory.limit(max_record_bytes, "max_record_bytes")
        self.document_separator, self.errors = arguments.checked_separator(document_separator), errors
        fields, columns = _names("field", field), _names("column", column)
        self.reading = {
            "field": _shortened(fields),
            "column": _shortened(columns),
            "field_separator": field_separator if any(len(names or ()) > 1 for names in (fields, columns)) else None,
            "input_format": input_format,
        }
        if isinstance(sources, (str, bytes, os.PathLike)):
            sources = [sources]
        if isinstance(sources, (list, tuple)):
            self.sources = inputs.find(sources, inputs.Reading(fields, columns, input_format, field_separator, limit))
        else:
            if not field is column is input_format is None:
                raise ValueError("field, column and input_format are for files: leave them out for texts")
            if not isinstance(sources, Iterable):
                raise TypeError(f"sources are paths, or an iterable of texts, not {type(sources).__name__}")
            self.sources = [Source("texts", texts=sources)]

    @classmethod
    def of(cls, sources: Corpus | TextSources) -> Corpus:
        """Return the corpus of an argument, which may be a corpus already."""
        return sources if isinstance(sources, Corpus) else cls(sources)

    def without(self, folder: Path) -> Corpus:
        """Return the corpus without the files in a folder, such as one that is written; at least one is left."""
        corpus, written = copy.copy(self), Path(os.path.realpath(folder))  # it may be named by links, or with ".."
        corpus.sources = [
            source
            for source in self.sources
            if not (source.is_regular and written in Path(source.path).resolve().parents)
        ]
        if not corpus.sources:
            raise ValueError("no source is given")
        corpus.check()
        return corpus

    @property
    def replaces_invalid(self) -> bool:
        """Whether bytes that are not UTF-8 are read as U+FFFD."""
        return self.errors == "replace"

    @property
    def paths(self) -> list[str]:
        """The files of this machine that are read; "-" is standard input."""
        local = (source for source in self.sources if source.texts is None and source.open is None)
        return [inputs.STANDARD_INPUT if source.path == inputs.DEVICE else source.path for source in local]

    @property
    def total_bytes(self) -> int:
        """The bytes of all files; 0 if they are not known."""
        sizes = [source.size for source in self.sources]
        return 0 if None in sizes else sum(size or 0 for size in sizes)

    def check(self) -> None:
        """Check that all files are of a kind that is read; `ValueError` says what a file is instead."""
        for problem in filter(None, (source.problem for source in self.sources)):
            raise problem

    def check_local(self) -> None:
        """Check the same, and that all files are on this machine; `ValueError` for one that `fsspec` reads."""
        self.check()
        for source in self.sources:
            if source.open is not None:
                raise ValueError(f"{source.name}: only tokenize reads files of other machines: download it first")

    def documents(self, read: Callable[[int], object] | None = None, label: str | None = None) -> Iterator[Document]:
        """Yield all documents, in order. Memory grows neither with their number nor with the size of a file of text.

        With a `document_separator`, documents without text are left out.

        Args:
            read: Called with the number of bytes of a file that were read since the last call.
            label: The name of a second field or column, whose text becomes the label of each document.

        Raises:
            OSError: A file cannot be read, or changes meanwhile.
            ValueError: A file is not UTF-8, is damaged, is not on this machine, or a record has no text; names file
                and place.
            TypeError: An element of the iterable is no text.
            ImportError: A file is Parquet or Arrow, and pyarrow is not installed.
        """
        self.check_local()
        for source in self.sources:
            yield from self.documents_of(source, read, label)

    def documents_of(
        self, source: Source, read: Callable[[int], object] | None = None, label: str | None = None
    ) -> Iterator[Document]:
        """Yield the documents of one of the sources. See `documents`."""
        self.check()
        with self.naming():
            if source.kind == "column":
                yield from _rows(source, self.errors, label)
            elif source.texts is not None:
                yield from (Document(source.name, [text]) for text in self.texts_of(source.texts))
            else:
                stream = _core.DocumentStream(
                    source,
                    label=None if source.is_text else label,  # a file of text has no fields
                    replace=self.replaces_invalid,
                    separator=self.document_separator,
                )
                yield from _documents(source.name, _parts(stream, read))

    def texts_of(self, texts: Iterable[object]) -> Iterator[str]:
        """Yield the documents of the texts of an iterable."""
        for text in _decoded(texts, self.errors):
            separator = self.document_separator
            yield from [text] if separator is None else filter(None, text.split(separator))

    @contextlib.contextmanager
    def naming(self) -> Iterator[None]:
        """Make an error of reading call standard input by this name."""
        try:
            yield
        except (OSError, ValueError) as error:
            has_name = getattr(error, "filename", None) is not None
            if has_name or inputs.STANDARD_INPUT not in self.paths or inputs.DEVICE not in str(error):
                raise
            raise type(error)(str(error).replace(inputs.DEVICE, "standard input")) from None


def _names(option: str, value: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the names of an option that takes one or several."""
    if value is None or isinstance(value, str):
        return None if value is None else (value,)
    names = tuple(value) if isinstance(value, Iterable) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{option} is a name, or a list of names, not {shown(value)}")
    return names


def _shortened(names: tuple[str, ...] | None) -> str | list[str] | None:
    """Return one name as it is."""
    return names if names is None else names[0] if len(names) == 1 else [*names]


# Documents


def _parts(
    stream: _core.DocumentStream, read: Callable[[int], object] | None
) -> Iterator[tuple[str, bool, str | None]]:
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
