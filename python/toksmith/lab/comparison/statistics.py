"""The results of `toksmith.lab.compare` as plain data: figures of groups of documents, and of parallel texts."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .measure import Table


@dataclass(frozen=True)
class Estimate:
    """A ratio with its confidence interval."""

    value: float
    # The lower end of the interval; None if there is no interval: with fewer than 8 documents or no resamples.
    low: float | None = None
    high: float | None = None  # the upper end; None likewise


@dataclass(frozen=True)
class Figures:
    """One tokenizer on one group of documents. A ratio is None where it would divide by zero."""

    tokenizer: str
    tokens: int  # tokens of all documents of the group
    bytes_per_token: Estimate | None  # UTF-8 bytes of the text for each token
    characters_per_token: Estimate | None  # code points of the text for each token
    relative: Estimate | None  # its tokens divided by those of the first tokenizer, so 1 for the first


@dataclass(frozen=True)
class Group:
    """Documents that have something in common, and the figures of each tokenizer on them."""

    by: str  # what they have in common: "all", "language" or "file"
    name: str  # which language or file
    documents: int  # the number of documents
    bytes: int  # bytes of their text as UTF-8
    characters: int  # code points of their text
    figures: tuple[Figures, ...]  # one for each tokenizer, in the order of the tokenizers


@dataclass(frozen=True)
class Premium:
    """How many tokens the sentences take in one language, under one tokenizer."""

    tokenizer: str  # the name of the tokenizer
    tokens: int  # tokens of all sentences in the language
    premium: Estimate | None  # `tokens` divided by the tokens of the same sentences in the reference language


@dataclass(frozen=True)
class Parity:
    """One language of parallel texts."""

    language: str
    reference: str  # the name of the reference language
    sentences: int  # the number of sentences, which is the same in each language
    # UTF-8 bytes of the sentences, divided by those of the sentences in the reference language.
    bytes: Estimate | None
    characters: Estimate | None  # code points of the sentences, divided by those in the reference language
    premiums: tuple[Premium, ...]  # the same ratio of tokens for each tokenizer, in the order of the tokenizers


# More documents than this are first divided among so many blocks at random, and blocks are drawn instead. The
# intervals hardly change, and time and memory depend on the number of blocks instead of the number of documents.
BLOCKS = 2000
# Fewer documents than this say too little about others: there is no interval.
MIN_DOCUMENTS = 8


def ratios_of(columns: NDArray[np.int64], pairs: list[tuple[int, int]], resamples: int) -> list[Estimate | None]:
    """Return the ratio of the sums of two columns for each pair of their numbers; None where the second is 0.

    Intervals are those of the percentile bootstrap: documents are drawn with replacement, as many as there are, again
    and again. The drawn documents depend only on their number, so all ratios of one set of documents use the same
    draws. `columns` are numbers of each document.
    """
    totals, count = columns.sum(axis=1), columns.shape[1]
    if count < MIN_DOCUMENTS or not resamples:
        return [Estimate(float(totals[above] / totals[below])) if totals[below] else None for above, below in pairs]
    if count > BLOCKS:
        block = np.random.default_rng([0, count]).permutation(count) % BLOCKS
        columns = np.stack([np.bincount(block, column, BLOCKS) for column in columns])
    drawn = _times(resamples, columns.shape[1]) @ columns.T.astype(np.float64)
    return [
        _ratio(int(totals[above]), int(totals[below]), drawn[:, above], drawn[:, below]) for above, below in pairs
    ]


@functools.lru_cache(2)
def _times(resamples: int, count: int) -> NDArray[np.float64]:
    """Return how often each of `count` documents is drawn, of shape (resamples, documents)."""
    drawn = np.random.default_rng(0).integers(0, count, (resamples, count))
    drawn += np.arange(resamples)[:, None] * count
    times = np.bincount(drawn.ravel(), minlength=resamples * count)
    return times.reshape(resamples, count).astype(np.float64)


def _ratio(above: int, below: int, aboves: NDArray[np.float64], belows: NDArray[np.float64]) -> Estimate | None:
    """Return the ratio of two sums, with an interval by their sums in all resamples."""
    if not below:
        return None
    # In a resample the divisor may be 0, such as the tokens of empty documents.
    has_any = belows > 0
    ends = np.quantile(aboves[has_any] / belows[has_any], [0.025, 0.975]).tolist() if has_any.any() else ()
    return Estimate(above / below, *ends)


def groups_of(table: Table, tokenizers: list[str], resamples: int) -> list[Group]:
    """Return the group of all documents, then those by language and by file, the largest of each first."""
    groups = [_group("all", "all", table, tokenizers, resamples)]
    for by, column in (("language", table.language), ("file", table.file)):
        # Groups are found by sorting: a scan for each name would be slow with as many files as documents.
        order = np.argsort(column, kind="stable")
        numbers, starts = np.unique(column[order], return_index=True)
        rows = zip(numbers.tolist(), np.split(order, starts[1:]), strict=True)
        same_kind = [
            _group(by, table.names[number], table.rows(chosen), tokenizers, resamples)
            for number, chosen in rows
            if table.names[number]
        ]
        groups += sorted(same_kind, key=lambda group: -group.bytes)
    return groups


def _group(by: str, name: str, table: Table, tokenizers: list[str], resamples: int) -> Group:
    # Bytes, characters, and the tokens of each tokenizer.
    columns = np.stack([table.bytes, table.characters, *table.tokens])
    pairs: list[tuple[int, int]] = []
    for tokens in range(2, len(columns)):
        pairs += [(0, tokens), (1, tokens), (tokens, 2)]
    ratios = ratios_of(columns, pairs, resamples)
    size, characters, *tokens_of = columns.sum(axis=1).tolist()
    figures = (
        Figures(tokenizer, tokens_of[number], *ratios[3 * number : 3 * number + 3])
        for number, tokenizer in enumerate(tokenizers)
    )
    return Group(by, name, len(table.bytes), size, characters, tuple(figures))


def parity_of(
    table: Table, languages: list[str], reference: str, tokenizers: list[str], resamples: int
) -> list[Parity]:
    """Return each language of parallel texts, the reference first; `table` has each sentence in all languages.

    The premium is the number of tokens of all sentences in a language, divided by that in the reference. For its
    interval, sentences are drawn together with their translations.
    """
    base = languages.index(reference)
    width = len(tokenizers) + 2
    rows = np.stack([table.bytes, table.characters, *table.tokens]).reshape(width, -1, len(languages))
    columns = rows.transpose(2, 0, 1)  # of languages, figures and sentences
    order = [base, *(number for number in range(len(languages)) if number != base)]
    # A row of columns for each language: bytes, characters, and the tokens of each tokenizer.
    pairs = [(number * width + column, base * width + column) for number in order for column in range(width)]
    ratios = ratios_of(columns.reshape(len(languages) * width, -1), pairs, resamples)
    totals = columns.sum(axis=2)
    parities = []
    for place, number in enumerate(order):
        size, characters, *of_tokens = ratios[place * width : (place + 1) * width]
        named = zip(tokenizers, totals[number, 2:].tolist(), of_tokens, strict=True)
        premiums = tuple(Premium(*premium) for premium in named)
        parities.append(Parity(languages[number], reference, columns.shape[2], size, characters, premiums))
    return parities
