r"""From a pattern of the `regex` package to the steps of the core's compiled engine.

The engine takes the regular constructs: characters and sets, sequences, alternatives, repeats of the three kinds,
groups, and lookaheads at one character. `steps` reads these and refuses all others by name; a refused pattern runs in
`regex`. The characters that a set matches are found by running `regex` (`characters`).
"""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn

from . import characters
from .characters import Ranges
from .written import IF_NONEMPTY


class Steps(NamedTuple):
    """The arguments of `_core.CompiledPattern`."""

    sets: list[Ranges]
    steps: list[tuple[str, int, int]]
    newline: int


MAX_DEPTH = 60
"""Most groups inside each other. This keeps within the core's own limit."""
MAX_SETS = 1000
"""Most different characters and sets. The core has 253 classes of characters, so that it would refuse nearly all."""
# Most characters of all expressions that `regex` looks up, where a look-up counts as so many more.
_MAX_COST, _COST_OF_LOOKUP = 4000, 20

# Flags of `regex`. UNICODE is the default; under version 1 sets may be nested.
_IGNORECASE, _DOTALL, _UNICODE, _VERSION1, _VERSION0, _FULLCASE = 0x2, 0x10, 0x20, 0x100, 0x2000, 0x4000
_KNOWN_FLAGS = _IGNORECASE | _DOTALL | _UNICODE | _VERSION1 | _VERSION0 | _FULLCASE

_FLAGS_FIRST = re.compile(r"\(\?(?:[isu]|V0|V1)+\)")
_SCOPED = re.compile(r"\(\?([a-z]*)(?:-([a-z]+))?:")
_CAPTURING = re.compile(r"\(\?P?<[A-Za-z_][A-Za-z0-9_]*>")
_REPEAT = re.compile(r"[?*+]|\{([0-9]{1,6})?(,)?([0-9]{1,6})?\}")
_LOOKS = {"(?=": "ahead", "(?!": "not_ahead"}
_BEHIND = ("(?<=", "(?<!")


class UnsupportedError(ValueError):
    """A construct that the compiled engine does not have, and its place in the pattern."""


def steps(text: str, flags: int) -> Steps:
    """Return the steps that the core compiles for a pattern.

    Raises:
        UnsupportedError: The pattern has a part that is not regular, or that is not known to be regular.
    """
    return _Reader(text, flags).whole()


