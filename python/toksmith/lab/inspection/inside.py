"""The texts that can be inside a match of a pattern, whatever is around the match."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ... import patterns
from ..automata import Automaton, automaton
from .utf8 import Codes

States = frozenset[int]
Classes = frozenset[int]


class Inside:
    """The texts that matches of a pattern can hold, by the automaton that finds the matches."""

    def __init__(self, automaton: Automaton) -> None:
        rows = np.array(automaton.transitions, np.int64).reshape(-1, automaton.symbols)
        self._class_of = automaton.classes
        # Whether a match ends before a symbol; and the next state, -1 for none.
        self._ends, self._next = rows & 1, (rows >> 1) - 1
        self._next[~self._reaching_an_end()[self._next]] = -1
        self._anywhere = self._reached()
        self._steps: dict[tuple[States, Classes], States] = {}

    def _reaching_an_end(self) -> NDArray[np.bool_]:
        """Return for each state whether a match can end there or later; the last place, that of -1, is False."""
        reaches, before = np.append(self._ends.any(axis=1), False), -1
        while before != (count := int(reaches.sum())):
            before = count
            reaches[:-1] |= reaches[self._next].any(axis=1)
        return reaches

    def _reached(self) -> States:
        """Return all states on the way to the end of some match."""
        reached, waiting = {0}, [0]
        while waiting:
            new = set(self._next[waiting.pop()].tolist()) - reached - {-1}
            reached |= new
            waiting += new
        return frozenset(reached)

    def may_hold(self, text: str, firsts: Sequence[Codes] = (), last: Codes | None = None) -> bool:
        """Return whether some match has `text` inside, which is whole characters.

        `firsts` are the code points that the character before it may be, and `last` those of the one behind it, if
        there is known to be one.
        """
        starts = [self._step(self._anywhere, self._classes(codes)) for codes in firsts] or [self._anywhere]
        states = (self._taken(start, text) for start in starts)
        return any(states if last is None else (self._step(state, self._classes(last)) for state in states))

    def may_be(self, text: str) -> bool:
        """Return whether some match is `text`, from its beginning to its end."""
        return any(self._ends[state].any() for state in self._taken(frozenset({0}), text))

    def _taken(self, states: States, text: str) -> States:
        for character in text:
            states = self._step(states, frozenset({int(self._class_of[ord(character)])}))
        return states

    def _classes(self, codes: Codes) -> Classes:
        return frozenset(np.unique(self._class_of[codes]).tolist())

    def _step(self, states: States, classes: Classes) -> States:
        """Return the states that follow some states on a character of some classes."""
        key = states, classes
        if key not in self._steps:
            found = self._next[np.ix_(sorted(states), sorted(classes))]
            self._steps[key] = frozenset(np.unique(found).tolist()) - {-1}
        return self._steps[key]


def of_pattern(pattern: patterns.Pattern) -> Inside | None:
    """Return the texts that can be inside a pretoken; None if they are not known.

    They are not for patterns in stages, or that run in `regex`; for another version of Unicode, which may put a
    character into another class; and for patterns without a name that keep unmatched text, since that is a pretoken
    too.
    """
    known = type(pattern) is patterns.Pattern and pattern.unicode == patterns.installed_unicode()
    if not known or (pattern.name is None and pattern.unmatched == "keep"):
        return None
    return _of_pattern(pattern)


@functools.lru_cache(maxsize=4)
def _of_pattern(pattern: patterns.Pattern) -> Inside | None:
    try:
        found = automaton(pattern)
    except ValueError:
        return None
    return None if found is None else Inside(found)
