"""Checks and errors of `Encoding`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import NoReturn

    from .patterns import Pattern


def raise_disallowed_special_token(token: str) -> NoReturn:
    """Raise the error of a special token in a text where none is allowed."""
    raise ValueError(
        f"the text has the special token {token!r}, which is not allowed in it.\n"
        f"To turn it into its id, pass allowed_special={{{token!r}, ...}}.\n"
        f"To read it as ordinary text, pass disallowed_special=(enc.special_tokens_set - {{{token!r}}}).\n"
        "To read all special tokens as ordinary text, pass disallowed_special=()."
    )


def pattern_of(pat_str: str) -> Pattern:
    """Return the pattern that means here what `pat_str` means to tiktoken."""
    from . import dialects, patterns

    if not isinstance(pat_str, str):
        raise TypeError(f"pat_str is a str, not {type(pat_str).__name__}")
    if pat_str not in patterns.SPELLINGS:
        pat_str = dialects.translate(pat_str)
    return patterns.of_source(pat_str, 0, "drop")


def name_the_repeated(ranks: Mapping[bytes, int]) -> NoReturn:
    """Raise the error of two tokens that have one rank."""
    owner: dict[int, bytes] = {}
    for token, rank in ranks.items():
        if owner.setdefault(rank, token) is not token:
            raise ValueError(f"rank {rank} is given to {token!r} and to {owner[rank]!r}: each token needs its own")
    raise ValueError("two tokens have the same rank")


def checked_threads(num_threads: int) -> int:
    """Return how many threads may be used."""
    if num_threads <= 0:
        raise ValueError(f"num_threads is at least 1, not {num_threads}")
    return min(num_threads, 1024)


def of_range(tokens: Iterable[int], error: KeyError) -> Exception:
    """Return the error for ids of which one is none: a number that no id can be is an `OverflowError`."""
    import operator

    for token in tokens:
        if not 0 <= operator.index(token) < 2**32:
            return OverflowError(f"an id is a whole number from 0 to 2^32 - 1, not {token}")
    return error
