"""Patterns that cut text into pretokens, as automata: the same ones that the core compiles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import patterns
from ..patterns import Pattern
from .parts import CompiledPattern, character_classes

_CODE_POINTS = 0x110000
# A character of each class of `Class` in the core. All are old, so every version of Unicode agrees on them.
_EXAMPLES = "§\xa0²\u0301Ááǅʰª"
_LONG_S = 0x17F
"""The long s folds to an ASCII letter, so the named patterns tell it from other letters."""


class Automaton(NamedTuple):
    """An automaton of the core.

    `classes` has the class of each code point, shape (0x110000,). `transitions` has a row for each state, the first
    of which is the start, with a number for each class and for the end of the text: 2 * (1 + next state), or 0 for
    none, and 1 more if a match ends before that character.
    """

    classes: NDArray[np.uint8]
    symbols: int
    transitions: list[int]


def automaton(pattern: Pattern) -> Automaton | None:
    """Return the automaton of a pattern; None for no pretokenization, `ValueError` if it needs `regex` or stages."""
    if pattern.compiled() is None:
        return None
    return _compiled(pattern) if pattern.name is None else _named(pattern.name)


def _compiled(pattern: Pattern) -> Automaton:
    runner = patterns.runner(pattern.text or "", pattern.flags)
    if not isinstance(runner, CompiledPattern):
        raise ValueError(f"its pattern needs the `regex` package: {pattern.engine().reason}")
    return Automaton(_spread(runner.classes_of_all()), runner.classes + 1, runner.transitions())


def _spread(stretches: list[tuple[int, int]]) -> NDArray[np.uint8]:
    """Return the number of each code point, given the first code point of each stretch and its number."""
    firsts, numbers = zip(*stretches, strict=True)
    return np.repeat(np.array(numbers, np.uint8), np.diff([*firsts, _CODE_POINTS]))


def _named(name: str) -> Automaton:
    """Return the automaton of a named pattern, with the Unicode version of its scanner.

    The compiled pattern has the Unicode version of the installed `regex`. So beyond ASCII, all characters of one
    class of the scanner get the class of an old character.
    """
    compiled = _compiled(patterns.of_source(patterns.NAMED[name], 0, "keep"))
    examples = compiled.classes[[ord(example) for example in _EXAMPLES]]
    classes = examples[_spread(character_classes())]
    for code in [*range(128), _LONG_S]:
        classes[code] = compiled.classes[code]
    return compiled._replace(classes=classes)
