"""Which special tokens a call of `Encoding` looks for, and which it refuses: tiktoken's two arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from ..._core import SpecialSet
from ..._internal.messages import shown
from .checks import raise_disallowed_special_token

# Sets of special tokens that are kept, since programs give the same ones with each call.
_MAX_SETS = 64
_Set = TypeVar("_Set")


def without_surrogates(text: str) -> str:
    """Return `text` with surrogate pairs joined and every other surrogate replaced by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Rules:
    """The rules of one encoding: the sets that the arguments `allowed_special` and `disallowed_special` stand for."""

    def __init__(self, special_tokens: Mapping[str, int]) -> None:
        self._ids = special_tokens
        self._names = frozenset(special_tokens)
        self._none = SpecialSet([])
        self._all = SpecialSet(list(special_tokens.items()))
        self._allowed: dict[frozenset[str], SpecialSet] = {frozenset(): self._none, self._names: self._all}
        self._refused: dict[frozenset[str], SpecialSet | None] = {frozenset(): None, self._names: self._all}
        self.default: tuple[SpecialSet, SpecialSet | None] = (self._none, self._refused[self._names])

    def of(
        self, allowed_special: Any, disallowed_special: Any
    ) -> tuple[SpecialSet, SpecialSet | None, frozenset[str] | None]:
        """Return the set to look for, the set to refuse, and other strings to refuse, which `check` looks for.

        Raises:
            TypeError: `allowed_special` is no set, or a name no string.
        """
        allowed, disallowed = self._names_of(allowed_special, disallowed_special)
        looked_for = self._allowed.get(allowed)
        if looked_for is None:
            looked_for = _keep(self._allowed, allowed, self._set_of(allowed))
        if disallowed not in self._refused:
            if not all(map(_has_utf8, disallowed)):
                return looked_for, None, disallowed
            _keep(self._refused, disallowed, SpecialSet([(name, 0) for name in disallowed]))
        return looked_for, self._refused[disallowed], None

    def check_surrogates(self, text: str, allowed_special: Any, disallowed_special: Any) -> None:
        """Refuse disallowed strings in a text that has surrogates, which the core does not search."""
        if disallowed := self._names_of(allowed_special, disallowed_special)[1]:
            check(text, disallowed)

    def _names_of(self, allowed_special: Any, disallowed_special: Any) -> tuple[frozenset[str], frozenset[str]]:
        allowed = self._names if _is_all(allowed_special) else allowed_special
        if not isinstance(allowed, frozenset):
            if not isinstance(allowed, set):
                raise TypeError(f"allowed_special is a set or 'all', not {type(allowed).__name__}")
            allowed = frozenset(allowed)
        disallowed = self._names - allowed if _is_all(disallowed_special) else disallowed_special
        return allowed, disallowed if isinstance(disallowed, frozenset) else frozenset(disallowed or ())

    def _set_of(self, allowed: frozenset[str]) -> SpecialSet:
        for name in allowed:
            if not isinstance(name, str):
                raise TypeError(f"a special token is a str, not {type(name).__name__}: {shown(name)}")
            name.encode()
        return SpecialSet([(name, self._ids[name]) for name in self._ids if name in allowed])


def _keep(sets: dict[frozenset[str], _Set], names: frozenset[str], new: _Set) -> _Set:
    if len(sets) >= _MAX_SETS:
        # The first two belong to the default arguments, and stay.
        for old in list(sets)[2 : _MAX_SETS // 2]:
            sets.pop(old, None)
    sets[names] = new
    return new


def _is_all(names: object) -> bool:
    return isinstance(names, str) and names == "all"


def _has_utf8(name: str) -> bool:
    """Return whether the core can look for a name: a name that is not empty and has no surrogate."""
    try:
        return bool(name.encode())
    except (UnicodeEncodeError, AttributeError):
        return False


def check(text: str, disallowed: frozenset[str] | None) -> None:
    """Raise if one of the strings is in the text, which may be any `str`.

    Cost: linear in the text and the strings.
    """
    if not disallowed:
        return
    for what, value in (("a text", text), *(("a special token", name) for name in disallowed)):
        if not isinstance(value, str):
            raise TypeError(f"{what} is a str, not {type(value).__name__}")
    if "" in disallowed:
        # The empty string is found at the beginning of every text. A longer one that is found there is named instead.
        raise_disallowed_special_token(max(filter(text.startswith, disallowed), key=len))
    names = [name.encode("utf-8", "surrogatepass") for name in disallowed]
    token = SpecialSet.of_bytes(names).first_in_bytes(text.encode("utf-8", "surrogatepass"))
    if token is not None:
        raise_disallowed_special_token(token.decode("utf-8", "surrogatepass"))
