"""Normalizers: from the parts of the file to the steps of the core."""

from __future__ import annotations

from typing import Any

from .checks import field, kind_of, refused
from .part_pattern import matcher_of

_PLAIN = ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt")
MAX_DEPTH = 20
"""Most sequences inside each other."""
MAX_STEPS = 256
"""Most steps of a normalizer."""

Steps = list[tuple[str, list[Any]]]


def read(part: Any, place: str = "$.normalizer", depth: int = 0) -> Steps:
    """Return the steps of the core's `Normalizer`.

    Raises:
        ValueError: A part is malformed or cannot be reproduced exactly; names it.
    """
    if part is None:
        return []
    kind = kind_of(part, place)
    if kind == "Sequence":
        if depth == MAX_DEPTH:
            raise refused(place, f"more than {MAX_DEPTH} sequences inside each other")
        rows = field(part, "normalizers", list, place)
        steps: Steps = []
        for i, row in enumerate(rows):
            steps += read(row, f"{place}.normalizers[{i}]", depth + 1)
            if len(steps) > MAX_STEPS:
                raise refused(place, f"more than {MAX_STEPS} steps")
        return steps
    if kind in _PLAIN:
        return [(kind, [])]
    if kind == "Strip":
        return [(kind, [field(part, side, bool, place) for side in ("strip_left", "strip_right")])]
    if kind == "Prepend":
        text = field(part, "prepend", str, place)
        if text == "":
            raise refused(place, "an empty text to prepend, on which the original fails")
        return [(kind, [text])]
    if kind == "Replace":
        return [(kind, [*matcher_of(part, place), field(part, "content", str, place)])]
    raise refused(place, f"the normalizer {kind} is not one that toksmith has")
