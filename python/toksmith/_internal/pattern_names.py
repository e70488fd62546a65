"""Names of patterns: aliases, and names that are nearly right.

A string is a name or a regular expression. A name with a typing error would be an expression that matches its own
letters and nothing else, and training would merge across words without a warning. So a string that looks like a name
is refused unless it is one.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterable

from .._core import PATTERN_ALIASES
from .messages import printable, shown

ALIASES: dict[str, str] = PATTERN_ALIASES
"""Published encodings, with the name of the pattern that each has. `gpt2` is the name of both."""

_METACHARACTERS = frozenset("\\.^$*+?{}[]()|")
# A name has no more characters than this.
_MAX_LENGTH = 64
# Least similarity, from 0 to 1, of two names of which one may be meant by the other.
_ALIKE = 0.8


def check(text: str, names: Iterable[str]) -> None:
    """Refuse a string that looks like a name but is none.

    A string looks like a name if it has from 2 to 64 characters, a letter or a digit among them, and no metacharacter
    of a regular expression; or if it is similar to a name.

    Raises:
        ValueError: `text` looks like a name. Says which one may be meant, and how to write the expression.
    """
    known = list(names)
    meant = suggestion(text, known)
    is_literal = any(map(str.isalnum, text)) and _METACHARACTERS.isdisjoint(text) and 1 < len(text) <= _MAX_LENGTH
    if meant is None and not is_literal:
        return
    question = "" if meant is None else f": did you mean {meant}?"
    raise ValueError(
        f"{shown(text)} looks like the name of a pattern, but no pattern has this name{question or '.'} The names "
        f"are {', '.join([*known, *ALIASES])}. An expression for these very characters is (?:{printable(text)})"
    )


def warn(text: str, names: Iterable[str]) -> None:
    """Warn of an expression that is the name of a pattern, or similar to one, where only expressions are taken.

    The stand-ins for other libraries take every expression that the originals take, and the originals have no names.
    """
    names = list(names)
    meant = repr(text) if text in names or text in ALIASES else suggestion(text, names)
    if meant is not None and meant != "None":
        warnings.warn(
            f"the pattern {shown(text)} is taken as a regular expression, as by the original library: it matches "
            f"these very characters alone. The expression of the pattern {meant} is in toksmith.patterns.NAMED",
            stacklevel=4,
        )


def suggestion(text: str, names: Iterable[str]) -> str | None:
    """Return the name that may be meant by a string that is no name, as a message shows it; None for no similar name.

    >>> suggestion("GPT2", ["gpt2"]), suggestion("[a-z]+", ["gpt2"])
    ("'gpt2'", None)
    """
    letters = _letters(text)
    if not letters or len(text) > _MAX_LENGTH or not all(c.isalnum() or c in " -_./:" for c in text):
        return None
    if letters in ("none", "null"):
        return "None"
    spelled = {_letters(name): name for name in (*ALIASES, *names)}
    name = spelled.get(letters)
    if name is None:
        close = difflib.get_close_matches(letters, spelled, 1, _ALIKE)
        name = spelled[close[0]] if close else None
    return None if name is None else repr(name)


def _letters(name: str) -> str:
    """Return only letters and digits, in lower case, so that spellings of a name are equal."""
    return "".join(filter(str.isalnum, name)).lower()
