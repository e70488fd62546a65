"""The documents that tokenizers are compared on, each with its file and its language."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._internal.messages import shown
from ...corpus import Corpus
from ...files import documents, inputs

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...files.inputs import Source as Given


class Document(NamedTuple):
    """A document: its file or name, its language, and its text in pieces, which are read before the next document."""

    file: str
    language: str | None
    pieces: Iterable[str]


class Texts:
    """The argument `on` of `compare`, checked. `documents` reads it.

    Args:
        on: Paths, as `toksmith.tokenize` takes them; any other iterable, of texts; a mapping of languages to these.
        field: The name of the text in each line of JSON.
        column: The name of the text in each row of Parquet.
        separator: A string between two documents of a file of text.
        language_field: The name of the language in each line of JSON and in each row of Parquet.
        errors: "strict" or "replace", as in `count_pretokens`.
    """

    def __init__(
        self,
        on: Any,
        *,
        field: str | None = None,
        column: str | None = None,
        separator: str | None = None,
        language_field: str | None = None,
        errors: str = "strict",
    ) -> None:
        self._separator, self._language_field, self._errors = separator, language_field, errors
        self._given = _given(on, field, column)
        files = [source for source in map(_source, self._files()) if source is not None]
        if errors == "replace":
            inputs.check_plain(source for source in files if source.path != inputs.DEVICE)
        if language_field is not None:
            if isinstance(on, Mapping):
                raise ValueError("languages are given by a mapping and by language_field: leave one out")
            plain = next(
                (one.name for one in _files_of(self._given) if one.field is None and one.column is None), None
            )
            if plain is not None:
                raise ValueError(f"{plain} has no records, and so no field {shown(language_field)} with a language")

    def _files(self) -> Iterator[Given]:
        return _files_of(self._given)

    @property
    def total(self) -> int:
        """The bytes of all files, as far as they are known."""
        return sum(one.seen[0] for one in self._files() if one.seen is not None)

    def documents(self, read: Callable[[int], object]) -> Iterator[Document]:
        """Yield all documents, in order. `read` gets the number of bytes of a file that were read.

        Raises:
            OSError, ValueError, ImportError: As `files.documents.of`.
            TypeError: An object that is given as a text is no text.
        """
        for language, one in self._given:
            if one.texts is not None:
                yield from _of_texts(one.texts, language)
            else:
                yield from self._of_file(one, language, read)

    def _of_file(self, given: Given, language: str | None, read: Callable[[int], object]) -> Iterator[Document]:
        source = _source(given)
        try:
            for document in documents.of(source, self._errors, read, self._separator, self._language_field):
                label = language if self._language_field is None else document.label
                yield Document(given.name, label, document.pieces)
        except ValueError as error:
            raise _named(inputs.explained(error, [source])) from None
        except OSError as error:
            raise _named(error) from None


def _named(error: Exception) -> Exception:
    has_name = getattr(error, "filename", None)
    return error if has_name else type(error)(str(error).replace(inputs.DEVICE, "standard input"))


def _files_of(given: list[tuple[str | None, Given]]) -> Iterator[Given]:
    """Yield what is read from files, or from standard input."""
    return (one for _, one in given if one.texts is None)


def _source(given: Given) -> inputs.Source:
    return inputs.Source(given.path, given.compression, given.field, given.column, given.seen)


def _given(on: Any, field: str | None, column: str | None) -> list[tuple[str | None, Given]]:
    """Return all sources, each with its language, or None."""
    if not isinstance(on, Mapping):
        found: list[tuple[str | None, Given]] = [
            (None, one) for one in Corpus(on, field=field, column=column).sources
        ]
    else:
        found = [(str(language), one) for language, given in on.items() for one in _of_language(given, field, column)]
        if not found:
            raise ValueError("no source is given")
        for name, value, what in (("field", field, ".jsonl or .ndjson"), ("column", column, ".parquet or .pq")):
            if value is not None and not any(getattr(one, name) for _, one in found):
                raise ValueError(f"{name}={shown(value)} is for files that end in {what}: there is none")
    for _, one in found:
        if one.open is not None:
            raise ValueError(f"{one.name}: only files of this machine are compared on: download it first")
    return found


def _of_language(given: Any, field: str | None, column: str | None) -> list[Given]:
    """Return the sources of one language.

    If `field` or `column` fits none of the files of all languages, the caller raises the error.
    """
    found = Corpus(given).sources
    return [
        one._replace(field=one.field and (field or one.field), column=one.column and (column or one.column))
        for one in found
    ]


def _of_texts(texts: Any, language: str | None) -> Iterator[Document]:
    for number, text in enumerate(texts, 1):
        if isinstance(text, bytes):
            try:
                text = text.decode()
            except UnicodeDecodeError as error:
                raise ValueError(f"text number {number}: not UTF-8 at byte {error.start}") from None
        if not isinstance(text, str):
            raise TypeError(f"text number {number} is {type(text).__name__}, not str")
        yield Document("texts" if language is None else language, language, [text])


# Parallel texts


class Parallel:
    """The same sentences in several languages.

    Args:
        texts: A mapping of languages to files with a sentence a line, or to lists of sentences.
        errors: As in `Texts`.
    """

    def __init__(self, texts: Mapping[str, Any], errors: str = "strict") -> None:
        if not isinstance(texts, Mapping):
            raise TypeError(f"parallel texts are a mapping of languages to files, not {type(texts).__name__}")
        if len(texts) < 2:
            raise ValueError("parallel texts need two languages or more")
        self.languages = [str(language) for language in texts]
        # Texts that are not given by a path are kept, since they are read twice: for the figures, and for parity.
        self._texts = [text if _name(text) is not None else list(text) for text in texts.values()]
        self._errors = errors

    def sentences(self) -> Iterator[tuple[str, ...]]:
        """Yield the sentences, each in all languages.

        Raises:
            OSError: A file cannot be read.
            ValueError: The texts have different numbers of lines, or one is not UTF-8.
        """
        rows = [self._of(text) for text in self._texts]
        done = 0
        while True:
            row = [next(lines, None) for lines in rows]
            sentences = tuple(sentence for sentence in row if sentence is not None)
            if not sentences:
                return
            if len(sentences) < len(row):
                short = self.languages[row.index(None)]
                more = next(name for name, one in zip(self.languages, row, strict=True) if one is not None)
                raise ValueError(
                    f"parallel texts differ in length: {short} ends after {done} lines, and {more} goes on"
                )
            done += 1
            yield sentences

    def documents(self) -> Iterator[Document]:
        """Yield each sentence in each language as a document."""
        names = [_name(text) or language for language, text in zip(self.languages, self._texts, strict=True)]
        for row in self.sentences():
            for language, name, sentence in zip(self.languages, names, row, strict=True):
                yield Document(name, language, [sentence])

    def _of(self, text: Any) -> Iterator[str]:
        name = _name(text)
        if name is None:
            return ("".join(document.pieces) for document in _of_texts(text, None))
        [given] = Corpus(name).sources
        if given.open is not None or given.column is not None or given.field is not None:
            raise ValueError(f"{name}: parallel texts are files of text on this machine, a sentence a line")
        source = _source(given)
        if self._errors == "replace":
            inputs.check_plain([source])
        return _lines(piece for document in documents.of(source, self._errors) for piece in document.pieces)


def _name(text: Any) -> str | None:
    return os.fsdecode(text) if isinstance(text, (str, bytes, os.PathLike)) else None


def _lines(pieces: Iterable[str]) -> Iterator[str]:
    r"""Yield lines without their ends, which are \n or \r\n. Text after the last end is a line if it is not empty.

    >>> list(_lines(["a\r", "\n\nb", "c"]))
    ['a', '', 'bc']
    """
    held = ""
    for piece in pieces:
        *lines, held = (held + piece).split("\n")
        for line in lines:
            yield line.removesuffix("\r")
    if held:
        yield held.removesuffix("\r")
