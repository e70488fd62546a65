r"""Regular expressions of other engines, written for the `regex` package.

A pattern of a tiktoken encoding is in the dialect of fancy-regex, which differs from that of `regex`: `$` matches
only at the end of the text, `\h` is a hexadecimal digit, sets are nested and intersected, `(?i)` holds to the end of
its group and has no Turkish letters. `translate` writes every part in a form that both engines read alike, or refuses
the pattern and names the part. tests/python/regex_dialects/test_dialects.py runs each construct in both engines.

The classes of characters, such as letters, are not translated: they follow the Unicode version of the engine
(docs/unicode.md).
"""

from __future__ import annotations

import functools
import re
from typing import NoReturn

from .._internal.messages import shown
from . import size_limit, written
from .character_sets import SetParser, single
from .written import Written

_ANY = "(?s:.)"
_QUANTIFIER = re.compile(r"[?*+]|\{(\d*)(,?)(\d*)\}")
_LAZY = re.compile(r"[?*+}]\?")
_LOOKS = ("(?=", "(?!", "(?<=", "(?<!")
_NAMED = re.compile(r"\(\?P?<[A-Za-z_][A-Za-z0-9_]*>")
_FLAGS = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)])")
_REFUSED_GROUPS = {
    "(?P=": "a back reference",
    "(?P>": "a call of a group",
    "(?(": "a condition",
    "(?|": "a branch reset",
    "(?~": "an absent operator",
    "(?&": "a call of a group",
    "(*": "a verb",
}
_REFUSED_ESCAPES = {
    "K": "\\K (keep out)",
    "G": "\\G (where the last match ended)",
    "X": "\\X (grapheme clusters)",
    "k": "a back reference",
    "g": "a call of a group",
    "Q": "\\Q (quoting)",
    "<": "\\< (start of a word)",
    ">": "\\> (end of a word)",
}
_CHARACTERS = {"N": r"[^\n]", "O": _ANY, "R": r"(?>\r\n|[\n-\r\x85\u2028\u2029])"}
_ASSERTIONS = {"A": r"\A", "z": r"\Z", "Z": r"(?=\n*\Z)", "b": r"\b", "B": r"\B"}


@functools.lru_cache(maxsize=64)
def translate(pattern: str) -> str:
    r"""Return a pattern for the `regex` package (its version 0) that means what `pattern` means to fancy-regex.

    Capturing groups become plain ones. Where `pattern` matches the empty text, the result matches nothing: the search
    continues at the next character, as that of fancy-regex does. Cost: linear in the pattern. An error names the part
    that is broken, or has no proven equal, and its place.

    >>> translate(r"\h+$|[\p{L}&&[^\p{Han}]]")
    '[0-9A-Fa-f]+\\Z|(?:(?=[\\p{L}])[^\\p{Han}])'
    """
    size_limit.check_length(pattern)
    try:
        return _Translator(pattern).whole().nonempty()
    except RecursionError:
        raise ValueError(f"the pattern {shown(pattern)} is nested too deep") from None


