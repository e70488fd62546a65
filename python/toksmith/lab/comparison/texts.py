"""The documents that tokenizers are compared on; the label of each is its language."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from ..._internal.messages import shown
from ...corpus import Corpus, TextSources
from ...files.documents import Document

Sources: TypeAlias = "Corpus | TextSources"


class Texts:
    """The texts of a comparison, of one or several languages."""

    def __init__(self, on: Sources | Mapping[str, Sources], language_field: str | None) -> None:
        if isinstance(on, Mapping) and language_field is not None:
            raise ValueError("a mapping of languages and language_field are mutually exclusive")
        self._language_field = language_field
        self._corpora: list[tuple[str | None, Corpus]]
        if isinstance(on, Mapping):
            self._corpora = [(str(language), Corpus.of(sources)) for language, sources in on.items()]
        else:
            self._corpora = [(None, Corpus.of(on))]
        if not self._corpora:
            raise ValueError("no source is given")
        for _, corpus in self._corpora:
            corpus.check_local()
            names = [source.name for source in corpus.sources if source.is_text]
            if language_field is not None and names:
                raise ValueError(
                    f"{names[0]} has no records, and so no field {shown(language_field)} with a language"
                )

    @property
    def total_bytes(self) -> int:
        """The bytes of all files; 0 if they are not known."""
        sizes = [corpus.total_bytes for _, corpus in self._corpora]
        return sum(sizes) if all(sizes) else 0

    def documents(self, read: Callable[[int], object]) -> Iterator[Document]:
        """Yield all documents, in order. `read` is called with the number of bytes of a file that were read.

        Raises:
            OSError, ValueError, TypeError, ImportError: As `Corpus.documents`.
        """
        for language, corpus in self._corpora:
            in_memory = corpus.sources[0].texts is not None
            for document in corpus.documents(read, self._language_field):
                name = language if in_memory and language is not None else document.source
                yield Document(name, document.pieces, document.label if language is None else language)


class Parallel:
    """The same sentences in several languages."""

    def __init__(self, texts: Mapping[str, Sources]) -> None:
        if not isinstance(texts, Mapping):
            raise TypeError(f"parallel texts are a mapping of languages to files, not {type(texts).__name__}")
        if len(texts) < 2:
            raise ValueError("parallel texts need two languages or more")
        self.languages = [str(language) for language in texts]
        self._texts = [*map(_corpus_of, texts.values())]

    def documents(self) -> Iterator[Document]:
        """Yield each sentence in each language as a document.

        Raises:
            OSError: A file cannot be read.
            ValueError: The texts have different numbers of lines, or one is not UTF-8.
        """
        names = [
            language if source.texts is not None else source.name
            for language, [source] in zip(self.languages, (text.sources for text in self._texts), strict=True)
        ]
        for done, row in enumerate(itertools.zip_longest(*map(_lines_of, self._texts))):
            if None in row:
                short = self.languages[row.index(None)]
                longer = next(name for name, line in zip(self.languages, row, strict=True) if line is not None)
                raise ValueError(
                    f"parallel texts differ in length: {short} ends after {done} lines, and {longer} goes on"
                )
            for language, name, sentence in zip(self.languages, names, row, strict=True):
                yield Document(name, [sentence], language)


def _corpus_of(text: Sources) -> Corpus:
    if not isinstance(text, Corpus):
        text = Corpus([text] if isinstance(text, (str, bytes, os.PathLike)) else iter(text))
    for source in text.sources:
        is_file = source.texts is None and source.open is None and source.is_text
        if len(text.sources) > 1 or not (is_file or source.texts is not None):
            advice = "parallel texts are files of text on this machine, one for each language, a sentence a line"
            raise ValueError(f"{source.name}: {advice}")
    return text


def _lines_of(corpus: Corpus) -> Iterator[str]:
    if corpus.sources[0].texts is not None:
        return ("".join(document.pieces) for document in corpus.documents())
    return _lines(piece for document in corpus.documents() for piece in document.pieces)


def _lines(pieces: Iterable[str]) -> Iterator[str]:
    r"""Yield lines without their ends, which are \n or \r\n. Text after the last end is a line if it is not empty.

    >>> list(_lines(["a\r", "\n\nb", "c"]))
    ['a', '', 'bc']
    """
    unfinished = ""
    for piece in pieces:
        *lines, unfinished = (unfinished + piece).split("\n")
        for line in lines:
            yield line.removesuffix("\r")
    if unfinished:
        yield unfinished.removesuffix("\r")
