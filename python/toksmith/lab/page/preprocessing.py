"""The steps that a text goes through before it is cut: added tokens, normalizer, a space in front.

Normalizers are tables that the page runs: those of the core, since a browser has another Unicode version. The core's
tables cannot be read, so they are learned by normalizing: each character alone, and marks in pairs.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from ... import anatomy
from ...tokenizer import Tokenizer
from . import blocks

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


@functools.cache
def step(name: str) -> Step:
    """Return a step by its name, one that a page can run; `normalizing.js` runs it."""
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
    changed = {}
    for codes in _blocks_of_codes():
        characters = list(map(chr, codes))
        texts = _each(form, characters)
        if texts != characters:
            both = zip(codes, characters, texts, strict=True)
            changed.update({code: text for code, character, text in both if text != character})
    return changed


def _blocks_of_codes() -> Iterator[list[int]]:
    """Yield all characters but the one between, some at a time."""
    for first in range(0, 0x110000, _AT_ONCE):
        if first not in _SURROGATES:
            yield [code for code in range(first, first + _AT_ONCE) if code != ord(_BETWEEN)]


def _each(form: str, texts: Iterable[str]) -> list[str]:
    """Return the normalized form of each text."""
    return anatomy.normalizer(form)(_BETWEEN.join(texts)).split(_BETWEEN)


@functools.cache
def _classes() -> dict[int, int]:
    """Return the marks that are sorted, each with a number that rises with its combining class."""
    apart = _changed("NFD")
    sorted_marks = {ord(_LOWEST), ord(_HIGHEST)}
    for codes in _blocks_of_codes():
        # A mark of a higher class is sorted after one of a lower class.
        for before, behind in (("", _LOWEST), (_HIGHEST, "")):
            pairs = [f"{before}{chr(code)}{behind}" for code in codes]
            texts = _each("NFD", pairs)
            if texts != pairs:
                moved = (code for code, text, pair in zip(codes, texts, pairs, strict=True) if text != pair)
                sorted_marks.update(code for code in moved if code not in apart)
    marks = sorted(sorted_marks)
    both = [chr(mark) + chr(other) for mark in marks for other in marks]
    is_higher = [text != pair for text, pair in zip(_each("NFD", both), both, strict=True)]
    count = len(marks)
    return {mark: 1 + sum(is_higher[i * count : (i + 1) * count]) for i, mark in enumerate(marks)}


@functools.cache
def _pairs() -> list[tuple[int, int, int]]:
    """Return the pairs of characters that are composed, except Hangul: left, right, and the composed character."""
    compose, kept = anatomy.normalizer("NFC"), _changed("NFC")
    pairs = []
    for code, text in _changed("NFD").items():
        if code not in kept and code not in _HANGUL:
            left = compose(text[:-1])
            if len(left) == 1:
                pairs.append((ord(left), ord(text[-1]), code))
    return pairs


def unknown(tokenizer: Tokenizer) -> list[str]:
    """Return the names of the steps before the cut that a page cannot run."""
    pipeline = tokenizer.pipeline
    if pipeline is None or pipeline.is_plain:
        return []
    if pipeline.merges_characters:
        return ["merging of characters instead of bytes"]
    forms = list(dict.fromkeys(name for name in pipeline.steps.normalizer if name not in _FORMS))
    names = [token.content for token in pipeline.added_tokens if not token.is_plain][:3]
    return [
        *([f"the normalizer ({', '.join(forms)})"] if forms else []),
        *(["a change of each part of the text"] if pipeline.steps.has_prefix is None else []),
        *([f"added tokens with conditions ({', '.join(map(repr, names))})"] if names else []),
    ]


def tokens(tokenizer: Tokenizer) -> list[dict[str, Any]]:
    """Return the added tokens: content, id, whether each is found in normalized text, and by which other text."""
    pipeline = tokenizer.pipeline
    if pipeline is None or pipeline.is_plain:
        return [_row(name, id, name, False, True) for name, id in tokenizer.special_tokens.items()]
    normalize = pipeline.steps.normalize
    return [
        _row(
            token.content,
            token.id,
            normalize(token.content) if token.normalized else token.content,
            token.normalized,
            token.special,
        )
        for token in pipeline.added_tokens
    ]


def _row(content: str, id: int, found_by: str, is_normalized: bool, is_special: bool) -> dict[str, Any]:
    row = {"content": content, "id": id, "isNormalized": is_normalized, "isSpecial": is_special}
    return row if found_by == content else {**row, "foundBy": found_by}


def steps(tokenizer: Tokenizer) -> list[Step]:
    """Return the steps of the normalizer, none of them `unknown`."""
    return [] if tokenizer.pipeline is None else list(map(step, tokenizer.pipeline.steps.normalizer))


def has_prefix(tokenizer: Tokenizer) -> bool:
    """Return whether a text that begins with no space gets one."""
    return tokenizer.pipeline is not None and tokenizer.pipeline.steps.has_prefix is True
