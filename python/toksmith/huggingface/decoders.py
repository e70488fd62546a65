"""Decoders: from the tokens of ids to text, as the original does it step by step.

`ByteLevel` alone is the decoder of byte-level tokenizers, whose tokens are bytes. The steps here are those of
tokenizers that merge characters.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from .checks import checked, field, kind_of, refused, shown
from .part_pattern import pattern_of

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_DEPTH = 20
"""Most sequences inside each other."""

_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2}|\+[0-9A-Fa-f])>")
META = "\u2581"
"""The character for a space in the tokens of SentencePiece."""


class Step(NamedTuple):
    """A step of a decoder: its name, and its arguments in the order of the file."""

    name: str
    arguments: tuple[Any, ...] = ()


def read(part: Any, place: str = "$.decoder", depth: int = 0) -> tuple[Step, ...]:
    """Return the steps of a decoder.

    Raises:
        ValueError: A part is malformed or not one that toksmith has; names it.
    """
    kind = kind_of(part, place)
    if kind == "Sequence":
        if depth == MAX_DEPTH:
            raise refused(place, f"more than {MAX_DEPTH} sequences inside each other")
        rows = field(part, "decoders", list, place)
        return tuple(step for i, row in enumerate(rows) for step in read(row, f"{place}.decoders[{i}]", depth + 1))
    if kind in ("ByteFallback", "Fuse"):
        return (Step(kind),)
    if kind == "Replace":
        name, text = pattern_of(part, place)
        if name != "String":
            raise refused(f"{place}.pattern", "a regular expression in a decoder is not read; a String is")
        return (Step(kind, (text, field(part, "content", str, place))),)
    if kind == "Strip":
        counts = [_count(part, side, place) for side in ("start", "stop")]
        return (Step(kind, (_character(part, "content", place), *counts)),)
    if kind == "Metaspace":
        return (Step(kind, (_character(part, "replacement", place), scheme(part, place))),)
    raise refused(place, f"the decoder {kind} is not one that toksmith has")


def scheme(part: dict[str, Any], place: str) -> str:
    """Return the `prepend_scheme` of a Metaspace, which older files spell `add_prefix_space`.

    Raises:
        ValueError: The scheme is unknown, or the two contradict each other.
    """
    found: str = field(part, "prepend_scheme", str, place, "always")
    if found not in ("always", "first", "never"):
        raise refused(f"{place}.prepend_scheme", f"{shown(found)} is none of always, first, never")
    prefix = part.get("add_prefix_space")
    if prefix is not None and not checked(prefix, bool, f"{place}.add_prefix_space") and found != "never":
        raise refused(f"{place}.add_prefix_space", f"it is false, and prepend_scheme is {found}")
    return found


def _character(part: dict[str, Any], name: str, place: str) -> str:
    found: str = field(part, name, str, place)
    if len(found) != 1:
        raise refused(f"{place}.{name}", f"{shown(found)} is not one character")
    return found


def _count(part: dict[str, Any], name: str, place: str) -> int:
    found: int = field(part, name, int, place)
    if not 0 <= found < 2**32:
        raise refused(f"{place}.{name}", f"{found} is no count of characters")
    return found


def byte_of(token: str) -> int | None:
    """Return the byte that a token like `<0x0A>` stands for under ByteFallback; None for any other token."""
    found = _BYTE.fullmatch(token) if len(token) == 6 else None
    return None if found is None else int(found[1], 16)


def decoded(steps: Iterable[Step] | None, tokens: Iterable[str]) -> str:
    """Return the text of tokens; without a decoder they are joined by spaces."""
    found = list(tokens)
    if steps is None:
        return " ".join(found)
    for name, arguments in steps:
        found = _STEPS[name](found, *arguments)
    return "".join(found)


def _replaced(tokens: list[str], old: str, new: str) -> list[str]:
    return [token.replace(old, new) for token in tokens]


def _with_bytes(tokens: list[str]) -> list[str]:
    """Join the bytes of neighbouring tokens for bytes. If they are not UTF-8, each byte becomes U+FFFD."""
    found: list[str] = []
    held = bytearray()

    def end() -> None:
        try:
            found.append(held.decode())
        except UnicodeDecodeError:
            found.extend("\ufffd" * len(held))
        held.clear()

    for token in tokens:
        byte = byte_of(token)
        if byte is not None:
            held.append(byte)
            continue
        end()
        found.append(token)
    end()
    return found


def _fused(tokens: list[str]) -> list[str]:
    return ["".join(tokens)]


def _stripped(tokens: list[str], character: str, start: int, stop: int) -> list[str]:
    found = []
    for token in tokens:
        first = next((i for i, c in enumerate(token[:start]) if c != character), min(start, len(token)))
        ending = token[max(0, len(token) - stop) :]
        last = len(token) - next((i for i, c in enumerate(reversed(ending)) if c != character), len(ending))
        found.append(token[first:last])
    return found


def _of_metaspace(tokens: list[str], replacement: str, scheme: str) -> list[str]:
    first = "" if scheme != "never" else " "
    return [token.replace(replacement, " " if i else first) for i, token in enumerate(tokens)]


_STEPS: dict[str, Any] = {
    "Replace": _replaced,
    "ByteFallback": _with_bytes,
    "Fuse": _fused,
    "Strip": _stripped,
    "Metaspace": _of_metaspace,
}


def stripped_spaces(steps: tuple[Step, ...] | None, spaces: bool) -> int | None:
    """Return how many spaces are taken off the front of the joined bytes of the tokens, if that is all of decoding.

    Args:
        steps: The steps of the decoder.
        spaces: Whether the bytes have spaces where the tokens have U+2581.

    Returns:
        The number of spaces; None if decoding does anything else.
    """
    if not steps:
        return None
    rest = list(steps)
    if spaces and rest.pop(0) != Step("Replace", (META, " ")):
        return None
    if not rest or rest.pop(0) != Step("ByteFallback"):
        return None
    if rest[:1] == [Step("Fuse")]:
        rest.pop(0)
        if len(rest) == 1 and rest[0].name == "Strip" and rest[0].arguments[0::2] == (" ", 0):
            count: int = rest.pop().arguments[1]
            return count
    return None if rest else 0
