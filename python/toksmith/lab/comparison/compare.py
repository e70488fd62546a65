"""`toksmith.compare`: several tokenizers on the same texts."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...corpus import CorpusOptions, check_options
from ..progress import Report, reading
from ..text import at_least, quoted, threads
from . import curves, statistics
from .comparison import Comparison
from .encoders import Encoder, encoders_of, passage_of
from .measure import Measured, Measuring
from .results import Curve, Difference, Point, Use
from .texts import Parallel, Sources, Texts

if TYPE_CHECKING:
    from typing_extensions import Unpack


def compare(
    tokenizers: object,
    on: Sources | Mapping[str, Sources] | None = None,
    *,
    parallel: Mapping[str, str | os.PathLike[str] | Iterable[str]] | None = None,
    reference: str | None = None,
    language_field: str | None = None,
    alpha: float = 2.5,
    sizes: Iterable[int] | None = None,
    examples: int = 3,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    workers: int | None = None,
    progress: bool | Report = False,
    **corpus: Unpack[CorpusOptions],
) -> Comparison:
    """Compare how tokenizers encode the same texts: compression, vocabularies, parity of languages, differences.

    Special tokens in a text are read as ordinary text, since each tokenizer has others. Documents are encoded once
    by each tokenizer, some megabytes at a time. Memory holds these megabytes and some 100 bytes for each document. A
    long document is kept in a temporary file. It is held whole only for a tokenizer that cannot cut it: one without
    a pattern, one with a pattern that `regex` runs, or one of another library.

    Args:
        tokenizers: A mapping of names to tokenizers, or a list of them: `Tokenizer`s, `Encoding`s, names and paths as
            `Tokenizer.from_pretrained` takes them, and objects of other libraries that have `encode`. All others are
            compared with the first.
        on: What to compare on: a `Corpus`, or what makes one (a path, glob or folder, "-", a list of them, or any
            other iterable, of texts); or a mapping of languages to these. Each file of text is a document, and so is
            each record and each text. If it is left out, the sentences of `parallel` are the documents.
        parallel: The same sentences in several languages: a mapping of languages to files, a sentence a line, or to
            iterables of sentences.
        reference: The language of `parallel` that the others are compared with; default: the first.
        language_field: The name of the field or column with the language of each record.
        alpha: The order of the Rényi entropy; 1 is Shannon's.
        sizes: Sizes of smaller vocabularies to count the tokens of, as `toksmith.shrink` makes them; default: powers
            of two. One that a tokenizer cannot have is left out for it.
        examples: For each tokenizer but the first, how many documents to show on which it makes fewest tokens for
            each token of the first, and how many on which it makes most. They have 100 bytes or more.
        resamples: Resamples of the bootstrap; 0 for no intervals.
        level: The share of the resamples that an interval holds.
        seed: The seed of the bootstrap: equal seeds give equal intervals.
        workers: Threads; default: all cores.
        progress: True shows a bar on standard error; a callable gets (stage, done, total), in bytes of the files.
        **corpus: Options of `Corpus`: `field`, `column`, `document_separator`, `errors`.

    Raises:
        OSError: A tokenizer or a file is missing or cannot be read.
        ValueError: An option is wrong, there is no text, a file is not UTF-8, or parallel texts differ in length.
        TypeError: An object is given that is no tokenizer, or no text.
        ImportError: A file is Parquet and pyarrow is not installed.

    >>> import toksmith
    >>> small = toksmith.train_from_iterator(["low low lower lowest"], 260)
    >>> comparison = toksmith.compare({"bytes": toksmith.Tokenizer(), "small": small}, iter(["low", "lower low"]))
    >>> [figures.tokens for figures in comparison.all.figures]
    [12, 5]
    """
    check_options(compare, corpus)
    count = threads(workers)
    bootstrap = _bootstrap(resamples, level, seed)
    if isinstance(alpha, str) or not alpha > 0:
        raise ValueError(f"alpha is a number above 0, not {quoted(alpha)}")
    chosen_sizes = None if sizes is None else _sizes(sizes)
    texts = None if on is None else Texts(on, language_field, **corpus)
    sentences = None if parallel is None else Parallel(parallel, corpus.get("errors", "strict"))
    languages = [] if sentences is None else sentences.languages
    if reference is not None and reference not in languages:
        raise ValueError(
            f"reference is one of the languages of the parallel texts, {languages}, not {quoted(reference)}"
        )
    encoders = encoders_of(tokenizers, count)
    measuring = Measuring(encoders, at_least("examples", examples, 0))
    if texts is not None:
        with reading(progress, texts.total_bytes) as read:
            measured = measuring.measure(texts.documents(read))
    elif sentences is not None:
        measured = measuring.measure(sentences.documents())
    else:
        raise ValueError("there is nothing to compare on: give files or texts, or parallel texts")
    parity = statistics.parity_of(sentences, reference or languages[0], encoders, bootstrap) if sentences else []
    names = [encoder.name for encoder in encoders]
    return Comparison(
        tokenizers=tuple(names),
        level=level,
        alpha=alpha,
        groups=tuple(statistics.groups_of(measured.table, names, bootstrap)),
        uses=tuple(_use(encoder, counts, alpha) for encoder, counts in zip(encoders, measured.counts, strict=True)),
        overlaps=tuple(
            statistics.overlap(*pair, *counts)
            for pair, counts in zip(
                itertools.combinations(encoders, 2), itertools.combinations(measured.counts, 2), strict=True
            )
            if all(encoder.vocab is not None for encoder in pair)
        ),
        parity=tuple(parity),
        differences=tuple(_differences(encoders, measured)),
        curves=tuple(_curve(encoder, measured, number, chosen_sizes) for number, encoder in enumerate(encoders)),
    )


def _sizes(sizes: Iterable[int]) -> list[int]:
    if isinstance(sizes, str) or not isinstance(sizes, Iterable):
        raise TypeError(f"sizes is a list of numbers of tokens, not {type(sizes).__name__}: {quoted(sizes)}")
    return sorted({at_least("a size", size, 0) for size in sizes})


def _bootstrap(resamples: int, level: float, seed: int) -> statistics.Bootstrap:
    if isinstance(level, str) or not 0 < level < 1:
        raise ValueError(f"level is a number between 0 and 1, not {quoted(level)}")
    return statistics.Bootstrap(at_least("resamples", resamples, 0), level, at_least("seed", seed, 0))


def _use(encoder: Encoder, counts: NDArray[np.int64], alpha: float) -> Use:
    efficiency = statistics.renyi_efficiency(counts, encoder.vocab_size, alpha)
    superwords, superword_tokens = None, None
    if encoder.vocab is not None:
        ids = [id for id, token in encoder.vocab.items() if len(token.split()) > 1]
        superwords, superword_tokens = len(ids), int(counts[[id for id in ids if id < len(counts)]].sum())
    used = int((counts > 0).sum())
    return Use(encoder.name, encoder.vocab_size, used, efficiency, superwords, superword_tokens)


def _differences(encoders: list[Encoder], measured: Measured) -> Iterator[Difference]:
    first, *others = encoders
    for second, differing in zip(others, measured.differing, strict=True):
        for document in (*differing.fewer, *differing.more):
            yield Difference(
                first=first.name,
                second=second.name,
                file=measured.table.names[document.file],
                document=document.document,
                first_count=document.first,
                second_count=document.second,
                passage=passage_of(document.text, first, second, more=document.second > document.first),
            )


def _curve(encoder: Encoder, measured: Measured, number: int, sizes: list[int] | None) -> Curve:
    if encoder.tokenizer is None:
        return Curve(encoder.name, (), "it is of another library")
    try:
        curve = curves.curve(encoder.tokenizer, measured.counts[number])
    except ValueError as error:
        return Curve(encoder.name, (), str(error))
    total = int(measured.table.bytes.sum())
    points = curves.at(curve, curves.powers(curve.sizes) if sizes is None else sizes)
    return Curve(
        encoder.name, tuple(Point(size, tokens, total / tokens if tokens else None) for size, tokens in points)
    )
