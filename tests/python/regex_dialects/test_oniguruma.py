"""The translation of Oniguruma's patterns: each construct in both engines, and what is refused."""

import functools
import itertools
import random
from collections.abc import Iterable

import pytest
import regex
from huggingface_cases import DEEPSEEK, split

from toksmith import _core, patterns

PATTERNS = [
    patterns.CL100K_OLD,
    patterns.QWEN2,
    patterns.O200K,
    DEEPSEEK,
    r"\p{N}{1,3}+|x$",
    r"^a|b$",
    r"\b\w+\b|\W+",
    r"\Ba",
    r"\bk",
    r"[a-c&&[^b]]+",
    r"[^a-c&&[^b]]",
    r"[a-d&&b-k&&[^c]]",
    r"[\p{L}&&[^\p{Han}]]+",
    r"[a[bc]\d]+",
    r"[^a[bc]\d]+",
    r"(?=(\d{3})+(?!\d))",
    r"\d{1,3}(?=(?:\d{3})*\b)",
    r"a*",
    r"a*?",
    r"x?|b",
    r"(a|)b",
    r"$",
    r"^",
    r"\b",
    r"(?<=a)b|c\Z",
    r"(?<!a)b|\z",
    r"\Aa|b\z",
    r".+",
    r"(?i)[sk]a|B",
    r"(?i:a(?-i:b)c)",
    r"(?i:[a-k-])1|'ll",
    r"[^\W\d]",
    r"[\S\n]",
    r"[\D\s]+",
    r"[^\s\S]|a",
    r"[^b\p{L}\P{L}]|a",
    r"(?<!b)(?:[^a]|[^b]|.)",
    r"(?<!b)(?:c[^aa]|c[^b])|[[^a][^k]]\B",
    r"(?<![^\d\D])a",
    r"(?<!(?<!b))a",
    r"[\P{L}\p{^N}]",
    r"a{,2}b",
    r"a{2}",
    r"a{2,}?b",
    r"a{1,2}{2}",
    r"a+{2}",
    r"(?:ab){1,2}?",
    r"(?>a+)b",
    r"a++b?+c*+",
    r"(?:a|b)++c",
    r"é|\u00e9|\x41|\x{1F600}",
    r"\P{L}+",
    r"\p{^L}+",
    r"[\h-]+",
    r"[a-]|[-a]",
    r"[.+*()|$]",
    r"\.\*\[\]\-\/\'",
    r"\s+$",
    r"\s++$",
    r"[^\r\n]*[\r\n]+|\t\f",
    r"[一-龥぀-ゟ゠-ヿ]+",
    r"[A-Z][a-z]+|[A-Z]+(?![a-z])",
    r"(?m)a.b|.",
    r"(?m:a.)b|(?im:K.)",
    r"(?m-i:[a-c].)|(?-m:x.*)",
    r"(?mi)(?-i:a.)k",
    r"(?m:.*)a",
    r"(?m:.*?b)",
    r"\R",
    r"\R+a?|\n\R",
    r"(?:\r|\R)b|\R{2}",
    r"[[:alpha:]\d]+|[[:^space:]]",
    r"[^[:alnum:][:punct:]]+",
    r"[[:word:]&&[:^ascii:]]",
    r"^.*b|\A.+c",
    r"^(?!a).*b",
    r"(?:^|\A).*b|(?:a|b\B).+k",
    r"\B.{1,3}b|(?=[^a]).?b",
    r"(?!a).*?b|(?<=a).+?c",
    r"x{0}.*b",
    r"(?=.*b)a",
    r"\Ba?.*b",
]
ALPHABET = "①Ⅷ¼aabbcckxABKS  \n\n\r\t12345_'-.ssklſK,+*[]é😀中アあ\u24b6\u0301²\u200d\u00ad\u00a0\x1c"


@pytest.mark.parametrize("pattern", PATTERNS)
def test_both_engines_find_the_same(pattern: str) -> None:
    translated, is_nullable = _core.from_oniguruma(pattern)
    theirs, ours = split(pattern), regex.compile(translated)
    rng = random.Random(pattern)
    for _ in range(1500):
        text = "".join(rng.choices(ALPHABET, k=rng.randrange(1, 14)))
        expected = [span for _, span in theirs.pre_tokenize_str(text)]
        spans = list(matches(ours, text))
        assert pieces(spans, len(text)) == expected, (pattern, translated, text)
        assert is_nullable or all(start < end for start, end in spans)


