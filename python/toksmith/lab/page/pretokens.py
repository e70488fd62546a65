"""Patterns that cut text into pretokens, as automata that the page runs: the same ones that the core compiles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

from ... import patterns
from ...anatomy import CompiledPattern, Staged, character_kinds
from ...patterns import Pattern
from .blocks import packed, steps

_CODE_POINTS = 0x110000
# A character of each class of `Class` in the core. All are old, so every version of Unicode agrees on them.
_EXAMPLES = "§\xa0²\u0301Ááǅʰª"
_LONG_S = 0x17F
"""The long s folds to an ASCII letter, so the named patterns tell it from other letters."""


class Automaton(NamedTuple):
    """An automaton of the core.

    `classes` has the class of each code point, shape (0x110000,). `transitions` has a row for each state, each of
    `symbols` numbers, as `transitions` of the core's compiled pattern.
    """

    classes: NDArray[np.uint8]
    symbols: int
    transitions: list[int]

    def packed(self) -> str:
        """Return the automaton as a block; `automaton.js` reads it. Classes are packed as stretches of equal ones."""
        firsts = np.flatnonzero(np.diff(self.classes, prepend=255))
        return packed([steps(firsts), self.classes[firsts], [self.symbols], self.transitions])


class Stage(NamedTuple):
    """One cut of all pieces: the automaton that finds matches, and what becomes of them, as in a `Split`.

    `Split` is Hugging Face's pre-tokenizer.
    """

    automaton: Automaton
    behavior: str
    invert: bool


def stages(pattern: Pattern) -> list[Stage]:
    """Return the stages in which a pattern cuts text; none for no pretokenization.

    Raises:
        ValueError: A part of the pattern runs in the `regex` package, and so not in a page.
    """
    if isinstance(pattern, Staged):
        return [
            Stage(_matcher(kind, argument), behavior, invert)
            for kind, argument, behavior, invert in pattern.steps.stages
        ]
    if pattern.text is None:
        return []
    automaton = (
        _named(pattern.name) if pattern.name else _compiled(patterns.runner(pattern.text, pattern.flags), pattern)
    )
    # Unmatched text that is kept makes pieces of its own. Dropping it is `Removed` with match and rest exchanged.
    keeps = pattern.unmatched == "keep"
    return [Stage(automaton, "Isolated" if keeps else "Removed", not keeps)]


def _matcher(kind: str, argument: object) -> Automaton:
    """Return the automaton of the matcher of a stage of the core's `Pipeline`."""
    if isinstance(argument, str) and kind == "scanner":
        return _named(argument)
    if isinstance(argument, str) and kind == "kind":
        return _one_character(argument)
    if isinstance(argument, str) and kind == "literal":
        pattern = patterns.of_source(regex.escape(argument), 0, "keep")
        return _compiled(patterns.runner(pattern.text or "", 0), pattern)
    return _compiled(argument, None)


def _compiled(runner: object, pattern: Pattern | None) -> Automaton:
    if not isinstance(runner, CompiledPattern):
        why = "a stage of its pattern" if pattern is None else "its pattern"
        reason = "" if pattern is None else f": {pattern.engine().reason}"
        raise ValueError(f"{why} needs the `regex` package{reason}")
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
    source = patterns.NAMED[name]
    compiled = _compiled(patterns.runner(source, 0), patterns.of_source(source, 0, "keep"))
    examples = compiled.classes[[ord(example) for example in _EXAMPLES]]
    classes = examples[_spread(character_kinds("class"))]
    for code in [*range(128), _LONG_S]:
        classes[code] = compiled.classes[code]
    return compiled._replace(classes=classes)


def _one_character(kind: str) -> Automaton:
    """Return the automaton of one character of a kind, such as "punctuation"."""
    # In state 0 a character of the kind (class 1) leads to state 1, in which a match ends whatever follows.
    return Automaton(_spread(character_kinds(kind)), 3, [0, (1 + 1) << 1, 0, 1, 1, 1])