class _Translator:
    """One pass over a pattern. `flags` are the flags that hold at a place: letters of "ims"."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.is_behind = False  # in a look behind, outside of looks ahead in it
        self.ends_flags = (
            True  # whether `(?i)` ends with the group: fancy-regex ends it at `(?:…)` and `(?i:…)` alone
        )

    def whole(self) -> Written:
        whole = self.alternatives("")
        if self.at < len(self.pattern):
            self.refuse("a ) that closes nothing")
        return whole

    def refuse(self, what: str, at: int | None = None) -> NoReturn:
        at = self.at if at is None else at
        raise ValueError(
            f"the pattern {shown(self.pattern)} has {what} at character {at}, which has no proven equal in the "
            "`regex` package: write it in another way"
        )

    def alternatives(self, flags: str) -> Written:
        """Write all parts up to the end of a group. A flag that is set inside holds until then, past any `|`."""
        branches: list[list[Written]] = [[]]
        while self.at < len(self.pattern) and self.pattern[self.at] != ")":
            if self.pattern[self.at] == "|":
                self.at += 1
                branches.append([])
            elif set_flags := self.flags_alone(flags):
                flags = set_flags[0]
            elif self.comment():
                continue
            else:
                branches[-1].append(self.repeated(flags))
        for parts in branches if self.is_behind else []:
            self.check_behind(parts)
        return written.alternatives([written.sequence(parts) for parts in branches])

    def check_behind(self, parts: list[Written]) -> None:
        """Refuse what fancy-regex tries at the longest match of an automaton alone, and not at shorter ones."""
        first = next((number for number, part in enumerate(parts) if part.backtracks), len(parts))
        if any(part.varies for part in parts[first + 1 :]):
            self.refuse("a part of varying length behind an assertion, or an atomic part, in a look behind,")

    def comment(self) -> bool:
        if not self.pattern.startswith("(?#", self.at):
            return False
        end = self.pattern.find(")", self.at)
        if end < 0:
            self.refuse("a comment without an end")
        self.at = end + 1
        return True

    def flags_alone(self, flags: str) -> tuple[str] | None:
        """Read `(?i)`; return the flags from here on."""
        match = _FLAGS.match(self.pattern, self.at)
        if not match or match[3] != ")":
            return None
        if not self.ends_flags:
            self.refuse(f"the flags {match[0]} in a group that captures, is atomic or looks around")
        changed = self.changed(flags, match)
        self.at = match.end()
        return (changed,)

    def changed(self, flags: str, match: re.Match[str]) -> str:
        on, off = match[1], match[2] or ""
        if unknown := set(on) - set("imsu") or set(off) - set("ims"):
            self.refuse(f"the flag {shown(min(unknown))}")
        if set(on) & set(off) or (not on and not off and match[3] == ")"):
            self.refuse("a group of flags that says nothing")
        return "".join(flag for flag in "ims" if flag in on or (flag in flags and flag not in off))

    def repeated(self, flags: str) -> Written:
        start = self.at
        part = self.part(flags)
        match = _QUANTIFIER.match(self.pattern, self.at)
        if not match:
            return part
        if self.pattern.startswith(_LOOKS, start) or not (part.longest or self.pattern[start] == "("):
            self.refuse("a quantifier behind what has no length", start)
        minimum, comma, maximum = match[1], match[2], match[3]
        if match[0][0] == "{" and (not (minimum or maximum) or (maximum and minimum and int(maximum) < int(minimum))):
            self.refuse(f"the quantifier {shown(match[0])}")
        self.at = match.end()
        has_no_end = match[0] in ("*", "+") or bool(comma and not maximum)
        if has_no_end and part.longest and not part.shortest and _LAZY.search(part.pattern):
            # fancy-regex and `regex` end such a loop at different empty matches.
            self.refuse("a quantifier without an end behind what may lazily match nothing", start)
        count = f"{{{minimum or 0}{comma}{maximum}}}" if match[0][0] == "{" else match[0]
        mode = self.pattern[self.at : self.at + 1]
        mode = mode if mode and mode in "?+" else ""
        self.at += len(mode)
        if _QUANTIFIER.match(self.pattern, self.at):
            self.refuse("a quantifier behind a quantifier")
        return part.repeated(count, mode)

    def part(self, flags: str) -> Written:
        character = self.pattern[self.at]
        if character == "(":
            return self.group(flags)
        if character == "[":
            parser = SetParser(self.pattern, self.at, "i" in flags, self.refuse)
            source = parser.written()
            self.at = parser.at
            return written.character(source)
        if character == "\\":
            return self.escape(flags)
        if character in "?*+{":
            self.refuse(f"a bare {shown(character)}")
        self.at += 1
        if character == ".":
            return written.character(_ANY if "s" in flags else r"[^\n]")
        if character == "^":
            return written.assertion("(?m:^)" if "m" in flags else r"\A", backtracks=False)
        if character == "$":
            return written.assertion("(?m:$)" if "m" in flags else r"\Z", backtracks=False)
        return written.character(single(character, "i" in flags))

    def group(self, flags: str) -> Written:
        start = self.at
        beginning = self.pattern[start : start + 4]
        opening, inner_flags, match = "(?:", flags, None
        if look := next((look for look in _LOOKS if beginning.startswith(look)), None):
            opening, length = look, len(look)
        elif beginning.startswith("(?>"):
            opening, length = "(?>", 3
        elif named := _NAMED.match(self.pattern, start):
            length = len(named[0])
        elif match := _FLAGS.match(self.pattern, start):
            inner_flags, length = self.changed(flags, match), len(match[0])
        elif refused := next((what for lead, what in _REFUSED_GROUPS.items() if beginning.startswith(lead)), None):
            self.refuse(refused)
        elif beginning.startswith("(?"):
            self.refuse(f"the group {shown(beginning)}")
        else:
            length = 1
        self.at += length
        is_behind = opening.startswith("(?<") if look else self.is_behind
        inner = self.inner(inner_flags, start, is_behind, ends_flags=match is not None)
        return written.assertion(f"{opening}{inner.pattern})") if look else inner.grouped(opening)

    def inner(self, flags: str, start: int, is_behind: bool, ends_flags: bool) -> Written:
        outer = self.is_behind, self.ends_flags
        self.is_behind, self.ends_flags = is_behind, ends_flags
        inner = self.alternatives(flags)
        if not self.pattern.startswith(")", self.at):
            raise ValueError(f"the pattern {shown(self.pattern)} is broken: a ( without its ) at character {start}")
        self.at += 1
        self.is_behind, self.ends_flags = outer
        return inner

    def escape(self, flags: str) -> Written:
        start = self.at
        letter = self.pattern[start + 1 : start + 2]
        if letter in _ASSERTIONS and letter:
            if self.pattern.startswith("{", start + 2):
                self.refuse(f"\\{letter}{{…}}")
            self.at += 2
            return written.assertion(_ASSERTIONS[letter], backtracks=letter in "ZbB")
        if letter in _CHARACTERS and letter:
            self.at += 2
            return written.character(_CHARACTERS[letter], longest=2 if letter == "R" else 1)
        if letter in _REFUSED_ESCAPES or letter.isdigit():
            self.refuse(_REFUSED_ESCAPES.get(letter, "a back reference"))
        parser = SetParser(self.pattern, start, "i" in flags, self.refuse)
        escape = parser.escape()
        self.at = parser.at
        return written.character(escape.item if escape.is_class else single(escape.item, "i" in flags))
