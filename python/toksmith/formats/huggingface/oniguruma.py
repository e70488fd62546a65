r"""A pattern of the `regex` package, written so that Oniguruma cuts every text at the same places.

`tokenizers` runs the patterns of its files in Oniguruma, which reads some of them differently: `$` also matches at
the end of a line, `{1,3}+` repeats a repetition, `\w` has other characters, and a character may fold to several. So a
pattern is read here in full, and written anew with constructs that mean the same in both (Oniguruma's doc/RE, Ruby
syntax, and the documentation of `regex`). A class of characters that is not the same in both is written as the code
points that `regex` takes for it. A construct that is not in this module has no proven equal, and is refused by name.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple, NoReturn

from ... import patterns
from ..._internal.messages import shown
from ...patterns import Pattern

NAMED: dict[str, str] = {
    "gpt2": patterns.GPT2,
    # tiktoken's own pattern without its possessive quantifiers. They change nothing, since no part of an alternative
    # matches the character that ends a run of it.
    "cl100k": (
        r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"""
        r"""|\s+\z|\s*[\r\n]+|\s+(?!\S)|\s+"""
    ),
    "cl100k_old": patterns.CL100K_OLD,
    "nanochat": patterns.CL100K_OLD.replace("{1,3}", "{1,2}"),
    "o200k": patterns.O200K,
    "qwen2": patterns.QWEN2,
    "qwen3.5": patterns.QWEN35,
    "tekken": patterns.TEKKEN,
}
"""Spellings of the named patterns for Oniguruma: the published ones, if Oniguruma reads them as the same pattern."""

_IGNORE_CASE, _DOT_ALL = 0x2, 0x10
_ALLOWED = _IGNORE_CASE | _DOT_ALL | 0x20 | 0x2000  # with UNICODE and VERSION0, the defaults

_CATEGORIES = {"L": "ultmo", "M": "nce", "N": "dlo", "P": "cdseifo", "S": "mcko", "Z": "slp"}
_SAME = {
    rf"\{p}{{{major}{minor}}}" for major, minors in _CATEGORIES.items() for minor in ("", *minors) for p in "pP"
} | {r"\s", r"\S"}
"""Classes with the same name and meaning in both: general categories and White_Space."""

_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "a": "\a"}
_HEX = {"x": 2, "u": 4, "U": 8}
_MAX_REPEAT = 1000  # repetitions; Oniguruma unrolls them
_QUANTIFIER = re.compile(r"(?:([*+?])|\{(?:(\d+)(,?)(\d*)|,(\d+))\})([?+]?)")
_GROUP = re.compile(r"\?(?:([:=!>]|<=|<!)|P?<(?![=!])\w+>|(-?[is]+(?:-[is]+)?)(:|\)))")
_CLASS_ESCAPE = re.compile(r"\\(?:[pP](?:\{[^{}]*\}|[A-Za-z])|x[\dA-Fa-f]{2}|u[\dA-Fa-f]{4}|U[\dA-Fa-f]{8}|.)", re.S)


class _Part(NamedTuple):
    """A part that was read: its spelling for Oniguruma, and the least and the most characters that it matches."""

    text: str
    shortest: int
    longest: float


def spelling(pattern: Pattern) -> str:
    r"""Return the spelling of a pattern for Oniguruma; an error names a construct without a proven equal there.

    >>> print(spelling(patterns.resolve(r"\p{N}{1,3}+|\s+$")))
    (?>\p{N}{1,3})|\s+\Z
    """
    if pattern.name is not None:
        return NAMED[pattern.name]
    text = pattern.text or ""
    if pattern.flags & ~_ALLOWED:
        raise ValueError(
            f"the pattern {shown(text)} has flags {pattern.flags & ~_ALLOWED:#x}, which Oniguruma does not have"
        )
    reader = _Reader(text, pattern.flags & (_IGNORE_CASE | _DOT_ALL))
    part = reader.alternatives()
    if reader.at < len(text):
        reader.refuse(text[reader.at], "a parenthesis without a partner")
    if part.shortest == 0:
        raise ValueError(
            f"the pattern {shown(text)} can match the empty text, after which Oniguruma continues differently"
        )
    return part.text


