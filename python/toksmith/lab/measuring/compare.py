"""`toksmith.compare`: several tokenizers on the same texts."""

from __future__ import annotations

import itertools
import operator
from typing import TYPE_CHECKING, Any

from ..._internal import arguments
from ..._internal.messages import shown
from ..._internal.progress import reporter, summing
from . import curves, encoders, groups, parity, passages, vocabularies
from .bootstrap import Bootstrap
from .comparison import Comparison
from .measure import Measured, Measuring
from .results import Curve, Difference, Point, Use
from .texts import Parallel, Texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..._internal.choices import Errors
    from ..._internal.progress import Report
    from .encoders import Encoder


def compare(
    tokenizers: Any,
    on: Any = None,
    *,
    parallel: Mapping[str, Any] | None = None,
    reference: str | None = None,
    field: str | None = None,
    column: str | None = None,
    language_field: str | None = None,
    document_separator: str | None = None,
    errors: Errors = "strict",
    alpha: float = 2.5,
    sizes: Iterable[int] | None = None,
    examples: int = 3,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    workers: int | None = None,
    progress: bool | Report = False,
) -> Comparison:
    """Compare how tokenizers encode the same texts: compression, vocabularies, parity of languages, differences.

    Special tokens in a text are read as ordinary text, since each tokenizer has others. Documents are encoded once
    by each tokenizer, some megabytes at a time. Memory holds these megabytes and some 100 bytes for each document. A
    long document is held whole only for a tokenizer that cannot cut it: one without a pattern, one with a pattern
    that `regex` runs, or one of another library.

    Args:
        tokenizers: A mapping of names to tokenizers, or a list of them: `Tokenizer`s, `Encoding`s, names and paths as
            `Tokenizer.from_pretrained` takes them, and objects of other libraries that have `encode`. All others are
            compared with the first.
        on: What to compare on: paths, globs and folders as for `toksmith.tokenize` (a str, or a list of them), any
            other iterable of texts, or a mapping of languages to these. Each file of text is a document, and so is
            each record and each text. If it is left out, the sentences of `parallel` are the documents.
        parallel: The same sentences in several languages: a mapping of languages to files, a sentence a line, or to
            iterables of sentences.
        reference: The language of `parallel` that the others are compared with; default: the first.
        field: The name of the text in the lines of `.jsonl` files; default "text".
        column: The column of the text in Parquet files; default "text".
        language_field: The name of the field or column with the language of each record.
        document_separator: A string between two documents of a file of text. It becomes no token.
        errors: "strict" refuses text that is not UTF-8, "replace" reads invalid bytes as U+FFFD.
        alpha: The order of the Rényi entropy; 1 is Shannon's.
        sizes: Sizes of smaller vocabularies to count the tokens of, as `Tokenizer.shrink` makes them; default: powers
            of two. One that a tokenizer cannot have is left out for it.
        examples: For each tokenizer but the first, how many documents to show on which it makes fewest tokens for
            each token of the first, and how many on which it makes most. They have 100 bytes or more.
        resamples: Resamples of the bootstrap; 0 for no intervals.
        level: The share of the resamples that an interval holds.
        seed: The seed of the bootstrap: equal seeds give equal intervals.
        workers: Threads; default: all cores.
        progress: True shows a bar on standard error; a callable gets (stage, done, total), in bytes of the files.

    Raises:
        OSError: A tokenizer or a file is missing or cannot be read.
        ValueError: An option is wrong, there is no text, a file is not UTF-8, or parallel texts differ in length.
        TypeError: An object is given that is no tokenizer, or no text.
        ImportError: A file is Parquet and pyarrow is not installed.

    >>> import toksmith
    >>> small = toksmith.train_from_iterator(["low low lower lowest"], 260)
    >>> found = toksmith.compare({"bytes": toksmith.Tokenizer(), "small": small}, iter(["low", "lower low"]))
    >>> [figures.tokens for figures in found.all.figures]
    [12, 5]
    """
    threads = arguments.checked_workers(workers)
    bootstrap = _bootstrap(resamples, level, seed)
    if not alpha > 0:
        raise ValueError(f"alpha is a number above 0, not {shown(alpha)}")
    wanted = None if sizes is None else sorted({operator.index(size) for size in sizes})
    pair = None if parallel is None else Parallel(parallel, errors)
    known = [] if pair is None else pair.languages
    if reference is not None and reference not in known:
        raise ValueError(f"reference is one of the languages of the parallel texts, {known}, not {shown(reference)}")
    arguments.replaces_invalid(errors)
    separator = arguments.checked_separator(document_separator)
    options: dict[str, Any] = {"field": field, "column": column, "language_field": language_field, "errors": errors}
    texts = None if on is None else Texts(on, separator=separator, **options)
    if texts is None and pair is None:
        raise ValueError("there is nothing to compare on: give files or texts, or parallel texts")
    loaded = encoders.of_all(tokenizers, threads)
    measuring = Measuring(loaded, arguments.checked_limit("examples", examples, 0), threads)
    with reporter(progress) as report:
        measured = measuring.measure(_documents(texts, pair, report))
    premiums = [] if pair is None else parity.of(pair, reference or pair.languages[0], loaded, bootstrap)
    names = [encoder.name for encoder in loaded]
    return Comparison(
        tokenizers=tuple(names),
        level=level,
        alpha=alpha,
        groups=tuple(groups.of(measured.table, names, bootstrap)),
        uses=tuple(_use(encoder, counts, alpha) for encoder, counts in zip(loaded, measured.counts, strict=True)),
        overlaps=tuple(
            vocabularies.overlap(loaded[a], loaded[b], measured.counts[a], measured.counts[b])
            for a, b in itertools.combinations(range(len(loaded)), 2)
            if loaded[a].vocab is not None and loaded[b].vocab is not None
        ),
        parity=tuple(premiums),
        differences=tuple(_differences(loaded, measured)),
        curves=tuple(_curve(encoder, measured, number, wanted) for number, encoder in enumerate(loaded)),
    )


