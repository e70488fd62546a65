r"""The texts that can be inside a match of a pattern, whatever is around the match.

The steps of a pattern become a nondeterministic automaton that takes every match of the pattern, and more: lookaheads
are passed, and repeats of all kinds may end anywhere. So a text that no path takes is proved to be inside no match. A
text that a path takes may still be cut by the pattern.
"""

from __future__ import annotations

import bisect
import functools
import itertools
from collections.abc import Sequence
from typing import NamedTuple

from ... import patterns
from .. import parts

MAX_STATES = 20_000
"""Most states of an automaton."""

State = frozenset[int]
_MATCH = -1


class Codes(NamedTuple):
    """Code points of which some bits are known: `width` of them from `low` on, and again after each `period`.

    Code points below `minimum` are left out. With a period of 0 there is one run.
    """

    low: int
    width: int
    period: int = 0
    minimum: int = 0

    def meet(self, start: int, end: int) -> bool:
        """Return whether one of them is in a range.

        >>> Codes(5, 1, 64).meet(64, 70), Codes(5, 1, 64).meet(70, 133), Codes(5, 1, 64, 80).meet(60, 80)
        (True, False, False)
        """
        start = max(start, self.minimum)
        low = self.low
        if self.period:
            # The first run that ends after the start of the range.
            low += max(0, -((low + self.width - 1 - start) // self.period)) * self.period
        return max(low, start) < min(low + self.width, end)


class Inside:
    """The texts that matches of a pattern can hold.

    Args:
        steps: The pattern.

    Raises:
        ValueError: The pattern is too large.
    """

    def __init__(self, steps: parts.Steps) -> None:
        # Each state takes a character of a set and continues at an address, or continues at several addresses.
        self._states: list[tuple[int, int] | list[int]] = []
        self._sets = steps.sets
        self._starts = [[first for first, _ in ranges] for ranges in steps.sets]
        self._classes: dict[str, int] = {}
        self._codes: dict[Codes, int] = {}
        self._next: dict[tuple[State, int], State] = {}
        start = self._write(_tree(steps), _MATCH)
        self._first = self._closed([start])
        self._anywhere = self._reached(self._first)

    def may_hold(self, text: str, firsts: Sequence[Codes] = (), last: Codes | None = None) -> bool:
        """Return whether some path through a match takes `text`.

        Args:
            text: Whole characters.
            firsts: The code points that the character before `text` may be, if there is known to be one.
            last: The code points that the character after `text` may be, if there is known to be one.
        """
        starts = [self._step(self._anywhere, self._class_of_codes(codes)) for codes in firsts] or [self._anywhere]
        states = (self._taken(start, text) for start in starts)
        return any(states if last is None else (self._step(state, self._class_of_codes(last)) for state in states))

    def may_be(self, text: str) -> bool:
        """Return whether some path through a match takes `text`, from the beginning of the match to its end."""
        return _MATCH in self._taken(self._first, text)

    def _taken(self, state: State, text: str) -> State:
        for character in text:
            state = self._step(state, self._class_of(character))
        return state

    def _step(self, state: State, sets: int) -> State:
        """Return the state that follows a state on a character that is in these sets, a bit for each."""
        key = state, sets
        if key not in self._next:
            self._next[key] = self._closed(self._after(state, sets))
        return self._next[key]

    def _after(self, state: State, sets: int) -> list[int]:
        takes = (self._states[at] for at in state if at != _MATCH)
        return [take[1] for take in takes if sets >> take[0] & 1]

    def _class_of(self, character: str) -> int:
        if character not in self._classes:
            self._classes[character] = self._class_of_codes(Codes(ord(character), 1))
        return self._classes[character]

    def _class_of_codes(self, codes: Codes) -> int:
        """Return the sets that have one of some code points, a bit for each."""
        if codes not in self._codes:
            self._codes[codes] = sum(self._has(number, codes) << number for number in range(len(self._sets)))
        return self._codes[codes]

    def _has(self, number: int, codes: Codes) -> bool:
        """Return whether a set has one of some code points."""
        ranges = self._sets[number]
        if codes.period:
            return any(codes.meet(*span) for span in ranges)
        # The last range that begins before the end of the codes.
        place = bisect.bisect_left(self._starts[number], codes.low + codes.width)
        return place > 0 and codes.meet(*ranges[place - 1])

    # States

    def _closed(self, addresses: list[int]) -> State:
        """Return the states that take a character, and the end of a match, reached from some addresses."""
        states: set[int] = set()
        seen: set[int] = set()
        waiting = list(addresses)
        while waiting:
            at = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            if at == _MATCH or isinstance(self._states[at], tuple):
                states.add(at)
            else:
                waiting += self._states[at]
        return frozenset(states)

    def _reached(self, first: State) -> State:
        """Return all states that take a character on some path."""
        states: set[int] = set()
        waiting = [first]
        while waiting:
            new = [at for at in waiting.pop() if at != _MATCH and at not in states]
            states |= set(new)
            waiting += [self._closed([self._states[at][1]]) for at in new]
        return frozenset(states)

    def _add(self, state: tuple[int, int] | list[int]) -> int:
        if len(self._states) >= MAX_STATES:
            raise ValueError(f"the pattern has more than {MAX_STATES} states")
        self._states.append(state)
        return len(self._states) - 1

    def _write(self, tree: _Tree, after: int) -> int:
        """Add the states of a part of the pattern that continues at `after`; return where it begins."""
        if tree.kind == "set":
            return self._add((tree.minimum, after))
        if tree.kind == "sequence":
            for part in reversed(tree.parts):
                after = self._write(part, after)
            return after
        if tree.kind == "alternatives":
            return self._add([self._write(part, after) for part in tree.parts])
        if tree.kind == "repeat":
            return self._write_repeat(tree.parts[0], tree.minimum, tree.maximum, after)
        return after

    def _write_repeat(self, part: _Tree, minimum: int, maximum: int, after: int) -> int:
        start = after
        if maximum < 0:
            loop: list[int] = [after]
            start = self._add(loop)
            loop.append(self._write(part, start))
        for _ in range(minimum, maximum):
            start = self._add([after, self._write(part, start)])
        for _ in itertools.repeat(None, minimum):
            start = self._write(part, start)
        return start


class _Tree(NamedTuple):
    """A part of a pattern. `minimum` and `maximum` say how often a part is repeated; `minimum` is a set's number."""

    kind: str
    parts: Sequence[_Tree] = ()
    minimum: int = 0
    maximum: int = 0


def _tree(steps: parts.Steps) -> _Tree:
    """Return the steps as a tree; in the list each step comes after the steps that it is made of."""
    stack: list[_Tree] = []
    for kind, first, second in steps.steps:
        if kind in ("sequence", "alternatives"):
            stack.append(_Tree(kind, [stack.pop() for _ in range(first)][::-1]))
        elif kind in ("greedy", "lazy", "possessive"):
            stack.append(_Tree("repeat", [stack.pop()], first, second))
        elif kind in ("ahead", "not_ahead"):
            stack[-1] = _Tree("nothing")
        elif kind == "set":
            stack.append(_Tree("set", (), first))
        elif kind in ("line_end", "end"):
            stack.append(_Tree("nothing"))
        elif kind != "atomic":
            raise ValueError(f"a step that is not known: {kind}")
    [tree] = stack
    return tree


def of_pattern(pattern: patterns.Pattern) -> Inside | None:
    """Return an automaton that accepts every text that can be inside a pretoken; None if none is known.

    There is none for patterns in stages; for another version of Unicode, which may put a character into another
    class; for patterns without a name that keep unmatched text, since that is a pretoken too; and for patterns that
    are not regular.
    """
    known = type(pattern) is patterns.Pattern and pattern.unicode == patterns.installed_unicode()
    if not known or pattern.text is None or (pattern.name is None and pattern.unmatched == "keep"):
        return None
    return _of_pattern(pattern)


@functools.lru_cache(maxsize=4)
def _of_pattern(pattern: patterns.Pattern) -> Inside | None:
    try:
        return Inside(parts.steps(pattern))
    except ValueError:
        return None
