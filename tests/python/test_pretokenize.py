"""The GPT-2 scanner against `regex`, which runs the pattern itself."""

import gzip
import importlib.metadata
import itertools
import random
from bisect import bisect
from pathlib import Path

import pytest
import regex

from toksmith import _core

ROOT = Path(__file__).resolve().parents[2]
CORPORA = ROOT.parent / "shared" / "data" / "corpora"
GPT2 = regex.compile(r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")

# One code point per character class and length in UTF-8, and the letters that contractions are made of.
CLASSES = "aAsltvreé中𐐷1٣ \n\t\xa0\u3000.'\u0301。😀\x1c"
# The same without what differs from a neighbour in the number of its bytes alone.
FEWER = "aslve中1 \n\xa0.'\u0301😀"


gpt2_pieces = _core.Pretokenizer("gpt2").ends


def regex_ends(text: str) -> list[int]:
    """Return where the pretokens of `text` end, in bytes."""
    ends = itertools.accumulate(len(piece.encode("utf-8", "surrogateescape")) for piece in GPT2.findall(text))
    return list(ends)


def check(text: str) -> None:
    assert gpt2_pieces(text.encode()) == regex_ends(text), repr(text)


def strings_up_to(longest: int, alphabet: str) -> "itertools.chain[str]":
    return itertools.chain.from_iterable(
        map("".join, itertools.product(alphabet, repeat=length)) for length in range(longest + 1)
    )


def test_every_string_of_up_to_4_characters() -> None:
    for text in strings_up_to(4, CLASSES):
        check(text)


@pytest.mark.long
def test_every_string_of_up_to_6_characters() -> None:
    for text in strings_up_to(6, FEWER):
        check(text)


def test_random_strings() -> None:
    rng = random.Random(1)
    for lengths, times in ((range(5, 9), 100_000), (range(60, 300), 5_000)):
        for _ in range(times):
            check("".join(rng.choices(CLASSES, k=rng.choice(lengths))))


def test_short_strings_at_every_place_of_a_block() -> None:
    for text in strings_up_to(2, CLASSES):
        for offset in range(66):
            check("x" * offset + text + " yy" * 24)


def test_invalid_utf8_is_read_as_surrogateescape_does() -> None:
    rng = random.Random(2)
    alphabet = b"as' \n1.\x80\x85\x8f\x90\x9f\xa0\xa8\xbf\xc0\xc2\xc3\xe0\xe2\xe3\xe4\xed\xef\xf0\xf4\xf5\xff"
    for length, times in ((6, 100_000), (200, 2_000)):
        for _ in range(times):
            data = bytes(rng.choices(alphabet, k=length))
            assert gpt2_pieces(data) == regex_ends(data.decode("utf-8", "surrogateescape")), data


def ranges(points: list[int]) -> str:
    """Name code points by range."""
    runs: list[list[int]] = []
    for point in sorted(points):
        if runs and runs[-1][1] == point - 1:
            runs[-1][1] = point
        else:
            runs.append([point, point])
    return ", ".join(f"U+{first:04X}" + f"..U+{last:04X}" * (last > first) for first, last in runs)


@pytest.mark.parametrize("context", ["{}", " {}", "a{}b", "1{}1", "'{}", ".{}."])
def test_every_code_point(context: str) -> None:
    points = [point for point in range(0x110000) if not 0xD800 <= point < 0xE000]
    records = [(context.format(chr(point)) + "\n").encode() for point in points]
    record_ends = list(itertools.accumulate(map(len, records)))
    data = b"".join(records)
    wrong = set(gpt2_pieces(data)) ^ set(regex_ends(data.decode()))
    differ = ranges(list({points[bisect(record_ends, end - 1)] for end in wrong}))
    installed = importlib.metadata.version("regex")
    pinned = _core.REGEX_VERSION
    if differ and installed != pinned:
        pytest.skip(f"regex {installed} differs from {pinned}, which the tables are from, at {differ}")
    assert not differ


def test_the_tables_name_their_versions() -> None:
    unicode, made_with = _core.UNICODE_VERSION, _core.REGEX_VERSION
    assert unicode == "18.0"
    assert f"regex=={made_with}" in (ROOT / "requirements.txt").read_text()


@pytest.mark.parametrize("name", ["en", "code", "multi"])
def test_corpora(name: str) -> None:
    path = CORPORA / f"{name}.txt.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is not there: the corpora lie beside the repository, in shared/data/corpora")
    data = gzip.decompress(path.read_bytes())
    assert gpt2_pieces(data) == regex_ends(data.decode())
