"""Letters without regard to case, as Oniguruma's `(?i)` reads them, written without flags; used by `from_oniguruma`.

A character matches all that share its simple case folding, by the tables of `regex`, except that "İ" and "ı" are
no cases of "i". Besides, 104 characters fold to two or three ("ß" to "ss"), and match these sequences: as literals,
and as members of a class that is not negated. The sequences, as literals that stand together, match the characters.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable
from typing import NamedTuple

from . import characters

# Letters with cases in `regex` alone: those of Turkish, and those whose other cases are newer than Oniguruma's
# Unicode, such as a letter that Unicode 18 has for "ß".
_ALONE = "\u0130\u0131\u0277\u027c\ua7d3\ua7d5\uab4b\uab4c\U0001df95"


class _Tables(NamedTuple):
    """All cased characters, and by each sequence that single characters fold to those characters."""

    cased: str
    unfoldings: dict[str, str]


@functools.lru_cache(maxsize=1)
def _tables() -> _Tables:
    ranges = characters.matched(r"[\p{Lu}\p{Ll}\p{Lt}\p{CWCM}\p{CWCF}]")
    cased = "".join(chr(code) for start, end in ranges for code in range(start, end))
    unfoldings: dict[str, str] = {}
    for character in cased:
        sequence = character.casefold()
        if len(sequence) > 1:
            unfoldings[sequence] = unfoldings.get(sequence, "") + character
    return _Tables(cased, unfoldings)


def escaped(character: str) -> str:
    """Return a character as `regex` reads it, alone or in a set."""
    if character.isascii() and character.isalnum():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def literals(text: str, behind: bool) -> str:
    r"""Write literals that stand together, without regard to case.

    Sequences that single characters fold to are cut from the left, the longer ones first. In a look behind, each
    character has variants of one character only.

    >>> literals("sss", behind=False), literals("ß1", behind=True)
    ('(?:[\\u00df\\u1e9e]|[Ss\\u017f][Ss\\u017f])[Ss\\u017f]', '[\\u00df\\u1e9e]1')
    """
    written, at = "", 0
    keys = "" if behind else "".join(c.casefold() if len(c.casefold()) == 1 else c for c in text)
    while at < len(text):
        size = next((size for size in (3, 2) if keys[at : at + size] in _tables().unfoldings), 1) if keys else 1
        key = keys[at : at + size] if size > 1 else text[at].casefold()
        if behind or len(key) == 1:
            written += _cases(text[at])
        else:
            written += f"(?:{_set(_tables().unfoldings[key])}|{''.join(map(_cases, key))})"
        at += size
    return written


@functools.lru_cache(maxsize=1024)
def _cases(character: str) -> str:
    """Write one literal, with its variants of one character."""
    if character not in _tables().cased:
        return escaped(character)
    variants = sorted(_closed(character))
    return escaped(character) if len(variants) == 1 else _set(variants)


def _set(members: Iterable[str]) -> str:
    return f"[{''.join(map(escaped, members))}]"


def _closed(members: Iterable[str]) -> set[str]:
    """Return characters, and the cased ones with the simple case folding of one of them."""
    import regex

    alone = set(_ALONE).intersection(members)
    items = _ranges(sorted(set(members) - alone))
    if not items:
        return alone
    matches = regex.compile(f"(?V0)(?i)[{items}]", cache_pattern=False).findall(_tables().cased)
    return {*members, *matches}.difference(set(_ALONE) - alone)


class Variants(NamedTuple):
    """What a class matches beside its own characters: items of a set, and sequences as alternatives.

    `letters` says how many cased characters the class has.
    """

    items: str
    sequences: str
    letters: int


@functools.lru_cache(maxsize=256)
def of_class(positive: str) -> Variants:
    r"""Return what an expression for one character also matches without regard to case.

    >>> of_class("[k]"), of_class("[ß]").sequences
    (Variants(items='K\\u212a', sequences='', letters=1), '[Ss\\u017f][Ss\\u017f]')
    """
    import regex

    tables = _tables()
    own = regex.compile(f"(?V0){positive}", cache_pattern=False).findall(tables.cased)
    closed = _closed(own)
    sequences = [key for key, unfoldings in tables.unfoldings.items() if closed.intersection(unfoldings)]
    written = ["".join(map(_cases, key)) for key in sorted(sequences, key=len)]
    return Variants(_ranges(sorted(closed.difference(own))), "|".join(written), len(own))


def _ranges(ordered: list[str]) -> str:
    """Write characters as items of a set, each run of code points as a range."""
    items = ""
    for _, group in itertools.groupby(enumerate(ordered), lambda pair: ord(pair[1]) - pair[0]):
        run = [character for _, character in group]
        items += "".join(map(escaped, run)) if len(run) < 3 else f"{escaped(run[0])}-{escaped(run[-1])}"
    return items
