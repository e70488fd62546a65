"""The documents that tokenizers are compared on; the label of each is its language."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias

from ..._internal.messages import shown
from ...corpus import Corpus, CorpusOptions, TextSources
from ...files.documents import Document

if TYPE_CHECKING:
    from typing_extensions import Unpack

Sources: TypeAlias = "Corpus | TextSources"


class Texts:
    """The texts of a comparison, of one or several languages."""

    def __init__(
        self, on: Sources | Mapping[str, Sources], language_field: str | None, **options: Unpack[CorpusOptions]
    ) -> None:
        if isinstance(on, Mapping) and language_field is not None:
            raise ValueError("a mapping of languages and language_field are mutually exclusive")
        self._language_field = language_field
        self._corpora: list[tuple[str | None, Corpus]]
        if isinstance(on, Mapping):
            self._corpora = [(str(language), Corpus.of(sources, **options)) for language, sources in on.items()]
        else:
            self._corpora = [(None, Corpus.of(on, **options))]
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

    def __init__(
        self,
        texts: Mapping[str, str | os.PathLike[str] | Iterable[str]],
        errors: Literal["strict", "replace"] = "strict",
    ) -> None:
        if not isinstance(texts, Mapping):
            raise TypeError(f"parallel texts are a mapping of languages to files, not {type(texts).__name__}")
        if len(texts) < 2:
            raise ValueError("parallel texts need two languages or more")
        self.languages = [str(language) for language in texts]
        self._texts = [
            os.fsdecode(text) if isinstance(text, (str, bytes, os.PathLike)) else text for text in texts.values()
        ]
        self._errors = errors

    def documents(self) -> Iterator[Document]:
        """Yield each sentence in each language as a document.

        Raises:
            OSError: A file cannot be read.
            ValueError: The texts have different numbers of lines, or one is not UTF-8.
        """
        both = zip(self.languages, self._texts, strict=True)
        names = [text if isinstance(text, str) else language for language, text in both]
        for done, row in enumerate(itertools.zip_longest(*map(self._lines_of, self._texts))):
            if None in row:
                short = self.languages[row.index(None)]
                longer = next(name for name, line in zip(self.languages, row, strict=True) if line is not None)
                raise ValueError(
                    f"parallel texts differ in length: {short} ends after {done} lines, and {longer} goes on"
                )
            for language, name, sentence in zip(self.languages, names, row, strict=True):
                yield Document(name, [sentence], language)

    def _lines_of(self, text: str | Iterable[str]) -> Iterator[str]:
        corpus = Corpus([text] if isinstance(text, str) else iter(text), errors=self._errors)
        [source] = corpus.sources
        if source.texts is not None:
            return ("".join(document.pieces) for document in corpus.documents())
        if source.open is not None or not source.is_text:
            raise ValueError(f"{text}: parallel texts are files of text on this machine, a sentence a line")
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