def _bootstrap(resamples: int, level: float, seed: int) -> Bootstrap:
    count = arguments.checked_limit("resamples", resamples, 0)
    if not 0 < level < 1:
        raise ValueError(f"level is a number between 0 and 1, not {shown(level)}")
    number = operator.index(seed)
    if number < 0:
        raise ValueError(f"seed is at least 0, not {number}")
    return Bootstrap(count, level, number)


def _documents(texts: Texts | None, parallel: Parallel | None, report: Report | None) -> Any:
    if texts is None:
        assert parallel is not None
        return parallel.documents()
    return texts.documents(summing(report, "encode", texts.total))


def _use(encoder: Encoder, counts: Any, alpha: float) -> Use:
    efficiency = vocabularies.renyi_efficiency(counts, encoder.vocab_size, alpha)
    return Use(encoder.name, encoder.vocab_size, int((counts > 0).sum()), efficiency)


def _differences(loaded: Sequence[Encoder], measured: Measured) -> Iterable[Difference]:
    first = loaded[0]
    for second, differing in zip(loaded[1:], measured.differing, strict=True):
        for kept in (*differing.fewer, *differing.more):
            yield Difference(
                first=first.name,
                second=second.name,
                file=measured.table.names[kept.file],
                document=kept.document,
                first_count=kept.first,
                second_count=kept.second,
                passage=passages.of(kept.text, first, second, more=kept.second > kept.first),
            )


def _curve(encoder: Encoder, measured: Measured, number: int, wanted: list[int] | None) -> Curve:
    if encoder.tokenizer is None:
        return Curve(encoder.name, (), "it is of another library")
    try:
        curve = curves.curve(encoder.tokenizer, measured.counts[number])
    except ValueError as error:
        return Curve(encoder.name, (), str(error))
    size = int(measured.table.bytes.sum())
    chosen = curves.powers(curve.sizes) if wanted is None else wanted
    points = (Point(one, tokens, size / tokens if tokens else None) for one, tokens in curves.at(curve, chosen))
    return Curve(encoder.name, tuple(points))
