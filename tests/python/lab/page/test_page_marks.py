"""The marks of the page (`marks.js`) are those of a terminal and a notebook (`spans.py`)."""

import itertools
import json
import random
import unicodedata
from pathlib import Path
from typing import NamedTuple

import browser
import pytest

from toksmith import Tokenizer
from toksmith.lab import page, spans
from toksmith.lab.page import document

# Bytes at which the rules of UTF-8 change, and some of ASCII.
EDGES = bytes.fromhex("00 20 5c 61 80 8f 90 9f a0 bf c0 c1 c2 df e0 e1 ec ed ee ef f0 f1 f3 f4 f5 ff")

# What the module has, for programs: a token in hex to its word, and to its parts with marks told from text.
CALLS = """
const bytesOf = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));
const isMark = (kind) => kind === "mark" || kind === "line";
const marked = (token) => markedParts(token).map(([text, kind]) => [text, isMark(kind)]);
globalThis.marks = (tokens) => tokens.map(bytesOf).map((token) => [shown(token), marked(token)]);
globalThis.unassigned = (points) => points.filter((point) => /\\p{Cn}/u.test(String.fromCodePoint(point)));
"""

Parts = list[tuple[str, bool]]


class Looks(NamedTuple):
    """A token as one word, and its parts."""

    word: str
    parts: Parts


@pytest.fixture(scope="module")
def marks(chromium: browser.Browser) -> browser.Browser:
    """The browser, with the module alone."""
    chromium.call("Page.navigate", url="about:blank")
    chromium.evaluate("{" + document._asset("marks.js").replace("export ", "") + CALLS + "}")
    return chromium


def in_browser(marks: browser.Browser, tokens: list[bytes]) -> list[Looks]:
    found = marks.evaluate(f"marks({json.dumps([token.hex() for token in tokens])})")
    return [Looks(word, joined([(text, is_mark) for text, is_mark in parts])) for word, parts in found]


def joined(parts: Parts) -> Parts:
    """Return parts of which no two neighbours are of one kind."""
    groups = itertools.groupby(parts, lambda part: part[1])
    return [("".join(text for text, _ in group), is_mark) for is_mark, group in groups]


def in_python(token: bytes) -> Looks:
    return Looks(spans.shown(token), spans.marked(token))


def check(marks: browser.Browser, tokens: list[bytes]) -> None:
    for token, found in zip(tokens, in_browser(marks, tokens), strict=True):
        assert found == in_python(token), token


def code_points(marks: browser.Browser, points: list[int]) -> list[str]:
    """Return those that both Unicode versions, Python's and the browser's, have assigned, or both have not."""
    unassigned = set(marks.evaluate(f"unassigned({points})"))
    return [chr(point) for point in points if (unicodedata.category(chr(point)) == "Cn") == (point in unassigned)]


def of_interest() -> list[int]:
    """Return all code points that are a mark, in a place of their own or behind a letter, and some of all others."""
    rng, found = random.Random(7), []
    for point in range(0x110000):
        category = unicodedata.category(chr(point))
        is_large = category in ("Co", "Cn") or category[0] not in "CZM"
        if category != "Cs" and (not is_large or rng.random() < 0.002):
            found.append(point)
    return sorted({*found, *spans._UNSEEN, *range(0x250)})


def test_marks_of_code_points(marks: browser.Browser) -> None:
    points = of_interest()
    characters = code_points(marks, points)
    assert len(characters) > 0.9 * len(points)
    for form in ("{}", "a{}", "{}a"):
        check(marks, [form.format(character).encode() for character in characters])


@pytest.mark.long
def test_marks_of_all_code_points(marks: browser.Browser) -> None:
    for start in range(0, 0x110000, 0x4000):
        points = [point for point in range(start, start + 0x4000) if not 0xD800 <= point < 0xE000]
        check(marks, [character.encode() for character in code_points(marks, points)])


def test_marks_of_stray_bytes(marks: browser.Browser) -> None:
    rng = random.Random(8)
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [bytes(pair) for pair in itertools.product(EDGES, repeat=2)]
    tokens += [bytes(rng.choices(EDGES, k=rng.randrange(3, 7))) for _ in range(8000)]
    whole = "é日👍̈".encode()
    tokens += [whole[start:stop] for start, stop in itertools.combinations(range(len(whole) + 1), 2)]
    check(marks, tokens)


def test_tokens_of_a_page_have_the_marks(chromium: browser.Browser, tmp_path: Path) -> None:
    """Special tokens give any characters as one token; without them each byte is one."""
    hostile = ["a\x1b[31mb", "\u202egpj", "\u0301x", "\ufe0f\u3164", "\\n \\", "one\n\ntwo", "\xa0\x85\u2028", "<i>"]
    tokenizer, text = Tokenizer(special_tokens=hostile), "".join(hostile) + "日 \t\n"
    page.write(tmp_path / "page.html", {"bytes": tokenizer}, text=text)
    chromium.open(tmp_path / "page.html")
    chromium.frames()
    texts = chromium.evaluate("[...document.querySelectorAll('.token')].map((token) => token.textContent)")
    expected = [spans.shown(tokenizer.token_bytes(id), " ") for id in tokenizer.encode(text)]
    assert [text.replace("\n", "") for text in texts] == expected
