"""Which special tokens a call of `Encoding` looks for, and which it refuses: tiktoken's two arguments."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Literal, NoReturn

from ..._core import SpecialSet
from ..._internal.arguments import checked_text
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
        def special_set(allowed: frozenset[str], disallowed: frozenset[str]) -> SpecialSet:
            "".join((*allowed, *disallowed))  # a TypeError for what is no str
            "".join(allowed).encode()  # a UnicodeEncodeError for a surrogate
            tokens = [(name, id) for name, id in special_tokens.items() if name in allowed]
            # The core looks for what is in UTF-8 and is not empty.
            return SpecialSet(
                tokens, [name for name in disallowed if name and name == name.encode(errors="ignore").decode()]
            )

        self._names, self._special_set = frozenset(special_tokens), special_set
        self.default = special_set(frozenset(), self._names)

    def allowed(self, allowed_special: Allowed) -> SpecialSet:
        """Return the set to look for, which refuses nothing."""
        return self._special_set(self._allowed_names(allowed_special), frozenset())

    def special_set(
        self, allowed_special: Allowed, disallowed_special: Disallowed, texts: Iterable[str]
    ) -> SpecialSet:
        """Return the set to look for and to refuse. The empty string is refused here, since it is in every text."""
        allowed = self._allowed_names(allowed_special)
        disallowed = self._disallowed_names(allowed, disallowed_special)
        if "" in disallowed:
            for text in texts:
                _check(text, disallowed)
        return self._special_set(allowed, disallowed)

    def check(self, text: str, allowed_special: Allowed, disallowed_special: Disallowed) -> None:
        """Refuse disallowed strings in a text, which may have surrogates."""
        _check(text, self._disallowed_names(self._allowed_names(allowed_special), disallowed_special))

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


def _check(text: str, disallowed: AbstractSet[str]) -> None:
    """Raise if one of the strings is in the text, which may be any `str`: the leftmost, and there the longest."""
    checked_text(text)
    "".join(disallowed)  # a TypeError for what is no str
    matches = [(text.index(name), -len(name), name) for name in disallowed if name in text]
    if matches:
        raise_disallowed_special_token(min(matches)[2])
