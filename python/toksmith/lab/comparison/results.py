"""The results of `toksmith.compare`, as plain data."""

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
    # Tokens for each word; None also if most letters are in scripts written without spaces.
    tokens_per_word: Estimate | None
    tokens_per_character: Estimate | None  # tokens for each code point
    relative: Estimate | None  # its tokens divided by those of the first tokenizer, so 1 for the first


@dataclass(frozen=True)
class Group:
    """Documents that have something in common, and the figures of each tokenizer on them."""

    by: str  # what they have in common: "all", "language", "script" or "file"
    name: str  # which language, script or file
    documents: int  # the number of documents
    bytes: int  # bytes of their text as UTF-8
    characters: int  # code points of their text
    words: int  # words of their text, which are separated by whitespace
    figures: tuple[Figures, ...]  # one for each tokenizer, in the order of the tokenizers


@dataclass(frozen=True)
class Use:
    """How a tokenizer's vocabulary is used by all documents."""

    tokenizer: str
    vocab_size: int | None  # the number of its ordinary tokens; None if its library does not say
    used: int  # the number of different tokens that the documents are encoded to
    # The Rényi entropy of the tokens over the logarithm of `vocab_size`, from 0 to 1, or None.
    renyi_efficiency: float | None
    # The number of its ordinary tokens that are several words, separated by whitespace. None if its library does not
    # say what bytes its tokens have.
    superwords: int | None
    superword_tokens: int | None  # how many of the tokens of all documents are such; None likewise


@dataclass(frozen=True)
class Overlap:
    """The tokens that two vocabularies share, by the bytes of their ordinary tokens."""

    first: str  # the name of one tokenizer
    second: str  # the name of the other
    first_size: int  # ordinary tokens of the first
    second_size: int  # ordinary tokens of the second
    shared: int  # tokens that both have
    jaccard: float  # `shared` divided by the number of different tokens of both together, from 0 to 1
    # The share, from 0 to 1, of the tokens that the second has too among the tokens that the first makes of all
    # documents. None if there are none.
    first_tokens_shared: float | None
    second_tokens_shared: float | None  # the same for the second


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


@dataclass(frozen=True)
class PassageToken:
    """A token of an encoded passage."""

    id: int  # its id under the tokenizer that encoded the passage
    bytes: bytes


@dataclass(frozen=True)
class Passage:
    """A passage of a document. Each tokenizer encodes it by itself, without the rest of the document."""

    text: str  # the passage, of about 240 bytes as UTF-8; shorter if the document is shorter
    # The tokens that the first tokenizer makes of it, in order. None if its library does not say what bytes its
    # tokens have.
    first_tokens: tuple[PassageToken, ...] | None
    second_tokens: tuple[PassageToken, ...] | None  # the same for the second tokenizer


@dataclass(frozen=True)
class Difference:
    """A document on which two tokenizers make very different numbers of tokens."""

    first: str  # the name of the first tokenizer
    second: str  # the name of the other
    file: str  # the path of the document's file. For texts in memory, their language, or "texts" without one.
    document: int  # the number of the document in that file, from 0
    first_count: int  # tokens that the first tokenizer makes of the whole document
    second_count: int  # tokens that the second one makes of it
    passage: Passage  # the passage of the document on which the two differ most

    @property
    def difference(self) -> float:
        """How many more tokens the second makes, divided by those of the first; negative if it makes fewer."""
        return self.second_count / self.first_count - 1


@dataclass(frozen=True)
class Point:
    """The compression of `toksmith.shrink(tokenizer, vocab_size)` on all documents."""

    vocab_size: int  # the number of its tokens, special ones included
    tokens: int  # tokens that it makes of all documents
    bytes_per_token: float | None  # UTF-8 bytes of the text for each of these tokens; None if there are none


@dataclass(frozen=True)
class Curve:
    """The compression of a tokenizer and of smaller ones that it is shrunk to, on all documents."""

    tokenizer: str  # the name of the tokenizer
    # One for each size of the vocabulary that was asked for and is possible, the smallest first.
    points: tuple[Point, ...]
    # Why the tokenizer cannot be measured at smaller sizes, so that `points` is empty; None if it can.
    reason: str | None = None
