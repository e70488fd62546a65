"""The pattern of a normalizer, a pre-tokenizer or a decoder: reading it from a file, and compiling it."""

from __future__ import annotations

from typing import Any

from .. import patterns
from ..regex_dialects import from_oniguruma
from .checks import field, refused, shown


def pattern_of(part: dict[str, Any], place: str) -> tuple[str, str]:
    """Return kind ("String" or "Regex") and text of a part's pattern.

    Raises:
        ValueError: The pattern is neither, or is an empty text.
    """
    pattern = field(part, "pattern", dict, place)
    if len(pattern) != 1 or next(iter(pattern)) not in ("String", "Regex"):
        raise refused(f"{place}.pattern", "expected one field, String or Regex")
    name = next(iter(pattern))
    text = field(pattern, name, str, f"{place}.pattern")
    if text == "":
        raise refused(f"{place}.pattern", "an empty pattern")
    return name, text


def matcher_of(part: dict[str, Any], place: str, has_offsets: bool = True) -> tuple[str, Any]:
    """Return what the core needs to find a part's pattern.

    Raises:
        ValueError: The pattern is malformed, or cannot be reproduced exactly; or it may match the empty text, and the
            part changes offsets.
    """
    name, text = pattern_of(part, place)
    if name == "String":
        return "literal", text
    try:
        translation = from_oniguruma.analyse(text)
    except ValueError as error:
        raise refused(f"{place}.pattern", str(error)) from None
    if translation.nullable and has_offsets:
        raise refused(
            f"{place}.pattern", f"{shown(text)} may match nothing, and then the original's offsets are lost"
        )
    kind = "nullable" if translation.nullable else "pattern"
    return kind, compiled(translation.pattern, translation.nullable)


def compiled(pattern: str, nullable: bool = False) -> Any:
    """Return an object that finds a pattern: an automaton of the core, or a compiled pattern of `regex`.

    Args:
        pattern: The pattern in the dialect of `regex`.
        nullable: Whether it may match the empty text: `regex` finds such matches.

    Raises:
        ValueError: `regex` refuses the pattern.
    """
    found = patterns.of_source(pattern, 0, "keep").compiled()
    return found if nullable else patterns.runner(pattern, 0)
