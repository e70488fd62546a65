r"""From Oniguruma's regular expressions, the dialect of Hugging Face's files, to those of the `regex` package.

Each construct that is translated has a spelling in `regex` that means the same; the two engines are compared in
tests/python/regex_dialects/test_oniguruma.py. Any other construct is refused by name. Sources: Oniguruma's doc/RE for
its default syntax, and the engine itself as `tokenizers` carries it. The dialects differ more than they seem to: `$`
is the end of a line, `{1,3}+` repeats, `\w` has other characters, and `(?i)` folds differently.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import re
from collections.abc import Iterable
from typing import NamedTuple

from .._internal.messages import printable, shown
from . import case_folding, characters, size_limit
from . import oniguruma_tables as tables
from .case_folding import escaped

MAX_LENGTH = 1 << 14
"""Most characters of a pattern."""
MAX_REPEAT = 100_000
"""Most repetitions of a part: the limit of Oniguruma itself."""
MAX_DEPTH = 50
"""Most groups and classes inside each other."""
MAX_LETTERS = 500_000
"""Most cased characters of all classes together where case is ignored: 100 classes of all letters take a second."""


class Translation(NamedTuple):
    """A pattern of `regex`, and whether it may match the empty text."""

    pattern: str
    nullable: bool


@functools.lru_cache(maxsize=64)
def translate(pattern: str) -> Translation:
    r"""Return the pattern of `regex` (version 0, no flags) that means what `pattern` means to Oniguruma.

    >>> translate(r"\p{N}{1,3}+|x$").pattern
    '(?:[\\p{N}]{1,3})+|x(?=\\n|\\Z)'
    """
    if len(pattern) > MAX_LENGTH:
        raise ValueError(f"the pattern {shown(pattern)} has more than {MAX_LENGTH} characters")
    parser = _Parser(pattern)
    while (options := _OPTIONS.match(pattern, parser.at)) and options[3] == ")":
        parser.switch(options)
    whole = parser.alternatives(0)
    if parser.at < len(pattern):
        raise parser.refused("a closing bracket without an opening one")
    if len(whole.pattern) > size_limit.MAX_LENGTH:
        raise ValueError(
            f"the pattern {shown(pattern)} takes {len(whole.pattern)} characters in the dialect of `regex`, "
            f"more than {size_limit.MAX_LENGTH}: write it shorter, or in several steps"
        )
    return Translation(whole.pattern, whole.nullable)


def check_total(parts: Iterable[object]) -> None:
    """Refuse JSON whose patterns (fields `Regex`) are together larger than one may be, before any is compiled.

    A pattern that cannot be translated, or is too large by itself, does not count: it is refused where it is read.
    """
    total, pending = 0, list(parts)
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            pending.extend(part.values())
            if isinstance(text := part.get("Regex"), str):
                with contextlib.suppress(ValueError):
                    size = size_limit.parts(translate(text).pattern)
                    total += size if size <= size_limit.MAX_PARTS else 0
        elif isinstance(part, list):
            pending.extend(part)
    if total > size_limit.MAX_PARTS:
        raise ValueError(f"all patterns together come to {total} parts, more than {size_limit.MAX_PARTS}")


_PROPERTY = re.compile(r"\\s|\\p\{\w+\}")
_ONE = re.compile(r"([^\\]|\\x..|\\u.{4}|\\U.{8})\1*")
_POSIX = re.compile(r"\[:(\^?)([a-z]+):\]")
_OPTIONS = re.compile(r"\(\?(?=[im-])([im]*)(?:-([im]+))?([:)])")
_BOUNDARY = re.compile(r"\\[bB]")
_ASSERTIONS = re.compile(r"(?:\\[bBAzZ]|[$^|)]|\((?:\?(?:<?[=!]|[:>]))?)*")
_REPEAT = re.compile(r"\{(\d*)(,?)(\d*)\}")


class _Before(enum.IntEnum):
    """What a pattern has before a place.

    Oniguruma looks for a pattern that begins with a repeated dot only at the starts of lines (with `m`, at one place
    alone), also if an assertion before the dot rules these out, and so passes over matches.
    """

    CHARACTER = 0
    NOTHING = 1
    START = 2
    ASSERTION = 3


class _Part(NamedTuple):
    """A part of a pattern.

    `takes` says whether it takes a character: True for always, False for maybe, None for never. `dot` is "single" or
    "repeated" for a dot, behind an assertion, that Oniguruma must not see repeated.
    """

    pattern: str
    takes: bool | None = True
    dot: str = ""
    literals: str = ""
    """The characters of a part that has nothing else."""
    parts: tuple[_Part, ...] = ()
    """Those of a group of several, which may join the parts before and behind it."""


class _Alternatives(NamedTuple):
    """Alternatives; `parts` are those of the only one."""

    pattern: str
    nullable: bool
    parts: tuple[_Part, ...] = ()


class _Quantifier(NamedTuple):
    text: str
    minimum: int
    maximum: float


class _Parser:
    """Reads a pattern from left to right, and writes its translation."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.folds = False
        self.dot_all = False
        self.letters = 0
        self.excluded = ""  # the one character of the first class that excludes one
        self.before = _Before.NOTHING
        self.behind: list[str] = []  # the looks behind that are open

    def switch(self, options: re.Match[str]) -> None:
        """Read options. In Ruby's syntax, `m` lets a dot match a newline."""
        self.at = options.end()
        on, off = options[1], options[2] or ""
        self.folds = "i" not in off and (self.folds or "i" in on)
        self.dot_all = "m" not in off and (self.dot_all or "m" in on)

    def alternatives(self, depth: int) -> _Alternatives:
        if depth > MAX_DEPTH:
            raise self.refused(f"more than {MAX_DEPTH} groups inside each other")
        before = self.before
        branches, ends = [self.sequence(depth)], [self.before]
        while self.take("|"):
            self.before = before
            branches.append(self.sequence(depth))
            ends.append(self.before)
        self.before = _either(ends)
        if len(branches) == 1:
            return branches[0]
        texts = "|".join(branch.pattern for branch in branches)
        return _Alternatives(texts, any(branch.nullable for branch in branches))

    def sequence(self, depth: int) -> _Alternatives:
        """Return one alternative. The parts are those of Oniguruma, which folds the case of neighbouring literals."""
        parts: list[_Part] = []
        extends = False  # the last part is a string that goes on at the next literal
        while self.at < len(self.pattern) and not self.peek("|") and not self.peek(")"):
            is_group, before = self.peek("("), self.before
            part = self.atom(depth)
            end = self.at
            part = self.repeats(part, before)
            is_string = bool(part.literals) and not is_group
            if extends and is_string:
                part = part._replace(literals=parts.pop().literals + part.literals)
            extends = is_string and self.at == end
            parts += part.parts if parts and part.parts else [part]
        return _Alternatives(self.joined(parts), all(part.takes is not True for part in parts), tuple(parts))

    def joined(self, parts: list[_Part]) -> str:
        texts: list[str] = []
        run = ""
        for part in parts:
            if part.literals:
                run += part.literals
            else:
                texts += self.literals(run), part.pattern
                run = ""
        return "".join([*texts, self.literals(run)])

    def repeats(self, part: _Part, before: _Before) -> _Part:
        """Return the part with its quantifiers, if any, given what is before it."""
        plain, count = part.pattern, 0
        while self.at < len(self.pattern) and self.pattern[self.at] in "?*+{":
            start = self.at
            if part.takes is None:
                raise self.refused("a quantifier behind what matches no character")
            count += 1
            if count > 3:
                raise self.refused("more than three quantifiers in a row")
            if count > 1:
                plain = f"(?:{part.pattern})"
            quantifier = self.quantifier()
            part = self.repeated(part, plain, quantifier, start)
            if quantifier.minimum == 0 and self.before:
                self.before = _either([before, self.before]) if quantifier.maximum else before
            elif not quantifier.maximum:
                self.before = before
        return part

    def repeated(self, part: _Part, plain: str, quantifier: _Quantifier, start: int) -> _Part:
        is_greedy = quantifier.maximum == float("inf") and quantifier.text[1:] != "?" and quantifier.text[-2:] != "}?"
        if part.dot == "repeated" or (part.dot and is_greedy):
            raise self.refused("a repeated dot behind an assertion, where Oniguruma misses matches,", start)
        is_once = (quantifier.minimum, quantifier.maximum) == (1, 1)
        return _Part(
            plain + quantifier.text,
            bool(part.takes and quantifier.minimum),
            part.dot and "repeated",
            part.literals if is_once else "",
            part.parts if is_once else (),
        )

    def quantifier(self) -> _Quantifier:
        start = self.at
        if self.pattern[start] in "?*+":
            self.at += 1
            symbol = self.pattern[start]
            # Only after these quantifiers is a further + or ? a part of the quantifier.
            if self.at < len(self.pattern) and self.pattern[self.at] in "?+":
                symbol += self.pattern[self.at]
                self.at += 1
                self.check_behind(symbol, start)
            return _Quantifier(symbol, int(symbol[0] == "+"), 1 if symbol[0] == "?" else float("inf"))
        braces = _REPEAT.match(self.pattern, start)
        if braces is None or not (braces[1] or braces[3]):
            raise self.refused("a brace that is no quantifier")
        low = int(braces[1] or 0)
        high = int(braces[3]) if braces[3] else float("inf") if braces[2] else low
        if max(low, 0 if high == float("inf") else high) > MAX_REPEAT or high < low:
            raise self.refused(f"the quantifier {braces[0]}")
        self.at = braces.end()
        if not self.take("?"):
            return _Quantifier(braces[0], low, high)
        if not braces[2]:
            raise self.refused(f"{braces[0]}?, which is optional there,", start)
        self.check_behind(f"{braces[0]}?", start)
        return _Quantifier(f"{braces[0]}?", low, high)

    def atom(self, depth: int) -> _Part:
        character = self.pattern[self.at]
        if character == "(":
            return self.group(depth)
        if character in "?*+{":
            raise self.refused(f"the quantifier {character} behind nothing")
        if character in "^$":
            self.at += 1
            return self.assertion(tables.LINE_START if character == "^" else tables.LINE_END, character == "^")
        before = self.before
        if character == "\\":
            return self.escape()
        self.before = _Before.CHARACTER
        if character == "[":
            return _Part(self.char_class(depth))
        self.at += 1
        if character == ".":
            is_risky = before >= (_Before.START if self.dot_all else _Before.ASSERTION)
            return _Part(r"[\s\S]" if self.dot_all else ".", dot="single" if is_risky else "")
        return _Part(self.literals(character), literals=character)

    def assertion(self, pattern: str, is_start: bool = False) -> _Part:
        if self.before and (is_start or self.before is not _Before.START):
            self.before = _Before.START if is_start else _Before.ASSERTION
        return _Part(pattern, None)

    def literals(self, text: str) -> str:
        return case_folding.literals(text, bool(self.behind)) if self.folds else "".join(map(escaped, text))

    def group(self, depth: int) -> _Part:
        start, outside = self.at, (self.folds, self.dot_all)
        opening = next((kind for kind in ("(?<=", "(?<!", "(?:", "(?=", "(?!", "(?>") if self.take(kind)), "")
        if not opening and (options := _OPTIONS.match(self.pattern, start)) and options[3] == ":":
            self.switch(options)
        elif not opening:
            if self.peek("(?"):
                raise self.refused(f"the group {self.pattern[start : start + 4]}…", start)
            self.at += 1  # nothing asks what a group captured: there are no references
        if opening == "(?>":
            self.check_behind("(?>", start)
        look = opening[-1:] in ("=", "!") and bool(opening)
        inner = self.inside(depth, opening if look else "")
        if not self.take(")"):
            raise self.refused("a group without an end", start)
        if opening.startswith("(?<") and inner.nullable:
            self.check_empty_behind(opening, start)
        self.folds, self.dot_all = outside
        text = f"{opening or '(?:'}{inner.pattern})"
        if look:
            return self.assertion(text)
        parts = inner.parts if opening == "(?:" else ()
        if len(parts) == 1:
            return parts[0]._replace(pattern=text)
        return _Part(text, not inner.nullable, parts=parts)

    def inside(self, depth: int, look: str) -> _Alternatives:
        """Return the alternatives of a group. What is before a look does not matter in it."""
        if not look:
            return self.alternatives(depth + 1)
        before, self.before = self.before, _Before.CHARACTER
        behind = [look] * look.startswith("(?<")
        self.behind += behind
        inner = self.alternatives(depth + 1)
        del self.behind[len(self.behind) - len(behind) :]
        self.before = before
        return inner

    def check_empty_behind(self, opening: str, start: int) -> None:
        """Refuse a look behind that may be empty where Oniguruma reads it in another way."""
        if opening == "(?<!" and self.behind:
            raise self.refused("a (?<!…) that may be empty inside another", start)
        inside = self.pattern[start + len(opening) : self.at - 1]
        # At the start of the text, Oniguruma does not see the next character there.
        if _BOUNDARY.search(inside) and not _ASSERTIONS.fullmatch(inside):
            raise self.refused(r"\b or \B in a look behind that may be empty, or not,", start)

    def check_behind(self, what: str, start: int) -> None:
        """Refuse what stops early in a look behind, whose starts Oniguruma tries in another order than `regex`."""
        if self.behind:
            raise self.refused(f"{what} inside a look behind", start)

    def escape(self) -> _Part:
        start, name = self.at, self.pattern[self.at + 1 : self.at + 2]
        if name in tables.ANCHORS and name:
            self.at += 2
            return self.assertion(tables.ANCHORS[name], name == "A")
        self.before = _Before.CHARACTER
        if name in tables.UNITS and name:
            self.at += 2
            self.check_behind(f"\\{name}", start)
            return _Part(tables.UNITS[name])
        several = self.type_escape()
        if several is not None:
            inner, negated = several
            inner = tables.WORD if inner == tables.WORD_IN_CLASS else inner
            return _Part(f"[{'^' if negated else ''}{inner}]")
        character = self.character_escape()
        return _Part(self.literals(character), literals=character)

    # Classes and escapes

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
        bracket = _POSIX.match(self.pattern, self.at)
        if bracket is None or bracket[2] not in tables.POSIX:
            raise self.refused("a [: that begins no POSIX bracket")
        self.at = bracket.end()
        return tables.POSIX[bracket[2]], bool(bracket[1])

    def range(self) -> str:
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
        alternatives = [*([f"[{self.items}]"] if self.items else []), *self.nested]
        return alternatives[0] if len(alternatives) == 1 else f"(?:{'|'.join(alternatives)})"


def _either(places: list[_Before]) -> _Before:
    """Return what is before a place that is reached in several ways: what is safe in all of them."""
    if len(set(places)) == 1:
        return places[0]
    return max(_Before.ASSERTION if place is _Before.START else place for place in places)
