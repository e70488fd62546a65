"""The classes and escapes of Oniguruma's patterns, read and written for `regex`; used by `from_oniguruma`.

A class takes one character, and is written without set operations, as version 0 of `regex` can read it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .._internal.messages import printable, shown
from . import case_folding, characters
from . import oniguruma_tables as tables
from .case_folding import escaped

MAX_DEPTH = 50
"""Most groups and classes inside each other."""
MAX_LETTERS = 500_000
"""Most cased characters of all classes together where case is ignored: 100 classes of all letters take a second."""

_PROPERTY = re.compile(r"\\s|\\p\{\w+\}")
_ONE = re.compile(r"([^\\]|\\x..|\\u.{4}|\\U.{8})\1*")
_POSIX = re.compile(r"\[:(\^?)([a-z]+):\]")


class ClassReader:
    """Reads a pattern from left to right."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.folds = False
        self.letters = 0
        self.excluded = ""  # the one character of the first class that excludes one

    def refused(self, what: str, at: int | None = None) -> ValueError:
        """Return the error for a construct without an equal."""
        place = self.at if at is None else at
        return ValueError(
            f"the pattern {shown(self.pattern)}: {printable(what)} (character {place}) has no proven equal here"
        )

    def peek(self, text: str) -> bool:
        """Return whether `text` comes next."""
        return self.pattern.startswith(text, self.at)

    def take(self, text: str) -> bool:
        """Skip `text`, if it comes next."""
        if not self.peek(text):
            return False
        self.at += len(text)
        return True

    def type_escape(self) -> tuple[str, bool] | None:
        """Return the inside of a class for an escape of many characters, and whether the class is negated."""
        start, name = self.at, self.pattern[self.at + 1 : self.at + 2]
        if name.lower() in tables.TYPES and name:
            self.at += 2
            return tables.TYPES[name.lower()], name.isupper()
        if name not in ("p", "P"):
            return None
        escape = re.compile(r"\\[pP]\{(\^?)([A-Za-z_]+)\}").match(self.pattern, start)
        if escape is None or (escape[2] not in tables.CATEGORIES and escape[2] not in tables.SCRIPTS):
            end = self.pattern.find("}", start)
            raise self.refused(f"the property {self.pattern[start : max(end, start) + 1][:40]}", start)
        self.at = escape.end()
        return f"\\p{{{escape[2]}}}", (name == "P") != bool(escape[1])

    def character_escape(self) -> str:
        """Return the character that an escape stands for."""
        start = self.at
        name = self.pattern[start + 1 : start + 2]
        self.at += 2
        if name in tables.CONTROLS and name:
            return tables.CONTROLS[name]
        escape = re.compile(r"\\(?:x\{([0-9A-Fa-f]{1,6})\}|x([0-7][0-9A-Fa-f])|u([0-9A-Fa-f]{4}))").match(
            self.pattern, start
        )
        if escape is not None:
            code = int(next(filter(None, escape.groups())), 16)
            if code < 0x110000 and not 0xD800 <= code < 0xE000:
                self.at = escape.end()
                return chr(code)
        if not name or name.isalnum() or not name.isascii():
            raise self.refused(f"the escape \\{name}", start)
        return name

    def char_class(self, depth: int) -> str:
        """Return the class that begins here. Case is folded in the whole, before it is negated."""
        positive, negated = self.class_inside(depth)
        if not self.folds:
            return self.negation(positive) if negated else positive.written()
        variants = case_folding.of_class(positive.written())
        self.letters += variants.letters
        if self.letters > MAX_LETTERS:
            raise self.refused(f"classes of more than {MAX_LETTERS} letters without regard to case")
        positive = positive._replace(items=positive.items + variants.items)
        if negated:
            return self.negation(positive)
        return f"(?:{positive.written()}|{variants.sequences})" if variants.sequences else positive.written()

    def negation(self, positive: _Union) -> str:
        """Return an expression for any character that a class does not list.

        `regex` 2026.11.15 reads alternatives that each exclude one character, such as `[^a]|[^b]`, as `[^ab]`. So
        only one character of a pattern is excluded by a set.
        """
        if positive.nested:
            return f"(?:(?!{positive.written()})[\\s\\S])"
        if not _ONE.fullmatch(positive.items):
            return characters.negated(positive.items)
        self.excluded = self.excluded or positive.items
        return f"[^{positive.items}]" if positive.items == self.excluded else f"(?:(?![{positive.items}])[\\s\\S])"

    def class_inside(self, depth: int) -> tuple[_Union, bool]:
        """Return the characters that a class lists, and whether it takes all others instead."""
        if depth > MAX_DEPTH:
            raise self.refused(f"more than {MAX_DEPTH} classes inside each other")
        start = self.at
        self.at += 1
        negated = self.take("^")
        if self.peek("]"):
            raise self.refused("an empty class, or one that begins with ],", start)
        unions = [self.union(depth, start)]
        while self.take("&&"):
            unions.append(self.union(depth, start))
        self.at += 1
        if len(unions) == 1:
            return unions[0], negated
        all_but_last = "".join(f"(?={union.written()})" for union in unions[:-1])
        return _Union("", (f"(?:{all_but_last}{unions[-1].written()})",)), negated

    def union(self, depth: int, start: int) -> _Union:
        """Return what stands up to the end of a class, or up to `&&`."""
        items, nested = [], []
        while not self.peek("]") and not self.peek("&&"):
            if self.at >= len(self.pattern):
                raise self.refused("a class without an end", start)
            if self.peek("[") and not self.peek("[:"):
                inner, negated = self.class_inside(depth + 1)
                nested.append(self.negation(inner) if negated else inner.written())
                continue
            several = self.posix() if self.peek("[") else self.type_escape() if self.peek("\\") else None
            if several is None:
                items.append(self.range())
            elif several[1] and _PROPERTY.fullmatch(several[0]):
                items.append(several[0][:1] + several[0][1].upper() + several[0][2:])
            elif several[1]:
                nested.append(f"[^{several[0]}]")
            else:
                items.append(several[0])
        if not items and not nested:
            raise self.refused("an empty side of &&")
        return _Union("".join(items), tuple(nested))

    def posix(self) -> tuple[str, bool]:
        """Return the items of a POSIX bracket, and whether it is negated."""
        bracket = _POSIX.match(self.pattern, self.at)
        if bracket is None or bracket[2] not in tables.POSIX:
            raise self.refused("a [: that begins no POSIX bracket")
        self.at = bracket.end()
        return tables.POSIX[bracket[2]], bool(bracket[1])

    def range(self) -> str:
        """Return a character or a range, as an item."""
        low = self.class_character()
        if not self.peek("-") or self.peek("-]") or self.peek("-&&"):
            return escaped(low)
        self.at += 1
        if self.peek("["):
            raise self.refused("a range up to a class")
        if self.peek("\\") and self.pattern[self.at + 1 : self.at + 2].lower() in {*tables.TYPES, "p"}:
            raise self.refused("a range up to a property")
        high = self.class_character()
        if high < low:
            raise self.refused(f"the range {low}-{high}, which is empty,")
        return f"{escaped(low)}-{escaped(high)}" if low < high else escaped(low)

    def class_character(self) -> str:
        """Return a character of a class, escaped or not."""
        if self.at >= len(self.pattern):
            raise self.refused("a class without an end")
        if self.peek("\\"):
            return self.character_escape()
        self.at += 1
        return self.pattern[self.at - 1]


class _Union(NamedTuple):
    """A union of characters and of classes."""

    items: str
    nested: tuple[str, ...]

    def written(self) -> str:
        """Return an expression for one of the characters."""
        alternatives = [*([f"[{self.items}]"] if self.items else []), *self.nested]
        return alternatives[0] if len(alternatives) == 1 else f"(?:{'|'.join(alternatives)})"
