"""Each construct of fancy-regex's dialect, in tiktoken and, translated, in `regex`."""

import functools
import random

import pytest
import regex
import tiktoken
from tiktoken_pieces import fixed

from toksmith import Encoding, _core, patterns

TRANSLATED = r"""
a(?i)b|c
(?:a(?i)b|c)d
(?i-s)a(?s-i).b
\h+
\H+
[\h]
[^\h]+
[^\s\S]|a
[\hz]+
\R\n|.
\R+
\N+
\O+
\e|\a|\f|\v
\s+$
a$
(?m)a$
(?m)^a
(?m:^a|b$)
^a
\Aa
a\z
a\Z
(?s).
.
(?sm)^.$
(?s:a.b)
[a-z&&[^aeiou]]+
[a-z--[aeiou]]+
[a-g~~[e-z]]+
[^a-z&&[^aeiou]]+
[a-z&&[^aeiou]--[xyz]]+
[\w&&[^\d]]+
[\p{L}&&[^\p{Han}\p{Hiragana}]]+
[^\p{L}\p{N}\s]+
[ab&&b]
[a&b~c]+
[[:alpha:]]+
[[:^alpha:]]+
[^[:alpha:]]+
[[:punct:][:digit:]]+
[[:space:]]|[[:blank:]]
[[:alnum:]]+|[[:cntrl:]]
[[:print:]&&[:^graph:]]|[[:xdigit:]]
[[:upper:]]|[[:lower:]]|[[:ascii:]]|[[:word:]]
(?i)[[:upper:]]+
[]a]+
[^]a]+
[a-]+
[-a]+
[--a]+
[a\-z]+
[a--b]+
[[a-c]x]+
[^[a-c]x]+
[a-b-c]
[^^]
[\^]
[\n\t\r]
[\x41-\x43]
[é-ü]
[:alpha:]
(?i)[a-k]+
(?i)[^a-k]+
(?i)[^\W\d]+
(?i:[i]+)x?
(?i)[İı]|i
(?i)[İé]+
(?i)[^ıé]+
(?i)[À-ſ]+
(?i)[İ-ı]+|[a-ſ--[ı]]
(?i)i+
(?i:straße)
(?i)ſs|K|å
(?i:ı|İ)
(?i:'s|'t|'re|'ve|'m|'ll|'d)
(?i:a(?-i:b))c
(?i)\d\w\s
(?i)a{2}|b+?c
a++b|.
a{1,3}+
a{2}
a{,2}b
a{1,}?
a{1,2}?b
(?>a+)b|.
(?<=a)b
(?<!a)b
(?<=\s|^)a
(?<=^a*)b
(?<=\A[ab]*)b
(?<=a*\b)\W
(?<=\b[ab]{2})b|\s
(?<=(?=a+)a)b
(?:\b)?a
[^\p{Lu}]+|(?<=x)(?i:s)k
[^\p{Ll}]+|(?<=x)(?i:s)k
[^\p{L}]+|(?<=x)(?i:s)k
\P{L}+|(?<=x)(?i:s)k
(?i)[^A-Z]|(?<=x)(?-i:a)
(?=a)|.
(?=\w)|[^a]|a
a*|.
a*?|b
a?+b{0,2}|.
a??|.
(?:a|b*)+|.
(?:a{0}|b?)*c?|.
(?>a*|b)|.
(a*)(?<n>b*)|.
|.
\b|.
$|.
x{0}|.
(?<=a)|.
(?!b)|.
(?<=[ab])|a|\W+
(?=ab)a
a(?!b)c?
(?<name>a)b
(?P<name>a)b
(a)(b)?
((a|b)+)c
(?#comment)a
\x41|\x{42}|\u0043|\u{44}|\U00000045
\u{1F600}
\p{L}+
\pL\PL
\p{^L}
\P{^L}
\p{Han}+
\p{Script=Greek}+
\p{sc=Latin}+
\p{scx=Hira}
\p{Latn}
\p{script=latn}
\p{Letter}
\p{Lowercase_Letter}
\p{gc=Lu}|\p{General_Category=Nd}
\p{Any}
\p{Assigned}
\p{ASCII}+
\p{Alphabetic}|\p{White_Space}
\p{Emoji}
\p{Lu}|\p{Lt}|\p{Lm}|\p{Lo}|\p{Nl}|\p{No}
\p{P}|\p{S}|\p{Z}|\p{C}
\bword\b
\Ba
\d+|\D
\w+|\W
\S+|\s
\.\*\+\?\(\)\[\]\{\}\^\$\|\\\/\-\#\ \&\~
\/|\"|\'|\%|\@|\_|:|!|=|<|>|,|;
é+| |#|~|&|-|"
[\r\n]+|[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t)?
""".strip().split("\n")  # fmt: skip

