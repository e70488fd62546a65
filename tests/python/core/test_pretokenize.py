"""The scanners of the named patterns, with each instruction set of this machine, against `regex`."""

import functools
import importlib.metadata
import itertools
import random
from bisect import bisect
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import regex

from toksmith import _core, patterns

ROOT = Path(__file__).resolve().parents[3]
NAMES = sorted(set(patterns.SPELLINGS.values()))
REGEX = {name: regex.compile(patterns.NAMED[name]) for name in NAMES}
PINNED_REGEX = pytest.mark.skipif(
    regex.__version__ != _core.REGEX_VERSION, reason="the regex installed has other classes of characters"
)
ISAS = _core.Pretokenizer.instruction_sets()


def ends_of(name: str, isa: str | None = None) -> Callable[[bytes], list[int]]:
    ranges = _core.Pretokenizer(name, isa=isa).ranges
    return lambda data: [end for _, end in ranges(data)]


SCANNERS = {name: [ends_of(name, isa) for isa in ISAS] for name in NAMES}

# One code point per character class and length in UTF-8, and the letters that contractions are made of.
CLASSES = "aAslvreſéДǅʰ中𐐷1٣ \n\r\t\xa0\u3000.'/\u0301。😀\x1c\udcff"
# What some pattern tells apart, once each, but for a few letters of contractions.
FEWER = "aAsl中1 \n\t.'/\u0301"
# Bytes that make up valid, cut and impossible sequences alike.
BROKEN = b"asA' \n1./" + bytes.fromhex("8085 8f90 979f a0a8 b7bf c0c2 c3c4 d0d1 e0e2 e3e4 e5ed eff0 f4f5 ff")

pytestmark = pytest.mark.parametrize("name", NAMES)


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def regex_ends(name: str, text: str) -> list[int]:
    """Return where the pretokens of `text` end, in bytes."""
    ends = [match.end() for match in REGEX[name].finditer(text)]
    if text.isascii():
        return ends
    offsets = list(itertools.accumulate(map(len, map(encoded, text)), initial=0))
    return [offsets[end] for end in ends]


def check(name: str, text: str) -> None:
    expected, data = regex_ends(name, text), encoded(text)
    for isa, ends in zip(ISAS, SCANNERS[name], strict=True):
        assert ends(data) == expected, (isa, text)


def strings_of(length: int, alphabet: str) -> Iterator[str]:
    return map("".join, itertools.product(alphabet, repeat=length))


def soup(rng: random.Random, length: int) -> str:
    """Return a string over all classes, or over few of them, where runs are longer."""
    some = rng.sample(CLASSES, rng.choice((2, 3, 5, 8, len(CLASSES))))
    return "".join(rng.choices(some, k=length))


def test_every_string_of_up_to_3_characters(name: str) -> None:
    for length in range(4):
        for text in strings_of(length, CLASSES):
            check(name, text)


def test_every_string_of_4_characters(name: str) -> None:
    for text in strings_of(4, FEWER):
        check(name, text)


@pytest.mark.long
def test_every_longer_string(name: str) -> None:
    for text in strings_of(4, CLASSES):
        check(name, text)
    for length in (5, 6):
        for text in strings_of(length, FEWER):
            check(name, text)


