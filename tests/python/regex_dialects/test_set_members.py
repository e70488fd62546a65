"""Sets of characters: what is known without `regex`, against `regex` run on every code point."""

from __future__ import annotations

import itertools
import random
import sys
from typing import TYPE_CHECKING

import pytest
import regex

from toksmith import Tokenizer, _core
from toksmith._internal import characters

if TYPE_CHECKING:
    from toksmith._internal.characters import Ranges

CLASSES = [
    *(r"\s", r"\S", r"\d", r"\w", r"\W", r"\h"),
    *(r"\p{L}", r"\P{L}", r"\p{^L}", r"\p{Lu}", r"\pN", r"\p{Script=Greek}"),
]
PLAIN = ["a", "Z", "é", "中", "\U0001f600", "-", "^", "]", "'", " ", "ſ", "K", "İ", "|", "&", "~", "."]
ESCAPED = [r"\n", r"\t", r"\]", r"\\", r"\-", r"\^", r"\x41", r"\u00e9", r"\U0001F600", r"\b", r"\0", r"\101", r"\é"]
RANGES = ["a-f", "f-z", "0-9", r"\x00-\x1f", r"\u4e00-\u9fff", r"\n-\r", "z-a", r"\d-z", "a-a", r"\--a"]


def by_regex(source: str, version: str, letters: str) -> Ranges:
    return characters.matched(f"{version}(?{letters}:{source})")


def members(automaton: _core.CompiledPattern) -> Ranges:
    """Return the characters that a pattern of one set matches, by one character of each class of the automaton."""
    stretches = [*automaton.classes_of_all(), (sys.maxunicode + 1, -1)]
    matches = _core.Pretokenizer(automaton, unmatched="drop").split
    firsts = {kind: first for first, kind in reversed(stretches[:-1])}
    inside = {kind for kind, first in firsts.items() if matches(chr(first).encode("utf-8", "surrogateescape"))}
    found: list[tuple[int, int]] = []
    for (first, kind), (end, _) in itertools.pairwise(stretches):
        if kind not in inside:
            continue
        if found and found[-1][1] == first:
            first = found.pop()[0]
        found.append((first, end))
    return tuple(found)


def sets(count: int) -> list[str]:
    rng = random.Random(0)
    found = []
    for _ in range(count):
        kinds = rng.choices([CLASSES, PLAIN, ESCAPED, RANGES], [2, 3, 2, 2], k=rng.randint(1, 5))
        found.append(f"[{rng.choice(['', '^'])}{''.join(map(rng.choice, kinds))}]")
    odd = [r"[^\s\S]", r"[^\d\D0]", r"[\s\S]", r"[^\x00-\U0010ffff]"]
    return [*found, "[]a]", "[^]a]", "[a-]", "[-a]", "[^-]", *odd]


@pytest.mark.parametrize("version", ["(?V0)", "(?V1)"])
@pytest.mark.parametrize("letters", ["", "i"])
def test_sets_are_those_of_regex(version: str, letters: str, one_in: int) -> None:
    compared = 0
    for source in sets(100 // one_in):
        text = f"{version}(?{letters}:{source})"
        try:
            compiled = regex.compile(text)
            automaton = _core.CompiledPattern(text, compiled.flags)
        except (regex.error, ValueError):
            continue
        compared += 1
        assert members(automaton) == by_regex(source, version, letters), text
    assert compared > 50 // one_in or (version == "(?V1)" and letters)  # which is refused


LONG = {
    "one character 40,000 times": "[^\\s" + "9" * 40_000 + "]+|\\s",
    "10,000 characters": "[" + "".join(chr(0x4E00 + 2 * at) for at in range(10_000)) + "\\p{L}]+|(?s:.)",
    "8,000 sets": "|".join(f"[a{chr(0x4E00 + at)}]" for at in range(8000)) + "|(?s:.)",
    "400 spellings of a class": "|".join(f"\\p{{{' ' * (at % 70)}L{' ' * (at // 70)}}}" for at in range(400)),
    "all letters in either case": "(?i)" + "|".join(map(chr, [*range(0xC0, 0x250), *range(0x370, 0x530)])),
    "a set of letters in either case": "(?i)[" + "".join(map(chr, range(0x100, 0x3100, 2))) + "]|(?s:.)",
}


@pytest.mark.parametrize("pattern", LONG.values(), ids=list(LONG))
def test_long_sets_are_looked_up_in_bounded_time(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = 0
    real = characters.matched.__wrapped__

    def matched(source: str, among: str | None = None) -> Ranges:
        nonlocal tried
        tried += 20 + len(source) if among is None else 0
        return real(source, among)

    monkeypatch.setattr(characters, "matched", matched)
    Tokenizer(pattern=pattern)
    assert tried < 6000
