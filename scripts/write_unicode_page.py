"""Write docs/unicode.md: the code points that toksmith's tables and other engines class differently.

usage: python scripts/unicode_differences.py     (needs the pinned `regex` and `tiktoken`)
"""

from __future__ import annotations

import importlib.metadata
import textwrap
from collections.abc import Callable
from pathlib import Path

import regex
import tiktoken

from toksmith import _core

ROOT = Path(__file__).resolve().parents[1]
CLASSES = {r"\p{L}": "letters", r"\p{N}": "numbers", r"\p{M}": "marks", r"\s": "whitespace"}
POINTS = [point for point in range(0x110000) if not 0xD800 <= point < 0xE000]


def in_tiktoken(pattern: str) -> Callable[[str], bool]:
    """Return whether tiktoken's engine matches a character: what it does not match, it drops."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = tiktoken.Encoding("bytes", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return lambda character: bool(encoding.encode_ordinary(character))


def ranges(points: list[int]) -> str:
    runs: list[list[int]] = []
    for point in points:
        if runs and runs[-1][1] == point - 1:
            runs[-1][1] = point
        else:
            runs.append([point, point])
    return ", ".join(f"U+{first:04X}" + (f"–{last:04X}" if last > first else "") for first, last in runs)


def wrapped(text: str) -> str:
    return textwrap.fill(text, 128, break_on_hyphens=False)


def section(pattern: str, name: str) -> str:
    ours, theirs = regex.compile(pattern), in_tiktoken(pattern)
    both = [(point, bool(ours.match(chr(point))), theirs(chr(point))) for point in POINTS]
    here = [point for point, we, they in both if we and not they]
    there = [point for point, we, they in both if they and not we]
    text = f"\n## {name.capitalize()}, `{pattern}`: {len(here) + len(there)} code points\n"
    if here:
        text += f"\n{wrapped(f'In the tables of toksmith alone ({len(here)}): {ranges(here)}')}\n"
    if there:
        text += f"\n{wrapped(f'In the tables of tiktoken alone ({len(there)}): {ranges(there)}')}\n"
    return text


def main() -> None:
    version = importlib.metadata.version("tiktoken")
    if importlib.metadata.version("regex") != _core.REGEX_VERSION:
        raise SystemExit(f"needs regex {_core.REGEX_VERSION}, which the tables are from")
    head = f"""# Unicode versions

Unicode says which code points are letters, numbers, marks and spaces, and each version adds some. The tables in this
repository are those of `regex` {_core.REGEX_VERSION}: Unicode {_core.UNICODE_VERSION}. A pattern that is compiled,
or that runs in the installed `regex`, has the version of that package. tiktoken {version} has an older version: it
may cut, and so encode, a text with one of the code points below differently. They are recent additions.

Made by `python scripts/unicode_differences.py`.
"""
    text = head + "".join(section(pattern, name) for pattern, name in CLASSES.items())
    (ROOT / "docs" / "unicode.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
