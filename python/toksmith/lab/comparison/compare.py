"""`toksmith.lab.compare`: several tokenizers on the same texts."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from ..._internal.arguments import checked_workers, naming_keywords, whole
from ..._internal.messages import shown
from ..._internal.progress import Report, reporter, summing
from ...corpus import Corpus, Document, TextSources
from . import statistics
from .comparison import Comparison
from .measure import encoders_of, measure

Sources: TypeAlias = "Corpus | TextSources"


def _corpora(on: Sources | Mapping[str, Sources], language_field: str | None) -> list[tuple[str | None, Corpus]]:
    """Return the texts of each language; of all languages, without a name, if `on` names none."""
    if isinstance(on, Mapping) and language_field is not None:
        raise ValueError("a mapping of languages and language_field are mutually exclusive")
    named = on.items() if isinstance(on, Mapping) else [(None, on)]
    corpora = [(language and str(language), Corpus.of(sources)) for language, sources in named]
    if not corpora:
        raise ValueError("no source is given")
    for source in (source for _, corpus in corpora for source in corpus.sources):
        if language_field is not None and source.is_text:
            raise ValueError(f"{source.name} has no records, and so no field {shown(language_field)} with a language")
    for _, corpus in corpora:
        corpus.check_local()
    return corpora


def _documents(
    corpora: list[tuple[str | None, Corpus]], language_field: str | None, report: Report | None
) -> Iterator[Document]:
    sizes = [corpus.total_bytes for _, corpus in corpora]
    read = summing(report, "encode", sum(sizes) if all(sizes) else 0)
    for language, corpus in corpora:
        in_memory = corpus.sources[0].texts is not None
        for document in corpus.documents(read, language_field):
            name = language if in_memory and language is not None else document.source
            yield Document(name, document.pieces, document.label if language is None else language)


def _parallel(texts: Mapping[str, Sources]) -> dict[str, Corpus]:
    if not isinstance(texts, Mapping):
        raise TypeError(f"parallel texts are a mapping of languages to files, not {type(texts).__name__}")
    if len(texts) < 2:
        raise ValueError("parallel texts need two languages or more")
    return {str(language): _corpus_of(text) for language, text in texts.items()}


def _sentences(parallel: dict[str, Corpus]) -> Iterator[Document]:
    """Yield each sentence in each language as a document."""
    names = [
        language if source.texts is not None else source.name
        for language, [source] in ((language, text.sources) for language, text in parallel.items())
    ]
    for done, row in enumerate(itertools.zip_longest(*map(_lines_of, parallel.values()))):
        if None in row:
            short = [*parallel][row.index(None)]
            longer = next(name for name, line in zip(parallel, row, strict=True) if line is not None)
            raise ValueError(
                f"parallel texts differ in length: {short} ends after {done} lines, and {longer} goes on"
            )
        for language, name, sentence in zip(parallel, names, row, strict=True):
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
    corpora = None if on is None else _corpora(on, language_field)
    translations = {} if parallel is None else _parallel(parallel)
    languages = [*translations]
    if reference is not None and reference not in languages:
        raise ValueError(
            f"reference is one of the languages of the parallel texts, {languages}, not {shown(reference)}"
        )
    encoders = encoders_of(tokenizers, count)
    translated = measure(encoders, _sentences(translations)) if translations else None
    if corpora is not None:
        with reporter(progress) as report:
            table = measure(encoders, _documents(corpora, language_field, report))
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
