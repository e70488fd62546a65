r"""What can stand inside of a match of a pattern, whatever stands around it.

The steps of a pattern become a nondeterministic automaton that takes every match of the pattern, and more: lookaheads
are passed, and repeats of all kinds may end anywhere. So what no path of it takes is inside of no match: that is
proved. What a path takes may still be cut by the pattern.
"""

from __future__ import annotations

import bisect
import itertools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .steps import Steps

MAX_STATES = 20_000
"""States of an automaton that is not refused."""

State = frozenset[int]
_MATCH = -1


class Inside:
    """What matches of a pattern can hold.

    Args:
        steps: The pattern.

    Raises:
        ValueError: It is too large.
    """

    def __init__(self, steps: Steps) -> None:
        # Each state takes a character of a set and goes on at an address, or goes on at several.
        self._states: list[tuple[int, int] | list[int]] = []
        self._sets = steps.sets
        self._starts = [[first for first, _ in ranges] for ranges in steps.sets]
        self._classes: dict[str, int] = {}
        self._next: dict[tuple[State, int], State] = {}
        start = self._write(_tree(steps), _MATCH)
        self._first = self._closed([start])
        self._anywhere = self._reached(self._first)

    def may_hold(self, text: str, last: tuple[int, int] | None = None) -> bool:
        """Return whether some path through a match takes `text`.

        Args:
            text: Whole characters.
            last: A range of code points, of which one more follows.
        """
        state = self._taken(self._anywhere, text)
        if last is not None:
            state = self._step(state, self._class_of_range(last))
        return bool(state)

    def may_be(self, text: str) -> bool:
        """Return whether some path through a match takes `text`, from the beginning of the match to its end."""
        return _MATCH in self._taken(self._first, text)

    def _taken(self, state: State, text: str) -> State:
        for character in text:
            state = self._step(state, self._class_of(character))
        return state

    def _step(self, state: State, sets: int) -> State:
        """Return where a state leads by a character that is in these sets, a bit for each."""
        key = state, sets
        if key not in self._next:
            self._next[key] = self._closed(self._after(state, sets))
        return self._next[key]

    def _after(self, state: State, sets: int) -> list[int]:
        takes = (self._states[at] for at in state if at != _MATCH)
        return [take[1] for take in takes if sets >> take[0] & 1]

    def _class_of(self, character: str) -> int:
        if character not in self._classes:
            code = ord(character)
            self._classes[character] = self._class_of_range((code, code + 1))
        return self._classes[character]

    def _class_of_range(self, codes: tuple[int, int]) -> int:
        """Return the sets that have one of some code points, a bit for each."""
        found = 0
        for number, (ranges, starts) in enumerate(zip(self._sets, self._starts, strict=True)):
            before = bisect.bisect_left(starts, codes[1])  # the ranges that begin before the end of the codes
            found |= (before > 0 and ranges[before - 1][1] > codes[0]) << number
        return found

    # States

    def _closed(self, addresses: list[int]) -> State:
        """Return the states that take a character, and the end of a match, behind some addresses."""
        found: set[int] = set()
        seen: set[int] = set()
        waiting = list(addresses)
        while waiting:
            at = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            if at == _MATCH or isinstance(self._states[at], tuple):
                found.add(at)
            else:
                waiting += self._states[at]
        return frozenset(found)

    def _reached(self, first: State) -> State:
        """Return all states that take a character on some path."""
        found: set[int] = set()
        waiting = [first]
        while waiting:
            new = [at for at in waiting.pop() if at != _MATCH and at not in found]
            found |= set(new)
            waiting += [self._closed([self._states[at][1]]) for at in new]
        return frozenset(found)

    def _add(self, state: tuple[int, int] | list[int]) -> int:
        if len(self._states) >= MAX_STATES:
            raise ValueError(f"the pattern has more than {MAX_STATES} states")
        self._states.append(state)
        return len(self._states) - 1

    def _write(self, tree: Any, after: int) -> int:
        """Add the states of a part of the pattern that goes on at `after`; return where it begins."""
        kind, *rest = tree
        if kind == "set":
            return self._add((rest[0], after))
        if kind == "sequence":
            for part in reversed(rest[0]):
                after = self._write(part, after)
            return after
        if kind == "alternatives":
            return self._add([self._write(part, after) for part in rest[0]])
        if kind == "repeat":
            part, least, most = rest
            return self._write_repeat(part, least, most, after)
        return after

    def _write_repeat(self, part: Any, least: int, most: int, after: int) -> int:
        start = after
        if most < 0:
            loop: list[int] = [after]
            start = self._add(loop)
            loop.append(self._write(part, start))
        for _ in range(least, most):
            start = self._add([after, self._write(part, start)])
        for _ in itertools.repeat(None, least):
            start = self._write(part, start)
        return start


def _tree(steps: Steps) -> Any:
    """Return the steps, each of which stands behind what it is made of, as a tree."""
    stack: list[Any] = []
    for kind, first, second in steps.steps:
        if kind in ("sequence", "alternatives"):
            parts = [stack.pop() for _ in range(first)][::-1]
            stack.append((kind, parts))
        elif kind in ("greedy", "lazy", "possessive"):
            stack.append(("repeat", stack.pop(), first, second))
        elif kind in ("ahead", "not_ahead"):
            stack[-1] = ("nothing",)
        elif kind == "set":
            stack.append(("set", first))
        elif kind in ("line_end", "end"):
            stack.append(("nothing",))
        elif kind != "atomic":
            raise ValueError(f"a step that is not known: {kind}")
    [tree] = stack
    return tree
