"""How much a pattern of a stranger's file would make `regex` build: told before it is compiled."""

from __future__ import annotations

import re

MAX_PARTS = 50_000
"""Of a pattern, with what is repeated counted as often as it may be: the largest published ones have some hundred."""

_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(\d*),?\d*\}|(.)", re.S)


def check(text: str) -> None:
    """Refuse a pattern that comes to more than `MAX_PARTS`.

    Raises:
        ValueError: It does; says how much.
    """
    parts = min(_parts(text), 10**15)
    if parts > MAX_PARTS or len(text) > MAX_PARTS:
        shown = text if len(text) < 80 else f"{text[:80]}…"
        raise ValueError(
            f"the pattern {shown!r} comes to {max(parts, len(text))} parts, more than {MAX_PARTS}: it is not compiled"
        )


def _parts(text: str) -> int:
    """Return about how many parts a pattern has, each as often as it is repeated."""
    outer: list[int] = []
    total, last = 0, 0
    for piece in _PIECE.finditer(text):
        character = piece[2] if piece[2] is not None else ""
        if piece[1] is not None:
            times = max(int(piece[1][:15] or 1), int((piece[0][1:-1].rpartition(",")[2] or "1")[:15]), 1)
            total, last = total + last * (times - 1), last * times
        elif character == "(":
            outer.append(total)
            total, last = 0, 0
        elif character == ")" and outer:
            last = total
            total += outer.pop()
        elif character not in ("*", "+", "?", "|"):
            total, last = total + 1, 1
    return total + sum(outer)
