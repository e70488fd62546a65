r"""From Oniguruma's regular expressions, the dialect of Hugging Face's files, to those of the `regex` package.

Each construct that is translated has a spelling in `regex` that means the same; the two engines are compared in
tests/python/dialects/test_oniguruma.py. Any other construct is refused by name. Sources: Oniguruma's doc/RE for its
default syntax, and the engine itself as `tokenizers` carries it. The dialects differ more than they seem to: `$` is
the end of a line, `{1,3}+` repeats, `\w` has other characters, and `(?i)` folds differently.
"""

from __future__ import annotations

import collections
import functools
import re
from typing import TYPE_CHECKING, NamedTuple

from ..common.messages import printable, shown
from . import characters
from . import oniguruma_tables as tables

if TYPE_CHECKING:
    pass

MAX_LENGTH = 1 << 14
"""Most characters of a pattern."""
MAX_DEPTH = 50
"""Most groups and classes inside each other."""
MAX_REPEAT = 100_000
"""Most repetitions of a part: the limit of Oniguruma itself."""


class Translation(NamedTuple):
    """A pattern of `regex`, and whether it may match the empty text."""

    pattern: str
    nullable: bool


def translate(pattern: str) -> str:
    r"""Return the pattern of `regex` (version 0, no flags) that means what `pattern` means to Oniguruma.

    >>> translate(r"\p{N}{1,3}+|x$")
    '(?:[\\p{N}]{1,3})+|x(?=\\n|\\Z)'

    Raises:
        ValueError: The pattern is broken or has a construct without a proven equal; says which and where.
    """
    return analyse(pattern).pattern


@functools.lru_cache(maxsize=64)
def analyse(pattern: str) -> Translation:
    """Return the translation of a pattern, and whether it may match the empty text.

    Raises:
        ValueError: As `translate`.
    """
    if len(pattern) > MAX_LENGTH:
        raise ValueError(f"the pattern {shown(pattern)} has more than {MAX_LENGTH} characters")
    parser = _Parser(pattern)
    parser.folds = pattern.startswith("(?i)")
    parser.at = 4 if parser.folds else 0
    found = parser.alternatives(0)
    if parser.at < len(pattern):
        raise parser.refused("a closing bracket without an opening one")
    return found


_PROPERTY = re.compile(r"\\s|\\p\{\w+\}")
_REPEAT = re.compile(r"\{(\d*)(,?)(\d*)\}")