class _Reader:
    """Reads a pattern from left to right, once."""

    def __init__(self, text: str, flags: int) -> None:
        self.text, self.at, self.flags, self.depth = text, 0, flags, 0
        self.folds = re.search(r"\(\?[s-]*i", text) is not None

    def refuse(self, construct: str, why: str = "no equal in Oniguruma is proven") -> NoReturn:
        raise ValueError(f"the pattern {shown(self.text)}: {shown(construct)} at {self.at}: {why}")

    def alternatives(self) -> _Part:
        self.depth += 1
        if self.depth > 50:
            self.refuse("(", "nested too deep")
        parts = [self.sequence()]
        while self.text.startswith("|", self.at):
            self.at += 1
            parts.append(self.sequence())
        self.depth -= 1
        text = "|".join(part.text for part in parts)
        return _Part(text, min(part.shortest for part in parts), max(part.longest for part in parts))

    def sequence(self) -> _Part:
        texts, shortest, longest = [], 0, 0.0
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            part = self.quantified(self.atom())
            texts.append(part.text)
            shortest, longest = shortest + part.shortest, longest + part.longest
        return _Part("".join(texts), shortest, longest)

    def quantified(self, atom: _Part) -> _Part:
        quantifier = _QUANTIFIER.match(self.text, self.at)
        if quantifier is None:
            return atom
        if atom.shortest == 0:
            self.refuse(quantifier[0], "it repeats what can match nothing, which the two engines end otherwise")
        minimum, maximum = _bounds(quantifier)
        end = "" if maximum == float("inf") else f"{maximum}"
        if max(minimum, int(end or 0)) > _MAX_REPEAT or maximum < minimum:
            self.refuse(quantifier[0], f"it repeats more than {_MAX_REPEAT} times, or not at all")
        self.at = quantifier.end()
        sign = f"{{{minimum}}}" if minimum == maximum else quantifier[1] or f"{{{minimum},{end}}}"
        lazy = "?" if quantifier[6] == "?" and minimum != maximum else ""
        text = f"{atom.text}{sign}{lazy}"
        # Oniguruma reads the + after an interval as one more repetition: an atomic group is the same in both.
        return _Part(f"(?>{text})" if quantifier[6] == "+" else text, minimum * atom.shortest, maximum * atom.longest)

    def atom(self) -> _Part:
        character = self.text[self.at]
        if character == "(":
            return self.group()
        if character == "[":
            return self.set()
        if character == "\\":
            return self.escape()
        if character in "*+?{":
            self.refuse(character)
        self.at += 1
        if character == "^":
            return _Part(r"\A", 0, 0)
        if character == "$":
            return _Part(r"\Z", 0, 0)
        if character == ".":
            # As a set: Oniguruma searches `.*` after a lookahead only at the starts of lines, and misses matches.
            return _Part(r"[\s\S]" if self.flags & _DOT_ALL else r"[^\n]", 1, 1)
        return self.literal(character)

    def literal(self, character: str) -> _Part:
        if self.flags & _IGNORE_CASE:
            return _Part(_listed(f"(?i){re.escape(character)}"), 1, 1)
        return _Part(_quoted(character), 1, 1)

    def group(self) -> _Part:
        self.at += 1
        outer, kind = self.flags, ":"
        if self.text.startswith("?", self.at):
            group = _GROUP.match(self.text, self.at)
            if group is None:
                self.refuse(f"({self.text[self.at : self.at + 3]}")
            kind = group[1] or ":"
            if group[2]:
                self.switch(group[2], group[3], group.start())
            self.at = group.end()
            if group[3] == ")":
                return _Part("", 0, 0)
        part = self.alternatives()
        if not self.text.startswith(")", self.at):
            self.refuse("(", "a parenthesis without a partner")
        self.at += 1
        self.flags = outer
        if kind in ("<=", "<!") and (part.shortest != part.longest or "|" in part.text):
            self.refuse(f"(?{kind}", "what is looked at behind must be of one length, without alternatives")
        text = f"(?{kind}{part.text})"
        return _Part(text, part.shortest, part.longest) if kind in ":>" else _Part(text, 0, 0)

    def switch(self, letters: str, end: str, start: int) -> None:
        """Take the flags of `(?i:…)`, or of `(?i)` at the very start of the pattern."""
        if end == ")" and start != 1:
            self.refuse(f"(?{letters})", "flags for the whole pattern stand at its start")
        on, _, off = letters.partition("-")
        for names, value in ((on, True), (off, False)):
            for name in names:
                flag = _IGNORE_CASE if name == "i" else _DOT_ALL
                self.flags = self.flags | flag if value else self.flags & ~flag

    def escape(self) -> _Part:
        escape = _CLASS_ESCAPE.match(self.text, self.at)
        if escape is None:
            self.refuse("\\")
        source, letter = escape[0], escape[0][1]
        if letter in "AZ":
            self.at = escape.end()
            return _Part(r"\A" if letter == "A" else r"\z", 0, 0)
        if letter in "pPsSdDwWh":
            self.check_case(source)
            text = source if source in _SAME and not self.flags & _IGNORE_CASE else self.listed(source)
            self.at = escape.end()
            return _Part(text, 1, 1)
        character = _escaped(source)
        if character is None:
            self.refuse(source)
        self.at = escape.end()
        return self.literal(character)

    def set(self) -> _Part:
        """A class in brackets: unchanged if all its items are the same in both; else listed."""
        class_and_items = _set_at(self.text, self.at)
        if class_and_items is None:
            self.refuse("[", "a class without an end, or with a class inside")
        source, items = class_and_items
        self.check_case(source)
        same = None if self.flags & _IGNORE_CASE else _same_set(items)
        text = self.listed(source) if same is None else f"[{'^' if source.startswith('[^') else ''}{same}]"
        self.at += len(source)
        return _Part(text, 1, 1)

    def check_case(self, source: str) -> None:
        """Refuse a class that `regex` itself makes smaller if another part of the pattern ignores case.

        When `regex` then looks for the start of a match, it ignores case for all parts (seen in 2026.11.15).
        """
        if self.folds and not self.flags & _IGNORE_CASE and not _grows(source):
            self.refuse(source, "beside (?i:…) the package `regex` takes it for less than it says")

    def listed(self, source: str) -> str:
        return _listed(f"(?i){source}" if self.flags & _IGNORE_CASE else source)


