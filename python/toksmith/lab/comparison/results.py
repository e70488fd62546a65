"""The results of `toksmith.compare`, as plain data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A ratio with its confidence interval.

    Attributes:
        value: The ratio.
        low: The lower end of the interval; None if there is no interval: with fewer than 8 documents or no resamples.
        high: The upper end; None likewise.
    """

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Figures:
    """One tokenizer on one group of documents. A ratio is None where it would divide by zero.

    Attributes:
        tokenizer: Its name.
        tokens: Tokens of all documents of the group.
        bytes_per_token: UTF-8 bytes of the text for each token.
        tokens_per_word: Tokens for each word; None also if most letters are in scripts written without spaces.
        tokens_per_character: Tokens for each code point.
        relative: Its tokens divided by those of the first tokenizer, so 1 for the first.
    """

    tokenizer: str
    tokens: int
    bytes_per_token: Estimate | None
    tokens_per_word: Estimate | None
    tokens_per_character: Estimate | None
    relative: Estimate | None


@dataclass(frozen=True)
class Group:
    """Documents that have something in common, and the figures of each tokenizer on them.

    Attributes:
        by: What they have in common: "all", "language", "script" or "file".
        name: Which language, script or file.
        documents: The number of documents.
        bytes: Bytes of their text as UTF-8.
        characters: Code points of their text.
        words: Words of their text, which are separated by whitespace.
        figures: One for each tokenizer, in the order of the tokenizers.
    """

    by: str
    name: str
    documents: int
    bytes: int
    characters: int
    words: int
    figures: tuple[Figures, ...]


@dataclass(frozen=True)
class Use:
    """How a tokenizer's vocabulary is used by all documents.

    Attributes:
        tokenizer: Its name.
        vocab_size: The number of its ordinary tokens; None if its library does not say.
        used: The number of different tokens that the documents are encoded to.
        renyi_efficiency: The Rényi entropy of the tokens over the logarithm of `vocab_size`, from 0 to 1, or None.
    """

    tokenizer: str
    vocab_size: int | None
    used: int
    renyi_efficiency: float | None


@dataclass(frozen=True)
class Overlap:
    """The tokens that two vocabularies share, by the bytes of their ordinary tokens.

    Attributes:
        first: The name of one tokenizer.
        second: The name of the other.
        first_size: Ordinary tokens of the first.
        second_size: Ordinary tokens of the second.
        shared: Tokens that both have.
        jaccard: `shared` divided by the number of different tokens of both together, from 0 to 1.
        first_tokens_shared: The share, from 0 to 1, of the tokens that the second has too among the tokens that the
            first makes of all documents. None if there are none.
        second_tokens_shared: The same for the second.
    """

    first: str
    second: str
    first_size: int
    second_size: int
    shared: int
    jaccard: float
    first_tokens_shared: float | None
    second_tokens_shared: float | None


@dataclass(frozen=True)
class Premium:
    """How many tokens the sentences take in one language, under one tokenizer.

    Attributes:
        tokenizer: The name of the tokenizer.
        tokens: Tokens of all sentences in the language.
        premium: `tokens` divided by the tokens of the same sentences in the reference language.
    """

    tokenizer: str
    tokens: int
    premium: Estimate | None


@dataclass(frozen=True)
class Parity:
    """One language of parallel texts.

    Attributes:
        language: Its name.
        reference: The name of the reference language.
        sentences: The number of sentences, which is the same in each language.
        bytes: UTF-8 bytes of the sentences, divided by those of the sentences in the reference language.
        characters: Code points of the sentences, divided by those in the reference language.
        premiums: The same ratio of tokens for each tokenizer, in the order of the tokenizers.
    """

    language: str
    reference: str
    sentences: int
    bytes: Estimate | None
    characters: Estimate | None
    premiums: tuple[Premium, ...]


@dataclass(frozen=True)
class PassageToken:
    """A token of an encoded passage.

    Attributes:
        id: Its id under the tokenizer that encoded the passage.
        bytes: Its bytes.
    """

    id: int
    bytes: bytes


@dataclass(frozen=True)
class Passage:
    """A passage of a document. Each tokenizer encodes it by itself, without the rest of the document.

    Attributes:
        text: The passage, of about 240 bytes as UTF-8; shorter if the document is shorter.
        first_tokens: The tokens that the first tokenizer makes of it, in order. None if its library does not say what
            bytes its tokens have.
        second_tokens: The same for the second tokenizer.
    """

    text: str
    first_tokens: tuple[PassageToken, ...] | None
    second_tokens: tuple[PassageToken, ...] | None


@dataclass(frozen=True)
class Difference:
    """A document on which two tokenizers make very different numbers of tokens.

    Attributes:
        first: The name of the first tokenizer.
        second: The name of the other.
        file: The path of the document's file. For texts in memory, their language, or "texts" without one.
        document: The number of the document in that file, from 0.
        first_count: Tokens that the first tokenizer makes of the whole document.
        second_count: Tokens that the second one makes of it.
        passage: The passage of the document on which the two differ most.
    """

    first: str
    second: str
    file: str
    document: int
    first_count: int
    second_count: int
    passage: Passage

    @property
    def difference(self) -> float:
        """How many more tokens the second makes, divided by those of the first; negative if it makes fewer."""
        return self.second_count / self.first_count - 1


@dataclass(frozen=True)
class Point:
    """The compression of `toksmith.shrink(tokenizer, vocab_size)` on all documents.

    Attributes:
        vocab_size: The number of its tokens, special ones included.
        tokens: Tokens that it makes of all documents.
        bytes_per_token: UTF-8 bytes of the text for each of these tokens; None if there are none.
    """

    vocab_size: int
    tokens: int
    bytes_per_token: float | None


@dataclass(frozen=True)
class Curve:
    """The compression of a tokenizer and of smaller ones that it is shrunk to, on all documents.

    Attributes:
        tokenizer: The name of the tokenizer.
        points: One for each size of the vocabulary that was asked for and is possible, the smallest first.
        reason: Why the tokenizer cannot be measured at smaller sizes, so that `points` is empty; None if it can.
    """

    tokenizer: str
    points: tuple[Point, ...]
    reason: str | None = None