def matches(pattern: "regex.Pattern[str]", text: str) -> list[tuple[int, int]]:
    """Matches with empty ones, as the onig crate's iterator finds them."""
    found: list[tuple[int, int]] = []
    at, last = 0, -1
    while at <= len(text) and (match := pattern.search(text, at)):
        start, end = match.span()
        if start == end == last:
            at += 1
            continue
        found.append((start, end))
        at = last = end
    return found


def pieces(spans: list[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    cuts = sorted({0, length, *(at for span in spans for at in span)})
    return list(itertools.pairwise(cuts))


@pytest.mark.parametrize("share", [pytest.param(41, id="some"), pytest.param(1, id="every", marks=pytest.mark.long)])
@pytest.mark.parametrize("pattern", [r"\w", r"\W", r"[\w]", r"[^\w]", r"[\W\d]", r"\s", r"[^\s]", r"\d", r"\h", r"."])
def test_code_points_have_their_class(pattern: str, share: int) -> None:
    # Of those that Oniguruma's Unicode has; each between two line ends. All below the Han, one in so many above.
    found = regex.compile(_core.from_oniguruma(pattern)[0])
    theirs = split(pattern, "removed", True)
    assigned = [c for c in EVERY if c not in unassigned() and c != "\n" and (c < "\u3400" or ord(c) % share == 0)]
    for start in range(0, len(assigned), 1000):
        part = assigned[start : start + 1000]
        there = {c for piece, _ in theirs.pre_tokenize_str("\n".join(part)) for c in piece}
        assert {c for c in part if found.match(c)} == there - {"\n"}, pattern


POSIX = [
    "alnum",
    "alpha",
    "ascii",
    "blank",
    "cntrl",
    "digit",
    "graph",
    "lower",
    "print",
    "punct",
    "space",
    "upper",
    "word",
    "xdigit",
]


@pytest.mark.parametrize("name", POSIX)
def test_posix_brackets_have_their_characters(name: str, one_in: int) -> None:
    assigned = "".join(sorted(set(EVERY[:0x3400] + EVERY[0x3400 :: one_in**2]) - unassigned()))
    for pattern in (f"[[:{name}:]]", f"[^[:^{name}:]a]", f"(?i:[[:{name}:]])"):
        theirs = {c for piece, _ in split(pattern, "removed", True).pre_tokenize_str(assigned) for c in piece}
        ours = regex.findall(_core.from_oniguruma(pattern)[0], assigned)
        assert set("".join(ours)) == theirs, pattern


@functools.cache
def unassigned() -> set[str]:
    """The characters that Oniguruma's Unicode does not have."""
    return set("".join(piece for piece, _ in split(r"\p{Cn}", "removed", True).pre_tokenize_str(EVERY)))


EVERY = "".join(chr(code) for code in range(0x34000) if not 0xD800 <= code < 0xE000)


@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        (r"(?<name>a)", r"\(\?<n"),
        (r"a\1", "escape"),
        (r"\R|\K", r"escape \\K"),
        (r"\X", r"escape \\X"),
        (r"\G", r"escape \\G"),
        (r"(?s:a.b)", "group"),
        (r"(?im)a(?m)", "group"),
        (r"(?x) a", "group"),
        (r"(?#c)", "group"),
        (r"(?~ab)", "group"),
        (r"a(?i)b", "group"),
        (r"[[:foo:]]", "POSIX"),
        (r"[[:Alpha:]]", "POSIX"),
        (r"[[:alpha]]", "POSIX"),
        (r"\p{Alphabetic}", "property"),
        (r"\pL", "property"),
        (r"\B.*b", "repeated dot behind an assertion"),
        (r"(?=[^a])(?:.+b|c)", "repeated dot behind an assertion"),
        (r"(?:^|\B).*b", "repeated dot behind an assertion"),
        (r"\Bx{0}.{2,}b", "repeated dot behind an assertion"),
        (r"(?!a)(?:.?)*b", "repeated dot behind an assertion"),
        (r"(?<=a)(?:.*?)?b", "repeated dot behind an assertion"),
        (r"^(?m:.*)b", "repeated dot behind an assertion"),
        (r"a{2}?", "optional there"),
        (r"a{x}", "brace"),
        (r"a{5,2}", "quantifier"),
        (r"a{100001}", "quantifier"),
        (r"\b+", "quantifier"),
        (r"(?=a)*", "quantifier"),
        (r"*a", "quantifier"),
        (r"(?<!(?<!))a", "may be empty inside another"),
        (r"(?<!b|(?<!a|))a", "may be empty inside another"),
        (r"(?<=a(?>a|))a", r"\(\?> inside a look behind"),
        (r"(?<=\bb*)a", "in a look behind that may be empty"),
        (r"(?<!b?\B)a", "in a look behind that may be empty"),
        (r"(?<=\R)a", r"\\R inside a look behind"),
        (r"(?<!b|a?+a)a", r"\?\+ inside a look behind"),
        (r"(?<!\ba??)a", r"\?\? inside a look behind"),
        (r"(?<=\ba{1,2}?)a", r"\{1,2\}\? inside a look behind"),
        (r"[]a]", "class"),
        (r"[a", "class without an end"),
        (r"[b-a]", "range"),
        (r"[a-\d]", "range"),
        (r"[a&&]", "empty side"),
        (r"(a", "group without an end"),
        (r"a)", "closing bracket"),
        (r"\x80", "escape"),
        (r"\x{110000}", "escape"),
        (r"\ud800", "escape"),
        (r"\101", "escape"),
        ("a\\", "escape"),
        ("(" * 60 + "a" + ")" * 60, "inside each other"),
        ("[" * 60 + "a" + "]" * 60, "inside each other"),
        ("(" * 10**6, "more than"),
    ],
)
def test_what_has_no_equal_is_refused(pattern: str, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        _core.from_oniguruma(pattern)


def found_alike(pattern: str, texts: Iterable[str]) -> bool:
    """Whether both engines read a pattern, which then find the same in all texts."""
    try:
        translated, _ = _core.from_oniguruma(pattern)
        theirs = split(pattern)
    except Exception:
        return False
    ours = regex.compile(translated)
    for text in texts:
        expected = [span for _, span in theirs.pre_tokenize_str(text)]
        assert pieces(list(matches(ours, text)), len(text)) == expected, (pattern, translated, text)
    return True


def test_random_patterns_never_mean_something_else() -> None:
    """Strings of symbols: what both read, both find alike."""
    symbols = [
        *"ab1 ",
        "[ab]",
        "[^a]",
        "\\s",
        "\\d",
        "\\w",
        "(?:",
        "(?=",
        "(?!",
        "(",
        ")",
        "|",
        "*",
        "+",
        "?",
        "{1,2}",
        "$",
        "^",
    ]
    rng = random.Random(5)
    read = 0
    for _ in range(6000):
        pattern = "".join(rng.choices(symbols, k=rng.randrange(1, 9)))
        read += found_alike(pattern, ("".join(rng.choices("ab1 \n", k=rng.randrange(1, 9))) for _ in range(6)))
    assert read > 300


def test_looks_inside_each_other_never_mean_something_else() -> None:
    """Groups around groups, of all kinds: what both read, both find alike in all short texts."""
    kinds = ["(?<!", "(?<=", "(?!", "(?=", "(?:", "(?>"]
    atoms = ["", "a", "b", "a|", "|a", r"[^\s\S]", "^", "$", r"\b", "a?", "a??", "a?+"]
    rng = random.Random(6)
    texts = ["".join(letters) for size in (1, 2, 3, 4) for letters in itertools.product("ab\n", repeat=size)]

    def group(depth: int) -> str:
        inner = [rng.choice(atoms), *([group(depth - 1)] if depth else [])]
        rng.shuffle(inner)
        return rng.choice(kinds) + rng.choice(["", "|"]).join(inner) + ")"

    read = 0
    for _ in range(1500):
        pattern = group(rng.randrange(4)) + rng.choice(["a", "[ab]+", "."])
        read += found_alike(pattern, texts)
    assert read > 500


def test_repeated_dots_never_mean_something_else() -> None:
    """Dots behind assertions, options and empty parts: what both read, both find alike in all short texts."""
    symbols = [
        ".*",
        ".+",
        ".",
        ".*?",
        ".{2,}",
        "(?m:",
        "(?im:",
        "(?:",
        "(?=",
        "(?!",
        "(?<=",
        "(?<!",
        "(?>",
        ")",
        ")",
        "|",
    ]
    symbols += ["^", r"\A", r"\B", r"\b", "$", "a", "b", "[^a]", "x{0}", "?", "*", "{0}", r"\R"]
    rng = random.Random(7)
    texts = ["".join(letters) for size in (1, 2, 3, 4) for letters in itertools.product("ab\n", repeat=size)]
    read = sum(found_alike("".join(rng.choices(symbols, k=rng.randrange(2, 9))), texts) for _ in range(3000))
    assert read > 200
