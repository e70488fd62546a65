"""Normalizers as tables that the page runs: the tables of the core, since a browser has another Unicode version.

The core's tables cannot be read, so they are found by normalizing: each character alone, and marks in pairs.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

from ....formats.huggingface.file_patterns import steps_of
from . import blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import ArrayLike

_FORMS = {"NFC": "NFD", "NFD": "NFD", "NFKC": "NFKD", "NFKD": "NFKD", "Lowercase": "Lowercase"}
"""Names of the steps that a page runs, each with the form that decomposes its characters."""
_COMPOSED = ("NFC", "NFKC")
_SURROGATES = range(0xD800, 0xE000)
_HANGUL = range(0xAC00, 0xD7A4)
"""Syllables, which are composed by a rule."""
_VOWELS_AND_FINALS = (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))
_BETWEEN = "\n"
"""A character that no form changes, and across which no marks are sorted and no characters composed."""
# Marks of the lowest and of the highest class. Both are old.
_LOWEST, _HIGHEST = "\u0334", "\u0345"
# Characters that are normalized together; surrogates are whole blocks of so many.
_AT_ONCE = 1 << 9


class Step(NamedTuple):
    """A step: a table that decomposes characters; whether marks are then sorted, and characters composed."""

    block: str
    sorts: bool
    composes: bool


def unknown(steps: Iterable[str]) -> list[str]:
    """Return the names of those steps that a page cannot run."""
    return list(dict.fromkeys(name for name in steps if name not in _FORMS))


@functools.cache
def step(name: str) -> Step:
    """Return a step by its name, one that is not among `unknown`; `normalizing.js` runs it."""
    apart = {code: text for code, text in _changed(_FORMS[name]).items() if code not in _HANGUL}
    sorts, composes = name != "Lowercase", name in _COMPOSED
    classes = _classes() if sorts else {}
    pairs = _pairs() if composes else []
    # A text without any of these stays as it is.
    touched = {*_changed(name), *classes, *(right for _, right, _ in pairs)}
    touched |= {*_VOWELS_AND_FINALS} if composes else set()
    spelled = sorted(apart.items())
    columns: list[ArrayLike] = [
        blocks.steps(sorted(touched)),
        blocks.steps([code for code, _ in spelled]),
        [len(text) for _, text in spelled],
        [ord(character) for _, text in spelled for character in text],
        blocks.steps(sorted(classes)),
        [classes[code] for code in sorted(classes)],
        *([pair[part] for pair in pairs] for part in range(3)),
    ]
    return Step(blocks.packed(columns), sorts, composes)


@functools.cache
def _changed(form: str) -> dict[int, str]:
    """Return the normalized text of each character that a form changes."""
    found = {}
    for codes in _blocks_of_codes():
        characters = [*map(chr, codes)]
        texts = _each(form, characters)
        if texts != characters:
            found.update({ord(one): text for one, text in zip(characters, texts, strict=True) if text != one})
    return found


def _blocks_of_codes() -> Iterator[list[int]]:
    """Yield all characters but the one between, some at a time."""
    for first in range(0, 0x110000, _AT_ONCE):
        if first not in _SURROGATES:
            yield [code for code in range(first, first + _AT_ONCE) if code != ord(_BETWEEN)]


def _each(form: str, texts: Iterable[str]) -> list[str]:
    """Return the normalized form of each text."""
    return _normalizer(form)(_BETWEEN.join(texts)).split(_BETWEEN)


def _normalizer(form: str) -> Callable[[str], str]:
    return steps_of(normalizer={"type": form}).normalize


@functools.cache
def _classes() -> dict[int, int]:
    """Return the marks that are sorted, each with a number that rises with its combining class."""
    apart = _changed("NFD")
    found = {ord(_LOWEST), ord(_HIGHEST)}
    for codes in _blocks_of_codes():
        # A mark of a higher class is sorted after one of a lower class.
        for before, behind in (("", _LOWEST), (_HIGHEST, "")):
            pairs = [f"{before}{chr(code)}{behind}" for code in codes]
            texts = _each("NFD", pairs)
            if texts != pairs:
                moved = (code for code, text, pair in zip(codes, texts, pairs, strict=True) if text != pair)
                found.update(code for code in moved if code not in apart)
    marks = sorted(found)
    both = [chr(mark) + chr(other) for mark in marks for other in marks]
    is_higher = [text != pair for text, pair in zip(_each("NFD", both), both, strict=True)]
    count = len(marks)
    return {mark: 1 + sum(is_higher[i * count : (i + 1) * count]) for i, mark in enumerate(marks)}


@functools.cache
def _pairs() -> list[tuple[int, int, int]]:
    """Return the pairs of characters that are composed, except Hangul: left, right, and the composed character."""
    compose, kept = _normalizer("NFC"), _changed("NFC")
    found = []
    for code, text in _changed("NFD").items():
        if code not in kept and code not in _HANGUL:
            left = compose(text[:-1])
            if len(left) == 1:
                found.append((ord(left), ord(text[-1]), code))
    return found