@pytest.mark.parametrize("share", [2, pytest.param(1, marks=pytest.mark.long)], ids=["half", "whole"])
def test_random_strings_around_the_edges_of_blocks(name: str, share: int) -> None:
    rng = random.Random(name)
    sizes = (range(5, 9), range(60, 71), range(120, 141), range(190, 201))
    for lengths, times in zip(sizes, (10_000, 2_000, 1_000, 600), strict=True):
        for _ in range(times // share):
            check(name, soup(rng, rng.choice(lengths)))


def test_short_strings_at_every_place_of_a_block(name: str) -> None:
    rng = random.Random(name)
    for text in itertools.chain(strings_of(1, CLASSES), strings_of(2, FEWER)):
        filler = rng.choice("x A.1\n/中")
        for offset in rng.sample(range(56), 3) + list(range(56, 66)):
            size = len(encoded(filler))
            check(name, "x" * (offset % size) + filler * (offset // size) + text + " yy" * 24)


def test_contractions_at_every_place_of_a_block(name: str) -> None:
    rng = random.Random(name)
    short, long = ("s", "S", "T", "ll", "lL", "Ve", "re", "ſ", "lv"), ("s's", "s'sx", "'s", "t中A!", "t中Ab")
    for contraction, before in itertools.product((*short, *long), "xX中1. \n\u0301"):
        for offset in range(66):
            check(name, "x" * offset + before + "'" + contraction + rng.choice(("", *"aA '中\u0301.")))


@PINNED_REGEX
@pytest.mark.parametrize("share", [3, pytest.param(1, marks=pytest.mark.long)], ids=["third", "whole"])
def test_invalid_utf8_is_read_as_surrogateescape_does(name: str, share: int) -> None:
    rng = random.Random(name)
    for length, times in ((6, 20_000), (150, 1_000)):
        for _ in range(times // share):
            check(name, bytes(rng.choices(BROKEN, k=length)).decode("utf-8", "surrogateescape"))


def ranges(points: list[int]) -> str:
    """Name code points by range."""
    runs: list[list[int]] = []
    for point in sorted(points):
        if runs and runs[-1][1] == point - 1:
            runs[-1][1] = point
        else:
            runs.append([point, point])
    return ", ".join(f"U+{first:04X}" + f"..U+{last:04X}" * (last > first) for first, last in runs)


@functools.lru_cache(maxsize=1)
def records_of(points: tuple[int, ...], context: str) -> tuple[str, bytes, np.ndarray, list[int]]:
    """Return the context of each point, a line for each; where its characters begin and its lines end, in bytes."""
    lines = [context.replace("{}", chr(point)) + "\n" for point in points]
    text = "".join(lines)
    data = text.encode()
    is_first = (np.frombuffer(data, np.uint8) & 0xC0) != 0x80
    line_ends = list(itertools.accumulate(len(line.encode()) for line in lines))
    return text, data, np.append(np.flatnonzero(is_first), len(data)), line_ends


def check_code_points(name: str, context: str, points: tuple[int, ...]) -> None:
    text, data, starts, line_ends = records_of(points, context)
    expected = starts[[match.end() for match in REGEX[name].finditer(text)]]
    installed, pinned = importlib.metadata.version("regex"), _core.REGEX_VERSION
    for isa, ends in zip(ISAS, SCANNERS[name], strict=True):
        found = ends(data)
        wrong = set() if np.array_equal(found, expected) else {*found} ^ {*expected.tolist()}
        differ = ranges([*{points[bisect(line_ends, end - 1)] for end in wrong}])
        if differ and installed != pinned:
            pytest.skip(f"regex {installed} differs from {pinned}, which the tables are from, at {differ}")
        assert not differ, isa


def test_code_points(name: str) -> None:
    """All of the planes that have letters, one in eleven of Han and Hangul, and some of the rest."""
    whole = [range(0x3400), range(0xF900, 0x17000), range(0x18D00, 0x20000), range(0xE0000, 0xE0200)]
    some = [range(0x3400, 0xD800, 11), range(0xE000, 0xF900, 61), range(0x17000, 0x18D00, 11)]
    check_code_points(name, "a{}b1{}1", tuple(itertools.chain(*whole, *some, range(0x20000, 0x110000, 61))))


@pytest.mark.long
@pytest.mark.parametrize("context", ["{}", " {}", "a{}b1{}1", "'{}.{}.A{}A b{}"])
def test_every_code_point(name: str, context: str) -> None:
    check_code_points(name, context, tuple(point for point in range(0x110000) if not 0xD800 <= point < 0xE000))


@pytest.mark.parametrize("text", ["en", "code", "multi"])
def test_slices_of_corpora(name: str, text: str, corpora: dict[str, str]) -> None:
    data, rng = corpora[text].encode(), random.Random(text)
    for size in (20, 100, 200, 1000) * 30 + (50_000,) * 2:
        at = rng.randrange(len(data) - size)
        check(name, data[at : at + size].decode("utf-8", "surrogateescape"))


@pytest.mark.long
@pytest.mark.parametrize("text", ["en", "code", "multi"])
def test_corpora(name: str, text: str, corpora: dict[str, str]) -> None:
    lengths = map(len, map(encoded, REGEX[name].findall(corpora[text])))
    expected = list(itertools.accumulate(lengths))
    for ends in SCANNERS[name]:
        assert ends(corpora[text].encode()) == expected


def test_a_pretoken_of_any_length_takes_linear_time(name: str) -> None:
    for part in ("a", "A", " ", "\n", "1", "中", "\u0301", "!", "/", "'", "\n ", "'s", "!\u0301"):
        text = part * 300_000
        data = text.encode()
        for ends in SCANNERS[name]:
            assert ends(data)[-1] == len(data)


def test_the_tables_name_their_versions(name: str) -> None:
    unicode, made_with = _core.UNICODE_VERSION, _core.REGEX_VERSION
    assert unicode == "18.0"
    assert f"regex=={made_with}" in (ROOT / "requirements.txt").read_text()
    assert patterns.resolve(name).unicode == unicode


def test_what_this_machine_lacks_is_refused(name: str) -> None:
    assert ISAS[-1] == "portable"
    assert ends_of(name)(b"a b") == [1, 3]
    with pytest.raises(ValueError, match="instruction set"):
        _core.Pretokenizer(name, isa="abacus")
