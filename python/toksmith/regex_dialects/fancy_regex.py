r"""Regular expressions of other engines, written for the `regex` package.

A pattern of a tiktoken encoding is in the dialect of fancy-regex, which differs from that of `regex`: `$` matches
only at the end of the text, `\h` is a hexadecimal digit, sets are nested and intersected, `(?i)` holds to the end of
its group and has no Turkish letters. `translate` writes every part in a form that both engines read alike, or refuses
the pattern and names the part. tests/python/dialects/test_dialects.py runs each construct in both engines.

The classes of characters, such as letters, are not translated: they follow the Unicode version of the engine
(docs/unicode.md).
"""

from __future__ import annotations

import functools
import re

from ..common.messages import shown
from . import size_limit
from .character_sets import SetParser, single

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_ANY = "(?s:.)"
_QUANTIFIER = re.compile(r"[?*+]|\{(\d*)(,?)(\d*)\}")
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
_ASSERTIONS = {"A": r"\A", "z": r"\Z", "Z": r"(?=\n*\Z)", "b": r"\b", "B": r"\B"}


@functools.lru_cache(maxsize=64)
def translate(pattern: str) -> str:
    r"""Return a pattern for the `regex` package (its version 0) that means what `pattern` means to fancy-regex.

    Capturing groups become plain ones. Cost: linear in the pattern.

    Args:
        pattern: A regular expression as tiktoken 0.14 takes it.

    Raises:
        ValueError: The pattern is broken, or a part of it has no proven equal (names the part and its place).

    >>> translate(r"\h+$|[\p{L}&&[^\p{Han}]]")
    '[0-9A-Fa-f]+\\Z|(?:(?=[\\p{L}])[^\\p{Han}])'
    """
    size_limit.check_length(pattern)
    try:
        return _Translator(pattern).whole()
    except RecursionError:
        raise ValueError(f"the pattern {shown(pattern)} is nested too deep") from None


class _Translator:
    """One pass over a pattern. `flags` are the flags that hold at a place: letters of "ims"."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0

    def whole(self) -> str:
        written = self.alternatives("")
        if self.at < len(self.pattern):
            self.refuse("a ) that closes nothing")
        return written

    def refuse(self, what: str, at: int | None = None) -> NoReturn:
        at = self.at if at is None else at
        raise ValueError(
            f"the pattern {shown(self.pattern)} has {what} at character {at}, which has no proven equal in the "
            "`regex` package: write it in another way"
        )

    def alternatives(self, flags: str) -> str:
        """Write all parts up to the end of a group. A flag that is set inside holds until then, past any `|`."""
        written = []
        while self.at < len(self.pattern) and self.pattern[self.at] != ")":
            if self.pattern[self.at] == "|":
                self.at += 1
                written.append("|")
            elif set_flags := self.flags_alone(flags):
                flags = set_flags[0]
            elif self.comment():
                continue
            else:
                written.append(self.repeated(flags))
        return "".join(written)

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
        found = _FLAGS.match(self.pattern, self.at)
        if not found or found[3] != ")":
            return None
        changed = self.changed(flags, found)
        self.at = found.end()
        return (changed,)

    def changed(self, flags: str, found: re.Match[str]) -> str:
        on, off = found[1], found[2] or ""
        if unknown := set(on) - set("imsu") or set(off) - set("ims"):
            self.refuse(f"the flag {shown(min(unknown))}")
        if set(on) & set(off) or (not on and not off and found[3] == ")"):
            self.refuse("a group of flags that says nothing")
        return "".join(flag for flag in "ims" if flag in on or (flag in flags and flag not in off))

    def repeated(self, flags: str) -> str:
        """Write one part with its quantifier."""
        start = self.at
        written, is_assertion = self.part(flags)
        found = _QUANTIFIER.match(self.pattern, self.at)
        if not found:
            return written
        if is_assertion:
            self.refuse("a quantifier behind what has no length", start)
        least, comma, most = found[1], found[2], found[3]
        if found[0][0] == "{" and (not (least or most) or (most and least and int(most) < int(least))):
            self.refuse(f"the quantifier {shown(found[0])}")
        self.at = found.end()
        count = f"{{{least or 0}{comma}{most}}}" if found[0][0] == "{" else found[0]
        mode = self.pattern[self.at : self.at + 1]
        if mode and mode in "?+":
            self.at += 1
            count += mode
        if _QUANTIFIER.match(self.pattern, self.at):
            self.refuse("a quantifier behind a quantifier")
        return written + count

    def part(self, flags: str) -> tuple[str, bool]:
        """Write one character, set, group or assertion; return it, and whether it is an assertion."""
        character = self.pattern[self.at]
        if character == "(":
            return self.group(flags)
        if character == "[":
            parser = SetParser(self.pattern, self.at, "i" in flags, self.refuse)
            written = parser.written()
            self.at = parser.at
            return written, False
        if character == "\\":
            return self.escape(flags)
        if character in "?*+{":
            self.refuse(f"a bare {shown(character)}")
        self.at += 1
        if character == ".":
            return (_ANY if "s" in flags else r"[^\n]"), False
        if character == "^":
            return ("(?m:^)" if "m" in flags else r"\A"), True
        if character == "$":
            return ("(?m:$)" if "m" in flags else r"\Z"), True
        return single(character, "i" in flags), False

    def group(self, flags: str) -> tuple[str, bool]:
        start = self.at
        rest = self.pattern[start : start + 4]
        opening, inner_flags = "(?:", flags
        if look := next((look for look in _LOOKS if rest.startswith(look)), None):
            opening, length = look, len(look)
        elif rest.startswith("(?>"):
            opening, length = "(?>", 3
        elif named := _NAMED.match(self.pattern, start):
            length = len(named[0])
        elif found := _FLAGS.match(self.pattern, start):
            inner_flags, length = self.changed(flags, found), len(found[0])
        elif refused := next((what for lead, what in _REFUSED_GROUPS.items() if rest.startswith(lead)), None):
            self.refuse(refused)
        elif rest.startswith("(?"):
            self.refuse(f"the group {shown(rest)}")
        else:
            length = 1
        self.at += length
        inner = self.alternatives(inner_flags)
        if not self.pattern.startswith(")", self.at):
            raise ValueError(f"the pattern {shown(self.pattern)} is broken: a ( without its ) at character {start}")
        self.at += 1
        return f"{opening}{inner})", opening in _LOOKS

    def escape(self, flags: str) -> tuple[str, bool]:
        start = self.at
        letter = self.pattern[start + 1 : start + 2]
        if letter in _ASSERTIONS and letter:
            if self.pattern.startswith("{", start + 2):
                self.refuse(f"\\{letter}{{…}}")
            self.at += 2
            return _ASSERTIONS[letter], True
        if letter in ("N", "O", "R") and letter:
            self.at += 2
            return {"N": r"[^\n]", "O": _ANY, "R": r"(?>\r\n|[\n-\r\x85\u2028\u2029])"}[letter], False
        if letter in _REFUSED_ESCAPES or letter.isdigit():
            self.refuse(_REFUSED_ESCAPES.get(letter, "a back reference"))
        parser = SetParser(self.pattern, start, "i" in flags, self.refuse)
        written = parser.escape()
        self.at = parser.at
        return (written.item if written.is_class else single(written.item, "i" in flags)), False
