"""Checks and errors of `Encoding`."""

from __future__ import annotations

import re

from ..common.messages import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any, NoReturn

    from ..patterns import Pattern


def raise_disallowed_special_token(token: str) -> NoReturn:
    """Raise the error of a special token in a text where none is allowed."""
    name = shown(token)
    raise ValueError(
        f"the text has the special token {name}, which is not allowed in it.\n"
        f"To turn it into its id, pass allowed_special={{{name}, ...}}.\n"
        f"To read it as ordinary text, pass disallowed_special=(enc.special_tokens_set - {{{name}}}).\n"
        "To read all special tokens as ordinary text, pass disallowed_special=()."
    )


def pattern_of(pat_str: str) -> Pattern:
    """Return the pattern that means here what `pat_str` means to tiktoken."""
    from .. import patterns
    from ..regex_dialects import fancy_regex

    if not isinstance(pat_str, str):
        raise TypeError(f"pat_str is a str, not {type(pat_str).__name__}")
    if pat_str not in patterns.SPELLINGS:
        pat_str = fancy_regex.translate(pat_str)
    return patterns.of_source(pat_str, 0, "drop")


def name_the_repeated(ranks: Mapping[bytes, int]) -> NoReturn:
    """Raise the error of two tokens that have one rank."""
    owner: dict[int, bytes] = {}
    for token, rank in ranks.items():
        if owner.setdefault(rank, token) is not token:
            raise ValueError(
                f"rank {rank} is given to {shown(token)} and to {shown(owner[rank])}: each token needs its own"
            )
    raise ValueError("two tokens have the same rank")


def checked_threads(num_threads: int) -> int:
    """Return how many threads may be used."""
    if num_threads <= 0:
        raise ValueError(f"num_threads is at least 1, not {num_threads}")
    return min(num_threads, 1024)


def of_range(tokens: Iterable[int], error: KeyError) -> Exception:
    """Return the error for ids of which one is none: a number that no id can be is an `OverflowError`.

    In a list or tuple any such number makes it one, as in tiktoken, which converts all ids first. Anything else may
    have no end: there only the id that `error` names is looked at.
    """
    import operator

    if isinstance(tokens, (list, tuple)):
        numbers: Iterable[Any] = tokens
    else:
        found = re.search(r"of id (-?\d+)", str(error))
        numbers = [int(found[1])] if found and len(found[1]) < 4000 else [-1]
    for token in numbers:
        if not 0 <= operator.index(token) < 2**32:
            return OverflowError(f"an id is a whole number from 0 to 2^32 - 1, not {shown(token)}")
    return error


def kept(ids: Iterable[int], found: list[int]) -> Iterator[int]:
    """Yield ids, and keep them in a list."""
    for id in ids:
        found.append(id)
        yield id


def checked_specials(special_tokens: Mapping[str, int]) -> None:
    """Check that special tokens are names with ids.

    Raises:
        TypeError: They are no mapping, or of something else.
    """
    if not hasattr(special_tokens, "items"):
        raise TypeError(f"special_tokens is a dict of names and ids, not {type(special_tokens).__name__}")
    for name, id in special_tokens.items():
        if not isinstance(name, str):
            raise TypeError(f"a special token is a str, not {type(name).__name__}: {shown(name)}")
        if not hasattr(id, "__index__"):
            raise TypeError(f"the id of special token {shown(name)} is an int, not {type(id).__name__}")
