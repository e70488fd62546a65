"""Compiled patterns against the `regex` package: random patterns, published ones, hostile ones."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import regex

import toksmith
from toksmith import _core, patterns, reference
from toksmith._internal import characters

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
DATA = ROOT / "tests/data"

# Text that comes with the project.
ENGLISH = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md")))

CHARACTERS = "aZsſtßkKiIıİ1²٣ '’.,/\n\r\t\u2003\u3000漢あกéÉ\u0301ǅʰªⅣ😀\u200d\x00\U000e0001"


# Kept, so that it is not made anew for each pattern.
ALL = characters.all_characters()


def automaton(source: str, flags: int = 0) -> _core.CompiledPattern:
    """Return the compiled pattern; raises if it cannot be compiled."""
    return _core.CompiledPattern(source, regex.compile(source, flags).flags)


def expected(source: str, text: str, flags: int = 0, keep: bool = False) -> list[tuple[int, int]]:
    """Return matches of `regex` in characters; with `keep` also what lies between them."""
    found, end = [], 0
    for match in patterns.of_source(source, flags, "keep").searched().finditer(text):
        if match.start() == match.end():
            continue
        if keep and match.start() > end:
            found.append((end, match.start()))
        found.append(match.span())
        end = match.end()
    if keep and end < len(text):
        found.append((end, len(text)))
    return found


def in_characters(ranges: list[tuple[int, int]], text: str) -> list[tuple[int, int]]:
    """Return ranges of bytes as ranges of characters."""
    widths = itertools.accumulate((len(char.encode("utf-8", "surrogatepass")) for char in text), initial=0)
    places = {at: number for number, at in enumerate(widths)}
    return [(places[start], places[end]) for start, end in ranges]


def check(source: str, compiled: _core.CompiledPattern, text: str, flags: int = 0) -> None:
    """Compare matches, the text between them, and cuts of one text."""
    data = text.encode()
    for keep in (False, True):
        core = _core.Pretokenizer(compiled, unmatched="keep" if keep else "drop")
        found = core.ranges(data)
        assert in_characters(found, text) == expected(source, text, flags, keep), (source, text, keep)
        for cut in core.cuts(data)[:5]:
            behind = [(start + cut, end + cut) for start, end in core.ranges(data[cut:])]
            assert core.ranges(data[:cut]) + behind == found, (source, text, cut)


class Maker:
    """Makes random patterns of the kind that tokenizers have, and others."""

    SETS = (r"\p{L}", r"\p{N}", r"\s", r"\S", r"\w", r"[^\s\p{L}\p{N}]", r"[\r\n]", r"[^\r\n\p{L}\p{N}]", ".", "[sS]")
    MORE = (r"[\p{Lu}\p{Lt}\p{M}]", r"[\p{Ll}\p{Lo}\p{M}]", r"\p{Han}", "[a-z]", r"[^a-zé]", r"\P{L}", r"[^\S\n]")
    WORDS = ("'s", "'ll", " ", "'", "a", "st", "1", r"\r", r"\n", r"\x20", r"\u6f22", "k", "i", "ss")

    COUNTS = ("", "", "+", "+", "*", "?", "{1,3}", "{2,}")

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def pattern(self) -> str:
        return "|".join(self.sequence(2) for _ in range(self.random.randint(1, 5)))

    def sequence(self, depth: int) -> str:
        return "".join(self.part(depth) for _ in range(self.random.randint(1, 4)))

    def part(self, depth: int) -> str:
        choice = self.random.random()
        if choice < 0.5 or depth == 0:
            return self.random.choice(self.SETS + self.MORE) + self.repeat(
                ("", "", "+", "+", "*", "?", "{1,3}", "{2,}")
            )
        if choice < 0.65:
            return self.random.choice(self.WORDS)
        if choice < 0.75:
            return self.random.choice(("(?=", "(?!")) + self.random.choice((*self.SETS, r"\s|\Z", r"\Z")) + ")"
        if choice < 0.76:
            return self.random.choice(("$", r"\Z"))
        opening = self.random.choice(("(?:", "(?:", "(", "(?i:", "(?s:", "(?-i:", "(?P<name>"))
        inner = "|".join(self.sequence(depth - 1) for _ in range(self.random.randint(1, 3)))
        return f"{opening}{inner})" + self.repeat(("", "", "", "+", "?", "{2}"), possessive=False)

    def repeat(self, counts: tuple[str, ...], possessive: bool = True) -> str:
        count = self.random.choice(counts)
        return count + (self.random.choice(("", "", "", "?", "+" if possessive else "")) if count else "")

    def text(self) -> str:
        return "".join(self.random.choices(CHARACTERS, k=self.random.randint(1, 14)))


def check_random(seed: int, patterns: int, texts: int, longest: int) -> None:
    make = Maker(seed)
    compiled = 0
    for _ in range(patterns):
        source = make.pattern()
        flags = make.random.choice((0, 0, 0, regex.I, regex.S))
        if len(source) > longest:
            continue
        try:
            found = automaton(source, flags)
        except ValueError:  # of `regex` too: a name that is given twice
            continue
        compiled += 1
        for _ in range(texts):
            check(source, found, make.text(), flags)
    assert compiled > patterns // 4


@pytest.mark.parametrize("seed", range(4))
def test_random_patterns_match_as_regex(seed: int) -> None:
    # Of the longer ones most have too many states, which takes long to find out.
    check_random(seed, 150, 10, 160)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 150))
def test_thousands_of_random_patterns_match_as_regex(seed: int) -> None:
    check_random(seed, 400, 30, 10_000)


def _published() -> Iterator[tuple[str, str]]:
    """Yield the expressions of published pipelines as `regex` reads them, without those that have a scanner."""
    for row in json.loads((DATA / "published_patterns.json").read_text(encoding="utf-8")):
        for number, stage in enumerate(row["stages"]):
            pattern = stage.get("pattern")
            text = pattern.get("Regex") if isinstance(pattern, dict) else pattern
            if text is None or "AFMoE" in text:
                continue
            if row["dialect"] == "tiktoken":
                text = _core.from_fancy_regex(text)
            elif row["dialect"] in ("huggingface", "llama.cpp"):
                text = _core.from_oniguruma(text)[0]
            yield f"{row['id']}-{number}", text


PUBLISHED = dict(_published())
# Parts that are not regular, or look further than one character.
IN_REGEX = {
    "laguna-0": "a lookahead at more than one character",
    "command-a-plus-0": "a look behind",
    "superbpe-1": "a lookahead at more than one character",
}
# Compiled, and too large for a bimachine.
LARGE = ("jais2-0", "clip-0", "nougat-0")


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_patterns_are_compiled(name: str) -> None:
    engine, reason = patterns.explain(PUBLISHED[name])
    if name in IN_REGEX:
        assert engine == "regex" and reason.startswith(IN_REGEX[name])
    else:
        assert engine in ("compiled", "scanner")
        assert ("too many" in reason) == (name in LARGE)


@pytest.mark.parametrize("name", [name for name in PUBLISHED if name not in IN_REGEX])
def test_published_patterns_match_as_regex(name: str, one_in: int) -> None:
    source, make = PUBLISHED[name], Maker(0)
    compiled = automaton(source)
    for _ in range(600 // one_in):
        check(source, compiled, make.text())
    # All texts of three of these, one of each class that published patterns tell apart.
    texts = ["".join(letters) for letters in itertools.product("aZ1 '.\n\u3000漢あ\u0301/", repeat=3)]
    for text in texts[::one_in]:
        check(source, compiled, text)
    # Long texts are read in windows.
    make.random.shuffle(texts)
    for first in range(0, len(texts), 700):
        check(source, compiled, "".join(texts[first : first + 700]))


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in PUBLISHED if name not in IN_REGEX])
def test_published_patterns_match_as_regex_on_all_texts_of_five(name: str) -> None:
    source = PUBLISHED[name]
    compiled = automaton(source)
    for letters in itertools.product("aZ1 '.\n漢\u0301", repeat=5):
        check(source, compiled, "".join(letters))


@pytest.mark.parametrize("name", toksmith.patterns.NAMED)
def test_compiled_spellings_match_as_the_scanners(name: str) -> None:
    compiled = automaton(patterns.NAMED[name])
    text = (ENGLISH[:200_000] + CHARACTERS * 50).encode()
    scanner = patterns.resolve(name).name
    assert _core.Pretokenizer(compiled).ranges(text) == _core.Pretokenizer(scanner).ranges(text)


def test_invalid_bytes_are_characters_of_their_own() -> None:
    source = r"\p{L}+|\s+|[^\s\p{L}]{1,2}"
    core = _core.Pretokenizer(automaton(source))
    make = random.Random(0)
    for _ in range(2000):
        data = bytes(make.choices(b"a \n\x80\xe6\xbc\xa2\xc3\xa9\xff\xed\xa0\xf0\x9f", k=make.randint(1, 12)))
        text = data.decode("utf-8", "surrogateescape")
        found = [len(text[:end].encode("utf-8", "surrogateescape")) for _, end in expected(source, text)]
        assert [end for _, end in core.ranges(data)] == found, data


@pytest.mark.parametrize("workers", [1, 3])
def test_a_tokenizer_of_a_compiled_pattern(workers: int, tmp_path: Path) -> None:
    pattern = r"[A-Z]?[a-z]+| ?\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]++|\s+(?!\S)|\s+"
    assert patterns.explain(pattern).engine == "compiled"
    text = ENGLISH[:300_000]
    tokenizer = toksmith.train(toksmith.count_pretokens(iter([text]), pattern=pattern, workers=workers), 600)
    pieces = regex.findall(pattern, text)
    counts = toksmith.train(toksmith.count_pretokens(iter(pieces), pattern=None, workers=workers), 600)
    assert tokenizer.merges == counts.merges
    ids = tokenizer.encode(text, workers=workers)
    assert ids == [id for piece in pieces for id in counts.encode(piece)]
    assert list(tokenizer.encode_iterable(text[at : at + 7] for at in range(0, len(text), 7))) == ids
    file = tmp_path / "text.txt"
    file.write_text(text, encoding="utf-8", newline="")
    assert tokenizer.encode_file(file, workers=workers).tolist() == ids


def test_a_stream_does_not_wait_for_the_end() -> None:
    tokenizer = toksmith.train(iter(["a b"]), 256, pattern=r" ?[a-z]+|\s+")

    def texts() -> Iterator[str]:
        yield "one two three "
        raise LookupError

    stream = tokenizer.encode_iterable(texts())
    assert [next(stream) for _ in range(7)] == list(b"one two")


# Patterns on which engines that backtrack take exponential or quadratic time: from the literature on such attacks.
HOSTILE = [
    (r"(?:a+)+b|a", "a"),
    (r"(?:a|aa)+b|a", "a"),
    (r"(?:a|a)+\Z|a", "ab"),
    (r"(?:.*a){12}b|[ab]", "a"),
    (r"(?:\w+\s?)+!|\w+|\s", "word "),
    (r"(?:[a-z0-9]+\.?)+@|[a-z0-9]|\.", "a.b"),
    (r"\s+\S|\s", " "),
    (r"(?:x+x+)+y|x", "x"),
]


@pytest.mark.parametrize(("pattern", "unit"), HOSTILE)
def test_hostile_patterns_take_linear_time(pattern: str, unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    assert patterns.explain(pattern).engine == "compiled"
    # A quadratic search would take hours.
    pieces = patterns.resolve(pattern).core().split(text.encode())
    assert b"".join(pieces) == text.encode()
    short = unit * 6 + "b!@y"
    assert patterns.resolve(pattern).core().split(short.encode()) == [
        short[start:end].encode() for start, end in expected(pattern, short, keep=True)
    ]


REFUSED = {
    r"(?<=a)b": "a look behind, at character 0",
    r"(a)\1": r"the escape \1, at character 3",
    r"a\b": r"the escape \b, at character 1",
    r"^a": "a look at the start of the text, at character 0",
    r"(?:a|b)++c": "",
    r"(?:ab)++c": "a possessive repeat of more than one character",
    r"a(?=bc)": "a lookahead at more than one character",
    r"a*": "matches of nothing",
    r"(?:a?)+b": "a repeat of what may be empty",
    r"\s+$": "a $ that may stand before the last newline",
    r"(?V1)(?i:ss)": "the flag i with full case folding, as in version 1, at character 10",
    r"(?m)a": "flags beside i, s, u, V0 and V1, at character 0",
    r"(?:a|b)*a(?:a|b){30}": "more states than the table may have",
    r"a(?R)?b|b": "a group that begins with (?R), at character 1",
    r"(?:a){e<=1}b": "a bare {, at character 5",
    r"\X": r"the escape \X, at character 0",
    "(?:" * 70 + "a" + ")" * 70: "more than 60 groups inside each other, at character 183",
}


@pytest.mark.parametrize("pattern", REFUSED)
def test_what_runs_in_regex_says_why(pattern: str) -> None:
    engine, reason = patterns.explain(pattern)
    assert (engine, reason) == (("regex", REFUSED[pattern]) if REFUSED[pattern] else ("compiled", reason))
    text = "abab ss 漢 \n"
    pieces = patterns.resolve(pattern).core().split(text.encode())
    spans = expected(pattern, text, keep=True)
    assert [piece.decode() for piece in pieces] == [text[start:end] for start, end in spans]


@pytest.mark.parametrize("negated", ["[^a-z\xe9]", r"[^\p{Lu}]", r"[^\p{Ll}]", r"[^\p{L}]", r"\P{L}", r"\P{Lu}"])
def test_a_flag_ends_with_its_group_in_every_engine(negated: str) -> None:
    assert regex.findall(r"[^\p{Lu}]+|(?i:s)k", "ab") == []  # once this fails, nothing needs to be gone around
    text = "abSz AS 12 é k"
    for source in (f"{negated}+|(?i:s)k", f"(?V1){negated}+|(?-i:s)k|(?i:q)"):
        alone = [found.encode() for found in regex.findall(f"{negated}+", text)]
        for written in (source, f"{source}|(?<=x)x"):  # the second runs in `regex`
            pattern = patterns.resolve(written, "drop")
            assert pattern.core().split(text.encode()) == alone, (written, pattern.engine())
            assert [piece.encode() for piece in reference.pretokenize(text, written, "drop")] == alone
            assert pattern.compiled().pattern == written


def test_explanations_of_other_patterns() -> None:
    assert str(patterns.explain("gpt2")) == "scanner: the named pattern gpt2"
    assert patterns.explain(None).engine == "none"
    assert patterns.explain(regex.compile("a|.", regex.S)).engine == "compiled"
    assert patterns.explain(r"\h+|$", dialect="tiktoken").reason == "matches of nothing"
    with pytest.raises(ValueError, match="broken"):
        patterns.explain("(")


def test_version_1_sets_are_read_by_regex() -> None:
    source = r"(?V1)[\p{L}--[a-c]]+|[[0-9]&&[^5]]+|[\p{L}||[0-9]]|\s"
    compiled = automaton(source)
    make = Maker(1)
    for _ in range(300):
        check(source, compiled, make.text() + make.random.choice("abcxyz0459"))


@pytest.mark.parametrize("pattern", [r" ?\p{[L}+| ?[^\s\p{L}]+", r"a\P{^[L}|[b]"])
def test_what_only_looks_like_a_property(pattern: str) -> None:
    """`regex` reads `\\p{[L}` as a letter, a brace and the start of a set."""
    assert patterns.explain(pattern).engine == "regex"
    text = "a p{L+ b[L} é"
    found = patterns.resolve(pattern).core().split(text.encode())
    assert b"".join(found).decode() == text
