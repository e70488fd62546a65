"""Texts of all scripts for the tests of the page, and what Python makes of them."""

import itertools
import random
from collections.abc import Callable

from toksmith import Tokenizer

# Where the letters of a script begin and end; what is unassigned there is in the texts too.
SCRIPTS = {
    "Latin": (0x41, 0x24F),
    "IPA": (0x250, 0x2FF),
    "combining": (0x300, 0x36F),
    "Greek": (0x370, 0x3FF),
    "Cyrillic": (0x400, 0x52F),
    "Armenian": (0x530, 0x58F),
    "Hebrew": (0x590, 0x5FF),
    "Arabic": (0x600, 0x6FF),
    "Syriac and Thaana": (0x700, 0x7BF),
    "Indic": (0x900, 0xDFF),
    "Thai and Lao": (0xE00, 0xEFF),
    "Tibetan": (0xF00, 0xFFF),
    "Burmese": (0x1000, 0x109F),
    "Georgian": (0x10A0, 0x10FF),
    "Hangul Jamo": (0x1100, 0x11FF),
    "Ethiopic": (0x1200, 0x139F),
    "Cherokee, Khmer, Mongolian": (0x13A0, 0x18AF),
    "extended Latin and Greek": (0x1E00, 0x1FFF),
    "punctuation and spaces": (0x2000, 0x206F),
    "symbols": (0x2070, 0x2BFF),
    "Kana": (0x3040, 0x30FF),
    "Han": (0x3400, 0x9FFF),
    "Yi and others": (0xA000, 0xABFF),
    "Hangul": (0xAC00, 0xD7A3),
    "compatibility": (0xF900, 0xFFFF),
    "historic": (0x10000, 0x12FFF),
    "hieroglyphs, Tangut": (0x13000, 0x18FFF),
    "mathematics": (0x1D400, 0x1D7FF),
    "emoji": (0x1F000, 0x1FAFF),
    "rare Han": (0x20000, 0x33479),
    "tags and selectors": (0xE0000, 0xE01EF),
    "private": (0x10FF00, 0x10FFFF),
}

Soup = Callable[[random.Random, int], str]


def texts(count: int, soup: Soup, special: list[str]) -> list[str]:
    """Return random texts: pieces of the soup, words of each script, and special tokens, whole and in parts."""
    rng = random.Random(20)
    return [_text(rng, soup, special) for _ in range(count)]


def _text(rng: random.Random, soup: Soup, special: list[str]) -> str:
    pieces = []
    for _ in range(rng.randrange(1, 6)):
        kind = rng.random()
        if kind < 0.4:
            pieces.append(soup(rng, rng.randrange(1, 12)))
        elif kind < 0.9:
            pieces.append(_word(rng))
        elif special:
            name = rng.choice(special)
            start = rng.randrange(len(name))
            pieces.append(name if rng.random() < 0.6 else name[start : rng.randrange(start, len(name)) + 1])
    return "".join(pieces)


def _word(rng: random.Random) -> str:
    first, last = SCRIPTS[rng.choice(list(SCRIPTS))]
    letters = "".join(chr(rng.randint(first, last)) for _ in range(rng.randrange(1, 9)))
    return rng.choice(["", " ", "\n", "  ", "'"]) + letters + rng.choice(["", " ", ".", "1", "'s"])


def expected(tokenizer: Tokenizer, text: str, special: bool) -> list[dict[str, int]]:
    """Return what the page's `toksmith.encode` must return: tokens with their places in UTF-16."""
    ids, spans = tokenizer.encode_with_offsets(text, special=special)
    units = [0, *itertools.accumulate(len(one.encode("utf-16-le")) // 2 for one in text)]
    places = ((units[start], units[end]) for start, end in spans.tolist())
    return [{"id": id, "start": start, "end": end} for id, (start, end) in zip(ids, places, strict=True)]
