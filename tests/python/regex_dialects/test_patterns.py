"""Named patterns, their published spellings, and what else may stand for a pattern."""

import itertools
import random
import re
import subprocess
import sys

import pytest
import regex

from toksmith import Tokenizer, patterns

# One code point, or more, of each kind that some named pattern tells apart.
ALPHABET = "aAsStTrRlLvVeEdDmMſ12²٣ \t\n\r\x0b\x85\xa0\u2028\u3000'.!/_-é日\u0301ǅʰΩя\U0001f44d\x1c"


def texts(seed, count):
    chance = random.Random(seed)
    for letters in itertools.product("as'! \n1", repeat=4):
        yield "".join(letters)
    for _ in range(count):
        yield "".join(chance.choice(ALPHABET) for _ in range(chance.randint(1, 12)))


def spans(pattern, text):
    return [found.span() for found in pattern.finditer(text)]


@pytest.mark.parametrize(("spelling", "name"), patterns.SPELLINGS.items())
def test_a_published_spelling_is_the_pattern_of_its_name(spelling, name):
    published, named = regex.compile(spelling), regex.compile(patterns.NAMED[name])
    for text in texts(spelling, 6000):
        assert spans(published, text) == spans(named, text), repr(text)


@pytest.mark.parametrize("name", sorted(set(patterns.SPELLINGS.values())))
def test_a_named_pattern_leaves_nothing_out(name):
    named = regex.compile(patterns.NAMED[name])
    for text in texts(name, 6000):
        assert "".join(named.findall(text) if named.groups == 0 else []) == text, repr(text)


def test_the_names_are_different_patterns():
    # The one text that tells the two spellings of cl100k apart: whitespace with a newline at the end.
    new, old = (patterns.resolve(name).compiled() for name in ("cl100k", "cl100k_old"))
    assert new.findall("a\n  ") == ["a", "\n  "]
    assert old.findall("a\n  ") == ["a", "\n", "  "]
    qwen = patterns.resolve("qwen2").compiled()
    assert (qwen.findall("12"), new.findall("12")) == (["1", "2"], ["12"])


@pytest.mark.parametrize(("spelling", "name"), patterns.SPELLINGS.items())
def test_a_scanner_runs_every_spelling(spelling, name):
    pattern = patterns.resolve(spelling)
    assert pattern.name == name
    core, oracle = pattern.core(), regex.compile(spelling)
    for text in texts(spelling, 3000):
        assert core.split(text.encode()) == [piece.encode() for piece in oracle.findall(text)], repr(text)


@pytest.mark.parametrize("name", patterns.NAMED)
def test_a_named_pattern_needs_no_regex(name):
    code = (
        "import sys, toksmith\n"
        f"assert toksmith.Tokenizer(pattern={name!r}).encode('a b') == [97, 32, 98]\n"
        "assert 'regex' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_other_flags_make_another_pattern():
    plain, ignoring = regex.compile(patterns.GPT2), regex.compile(patterns.GPT2, regex.IGNORECASE)
    assert patterns.resolve(plain) == patterns.resolve("gpt2")
    assert patterns.resolve(ignoring).name is None
    text = "IT'S it's"
    assert Tokenizer(pattern=ignoring).pattern.findall(text) == ignoring.findall(text)
    assert Tokenizer(pattern=ignoring) != Tokenizer()


def test_flags_survive_a_file(tmp_path):
    tokenizer = Tokenizer(pattern=regex.compile("[a-z]+", regex.IGNORECASE))
    tokenizer.save(tmp_path / "t.json")
    again = Tokenizer.load(tmp_path / "t.json")
    assert again == tokenizer
    assert again.pattern.findall("aB1") == ["aB"]


def test_groups_do_not_change_the_pieces():
    grouped = patterns.resolve(r"(a)(b)?|(?P<rest>.)")
    assert grouped.core().split(b"abac") == [b"ab", b"a", b"c"]


@pytest.mark.parametrize(
    ("unmatched", "pieces"), [("keep", [b"..", b"ab", b" \xc3\xa9", b"c", b"!"]), ("drop", [b"ab", b"c"])]
)
def test_what_is_not_matched_is_kept_or_dropped(unmatched, pieces):
    assert patterns.resolve("[a-z]+", unmatched).core().split("..ab éc!".encode()) == pieces


def test_empty_matches_are_no_pieces():
    assert patterns.resolve("x*").core().split(b"bxxcd") == [b"b", b"xx", b"cd"]


@pytest.mark.parametrize(
    ("pattern", "error", "says"),
    [
        ("(", ValueError, "broken"),
        ("[a", ValueError, "broken"),
        (r"\p{Nonsense}", ValueError, "broken"),
        (re.compile("a"), ValueError, "regex"),
        (regex.compile(r"\L<words>", words=["a"]), ValueError, "named lists"),
        (5, TypeError, "regular expression"),
        (b"a", TypeError, "regular expression"),
        (regex.compile(b"a"), TypeError, "regular expression"),
    ],
)
def test_what_is_no_pattern_is_refused(pattern, error, says):
    with pytest.raises(error, match=says):
        Tokenizer(pattern=pattern)


def test_the_installed_unicode_version_is_found():
    assert re.fullmatch(r"\d\d\.\d", patterns.installed_unicode())
    assert patterns.of_core(Tokenizer(pattern=r"\w+")._core).unicode == patterns.installed_unicode()
