"""Decoders: from the parts of the file to the stages of the core."""

from __future__ import annotations

from typing import Any

from .checks import checked, field, kind_of, refused, shown
from .part_pattern import matcher_of

MAX_DEPTH = 20
"""Most sequences inside each other."""
MAX_STAGES = 256
"""Most stages of a decoder."""

Stages = list[tuple[str, list[Any]]]


def read(part: Any, place: str = "$.decoder", depth: int = 0) -> Stages:
    """Return the stages of a decoder; without one, tokens are joined by spaces.

    Raises:
        ValueError: A part is malformed or not one that toksmith has; names it.
    """
    if part is None:
        return [("Spaced", [])]
    kind = kind_of(part, place)
    if kind == "Sequence":
        if depth == MAX_DEPTH:
            raise refused(place, f"more than {MAX_DEPTH} sequences inside each other")
        rows = field(part, "decoders", list, place)
        stages: Stages = []
        for i, row in enumerate(rows):
            stages += read(row, f"{place}.decoders[{i}]", depth + 1)
            if len(stages) > MAX_STAGES:
                raise refused(place, f"more than {MAX_STAGES} stages")
        return stages
    if kind in ("ByteLevel", "ByteFallback", "Fuse"):
        return [(kind, [])]
    if kind == "Replace":
        return [(kind, [*matcher_of(part, place, has_offsets=False), field(part, "content", str, place)])]
    if kind == "Strip":
        counts = [_count(part, side, place) for side in ("start", "stop")]
        return [(kind, [_character(part, "content", place), *counts])]
    if kind == "Metaspace":
        return [(kind, [_character(part, "replacement", place), scheme(part, place) != "never"])]
    if kind == "BPEDecoder":
        return [(kind, [field(part, "suffix", str, place)])]
    if kind == "WordPiece":
        return [(kind, [field(part, "prefix", str, place), field(part, "cleanup", bool, place)])]
    if kind == "CTC":
        names = [field(part, name, str, place) for name in ("pad_token", "word_delimiter_token")]
        return [(kind, [*names, field(part, "cleanup", bool, place)])]
    raise refused(place, f"the decoder {kind} is not one that toksmith has")


def scheme(part: dict[str, Any], place: str) -> str:
    """Return the `prepend_scheme` of a Metaspace, which older files spell `add_prefix_space`.

    Raises:
        ValueError: The scheme is unknown, or the two contradict each other.
    """
    name: str = field(part, "prepend_scheme", str, place, "always")
    if name not in ("always", "first", "never"):
        raise refused(f"{place}.prepend_scheme", f"{shown(name)} is none of always, first, never")
    prefix = part.get("add_prefix_space")
    if prefix is not None and not checked(prefix, bool, f"{place}.add_prefix_space") and name != "never":
        raise refused(f"{place}.add_prefix_space", f"it is false, and prepend_scheme is {name}")
    return name


def _character(part: dict[str, Any], name: str, place: str) -> str:
    text: str = field(part, name, str, place)
    if len(text) != 1:
        raise refused(f"{place}.{name}", f"{shown(text)} is not one character")
    return text


def _count(part: dict[str, Any], name: str, place: str) -> int:
    count: int = field(part, name, int, place)
    if not 0 <= count < 2**32:
        raise refused(f"{place}.{name}", f"{count} is no count of characters")
    return count