NOTHING = ("|.", "x{0}|.", "a*?|b", "a??|.")
"""Of these every match is empty."""

REFUSED = {
    r"(?x) a b": 'flag "x"',
    r"(?U)a+": 'flag "U"',
    r"(?:ab|\w??)*": "a quantifier without an end behind what may lazily match nothing",
    r"(?R)a": 'flag "R"',
    r"(?-u)a": 'flag "u"',
    r"\Ka": "keep out",
    r"\Ga": "last match ended",
    r"\X": "grapheme",
    r"(a)\1": "back reference",
    r"(?<n>a)\k<n>": "back reference",
    r"(?P<n>a)(?P=n)": "back reference",
    r"(a)\g<1>": "call of a group",
    r"(?(1)a|b)": "condition",
    r"(?|a)": "branch reset",
    r"(?~a)": "absent",
    r"(*FAIL)": "verb",
    r"(?&n)": "call of a group",
    r"(?i)\p{L}": "under (?i)",
    r"\p{L&}": "property",
    r"\p{InGreek}": "property",
    r"\p{Foo}": "property",
    r"\<a": "start of a word",
    r"\b{start}a": "\\b{…}",
    r"[\b]": "escape",
    r"\é": "escape",
    r"\cA": "escape",
    r"\y": "escape",
    r"\ud83d": "character",
    r"a{": 'bare "{"',
    r"*a": 'bare "*"',
    r"a**": "quantifier behind a quantifier",
    r"a{3,2}": 'quantifier "{3,2}"',
    r"^*": "no length",
    r"[z-a]": "range",
    r"[a-\d]": "range",
    r"[\d-z]": "range",
    r"[[:foo:]]": "class",
    r"[a&&]": "empty set",
    r"[a": "[ without its ]",
    r"(a": "( without its )",
    r"a)": ") that closes nothing",
    "a\\": "escape",
    r"(?#a": "comment",
    r"(?i-i)a": "says nothing",
    r"(a(?i)b)c": "the flags (?i) in a group that captures",
    r"(?=(?i)a)a": "the flags (?i) in a group that captures",
    r"(?>(?i)a)a": "the flags (?i) in a group that captures",
    r"(?<=\b[a-z]*)I": "a part of varying length behind an assertion",
    r"(?<!(?=a)b?)I": "a part of varying length behind an assertion",
    r"(?<=(?>a)b*)I": "a part of varying length behind an assertion",
}  # fmt: skip

ALPHABET = (
    "aAbBcCiIıİkKsſSzxXyé üßÅåÅKabcdefgh 09١\u00b2Ⅷ \n\r\t\v\f\x85\u2028'’\x1b\x07.*+?()[]{}^$|\\/-#&~_\"%@中文ひらが"
    "ナカΑαΩ😀🇨🇿\u0301\u0345\u200d<>:=!;,dDlLtTvVeErRmMʰǅª"
)


@functools.cache
def texts(times: int) -> list[str]:
    rng = random.Random(1)
    made = ["".join(rng.choice(ALPHABET) for _ in range(rng.randrange(1, 30))) for _ in range(5 * times)]
    made += ["".join(rng.choice("ab'\n i") for _ in range(rng.randrange(1, 12))) for _ in range(3 * times)]
    made += ["a", "ab", "a\n", "a\n\n", "\r\n\n", "a\r\n", "b", "\n", "aaaa", "aaab", "straße STRASSE", "word words"]
    made += [".*+?()[]{}^$|\\/-# &~", "Abc ABc abc"]
    return [fixed(text) for text in made]


