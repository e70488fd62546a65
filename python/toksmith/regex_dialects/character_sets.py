"""Sets of characters, `[…]`, and escapes for one character, in the dialect of fancy-regex; used by `fancy_regex`.

`regex` has set operations only under its version 1, where `(?i)` also matches one character by several ("ß", "ss");
fancy-regex does not. So operations are written with lookaheads, which mean the same in both engines.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, NoReturn

from .._internal.messages import shown
from . import characters
from .size_limit import MAX_LENGTH


class Escape(NamedTuple):
    """The meaning of an escape: one character, or a class as it is written."""

    item: str
    is_class: bool


_CONTROLS = {"a": "\a", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_CLASSES = {letter: f"\\{letter}" for letter in "dDsSwW"} | {"h": "[0-9A-Fa-f]", "H": "[^0-9A-Fa-f]"}
_HEX = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|[xuU]\{\s*([0-9A-Fa-f]{1,8})\s*\})")
_PROPERTY = re.compile(r"\\([pP])(?:([A-Z])|\{(\^?)([^{}]*)\})")
_POSIX = re.compile(r"\[:(\^?)([a-z]*):\]")
_POSIX_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\t\ ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": r"\ -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t-\r\ ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
# Properties whose names both engines know: general categories, a few others, and any script.
_PROPERTIES = (
    "L LC Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp C Cc Cf Co Cn "
    "Letter Cased_Letter Uppercase_Letter Lowercase_Letter Titlecase_Letter Modifier_Letter Other_Letter Mark "
    "Nonspacing_Mark Spacing_Mark Enclosing_Mark Number Decimal_Number Letter_Number Other_Number Punctuation "
    "Connector_Punctuation Dash_Punctuation Open_Punctuation Close_Punctuation Initial_Punctuation "
    "Final_Punctuation Other_Punctuation Symbol Math_Symbol Currency_Symbol Modifier_Symbol Other_Symbol Separator "
    "Space_Separator Line_Separator Paragraph_Separator Other Control Format Private_Use Unassigned "
    "Any ASCII Assigned Alphabetic Lowercase Uppercase White_Space Emoji Ideographic Math"
)
_NAMES = {_name.lower().replace("_", "") for _name in _PROPERTIES.split()}
_GENERAL = re.compile(r"^(?:gc|general_category)=", re.IGNORECASE)
_SCRIPT = re.compile(r"(?:(?:script|sc|script_extensions|scx)=)?[A-Za-z_]+", re.IGNORECASE)
# Letters that `regex` matches with i and I under `(?i)`. By simple case folding, as in fancy-regex, each
# matches itself alone.
_TURKISH = "\u0130\u0131"


def escaped(character: str) -> str:
    """Return a character as it is written, alone or in a set."""
    return character if character.isalnum() or not character.isascii() or character == "_" else f"\\{character}"


def single(character: str, fold: bool) -> str:
    """Return an expression that matches one character, with `fold` in either case."""
    if not fold or character in _TURKISH or character.lower() == character.upper():
        return escaped(character)
    return "[Ii]" if character in "iI" else f"(?i:{escaped(character)})"


class SetParser:
    """Reads a set, or an escape, from `at` on, and writes it as an expression that matches one character.

    `fold` says whether `(?i)` holds; `refuse` raises the error of a construct that has no equal.
    """

    def __init__(self, pattern: str, at: int, fold: bool, refuse: Callable[..., NoReturn]) -> None:
        self.pattern = pattern
        self.at = at
        self.fold = fold
        self._refuse = refuse

    def refuse(self, what: str) -> NoReturn:
        """Raise the error of a construct that has no equal."""
        self._refuse(what, self.at)

    def next_is(self, text: str) -> bool:
        """Return whether `text` comes next."""
        return self.pattern.startswith(text, self.at)

    def written(self) -> str:
        """Return the set that begins here, including sets inside it."""
        start = self.at
        self.at += 1
        negated = self.next_is("^")
        self.at += negated
        items, nested = self.first_items(), list[str]()
        left, operator = "", ""
        while not self.next_is("]"):
            if self.at >= len(self.pattern):
                self._refuse("a [ without its ]", start)
            sign = self.pattern[self.at : self.at + 2]
            if sign in ("&&", "--", "~~"):
                left = self.combined(left, operator, self.union(items, nested))
                operator, items, nested = sign, [], []
                self.at += 2
            else:
                self.item(items, nested)
        self.at += 1
        if not operator and not nested:
            return self.leaf(items, negated)
        whole = self.combined(left, operator, self.union(items, nested))
        return f"(?:(?!{whole})(?s:.))" if negated else whole

    def combined(self, left: str, operator: str, right: str) -> str:
        """Write an operation on two sets. A symmetric difference writes both sides twice: its size is limited."""
        difference = f"(?!{right}){left}"
        written = {
            "": right,
            "&&": f"(?:(?={left}){right})",
            "--": f"(?:{difference})",
            "~~": f"(?:{difference}|(?!{left}){right})",
        }[operator]
        if len(written) > MAX_LENGTH:
            self.refuse(f"operations on sets that take more than {MAX_LENGTH} characters")
        return written

    def first_items(self) -> list[str]:
        """Read characters that stand for themselves only at the start of a set: hyphens, or a bracket."""
        items = []
        while self.next_is("-"):
            items.append(r"\-")
            self.at += 1
        if not items and self.next_is("]"):
            items.append(r"\]")
            self.at += 1
        return items

    def union(self, items: list[str], nested: list[str]) -> str:
        """Write the union of items and nested sets."""
        parts = nested if not items else [self.leaf(items, negated=False), *nested]
        if not parts:
            self.refuse("an operation on an empty set")
        return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"

    def leaf(self, items: list[str], negated: bool) -> str:
        """Write a set without sets inside."""
        if not items:
            self.refuse("an empty set")
        body = characters.negated("".join(items)) if negated else f"[{''.join(items)}]"
        others = [item for item in items if item not in _TURKISH]
        if not self.fold or not others:
            return body
        folded = characters.negated("".join(others)) if negated else f"[{''.join(others)}]"
        return f"(?:(?![{_TURKISH}])(?i:{folded})|(?=[{_TURKISH}]){body})"

    def item(self, items: list[str], nested: list[str]) -> None:
        """Read a character, a range, a class, or a set."""
        if posix := _POSIX.match(self.pattern, self.at):
            self.at = posix.end()
            if posix[2] not in _POSIX_CLASSES:
                self.refuse(f"the class {shown(posix[0])}")
            body = _POSIX_CLASSES[posix[2]]
            nested.append(self.leaf([body], negated=True)) if posix[1] else items.append(body)
        elif self.next_is("["):
            nested.append(self.written())
        else:
            self.range(items, nested)

    def range(self, items: list[str], nested: list[str]) -> None:
        """Read a character, a range, or a class."""
        first = self.character()
        if first.is_class:
            # The class `\h` becomes a set, and a set cannot stand inside a set.
            (nested if first.item.startswith("[") else items).append(first.item)
            if self.next_is("-") and self.pattern[self.at + 1 : self.at + 2] not in ("]", "-"):
                self.refuse("a range that begins with a class")
            return
        if not self.next_is("-") or self.pattern[self.at + 1 : self.at + 2] in ("]", "-", ""):
            items.append(escaped(first.item))
            return
        self.at += 1
        last = self.character()
        if last.is_class or last.item < first.item:
            self.refuse("a range that ends before it begins, or in no character")
        items += _without_turkish(first.item, last.item) if self.fold else [_range(first.item, last.item)]

    def character(self) -> Escape:
        """Read a character, escaped or not."""
        if self.next_is("\\"):
            return self.escape()
        if self.next_is("["):
            self.refuse("a range that ends in a set")
        self.at += 1
        return Escape(self.pattern[self.at - 1], is_class=False)

    def escape(self) -> Escape:
        """Read an escape that stands for one character, or for a class of them."""
        start = self.at
        letter = self.pattern[start + 1 : start + 2]
        if hexadecimal := _HEX.match(self.pattern, start):
            self.at = hexadecimal.end()
            number = int(next(filter(None, hexadecimal.groups())), 16)
            if number > 0x10FFFF or 0xD800 <= number < 0xE000:
                self._refuse(f"the character {hexadecimal[0]}", start)
            return Escape(chr(number), is_class=False)
        if match := _PROPERTY.match(self.pattern, start):
            self.at = match.end()
            return Escape(self.property(match), is_class=True)
        self.at += 2
        if letter in _CLASSES and letter:
            return Escape(_CLASSES[letter], is_class=True)
        if letter in _CONTROLS and letter:
            return Escape(_CONTROLS[letter], is_class=False)
        if not letter or letter.isalnum() or not letter.isascii() or letter in "<>":
            self._refuse(f"the escape {shown(self.pattern[start : start + 2])}", start)
        return Escape(letter, is_class=False)

    def property(self, match: re.Match[str]) -> str:
        """Return a property as `regex` writes it, if both engines are known to read it alike."""
        name = match[2] or match[4]
        if self.fold:
            self.refuse(f"the property {shown(match[0])} under (?i)")
        if _GENERAL.sub("", name).lower().replace("_", "") not in _NAMES and not _is_script(name):
            self.refuse(f"the property {shown(match[0])}")
        negated = (match[1] == "P") != (match[3] == "^")
        return f"\\{'P' if negated else 'p'}{{{name}}}"


def _range(first: str, last: str) -> str:
    return f"{escaped(first)}-{escaped(last)}"


def _without_turkish(first: str, last: str) -> list[str]:
    """Return the items of a range, with each Turkish letter as an item of its own."""
    before, after = chr(ord(_TURKISH[0]) - 1), chr(ord(_TURKISH[-1]) + 1)
    inside = [letter for letter in _TURKISH if first <= letter <= last]
    below = [_range(first, min(last, before))] if first <= before else []
    above = [_range(max(first, after), last)] if after <= last else []
    return [*below, *inside, *above]


def _is_script(name: str) -> bool:
    """Return whether `regex` knows this name as that of a script."""
    if not _SCRIPT.fullmatch(name):
        return False
    import regex

    script = name.rpartition("=")[2]
    try:
        regex.compile(rf"\p{{Script={script}}}", cache_pattern=False)
    except (regex.error, OverflowError):  # the latter if the name is that of an infinite number
        return False
    return True
