r"""Write docs/unicode.md: the code points that toksmith classes differently from tiktoken and from `tokenizers`.

usage: python scripts/write_unicode_page.py     (needs the pinned `regex`, `tiktoken` and `tokenizers`)

Each class is asked of both libraries, and of toksmith in the dialect of each, for every code point.
"""

from __future__ import annotations

import functools
import importlib.metadata
import random
import re
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import regex
import tiktoken
import tokenizers
from tokenizers import pre_tokenizers

from toksmith import _core

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "unicode.md"
CATEGORIES = re.findall("..", "LuLlLtLmLoMnMcMeNdNlNoPcPdPsPePiPfPoSmScSkSoZsZlZpCcCfCo")
GROUPS = {"Letters": "L", "Numbers": "N", "Marks": "M", "Punctuation and symbols": "PS"}
_PROPERTIES = (
    "L N M P S Z Alphabetic Lowercase Uppercase White_Space Emoji Ideographic Math Arabic Cyrillic Devanagari Greek "
    "Han Hangul Hebrew Hiragana Katakana Latin Thai Common Inherited"
)
CLASSES = (r"\s", r"\w", r"\d", r"\h", *(rf"\p{{{name}}}" for name in _PROPERTIES.split()))
_RANKS = {bytes([byte]): byte for byte in range(256)}
_PIECE = 20_000
_CASE_SETS = 24


class Library(NamedTuple):
    """A library whose classes are compared: what matches in it, and in toksmith for a pattern in its dialect."""

    name: str

    def theirs(self, pattern: str, text: str) -> set[str]:
        """Return the characters of a text that the library matches."""
        if self.name == "tiktoken":
            encoding = tiktoken.Encoding("", pat_str=pattern, mergeable_ranks=_RANKS, special_tokens={})
            return set(bytes(encoding.encode_ordinary(text)).decode())  # what does not match is dropped
        split = pre_tokenizers.Split(tokenizers.Regex(pattern), "removed", invert=True)
        pieces = (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))
        return {character for piece in pieces for part, _ in split.pre_tokenize_str(piece) for character in part}

    def ours(self, pattern: str, text: str) -> set[str]:
        """Return the characters of a text that toksmith matches.

        Raises:
            ValueError: toksmith refuses the pattern.
        """
        is_tiktoken = self.name == "tiktoken"
        translated = _core.from_fancy_regex(pattern) if is_tiktoken else _core.from_oniguruma(pattern)[0]
        return set("".join(regex.findall(translated, text)))

    def differing(self, pattern: str, text: str) -> set[str]:
        """Return the characters that only one of both matches; none for a pattern that toksmith refuses."""
        try:
            return self.ours(pattern, text) ^ self.theirs(pattern, text)
        except ValueError:
            return set()


LIBRARIES = (Library("tiktoken"), Library("tokenizers"))


@functools.cache
def every() -> str:
    """Return all code points that a text can have."""
    return "".join(chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000)


@functools.cache
def later() -> str:
    """Return the code points that are assigned here, and not in the libraries.

    Raises:
        ValueError: The libraries have different versions of Unicode, or one newer than toksmith's.
    """
    pattern = r"\p{Cn}+"
    first, second = (library.theirs(pattern, every()) for library in LIBRARIES)
    ours = LIBRARIES[0].ours(pattern, every())
    if first != second or ours - first:
        raise ValueError("the page is written for libraries that have one version of Unicode, older than toksmith's")
    return "".join(sorted(first - ours))


@functools.cache
def assigned() -> str:
    """Return the code points that are assigned here, except for private ones."""
    return "".join(regex.findall(r"[^\p{Cn}\p{Co}]+", every()))


def changed() -> list[str]:
    """Return a row of the table for each code point that a library has in another category."""
    found: dict[str, set[str]] = {}
    for library in LIBRARIES:
        for name in CATEGORIES:
            for character in library.differing(rf"\p{{{name}}}+", assigned()) - set(later()):
                found.setdefault(character, set()).add(library.name)
    return [
        f"| {ranges(character)} | `{category(None, character)}` | "
        + " | ".join(f"`{category(library, character)}`" for library in LIBRARIES)
        + " |"
        for character in sorted(found)
    ]