@functools.cache
def ranks(times: int) -> dict[bytes, int]:
    """Tokens for all pairs of bytes that the texts have: a piece is cut where no pair is merged."""
    tokens = [bytes([byte]) for byte in range(256)]
    used = sorted({byte for text in texts(times) for byte in text.encode()})
    tokens += [bytes([left, right]) for left in used for right in used]
    return {token: rank for rank, token in enumerate(tokens)}


@pytest.mark.parametrize("times", [40, pytest.param(2000, marks=pytest.mark.long)])
@pytest.mark.parametrize("pattern", TRANSLATED)
def test_a_translated_pattern_cuts_as_the_original(pattern: str, times: int) -> None:
    translated = patterns.of_tiktoken_source(pattern).searched()
    # The empty token keeps tiktoken from a panic at a match without length.
    empty = len(ranks(times))
    tokens = ranks(times) | {b"": empty}
    theirs = tiktoken.Encoding("pairs", pat_str=pattern, mergeable_ranks=tokens, special_tokens={})
    matched = 0
    for text in texts(times):
        pieces = [found.group() for found in translated.finditer(text)]
        assert all(pieces) or pattern in patterns.SPELLINGS
        expected = [id for piece in pieces for id in theirs._encode_single_piece(piece)]
        assert expected == [id for id in theirs.encode_ordinary(text) if id != empty], (text, pieces)
        matched += bool(pieces)
    assert matched or pattern in NOTHING


@pytest.mark.parametrize("pattern", REFUSED)
def test_what_has_no_equal_is_refused_by_name(pattern: str) -> None:
    with pytest.raises(ValueError, match=regex.escape(REFUSED[pattern])) as raised:
        _core.from_fancy_regex(pattern)
    assert " at character " in str(raised.value)
    with pytest.raises(ValueError):
        Encoding("e", pat_str=pattern, mergeable_ranks={bytes([b]): b for b in range(256)}, special_tokens={})


def test_case_folding_of_every_letter() -> None:
    """`(?i)` with each cased character: the same characters match in both engines."""
    points = [point for point in range(0x110000) if not 0xD800 <= point < 0xE000]
    cased = [c for c in map(chr, points) if len({c, c.lower(), c.upper(), c.title(), c.casefold()}) > 1]
    every = fixed("".join(cased))
    bytes_alone = {bytes([byte]): byte for byte in range(256)}
    for at in range(0, len(every), 7):  # the rest is like its neighbours: of pairs and of alphabets
        character = every[at]
        pattern = f"(?i:\\x{{{ord(character):x}}})"
        theirs = tiktoken.Encoding("bytes", pat_str=pattern, mergeable_ranks=bytes_alone, special_tokens={})
        ours = "".join(regex.findall(_core.from_fancy_regex(pattern), every))
        assert ours.encode() == bytes(theirs.encode_ordinary(every)), character


def test_named_spellings_need_no_translation_but_have_one() -> None:
    for spelling in patterns.SPELLINGS:
        translated = regex.compile(_core.from_fancy_regex(spelling))
        original = regex.compile(spelling)
        for text in texts(40):
            assert translated.findall(text) == original.findall(text)


def test_depth_and_size() -> None:
    with pytest.raises(ValueError, match="nested too deep"):
        _core.from_fancy_regex("(" * 40_000)
    with pytest.raises(ValueError, match="nested too deep"):
        _core.from_fancy_regex("[" * 40_000)
    with pytest.raises(ValueError, match="has 100000 characters, more than 50000"):
        _core.from_fancy_regex("a" * 100_000)
    assert _core.from_fancy_regex("a" * 10_000) == "a" * 10_000
    assert _core.from_fancy_regex("[" * 90 + "a" + "]" * 90) == "[a]"
