"""The automata of patterns, run by a few lines of Python: they find the pretokens of the core."""

import random
from itertools import pairwise

import numpy as np
import page_texts
import pytest

from toksmith import _core, patterns
from toksmith.lab import automata
from toksmith.lab.automata import Automaton

PATTERNS = [
    *patterns.NAMED,
    r"[a-z]+|\s",
    r"a*b|a|[^ab]+?\s|.",
    r"(?i:straße|k)+|\p{Sc}\d{1,2}?(?!\d)|\S",
    r" ?[^\s\p{L}]+|\s+(?!\S)|(?s:.)",
]


def matches(automaton: Automaton, text: str) -> list[tuple[int, int]]:
    """Return the matches as the core's documentation says how to find them."""
    found, at = [], 0
    while at < len(text):
        end = end_of_match(automaton, text, at)
        if end is None:
            at += 1
        else:
            found.append((at, end))
            at = end
    return found


def end_of_match(automaton: Automaton, text: str, start: int) -> int | None:
    state, last = 0, None
    for at in range(start, len(text) + 1):
        symbol = automaton.symbols - 1 if at == len(text) else automaton.classes[ord(text[at])]
        transition = automaton.transitions[state * automaton.symbols + int(symbol)]
        if transition & 1:
            last = at
        if transition < 2:
            break
        state = transition // 2 - 1
    return last


def in_bytes(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    places = [0]
    for character in text:
        places.append(places[-1] + len(character.encode()))
    return [(places[start], places[end]) for start, end in spans]


@pytest.mark.parametrize("source", PATTERNS)
def test_automaton_finds_what_the_core_finds(source: str, soup: page_texts.Soup) -> None:
    pattern = patterns.resolve(source, "keep" if source in patterns.NAMED else "drop")
    automaton = automata.automaton(pattern)
    assert automaton is not None
    rng = random.Random(source)
    for text in [*page_texts.texts(20, soup, []), *(soup(rng, 30) for _ in range(20))]:
        expected = pattern.core().ranges(text.encode())
        assert in_bytes(text, matches(automaton, text)) == expected, text


@pytest.mark.parametrize("name", patterns.NAMED)
def test_named_automata_have_the_classes_of_the_scanner(name: str) -> None:
    """Each code point between letters, and between spaces: the cuts tell the classes of a pattern apart."""
    automaton = automata.automaton(patterns.resolve(name))
    assert automaton is not None
    kinds = automaton.classes
    # Code points of one class behave alike, so one of each stretch is enough.
    firsts = np.flatnonzero(np.diff(kinds, prepend=255))
    codes = {int(first) for first in firsts} | {int(first) - 1 for first in firsts if first}
    text = "".join(
        f"a{chr(code)}B1 {chr(code)}  '{chr(code)}." for code in sorted(codes) if not 0xD800 <= code < 0xE000
    )
    found = in_bytes(text, matches(automaton, text))
    assert found == patterns.resolve(name).core().ranges(text.encode())


def test_stretches_of_classes_leave_nothing_out() -> None:
    firsts = [first for first, _ in _core.character_classes()]
    assert firsts[0] == 0 and all(one < two for one, two in pairwise(firsts))


def test_what_needs_regex_is_refused() -> None:
    with pytest.raises(ValueError, match=r"its pattern needs the `regex` package: a look behind, at character 0"):
        automata.automaton(patterns.resolve(r"(?<=a)b|."))


def test_no_pattern_has_no_automaton() -> None:
    assert automata.automaton(patterns.resolve(None)) is None
