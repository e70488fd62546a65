"""`toksmith.lab.compare`: several tokenizers on the same texts."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from ..._internal.arguments import checked_workers, naming_keywords, whole
from ..._internal.messages import shown
from ..._internal.progress import Report, reporter, summing
from ...corpus import Corpus, TextSources
from ...files.documents import Document
from . import statistics
from .comparison import Comparison
from .measure import encoders_of, measure

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


@naming_keywords
def compare(
    tokenizers: object,
    on: Sources | Mapping[str, Sources] | None = None,
    *,
    parallel: Mapping[str, Sources] | None = None,
    reference: str | None = None,
    language_field: str | None = None,
    resamples: int = 1000,
    workers: int | None = None,
    progress: bool | Report = False,
) -> Comparison:
    """Compare how tokenizers encode the same texts: compression, and parity of languages.

    Special tokens in a text are read as ordinary text, since each tokenizer has others. Documents are encoded once
    by each tokenizer, some megabytes at a time. Memory holds these megabytes and some 100 bytes for each document. A
    long document is held whole only for a tokenizer that cannot cut it: one without a pattern, one with a pattern
    that `regex` runs, or one of another library.

    Args:
        tokenizers: A mapping of names to tokenizers, or a list of them: `Tokenizer`s, `Encoding`s, names and paths as
            `Tokenizer.from_pretrained` takes them, and objects of other libraries that have `encode`. All others are
            compared with the first.
        on: What to compare on: a `Corpus`, or what makes one (a path, glob or folder, "-", a list of them, or any
            other iterable, of texts); or a mapping of languages to these. Each file of text is a document, and so is
            each record and each text. If it is left out, the sentences of `parallel` are the documents.
        parallel: The same sentences in several languages: a mapping of languages to files, a sentence a line, to
            iterables of sentences, or to a `Corpus` of one of these.
        reference: The language of `parallel` that the others are compared with; default: the first.
        language_field: The name of the field or column with the language of each record.
        resamples: Resamples of the bootstrap; 0 for no intervals.
        workers: Threads; default: all cores.
        progress: True shows a bar on standard error; a callable gets (stage, done, total), in bytes of the files.

    Raises:
        OSError: A tokenizer or a file is missing or cannot be read.
        ValueError: An option is wrong, there is no text, a file is not UTF-8, or parallel texts differ in length.
        TypeError: An object is given that is no tokenizer, or no text.
        ImportError: A file is Parquet and pyarrow is not installed.

    >>> import toksmith
    >>> small = toksmith.train(iter(["low low lower lowest"]), 260)
    >>> comparison = toksmith.lab.compare({"bytes": toksmith.Tokenizer(), "small": small}, iter(["low", "lower low"]))
    >>> [figures.tokens for figures in comparison.all.figures]
    [12, 5]
    """
    count = checked_workers(workers)
    whole("resamples", resamples, 0)
    texts = None if on is None else Texts(on, language_field)
    sentences = None if parallel is None else Parallel(parallel)
    languages = [] if sentences is None else sentences.languages
    if reference is not None and reference not in languages:
        raise ValueError(
            f"reference is one of the languages of the parallel texts, {languages}, not {shown(reference)}"
        )
    encoders = encoders_of(tokenizers, count)
    translated = None if sentences is None else measure(encoders, sentences.documents())
    if texts is not None:
        with reporter(progress) as report:
            table = measure(encoders, texts.documents(summing(report, "encode", texts.total_bytes)))
    elif translated is not None:
        table = translated
    else:
        raise ValueError("there is nothing to compare on: give files or texts, or parallel texts")
    names, parity = [encoder.name for encoder in encoders], []
    if translated is not None:
        parity = statistics.parity_of(translated, languages, reference or languages[0], names, resamples)
    return Comparison(
        tokenizers=tuple(names),
        groups=tuple(statistics.groups_of(table, names, resamples)),
        parity=tuple(parity),
    )