def category(library: Library | None, character: str) -> str:
    """Return the category of a character in a library; in `regex`, and so in toksmith, if none is given."""
    matches = library.theirs if library else lambda pattern, text: set(regex.findall(pattern, text))
    return next(name for name in CATEGORIES if matches(rf"\p{{{name}}}", character))


def same_classes(known: str) -> list[str]:
    """Return the classes that agree everywhere. All others differ at `known` code points alone.

    Raises:
        ValueError: A class differs elsewhere.
    """
    same = []
    for pattern in CLASSES:
        text = assigned() if pattern.startswith(r"\p") else every()
        found = set().union(*(library.differing(f"{pattern}+", text) for library in LIBRARIES))
        if found - set(known):
            raise ValueError(f"{pattern} differs elsewhere: {ranges(found - set(known))}")
        if not found:
            same.append(pattern)
    return same


def check_case() -> None:
    """Check that `(?i)` is the same for letters that all versions have.

    Random halves of these letters are asked: if two letters are equal in one engine alone, about a quarter of the
    halves has one of them without the other. toksmith refuses such sets in the dialect of `tokenizers`.

    Raises:
        ValueError: A letter matches others in tiktoken than in toksmith.
    """
    cased = sorted({*regex.findall(r"[\p{Cased}\p{CWCM}\p{CWCF}]", assigned())} - {*later()})
    rng = random.Random(1)
    for _ in range(_CASE_SETS):
        half = "".join(f"\\x{{{ord(character):x}}}" for character in cased if rng.random() < 0.5)
        found = LIBRARIES[0].differing(f"(?i:[{half}])+", "".join(cased))
        if found:
            raise ValueError(f"(?i) differs for {ranges(found)}")


def ranges(characters: Iterable[str]) -> str:
    """Return code points as ranges."""
    runs: list[list[int]] = []
    for point in sorted(map(ord, characters)):
        if runs and runs[-1][1] == point - 1:
            runs[-1][1] = point
        else:
            runs.append([point, point])
    return ", ".join(f"U+{first:04X}" + (f"–{last:04X}" if last > first else "") for first, last in runs)


def wrapped(text: str) -> str:
    """Return a paragraph in lines."""
    return textwrap.fill(text, 128, break_on_hyphens=False, break_long_words=False) + "\n"


def group(title: str, letters: str) -> str:
    """Return the section of the later code points of some general categories."""
    found = regex.findall("[" + "".join(rf"\p{{{letter}}}" for letter in letters) + "]", later())
    names = ", ".join(rf"`\p{{{letter}}}`" for letter in letters)
    return f"\n### {title}, {names}: {len(found)}\n\n{wrapped(ranges(found))}"


def page() -> str:
    """Return the page."""
    if importlib.metadata.version("regex") != _core.REGEX_VERSION:
        raise SystemExit(f"needs regex {_core.REGEX_VERSION}, which the tables are from")
    versions = " and ".join(f"{one.name} {importlib.metadata.version(one.name)}" for one in LIBRARIES)
    rows = changed()
    check_case()
    known = later() + "".join(chr(int(row[4:].split()[0], 16)) for row in rows)
    agreeing = ", ".join(f"`{name}`" for name in same_classes(known))
    head = wrapped(
        "Unicode says which code points are letters, numbers, marks and spaces, and each version adds some. The "
        f"tables in this repository are those of `regex` {_core.REGEX_VERSION}: Unicode {_core.UNICODE_VERSION}. A "
        "pattern that is compiled, or that runs in the installed `regex`, has the version of that package. "
        f"{versions} have an older version: they may cut, and so encode, a text with one of the code points below "
        "differently."
    )
    tail = wrapped(
        f"{agreeing} are the same at every code point. `\\w`, `\\d`, general categories, scripts and properties "
        "differ at the code points of this page alone, and so does `(?i)`."
    )
    columns = " | ".join(one.name for one in LIBRARIES)
    return (
        f"# Unicode versions\n\n{head}\nMade by `python scripts/write_unicode_page.py`.\n"
        f"\n## Not assigned in the older version: {len(later())} code points\n"
        + "".join(group(title, letters) for title, letters in GROUPS.items())
        + f"\n## In another category: {len(rows)}\n\n| code point | here | {columns} |\n"
        + "|---|---|---|---|\n"
        + "".join(f"{row}\n" for row in rows)
        + f"\n## Classes\n\n{tail}"
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