def _bounds(quantifier: re.Match[str]) -> tuple[int, float]:
    infinite = float("inf")
    if quantifier[1]:
        return {"*": (0, infinite), "+": (1, infinite), "?": (0, 1)}[quantifier[1]]
    if quantifier[5]:
        return 0, int(quantifier[5])
    minimum = int(quantifier[2])
    return minimum, (int(quantifier[4]) if quantifier[4] else infinite) if quantifier[3] else minimum


def _escaped(source: str) -> str | None:
    """Return the character that an escape stands for; None if it does not stand for one."""
    letter = source[1]
    if letter in _CONTROLS:
        return _CONTROLS[letter]
    if letter in _HEX and len(source) == 2 + _HEX[letter]:
        code = int(source[2:], 16)
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else None
    return None if letter.isalnum() else letter


def _set_at(text: str, start: int) -> tuple[str, list[str]] | None:
    """Return the class that starts at a place, and its items; None for a class of another kind."""
    at = start + (2 if text.startswith("^", start + 1) else 1)
    items: list[str] = []
    while at < len(text) and (text[at] != "]" or not items):
        escape = _CLASS_ESCAPE.match(text, at)
        item = escape[0] if escape else text[at]
        if item in ("[", "\\"):
            return None
        items.append(item)
        at += len(item)
    return (text[start : at + 1], items) if at < len(text) else None


def _same_set(items: list[str]) -> str | None:
    """Return the items of a class in Oniguruma's spelling; None if an item is not the same there."""
    same, at = [], 0
    while at < len(items):
        if items[at] in _SAME:
            same.append(items[at])
            at += 1
            continue
        low = items[at] if len(items[at]) == 1 else _escaped(items[at])
        if low is None:
            return None
        is_range = at + 2 < len(items) and items[at + 1] == "-"
        high = low if not is_range else items[at + 2] if len(items[at + 2]) == 1 else _escaped(items[at + 2])
        if high is None:
            return None
        same.append(_quoted(low) if high == low else f"{_quoted(low)}-{_quoted(high)}")
        at += 3 if is_range else 1
    return "".join(same)


def _quoted(character: str) -> str:
    """Return a character, escaped so that it stands for itself in a pattern and in a class of Oniguruma."""
    named = {value: f"\\{name}" for name, value in _CONTROLS.items()}
    if character in named:
        return named[character]
    return character if character.isalnum() or character in " '\"_,;:!/<>=@%`" else f"\\x{{{ord(character):X}}}"


@functools.lru_cache(maxsize=256)
def _listed(source: str) -> str:
    """Return a class of all code points that `regex` matches with `source`, which matches one."""
    repeated = f"(?i:{source[4:]})+" if source.startswith("(?i)") else f"(?:{source})+"
    spans = [match.span() for match in patterns.resolve(repeated).compiled().finditer(_every_character())]
    if not spans:
        raise ValueError(f"the class {shown(source)} has no characters")
    points = [(_code(start), _code(end - 1)) for start, end in spans]
    quoted = ((_quoted(chr(low)), _quoted(chr(high))) for low, high in points)
    return "[" + "".join(low if low == high else f"{low}-{high}" for low, high in quoted) + "]"


@functools.lru_cache(maxsize=256)
def _grows(source: str) -> bool:
    """Return whether a class still has all its characters when case is ignored."""
    exact, folded = (patterns.of_source(f"{flag}{source}", 0, "keep").compiled() for flag in ("", "(?i)"))
    return set(exact.findall(_every_character())) <= set(folded.findall(_every_character()))


@functools.lru_cache(maxsize=1)
def _every_character() -> str:
    return "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))


def _code(index: int) -> int:
    return index if index < 0xD800 else index + 0x800
