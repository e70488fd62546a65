"""Checks and errors of `Encoding`."""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NoReturn

from ... import patterns
from ..._core import Tokenizer
from ..._internal.messages import shown


def raise_disallowed_special_token(token: str) -> NoReturn:
    """Raise the error of a special token in a text where none is allowed."""
    name = shown(token)
    raise ValueError(
        f"the text has the disallowed special token {name}.\n"
        f"To turn it into its id, pass allowed_special={{{name}, ...}}.\n"
        f"To read it as ordinary text, pass disallowed_special=(enc.special_tokens_set - {{{name}}}).\n"
        "To read all special tokens as ordinary text, pass disallowed_special=()."
    )


def pattern_of(pat_str: str) -> patterns.Pattern:
    """Return the pattern that cuts text in the same places as `pat_str` in tiktoken."""
    if not isinstance(pat_str, str):
        raise TypeError(f"pat_str is a str, not {type(pat_str).__name__}")
    return patterns.of_tiktoken_source(pat_str)


def vocabulary_of(mergeable_ranks: Mapping[bytes, int], special_tokens: Mapping[str, int]) -> dict[int, bytes]:
    """Return the tokens by rank, with all arguments checked that `Encoding` gets as mappings.

    Raises:
        TypeError: `mergeable_ranks` or `special_tokens` is no mapping, or has keys or values of another type.
        ValueError: Two tokens have one rank, or there is no token.
    """
    if not hasattr(mergeable_ranks, "items"):
        kind = type(mergeable_ranks).__name__
        raise TypeError(f"mergeable_ranks is a dict of tokens and their ranks, not {kind}")
    checked_specials(special_tokens)
    vocab = {rank: token for token, rank in mergeable_ranks.items()}
    if len(vocab) != len(mergeable_ranks):
        name_the_repeated(mergeable_ranks)
    if not vocab:
        raise ValueError("mergeable_ranks is empty")
    return vocab


def check_count(explicit_n_vocab: int | None, core: Tokenizer, special_tokens: Mapping[str, int]) -> None:
    """Check the number of tokens, if the caller has said how many there are.

    Raises:
        AssertionError: There are more or fewer, or their ids have gaps.
    """
    if not explicit_n_vocab:
        return
    highest = core.max_id()
    count = core.vocab_size() - len(core.special_tokens()) + len(special_tokens)
    if count != explicit_n_vocab:
        raise AssertionError(f"explicit_n_vocab is {explicit_n_vocab}, but there are {count} tokens")
    if highest != explicit_n_vocab - 1:
        raise AssertionError(f"explicit_n_vocab is {explicit_n_vocab}, but the highest id is {highest}")


def name_the_repeated(ranks: Mapping[bytes, int]) -> NoReturn:
    """Raise the error of two tokens that have one rank."""
    owner: dict[int, bytes] = {}
    for token, rank in ranks.items():
        if owner.setdefault(rank, token) is not token:
            raise ValueError(
                f"rank {rank} is given to {shown(token)} and to {shown(owner[rank])}: each token needs its own"
            )
    raise ValueError("two tokens have the same rank")


def checked_threads(num_threads: float | None) -> int:
    """Return how many threads may be used; for None, those that a `ThreadPoolExecutor` would have."""
    if num_threads is None:
        return min(32, (os.cpu_count() or 1) + 4)
    if num_threads <= 0:
        raise ValueError(f"num_threads is at least 1, not {num_threads}")
    return max(1, int(min(num_threads, 1024)))


def of_range(tokens: Iterable[int], error: KeyError) -> Exception:
    """Return the error for ids of which one does not exist: `OverflowError` if a number is out of the range of ids.

    In a list or tuple every number is looked at, as in tiktoken, which converts all ids first. Any other iterable may
    have no end, so only the id that `error` names is looked at.
    """
    match = re.search(r"of id (-?\d+)", str(error))
    unknown = int(match[1]) if match and len(match[1]) < 4000 else -1
    numbers: Iterable[Any] = tokens if isinstance(tokens, (list, tuple)) else [unknown]
    for token in numbers:
        if not 0 <= operator.index(token) < 2**32:
            return OverflowError(f"an id is a whole number from 0 to 2^32 - 1, not {shown(token)}")
    return KeyError(f"Invalid token for decoding: {error.args[0]}")


def first_error(decode_one: Callable[[Any], object], tokens: Iterable[Any], error: Exception) -> Exception:
    """Return the error for ids that are decoded one by one: the error of the first wrong id, whatever follows it.

    Ids that are in no list or tuple may have been consumed: then it is the error of the id that was met.
    """
    for token in tokens if isinstance(tokens, (list, tuple)) else ():
        try:
            decode_one(token)
        except Exception as first:
            return first
    return of_range(tokens, error) if isinstance(error, KeyError) else error


def kept(ids: Iterable[int], copy: list[int]) -> Iterator[int]:
    """Yield ids, and add each to `copy`."""
    for id in ids:
        copy.append(id)
        yield id


def checked_specials(special_tokens: Mapping[str, int]) -> None:
    """Check that special tokens are names with ids.

    Raises:
        TypeError: They are no mapping, or have keys or values of another type.
    """
    if not hasattr(special_tokens, "items"):
        raise TypeError(f"special_tokens is a dict of names and ids, not {type(special_tokens).__name__}")
    for name, id in special_tokens.items():
        if not isinstance(name, str):
            raise TypeError(f"a special token is a str, not {type(name).__name__}: {shown(name)}")
        if not hasattr(id, "__index__"):
            raise TypeError(f"the id of special token {shown(name)} is an int, not {type(id).__name__}")
