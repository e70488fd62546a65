"""`toksmith.lab.compare`: several tokenizers on the same texts."""

from __future__ import annotations

from collections.abc import Mapping

from ..._internal.arguments import checked_workers, naming_keywords, whole
from ..._internal.messages import shown
from ..._internal.progress import Report, reporter, summing
from . import statistics
from .comparison import Comparison
from .encoders import encoders_of
from .measure import measure
from .texts import Parallel, Sources, Texts


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
    bootstrap = statistics.Bootstrap(whole("resamples", resamples, 0))
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
        parity = statistics.parity_of(translated, languages, reference or languages[0], names, bootstrap)
    return Comparison(
        tokenizers=tuple(names),
        groups=tuple(statistics.groups_of(table, names, bootstrap)),
        parity=tuple(parity),
    )
