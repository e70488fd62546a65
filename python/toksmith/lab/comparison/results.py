"""The results of `toksmith.lab.compare`, as plain data."""

from __future__ import annotations

from dataclasses import dataclass


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
