"""What `toksmith.compare` finds, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .bootstrap import Estimate


@dataclass(frozen=True)
class Figures:
    """One tokenizer on one group of documents.

    `relative` is its number of tokens over that of the first tokenizer; `tokens_per_word` is None where the text is
    mostly in scripts that are written without spaces, or has no word.
    """

    tokenizer: str
    tokens: int
    bytes_per_token: Estimate | None
    tokens_per_word: Estimate | None
    tokens_per_character: Estimate | None
    relative: Estimate | None


@dataclass(frozen=True)
class Group:
    """Documents of one kind. `by` is "all", "language", "script" or "file"."""

    by: str
    name: str
    documents: int
    bytes: int
    characters: int
    words: int
    figures: tuple[Figures, ...]


@dataclass(frozen=True)
class Use:
    """How a tokenizer's vocabulary is used by all documents. `vocab_size` counts ordinary tokens."""

    tokenizer: str
    vocab_size: int | None
    used: int
    renyi_efficiency: float | None


@dataclass(frozen=True)
class Overlap:
    """What two vocabularies share, by the bytes of their ordinary tokens.

    `first_tokens_shared` is the share of the tokens that the first makes of the documents that the second has too.
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
    """What the same sentences cost in one language, over what they cost in the reference language."""

    tokenizer: str
    tokens: int
    premium: Estimate | None


@dataclass(frozen=True)
class Parity:
    """One language of parallel texts; `bytes` and `characters` are the ratios of these."""

    language: str
    reference: str
    sentences: int
    bytes: Estimate | None
    characters: Estimate | None
    premiums: tuple[Premium, ...]


@dataclass(frozen=True)
class Token:
    """A token of a passage."""

    id: int
    bytes: bytes


@dataclass(frozen=True)
class Passage:
    """A passage of a document, encoded by itself; tokens are None where a library does not tell their bytes."""

    text: str
    first_tokens: tuple[Token, ...] | None
    second_tokens: tuple[Token, ...] | None


@dataclass(frozen=True)
class Difference:
    """A document on which two tokenizers differ.

    `document` is its number in its file, from 0; `first_count` and `second_count` are its tokens under both.
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
        """How many more tokens the second makes, as a share of those of the first."""
        return self.second_count / self.first_count - 1


@dataclass(frozen=True)
class Point:
    """What `tokenizer.shrink(vocab_size)` makes of all documents."""

    vocab_size: int
    tokens: int
    bytes_per_token: float | None


@dataclass(frozen=True)
class Curve:
    """A tokenizer at several sizes; without points, `reason` says why there are none."""

    tokenizer: str
    points: tuple[Point, ...]
    reason: str | None = None
