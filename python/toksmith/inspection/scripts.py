"""Scripts and classes of the characters of some texts."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from .. import scripts as unicode_scripts

if TYPE_CHECKING:
    from collections.abc import Iterable

KINDS = ("letters", "digits", "punctuation", "whitespace", "mixed", "other", "partial")
"""What a token can be made of: see `report.Contents`."""

# Each class with its set; a character is of the first that it is in.
_CLASSES = {
    "whitespace": r"\s",
    "letters": r"[\p{L}\p{M}]",
    "digits": r"\p{N}",
    "punctuation": r"[\p{P}\p{S}]",
    "other": r"(?s:.)",
}


def scripts(texts: Iterable[str]) -> dict[str, str]:
    """Return the script of each character of some texts.

    >>> [scripts(["aя日1"])[character] for character in "aя日1"]
    ['Latin', 'Cyrillic', 'Han', 'Common']
    """
    return unicode_scripts.find(_characters(texts))


def classes(texts: Iterable[str]) -> dict[str, str]:
    """Return the kind of each character of some texts.

    >>> [classes(["a1! "])[character] for character in "a1! "]
    ['letters', 'digits', 'punctuation', 'whitespace']
    """
    characters = _characters(texts)
    found: dict[str, str] = {}
    for kind, source in reversed(_CLASSES.items()):
        found |= dict.fromkeys(_matching(source, characters), kind)
    return found


def _characters(texts: Iterable[str]) -> str:
    return "".join(set(itertools.chain.from_iterable(texts)))


def _matching(source: str, characters: str) -> str:
    import regex

    return "".join(regex.compile(source, cache_pattern=False).findall(characters))
