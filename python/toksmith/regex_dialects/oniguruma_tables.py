"""What Oniguruma's escapes, properties and anchors stand for, written for `regex`; used by `from_oniguruma`."""

from __future__ import annotations

# Word characters in the tables of Oniguruma: outside of classes they include six Latin-1 numbers; joiners are never
# word characters.
WORD_IN_CLASS = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}"
WORD = WORD_IN_CLASS + r"\xb2\xb3\xb9\xbc-\xbe"
HEX = "0-9A-Fa-f"

CATEGORIES = frozenset(
    "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp".split()  # noqa: SIM905
)
SCRIPTS = frozenset(
    "Arabic Armenian Bengali Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Han Hangul Hebrew "  # noqa: SIM905
    "Hiragana Kannada Katakana Khmer Lao Latin Malayalam Mongolian Myanmar Sinhala Tamil Telugu Thai Tibetan".split()
)
CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "e": "\x1b"}
LINE_START = r"(?:\A|(?<=\n)(?!\Z))"
LINE_END = r"(?=\n|\Z)"
ANCHORS = {
    "A": r"\A",
    "z": r"\Z",
    "Z": r"(?=\n?\Z)",
    "b": f"(?:(?<=[{WORD}])(?![{WORD}])|(?<![{WORD}])(?=[{WORD}]))",
    "B": f"(?:(?<=[{WORD}])(?=[{WORD}])|(?<![{WORD}])(?![{WORD}]))",
}
TYPES = {"s": r"\s", "d": r"\p{Nd}", "w": WORD_IN_CLASS, "h": HEX}
# Pairs of letters that a single character folds to.
FOLDED = ("ss", "ff", "fi", "fl", "st")
# Other characters that fold to a letter.
OTHER_CASES = {"s": r"\u017F", "k": r"\u212A"}
