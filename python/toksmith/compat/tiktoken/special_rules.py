"""Which special tokens a call of `Encoding` looks for, and which it refuses: tiktoken's two arguments."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Literal, NoReturn

from ..._core import SpecialSet
from ..._internal.messages import shown

Allowed = Literal["all"] | AbstractSet[str]
Disallowed = Literal["all"] | Collection[str] | None

# Sets of special tokens that are kept, since programs pass the same ones with each call.
_MAX_SETS = 64


def raise_disallowed_special_token(token: str) -> NoReturn:
    """Raise the error of a special token in a text where none is allowed."""
    name = shown(token)
    raise ValueError(
        f"the text has the disallowed special token {name}.\n"
        f"To turn it into its id, pass allowed_special={{{name}, ...}}.\n"
        f"To read it as ordinary text, pass disallowed_special=(enc.special_tokens_set - {{{name}}}).\n"
        "To read all special tokens as ordinary text, pass disallowed_special=()."
    )


def without_surrogates(text: str) -> str:
    """Return `text` with surrogate pairs joined and every other surrogate replaced by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Rules:
    """The rules of one encoding: the sets that the arguments `allowed_special` and `disallowed_special` stand for."""

    def __init__(self, special_tokens: Mapping[str, int]) -> None:
        @functools.lru_cache(_MAX_SETS)
        def allowed_set(names: frozenset[str]) -> SpecialSet:
            for name in names:
                if not isinstance(name, str):
                    raise TypeError(f"a special token is a str, not {type(name).__name__}: {shown(name)}")
                name.encode()
            return SpecialSet([(name, id) for name, id in special_tokens.items() if name in names])

        @functools.lru_cache(_MAX_SETS)
        def refused_set(names: frozenset[str]) -> SpecialSet | None:
            """Return None if the core cannot look for one of the names."""
            return SpecialSet([(name, 0) for name in names]) if all(map(_has_utf8, names)) else None

        self._names = frozenset(special_tokens)
        self._allowed_set, self._refused_set = allowed_set, refused_set
        self.default = allowed_set(frozenset()), refused_set(self._names)

    def allowed(self, allowed_special: Allowed) -> SpecialSet:
        """Return the set to look for."""
        return self._allowed_set(self._allowed_names(allowed_special))

    def sets(
        self, allowed_special: Allowed, disallowed_special: Disallowed, texts: Iterable[str]
    ) -> tuple[SpecialSet, SpecialSet | None]:
        """Return the set to look for, and the set to refuse; refuse strings here that the core cannot look for."""
        allowed_names = self._allowed_names(allowed_special)
        allowed = self._allowed_set(allowed_names)
        names = self._disallowed_names(allowed_names, disallowed_special)
        if not names:
            return allowed, None
        refused = self._refused_set(names)
        if refused is None:
            for text in texts:
                _check(text, names)
        return allowed, refused

    def check_surrogates(self, text: str, allowed_special: Allowed, disallowed_special: Disallowed) -> None:
        """Refuse disallowed strings in a text that has surrogates, which the core does not search."""
        if names := self._disallowed_names(self._allowed_names(allowed_special), disallowed_special):
            _check(text, names)

    def _allowed_names(self, allowed_special: Allowed) -> frozenset[str]:
        if isinstance(allowed_special, str) and allowed_special == "all":
            return self._names
        if not isinstance(allowed_special, (set, frozenset)):
            raise TypeError(f"allowed_special is a set or 'all', not {type(allowed_special).__name__}")
        return frozenset(allowed_special)

    def _disallowed_names(self, allowed: frozenset[str], disallowed_special: Disallowed) -> frozenset[str]:
        if isinstance(disallowed_special, str) and disallowed_special == "all":
            return self._names - allowed
        return frozenset(disallowed_special or ())


def _has_utf8(name: str) -> bool:
    """Return whether the core can look for a name: a name that is not empty and has no surrogate."""
    try:
        return bool(name.encode())
    except (UnicodeEncodeError, AttributeError):
        return False


def _check(text: str, disallowed: frozenset[str]) -> None:
    """Raise if one of the strings is in the text, which may be any `str`."""
    for what, value in (("a text", text), *(("a special token", name) for name in disallowed)):
        if not isinstance(value, str):
            raise TypeError(f"{what} is a str, not {type(value).__name__}")
    if "" in disallowed:
        # The empty string is at the beginning of every text; a longer one that is there too is named instead.
        raise_disallowed_special_token(max(filter(text.startswith, disallowed), key=len))
    names = [name.encode("utf-8", "surrogatepass") for name in disallowed]
    token = SpecialSet.of_bytes(names).first_in_bytes(text.encode("utf-8", "surrogatepass"))
    if token is not None:
        raise_disallowed_special_token(token.decode("utf-8", "surrogatepass"))
