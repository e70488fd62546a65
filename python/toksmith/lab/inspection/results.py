"""The results of an inspection, as plain data. Each field says what is counted, and in what unit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class VocabularyToken(NamedTuple):
    """A token of the vocabulary: its id and its bytes."""

    id: int
    token: bytes


@dataclass(frozen=True)
class Sizes:
    """How large a vocabulary is, and by which rules it encodes."""

    tokens: int  # ids in use
    ordinary: int  # of these, ids of tokens that are not special
    special: int  # of these, ids of special tokens
    max_id: int
    free_ids: int  # ids below the highest one that no token has
    token_bytes: int  # bytes of all ordinary tokens together
    merges: int  # merges that are listed; under ranks, pairs that make a token of lower ranks
    # "merges" for a list of merges, "ranks" where any pair whose bytes are a token merges, "characters" for merges
    # that begin with characters instead of bytes.
    rule: str
    whole_pretokens: bool  # whether a pretoken that is a token is encoded to that token before any merge
    pattern: str | None  # the name of the pattern, else its expression; None for no pretokenization


@dataclass(frozen=True)
class Contents:
    """What the ordinary tokens are made of."""

    # From a kind to the number of its tokens; each token is of one kind. Tokens of one class of characters alone are
    # "letters" (Unicode's categories L and M), "digits" (N), "punctuation" (P and S), "whitespace" or "other"; tokens
    # of several classes are "mixed"; tokens that are no whole characters are "partial". A space in front of other
    # characters is ignored here, and counted in `leading_space`.
    kinds: dict[str, int]
    leading_space: int  # tokens of more than one character that begin with a space
    # From a Unicode script to the number of tokens whose characters are of that script. Characters of no particular
    # script (Unicode's "Common" and "Inherited") are ignored: a token with no others is "Common". A token with more
    # than one script is "several".
    scripts: dict[str, int]


class Unreachable(NamedTuple):
    """A token that no text is encoded to: its id, its bytes, and why."""

    id: int
    token: bytes
    reason: str  # "empty", "utf8", "merges", "pattern", "neighbours" or "merges and pattern": docs/inspecting.md
    instead: tuple[int, ...]  # the ids that its bytes are merged to instead; empty for other reasons than merges


@dataclass(frozen=True)
class Reach:
    """Which ordinary tokens `encode` can give, for any text."""

    reachable: int  # the number of tokens for which a text was found that is encoded to them
    unreachable: tuple[Unreachable, ...]  # the tokens that are proved to be in no result, by ascending id
    undecided: tuple[VocabularyToken, ...]  # the tokens for which neither a text nor a proof was found
    by_reason: dict[str, int]  # from a reason to the number of unreachable tokens


@dataclass(frozen=True)
class Merging:
    """How tokens are merged from bytes (or from characters, if merging begins with them).

    The depth of a token is 0 if no merge makes it, else 1 more than that of the deeper of its two parts: the length
    of the longest chain of merges that need each other.
    """

    by_depth: dict[int, int]  # from a depth to the number of ordinary tokens of that depth
    mean_depth: float  # the mean depth of the ordinary tokens that a merge makes
    # The deepest tokens with their depths; of equal depths the lower id comes first.
    deepest: tuple[tuple[VocabularyToken, int], ...]


@dataclass(frozen=True)
class Duplicates:
    """Ordinary tokens of whole characters that differ by a space in front, by case, or by both."""

    by_space: int  # pairs of a token and the same token with a space in front
    by_case: int  # groups of two or more tokens that are equal after `str.casefold`
    by_case_tokens: int  # tokens in these groups
    by_both: int  # groups of two or more that are equal after `str.casefold` and without a space in front
    by_both_tokens: int  # tokens in these groups
    # The largest groups of `by_both`, each in the order of ids; of equal groups the one with the lower first id comes
    # first.
    largest: tuple[tuple[VocabularyToken, ...], ...]


class Used(NamedTuple):
    """A token, and how often it is among the ids of a text."""

    id: int
    token: bytes
    uses: int


class Saved(NamedTuple):
    """A merge, and how often it was applied. Each application made one token of two, and so saved one token."""

    id: int  # the id of the token that it makes
    token: bytes  # the bytes of that token
    left: int  # the id of its left part
    right: int  # the id of its right part
    applied: int  # how often it was applied


@dataclass(frozen=True)
class Usage:
    """How a text uses a vocabulary."""

    documents: int  # documents of the text
    bytes: int  # bytes of the text, as UTF-8
    characters: int  # characters of the text
    tokens: int  # tokens that it is encoded to
    special: int  # of these, special tokens
    bytes_per_token: float  # `bytes` over `tokens`
    characters_per_token: float  # `characters` over `tokens`
    used: int  # ordinary tokens that are used at least once
    parts_only: int  # ordinary tokens that are never used, but are a part of a token that is
    unused: int  # ordinary tokens that are neither used nor such a part; the unreachable ones are among them
    most_used: tuple[Used, ...]  # the most used tokens; the lower id first where they are equal
    # Candidates for glitch tokens: tokens of `unused` that are reachable, have two bytes or more and are whole
    # characters, the lowest ids first. A low id says that the token was frequent where the vocabulary was trained; a
    # model that learns from texts like this one never meets it.
    candidates: tuple[VocabularyToken, ...]
    # The slope of the least-squares line of log10(uses) over log10(rank), at ten ranks or less in each power of ten;
    # -1 under Zipf's law. The most used token has rank 1. None if fewer than two tokens are used.
    slope: float | None
    # How often merges were applied in all. Each application made one token of two, so this is also the number of
    # tokens that all merges together saved.
    merged: int
    most_saved: tuple[Saved, ...]  # the merges that were applied most; the lower id first where they are equal
    idle_merges: int  # tokens made by merges that were never applied
    # The uses of each token, by ascending id: an array of `int64`, shape (tokens of the vocabulary,).
    counts: NDArray[np.int64] = field(repr=False, compare=False, metadata={"left_out": True})
    # How often the last merge of each token was applied, with the order and type of `counts`; 0 for a token that no
    # merge makes.
    applied: NDArray[np.int64] = field(repr=False, compare=False, metadata={"left_out": True})
