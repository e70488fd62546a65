"""Patterns of Oniguruma without regard to case: every cased character, and sequences that one character folds to."""

import random

import pytest
import regex
from huggingface_cases import split

from toksmith import _core
from toksmith._internal import characters

RANGES = characters.matched(r"[\p{Lu}\p{Ll}\p{Lt}\p{CWCM}\p{CWCF}]")
CASED = "".join(chr(code) for start, end in RANGES for code in range(start, end))
UNFOLDINGS: dict[str, str] = {}
for letter in CASED:
    if len(letter.casefold()) > 1:
        UNFOLDINGS[letter.casefold()] = UNFOLDINGS.get(letter.casefold(), "") + letter
SEQUENCES = [form for key in UNFOLDINGS for form in (key, key.upper(), key.title())]


def compare(pattern: str, text: str) -> None:
    """Compare the matches of both engines in a text."""
    expected = [span for _, span in split(pattern, "removed", True).pre_tokenize_str(text)]
    found = regex.finditer(_core.from_oniguruma(pattern)[0], text)
    assert [match.span() for match in found if match[0]] == expected, (pattern, text)


def assigned() -> list[str]:
    """The cased characters that Oniguruma's Unicode has."""
    theirs = "".join(piece for piece, _ in split(r"\p{Cn}", "removed", True).pre_tokenize_str(CASED))
    return [character for character in CASED if character not in theirs]


def test_characters_fold_to_several_as_in_unicode() -> None:
    assert sum(map(len, UNFOLDINGS.values())) == 104
    assert {len(key) for key in UNFOLDINGS} == {2, 3}


@pytest.mark.parametrize("step", [pytest.param(67, id="some"), pytest.param(1, id="every", marks=pytest.mark.long)])
@pytest.mark.parametrize("form", ["{}", "[{}]", "[^{}]", "(?<={})\n", "(?<![{}])\n"])
def test_characters_match_their_cases(form: str, step: int) -> None:
    letters = assigned()
    text = "\n".join([*letters, *SEQUENCES])
    folding = {character for unfoldings in UNFOLDINGS.values() for character in unfoldings}
    for letter in letters:
        if letter in folding or letter in "iIıskKſ" or ord(letter) % step == 0:
            compare(f"(?i:{form.format(letter)})", text)


@pytest.mark.parametrize(
    "pattern",
    [r"[\w]", r"[^\W]", r"[\W]", r"[à-ý]", r"[\x{0}-\x{10ffff}]", r"\p{Lu}", r"\w", r"[[^a-z]&&\p{L}]", r"[^\p{Lt}]",
     r"[\p{Lu}&&[^A-Z]]", r"[[^ß]]", r"[^[^ß]]", r"[^[:upper:]]", r"[ß&&[:lower:]]"],
)  # fmt: skip
def test_classes_are_folded_as_a_whole(pattern: str) -> None:
    text = "\n".join([*assigned(), *SEQUENCES])
    compare(f"(?i:{pattern})", text)
    compare(f"(?i)^{pattern}$", text)


@pytest.mark.parametrize(
    "pattern",
    ["ss", "sss", "ffi", "ﬀi", "sß", "(?:s)s", r"s\x73", "s{1}s", "s{1}{1,1}s", "s(?:s)", "s(?:sa){1}", "(?:(?:s))s",
     "(?:(?:s)s)s", "(?:a{1}s)s", "(?:as{1})s", "(s)s", "(?i:s)s", "s(?:)s", "sx{0}s", "s{2}", "s{1}{2}", "s(?:s)+",
     "(?:[a]s)s", "s(?:s[a]s)s", "s(?:sa+)", "(?:s(?:sa*)s)s", "s(?:(?:s|a)s)s",
     "[s]s", "(?:s|s)s", "(?>s)s", "s(?=)s", "ass+", "ß+", "ß{2}", "(?-i:s)s", "(?-i:(?i:ss)s)", "ʼn",
     "j\u030c", "i\u0307", "İ", "ı", "ι\u0308\u0301", "(?<=ss)a", "(?<=[ß])a", "(?<!ß)a", "(?<=sß)a", "(?=ss).a",
     "(?m:ss.)", "st|ſt", "[sﬃ]+", "[ﬀﬃ]i", r"\bß\b", "(?:ß)?a", "(?:ss)*a"],
)  # fmt: skip
def test_literals_together_match_what_folds_to_them(pattern: str, one_in: int) -> None:
    rng = random.Random(pattern)
    few = [*"sSſßẞafitnﬀﬁﬃﬆʼŉjǰiIİıι", "\u030c", "\u0307", "\u0308", "\u0301", "ΐ", "ss", "ffi", " ", "\n"]
    for _ in range(300 // one_in):
        compare(f"(?i:{pattern})", "".join(rng.choices(few, k=rng.randrange(1, 12))))


def test_random_sequences_match_what_folds_to_them(one_in: int) -> None:
    rng = random.Random(0)
    few = [*UNFOLDINGS, *"".join(UNFOLDINGS.values()), *"".join(UNFOLDINGS)]
    for _ in range(2000 // one_in):
        literals = [rng.choice(few) for _ in range(rng.randrange(1, 4))]
        near = [*literals, *(c for one in literals for c in (one.upper(), one.casefold(), UNFOLDINGS.get(one, one)))]
        compare(f"(?i:{''.join(literals)})", "".join(rng.choices(near, k=rng.randrange(1, 9))))


def both_read(pattern: str) -> bool:
    """Whether both engines read a pattern, and it takes characters: `compare` knows no empty matches."""
    try:
        split(pattern)
        return not _core.from_oniguruma(pattern)[1]
    except Exception:
        return False


def test_random_patterns_never_mean_something_else(one_in: int) -> None:
    """Strings of symbols: what both read, both find alike."""
    symbols = [
        *"sssSfit",
        "ß",
        "ſ",
        "ﬁ",
        "ﬀ",
        "ffi",
        "i\u0307",
        "İ",
        "ΐ",
        "(?:",
        "(?:",
        "(?:",
        "(?i:",
        "(?-i:",
        "(",
        "(?>",
    ]
    symbols += [
        "(?<=",
        "(?=",
        "(?!",
        ")",
        ")",
        ")",
        "|",
        "[sß]",
        "[^s]",
        "[^ß]",
        "[ﬀf]",
        "{1}",
        "{1}",
        "{2}",
        "?",
        "+",
    ]
    few = [*"sSſßẞfitﬀﬁﬃﬆiIİ", "i\u0307", "ΐ", "ι\u0308\u0301", "ss", "ffi", " "]
    rng = random.Random(8)
    read = 0
    for _ in range(2500 // one_in):
        pattern = "(?i)" + "".join(rng.choices(symbols, k=rng.randrange(2, 8)))
        pattern += ")" * max(0, pattern.count("(") - pattern.count(")"))
        if both_read(pattern):
            read += 1
            for _ in range(6):
                compare(pattern, "".join(rng.choices(few, k=rng.randrange(1, 7))))
    assert read > 400 // one_in
