"""Regular expressions and texts that are made by the choices of an input: most are valid in several dialects."""

from __future__ import annotations

from choices import Input

LETTERS = ["a", "b", "s", "k", "i", "A", "S", "K", "ß", "ſ", "é", "É", "中", "𐐨", "1", " ", "'", ".", "-", "x"]
ESCAPES = [r"\n", r"\r", r"\t", r"\.", r"\-", r"\x41", r"\x{e9}", r"\u00e9", r"\x{10428}"]
# Characters that fold to several, such sequences, and parts of them.
FOLDED = ["ss", "Ss", "ß", "ẞ", "fi", "ffi", "ﬀ", "ﬃ", "ſt", "ﬆ", "ʼn", "ŉ", "j\u030c", "ǰ", "i\u0307", "İ", "ı", "I",
"ΐ", "ι\u0308\u0301", "ᾳ", "αι", "ᾼ", "f", "t"]  # fmt: skip
# Grapheme clusters and line breaks, and parts of them.
CLUSTERS = ["\r\n", "\n", "\r", "\v", "\x85", "\u2028", "e\u0301", "\u0301", "\u200d", "😀", "👩\u200d💻", "👍🏽",
"🇩", "🇪", "ᄀ", "ᅡ", "ᆨ", "가", "각", "\u0600", "\u0903", "\u0915\u094d\u0937", "©", "\ufe0f"]  # fmt: skip
UNITS = [r"\X", r"\R"]
CLASSES = [r"\s", r"\S", r"\d", r"\D", r"\w", r"\W", r"\h", r"\H"]
PROPERTIES = [
    r"\p{L}", r"\p{Lu}", r"\p{Ll}", r"\p{Lt}", r"\p{M}", r"\p{N}", r"\p{P}", r"\p{Han}", r"\p{Latin}", r"\P{L}",
    r"\P{Lu}", r"\P{Ll}", r"\P{N}", r"\p{^L}", r"\p{^Ll}", r"\p{Z}", r"\p{Lo}",
]  # fmt: skip
RANGES = ["a-k", "A-Z", "0-9", "à-ý", "一-龥", "s-x", "𐐀-𐑏"]
POSIX = ["[:alpha:]", "[:^alpha:]", "[:upper:]", "[:space:]", "[:punct:]", "[:lower:]", "[:^graph:]", "[:print:]",
"[:word:]", "[:alnum:]", "[:blank:]", "[:cntrl:]", "[:digit:]", "[:^xdigit:]", "[:ascii:]"]  # fmt: skip
DOTS = [".*", ".+", "(?m:.*)", "(?:.*)", "(?im:.+)"]
ANCHORS = ["^", "$", r"\b", r"\B", r"\A", r"\z", r"\Z"]
GROUPS = ["(?:", "(?:", "(", "(?>", "(?i:", "(?i:", "(?-i:", "(?s:", "(?m:", "(?i-s:", "(?<n>", "(?sm:", "(?mi:",
"(?m-i:"]  # fmt: skip
LOOKS = ["(?=", "(?!", "(?<=", "(?<!"]
REPEATS = ["?", "*", "+", "{2}", "{1,2}", "{,2}", "{0,2}", "{2,}"]
# What most engines read differently, or not at all.
ODD = [
    r"\K", r"\G", r"\N", r"\O", r"\1", r"\k<n>", "(?x:a b)", "(?(1)a|b)", "(?~a)", "(?#a)",
    r"\b{start}", "(?i)", "(?s)", "(?-i)", "(?m)", "(?U)", r"\Qa\E", "(?|a|b)", r"\p{^Lu}", r"\pL", "(*FAIL)", r"\<",
    "[]a]", "[^]a]", "[--a]", "[a-]", "[[a]b]", "{", "a{2}{2}", "",
]  # fmt: skip


class Maker:
    """Makes a pattern, and texts that it has something to match in."""

    def __init__(self, input: Input) -> None:
        self.input = input
        self.size = 0

    def pattern(self) -> str:
        """Return a pattern of one to four alternatives."""
        return self.alternatives(3, 4)

    def alternatives(self, depth: int, most: int) -> str:
        return "|".join(self.sequence(depth) for _ in range(1 + self.input.below(most)))

    def sequence(self, depth: int) -> str:
        return "".join(self.part(depth) for _ in range(self.input.below(4) + (self.input.below(8) > 0)))

    def part(self, depth: int) -> str:
        self.size += 1
        kind = self.input.below(32)
        if kind < 2:
            return self.input.pick(FOLDED) + self.repeat()
        if self.size > 24 or kind < 8:
            return self.input.pick(LETTERS).replace(".", r"\.") + self.repeat()
        if kind < 12:
            return self.input.pick([*CLASSES, *UNITS, ".", *ESCAPES]) + self.repeat()
        if kind < 16:
            return self.input.pick(PROPERTIES) + self.repeat()
        if kind < 20:
            return self.set(2) + self.repeat()
        if kind < 22:
            return self.input.pick([*ANCHORS, *DOTS])
        if kind == 22:
            return self.input.pick(ODD)
        if depth == 0:
            return "a"
        opening = self.input.pick(LOOKS if kind < 26 else GROUPS)
        inner = self.alternatives(depth - 1, 3)
        return f"{opening}{inner})" + (self.repeat() if kind >= 26 else "")

    def repeat(self) -> str:
        kind = self.input.below(16)
        if kind < 8:
            return ""
        return self.input.pick(REPEATS) + ("" if kind < 12 else "?" if kind < 14 else "+")

    def set(self, depth: int) -> str:
        negation = "^" if self.input.below(2) else ""
        members = [self.member(depth) for _ in range(1 + self.input.below(4))]
        return f"[{negation}{''.join(members)}]"

    def member(self, depth: int) -> str:
        kind = self.input.below(16)
        if kind < 2:
            return self.input.pick(FOLDED)
        if kind < 5:
            return self.input.pick(LETTERS).replace("-", r"\-")
        if kind < 8:
            return self.input.pick(RANGES)
        if kind < 12:
            return self.input.pick([*CLASSES[:6], *PROPERTIES])
        if kind == 12:
            return self.input.pick(ESCAPES)
        if kind == 13:
            return self.input.pick(POSIX)
        if depth == 0:
            return "a"
        operator = self.input.pick(["&&", "&&", "", "", "--", "~~"])
        return operator + self.set(depth - 1)

    def text(self, alphabet: list[str], most: int = 14) -> str:
        """Return a text of a few different characters, some of them from `alphabet`."""
        kinds = [alphabet, alphabet, alphabet, LETTERS, FOLDED, CLUSTERS]
        few = [self.input.pick(self.input.pick(kinds)) for _ in range(1 + self.input.below(6))]
        return "".join(self.input.pick(few) for _ in range(self.input.below(most)))