class _Parser:
    """Reads a pattern from left to right, and writes its translation."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.folds = False
        self.behind: list[str] = []  # the looks behind that are open

    def refused(self, what: str, at: int | None = None) -> ValueError:
        place = self.at if at is None else at
        return ValueError(
            f"the pattern {shown(self.pattern)}: {printable(what)} (character {place}) has no proven equal here"
        )

    def peek(self, text: str) -> bool:
        return self.pattern.startswith(text, self.at)

    def take(self, text: str) -> bool:
        if not self.peek(text):
            return False
        self.at += len(text)
        return True

    def alternatives(self, depth: int) -> Translation:
        if depth > MAX_DEPTH:
            raise self.refused(f"more than {MAX_DEPTH} groups inside each other")
        branches = [self.sequence(depth)]
        while self.take("|"):
            branches.append(self.sequence(depth))
        texts = "|".join(branch.pattern for branch in branches)
        return Translation(texts, any(branch.nullable for branch in branches))

    def sequence(self, depth: int) -> Translation:
        parts, nullable, letters = [], True, ""
        while self.at < len(self.pattern) and not self.peek("|") and not self.peek(")"):
            start = self.at
            atom, once = self.atom(depth)
            single = self.pattern[start : self.at]
            letters = letters + single.lower() if self.folds and single.isalpha() else ""
            if letters[-2:] in tables.FOLDED:
                raise self.refused(
                    f"{shown(letters[-2:])} without regard to case, which one character folds to,", start
                )
            atom, optional = self.repeats(atom, once)
            parts.append(atom)
            nullable = nullable and (optional or once is None)
        return Translation("".join(parts), nullable)

    def repeats(self, atom: str, once: bool | None) -> tuple[str, bool]:
        """Return the atom with its quantifiers, and whether it may be left out. `once`: it takes a character."""
        optional, count, plain = once is not True, 0, atom
        while self.at < len(self.pattern) and self.pattern[self.at] in "?*+{":
            if once is None:
                raise self.refused("a quantifier behind what matches no character")
            count += 1
            if count > 3:
                raise self.refused("more than three quantifiers in a row")
            if count > 1:
                plain = f"(?:{atom})"
            quantifier, least = self.quantifier()
            atom = plain + quantifier
            optional = optional or least == 0
        return atom, optional

    def quantifier(self) -> tuple[str, int]:
        start = self.at
        if self.pattern[start] in "?*+":
            self.at += 1
            symbol = self.pattern[start]
            # Only after these quantifiers is a further + or ? a part of the quantifier.
            if self.at < len(self.pattern) and self.pattern[self.at] in "?+":
                symbol += self.pattern[self.at]
                self.at += 1
                self.check_behind(symbol, start)
            return symbol, int(symbol[0] == "+")
        found = _REPEAT.match(self.pattern, start)
        if found is None or not (found[1] or found[3]):
            raise self.refused("a brace that is no quantifier")
        low, high = int(found[1] or 0), int(found[3]) if found[3] else None
        if max(low, high or 0) > MAX_REPEAT or (high is not None and high < low):
            raise self.refused(f"the quantifier {found[0]}")
        self.at = found.end()
        if self.take("?"):
            if not found[2]:
                raise self.refused(f"{found[0]}?, which is optional there,", start)
            self.check_behind(f"{found[0]}?", start)
            return f"{found[0]}?", low
        return found[0], low

    def atom(self, depth: int) -> tuple[str, bool | None]:
        """Return one atom, and whether it takes a character: True for always, False for maybe, None for never."""
        character = self.pattern[self.at]
        if character == "(":
            return self.group(depth)
        if character == "[":
            return self.char_class(depth), True
        if character == "\\":
            return self.escape()
        if character in "?*+{":
            raise self.refused(f"the quantifier {character} behind nothing")
        self.at += 1
        if character == ".":
            return r"[^\n]", True
        if character == "^":
            return tables.LINE_START, None
        if character == "$":
            return tables.LINE_END, None
        return self.literal(character), True

    def literal(self, character: str) -> str:
        if not self.folds:
            return _escaped(character)
        if not character.isascii():
            if character.lower() == character.upper() == character:
                return _escaped(character)
            raise self.refused(f"{shown(character)} without regard to case", self.at - 1)
        if not character.isalpha():
            return _escaped(character)
        lower = character.lower()
        return f"[{lower}{lower.upper()}{tables.OTHER_CASES.get(lower, '')}]"

    def group(self, depth: int) -> tuple[str, bool | None]:
        start, folds = self.at, self.folds
        self.at += 1
        look = False
        behind: list[str] = []
        if self.take("?"):
            opening = next((kind for kind in ("?<=", "?<!", "?:", "?=", "?!", "?>") if self.take(kind[1:])), None)
            if opening is None and self.take("i:"):
                opening, self.folds = "?:", True
            elif opening is None and self.take("-i:"):
                opening, self.folds = "?:", False
            elif opening is None:
                raise self.refused(f"the group {self.pattern[start : start + 4]}…", start)
            look = opening[-1] in "=!"
            behind = [opening] * opening.startswith("?<")
            if opening == "?>":
                self.check_behind("(?>", start)
        else:
            opening = "?:"  # nothing asks what a group captured: there are no references
        self.behind += behind
        inner = self.alternatives(depth + 1)
        del self.behind[len(self.behind) - len(behind) :]
        if not self.take(")"):
            raise self.refused("a group without an end", start)
        if opening == "?<!" and self.behind and inner.nullable:
            raise self.refused("a (?<!…) that may be empty inside another", start)
        self.folds = folds
        return f"({opening}{inner.pattern})", None if look else not inner.nullable

    def check_behind(self, what: str, start: int) -> None:
        """Refuse what stops early in a look behind, whose starts Oniguruma tries in another order than `regex`."""
        if self.behind:
            raise self.refused(f"{what} inside a look behind", start)

    def escape(self) -> tuple[str, bool | None]:
        name = self.pattern[self.at + 1 : self.at + 2]
        if name in tables.ANCHORS and name:
            self.at += 2
            return tables.ANCHORS[name], None
        found = self.type_escape()
        if found is not None:
            inner, negated = found
            inner = tables.WORD if inner == tables.WORD_IN_CLASS else inner
            return f"[{'^' if negated else ''}{inner}]", True
        return self.literal(self.character_escape()), True

    def type_escape(self) -> tuple[str, bool] | None:
        """Return the inside of a class for an escape of many characters, and whether the class is negated."""
        start, name = self.at, self.pattern[self.at + 1 : self.at + 2]
        if name.lower() in tables.TYPES and name:
            self.at += 2
            return tables.TYPES[name.lower()], name.isupper()
        if name not in ("p", "P"):
            return None
        found = re.compile(r"\\[pP]\{(\^?)([A-Za-z_]+)\}").match(self.pattern, start)
        if found is None or (found[2] not in tables.CATEGORIES and found[2] not in tables.SCRIPTS):
            end = self.pattern.find("}", start)
            raise self.refused(f"the property {self.pattern[start : max(end, start) + 1][:40]}", start)
        if self.folds:
            raise self.refused(f"the property {found[0]} without regard to case", start)
        self.at = found.end()
        return f"\\p{{{found[2]}}}", (name == "P") != bool(found[1])

    def character_escape(self) -> str:
        start = self.at
        name = self.pattern[start + 1 : start + 2]
        self.at += 2
        if name in tables.CONTROLS and name:
            return tables.CONTROLS[name]
        found = re.compile(r"\\(?:x\{([0-9A-Fa-f]{1,6})\}|x([0-7][0-9A-Fa-f])|u([0-9A-Fa-f]{4}))").match(
            self.pattern, start
        )
        if found is not None:
            code = int(next(filter(None, found.groups())), 16)
            if code < 0x110000 and not 0xD800 <= code < 0xE000:
                self.at = found.end()
                return chr(code)
        if not name or name.isalnum() or not name.isascii():
            raise self.refused(f"the escape \\{name}", start)
        return name

    # Classes: each takes one character, and is written without set operations, as `regex` can read it.

    def char_class(self, depth: int) -> str:
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
        if len(unions) == 1 and not unions[0].nested:
            return characters.negated(unions[0].items) if negated else f"[{unions[0].items}]"
        all_but_last = "".join(f"(?={union.written()})" for union in unions[:-1])
        positive = f"(?:{all_but_last}{unions[-1].written()})"
        return f"(?:(?!{positive})[\\s\\S])" if negated else positive

    def union(self, depth: int, start: int) -> _Union:
        items, nested = [], []
        while not self.peek("]") and not self.peek("&&"):
            if self.at >= len(self.pattern):
                raise self.refused("a class without an end", start)
            if self.peek("[:"):
                raise self.refused("a POSIX bracket")
            if self.peek("["):
                nested.append(self.char_class(depth + 1))
                continue
            found = self.type_escape() if self.peek("\\") else None
            if found is None:
                items.append(self.range())
            elif found[1] and _PROPERTY.fullmatch(found[0]):
                items.append(found[0][:1] + found[0][1].upper() + found[0][2:])
            elif found[1]:
                nested.append(f"[^{found[0]}]")
            else:
                items.append(found[0])
        if not items and not nested:
            raise self.refused("an empty side of &&")
        return _Union("".join(items), tuple(nested))

    def range(self) -> str:
        low = self.class_character()
        if not self.peek("-") or self.peek("-]") or self.peek("-&&"):
            return self.folded(low, low)
        self.at += 1
        if self.peek("["):
            raise self.refused("a range up to a class")
        if self.peek("\\") and self.pattern[self.at + 1 : self.at + 2].lower() in {*tables.TYPES, "p"}:
            raise self.refused("a range up to a property")
        high = self.class_character()
        if high < low:
            raise self.refused(f"the range {low}-{high}, which is empty,")
        return self.folded(low, high)

    def folded(self, low: str, high: str) -> str:
        text = _escaped(low) if low == high else f"{_escaped(low)}-{_escaped(high)}"
        if not self.folds:
            return text
        letters = [chr(code) for code in range(ord(low), min(ord(high), 0x7F) + 1) if chr(code).isalpha()]
        if not high.isascii():
            raise self.refused(f"the class of {low}-{high} without regard to case")
        return text + "".join(c.lower() + c.upper() + tables.OTHER_CASES.get(c.lower(), "") for c in letters)

    def class_character(self) -> str:
        if self.at >= len(self.pattern):
            raise self.refused("a class without an end")
        if self.peek("\\"):
            return self.character_escape()
        self.at += 1
        return self.pattern[self.at - 1]


class _Union(collections.namedtuple("_Union", "items nested")):
    """A union of characters and of classes."""

    __slots__ = ()

    def written(self) -> str:
        alternatives = [*([f"[{self.items}]"] if self.items else []), *self.nested]
        return alternatives[0] if len(alternatives) == 1 else f"(?:{'|'.join(alternatives)})"


def _escaped(character: str) -> str:
    if character.isascii() and character.isalnum():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
