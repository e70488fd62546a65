"""The kind of each character: letter, digit, punctuation, whitespace or other."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

KINDS = ("letters", "digits", "punctuation", "whitespace", "mixed", "other", "partial")
"""The kinds of tokens: see `results.Contents`."""

# From a kind to its set of characters. The first set that a character is in decides.
_CLASSES = {
    "whitespace": r"\s",
    "letters": r"[\p{L}\p{M}]",
    "digits": r"\p{N}",
    "punctuation": r"[\p{P}\p{S}]",
    "other": r"(?s:.)",
}


def of_characters(texts: Iterable[str]) -> dict[str, str]:
    """Return the kind of each character of some texts.

    >>> [of_characters(["a1! "])[character] for character in "a1! "]
    ['letters', 'digits', 'punctuation', 'whitespace']
    """
    characters = different(texts)
    found: dict[str, str] = {}
    for kind, source in reversed(_CLASSES.items()):
        found |= dict.fromkeys(_matching(source, characters), kind)
    return found


def different(texts: Iterable[str]) -> str:
    """Return each character of some texts once."""
    return "".join(set(itertools.chain.from_iterable(texts)))


def _matching(source: str, characters: str) -> str:
    import regex

    return "".join(regex.compile(source, cache_pattern=False).findall(characters))