class _Reader:
    """One pass over a pattern. `letters` are the flags "i" and "s" that hold at a place."""

    def __init__(self, text: str, flags: int) -> None:
        self.text, self.at, self.depth = text, 0, 0
        self.version1 = bool(flags & _VERSION1)
        self.full_folding = bool(flags & (_VERSION1 | _FULLCASE))
        self.letters = ("i" if flags & _IGNORECASE else "") + ("s" if flags & _DOTALL else "")
        self.steps: list[tuple[str, int, int]] = []
        self.sets: dict[tuple[str, str, str], int] = {}
        self.characters: dict[str, Ranges] = {}
        self.cost = 0
        if flags & ~_KNOWN_FLAGS:
            self.refuse("flags beside i, s, u, V0 and V1")

    def whole(self) -> Steps:
        newline = self.set("character", "\n", "")
        if first := _FLAGS_FIRST.match(self.text):
            self.at = first.end()
        self.alternatives(self.letters)
        if self.at < len(self.text):
            self.refuse("a ) that closes nothing")
        return Steps(self.ranges(), self.steps, newline)

    def refuse(self, what: str) -> NoReturn:
        raise UnsupportedError(f"{what}, at character {self.at}")

    def next_is(self, start: str) -> bool:
        return self.text.startswith(start, self.at)

    # Structure

    def alternatives(self, letters: str) -> None:
        """Read up to the end of a group, or of the pattern."""
        count = 1
        self.sequence(letters)
        while self.next_is("|"):
            self.at += 1
            self.sequence(letters)
            count += 1
        if count > 1:
            self.steps.append(("alternatives", count, 0))

    def sequence(self, letters: str) -> None:
        count = 0
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            is_look = self.part(letters)
            self.repeat(is_look)
            count += 1
        if count != 1:
            self.steps.append(("sequence", count, 0))

    def part(self, letters: str) -> bool:
        """Read one part, without its repeat; return whether it is an assertion, which takes no character."""
        character = self.text[self.at]
        if character == "(":
            return self.group(letters)
        if character == "[":
            self.add("set", self.set_source(), letters)
        elif character == "\\":
            return self.escape(letters)
        elif character == "$":
            self.at += 1
            self.steps.append(("line_end", 0, 0))
            return True
        elif character == ".":
            self.at += 1
            self.add("set", ".", letters)
        elif character in "^{}]*+?":
            self.refuse(f"a bare {character}")
        else:
            self.at += 1
            self.add("character", character, letters)
        return False

    def repeat(self, is_look: bool) -> None:
        match = _REPEAT.match(self.text, self.at)
        if not match:
            return
        if is_look:
            self.refuse("a repeat of what takes no character")
        if match[0].startswith("{"):
            minimum, comma, maximum = match.groups()
            if not (minimum or maximum):
                self.refuse("braces without a number")
            bounds = int(minimum or 0), int(maximum or -1 if comma else minimum)
            if bounds[1] != -1 and bounds[1] < max(bounds[0], 1):
                self.refuse("a repeat of at most nothing")
        else:
            bounds = {"?": (0, 1), "*": (0, -1), "+": (1, -1)}[match[0]]
        self.at = match.end()
        kind = "possessive" if self.next_is("+") else "lazy" if self.next_is("?") else "greedy"
        self.at += kind != "greedy"
        if _REPEAT.match(self.text, self.at):
            self.refuse("a repeat of a repeat")
        self.steps.append((kind, *bounds))

    def group(self, letters: str) -> bool:
        """Read a group; return whether it is a lookahead."""
        start = self.at
        opening = self.text[start : start + 3]
        step = "atomic" if opening == "(?>" else _LOOKS.get(opening)
        if step:
            self.at += 3
        elif self.next_is("(*"):
            self.refuse("a verb")
        elif not self.next_is("(?"):
            self.at += 1
        elif self.text.startswith(_BEHIND, start):
            self.refuse("a look behind")
        elif capturing := _CAPTURING.match(self.text, start):
            self.at = capturing.end()
        elif scoped := _SCOPED.match(self.text, start):
            self.at, letters = scoped.end(), self.scoped(letters, scoped[1], scoped[2] or "")
        elif self.next_is(IF_NONEMPTY):
            raise UnsupportedError("matches of nothing")
        else:
            self.refuse(f"a group that begins with {self.text[start : start + 4]}")
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.refuse(f"more than {MAX_DEPTH} groups inside each other")
        self.alternatives(letters)
        self.depth -= 1
        if not self.next_is(")"):
            self.refuse("a ( that is not closed")
        self.at += 1
        if step:
            self.steps.append((step, 0, 0))
        return step in _LOOKS.values()

    def scoped(self, letters: str, added: str, removed: str) -> str:
        if set(added + removed) - set("is"):
            self.refuse("flags beside i and s")
        return "".join(letter for letter in "is" if letter in letters + added and letter not in removed)

    # Characters

    def escape(self, letters: str) -> bool:
        """Read an escape; return whether it takes no character."""
        if known := characters.CLASS.match(self.text, self.at):
            self.at = known.end()
            self.add("set", known[0], letters)
            return False
        if self.next_is(r"\Z"):
            self.at += 2
            self.steps.append(("end", 0, 0))
            return True
        if match := characters.HEX.match(self.text, self.at):
            code = int(match[1] or match[2] or match[3], 16)
            if code > 0x10FFFF:
                self.refuse("no character of Unicode")
            self.at = match.end()
            self.add("character", chr(code), letters)
            return False
        letter = self.text[self.at + 1 : self.at + 2]
        if letter not in characters.CONTROLS and (letter.isalnum() or not letter.isascii() or not letter):
            self.refuse(f"the escape \\{letter}")
        self.at += 2
        self.add("character", characters.CONTROLS.get(letter, letter), letters)
        return False

    def set_source(self) -> str:
        start = self.at
        self.at += 1 + self.text.startswith("^", self.at + 1)
        first = self.at
        while not (self.next_is("]") and self.at > first):
            if self.at >= len(self.text):
                self.refuse("a [ that is not closed")
            if self.next_is("\\"):
                self.at += 2
            elif self.next_is("["):
                if not self.version1 or self.next_is("[:"):
                    self.refuse("a [ inside a set")
                self.set_source()
            elif self.text.startswith(characters.SET_OPERATORS, self.at) and not self.version1:
                self.refuse("a set operation without version 1")
            else:
                self.at += 1
        self.at += 1
        return self.text[start : self.at]

    def add(self, kind: str, source: str, letters: str) -> None:
        if "i" in letters and self.full_folding:  # "ß" would also match "ss", two characters
            self.refuse("the flag i with full case folding, as in version 1")
        letters = letters if kind == "set" else letters.replace("s", "")
        self.steps.append(("set", self.set(kind, source, letters), 0))

    def set(self, kind: str, source: str, letters: str) -> int:
        """Return the number of a set by its kind ("set" or "character"), its text, and the flags that hold."""
        if len(self.sets) > MAX_SETS:
            self.refuse(f"more than {MAX_SETS} different characters and sets")
        return self.sets.setdefault((kind, source, letters), len(self.sets))

    def ranges(self) -> list[Ranges]:
        cased = frozenset(source for kind, source, letters in self.sets if kind == "character" and letters)
        folded = characters.folded(cased) if cased else {}
        ranges: list[Ranges] = []
        for kind, source, letters in self.sets:
            if kind == "set":
                ranges.append(self.set_ranges(source, letters))
            elif letters:
                ranges.append(folded[source])
            else:
                ranges.append(((ord(source), ord(source) + 1),))
        return ranges

    def set_ranges(self, source: str, letters: str) -> Ranges:
        if "i" in letters or source == ".":
            return self.looked_up(f"(?{letters}:{source})")
        known = characters.members(source if source.startswith("[") else f"[{source}]")
        if known is None:
            return self.looked_up(source)
        classes = [span for name in known.classes for span in self.looked_up(name)]
        ranges = characters.joined([*classes, *known.ranges])
        if not known.negated:
            return ranges
        # `regex` has a rule of its own where a class and its opposite are excluded, such as `[^\\s\\S]`.
        is_odd = len(known.classes) > 1 and ranges == characters.ALL
        return self.looked_up(source) if is_odd else characters.opposite(ranges)

    def looked_up(self, source: str) -> Ranges:
        """Return the code points that an expression for one character matches, by asking `regex`.

        A look-up tries all code points on all members: 1,000 members take half a second.
        """
        source = f"{'(?V1)' if self.version1 else '(?V0)'}{source}"
        if source not in self.characters:
            self.cost += _COST_OF_LOOKUP + len(source)
            if self.cost > _MAX_COST:
                self.refuse("sets of too many classes, or of too many letters in either case")
            self.characters[source] = characters.matched(source)
        return self.characters[source]
