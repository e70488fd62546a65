"""`MarkedText`: a `str` that knows where each of its characters comes from."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, SupportsIndex

from .. import _core

TRUSTED, ASSISTANT, GENERATED, UNKNOWN, THINKING, TOOL_CALL, TURN_UNIT = _core.MARKS.values()
"""Flags of a character: special tokens may be made of it; a message of the assistant has it; it is inside a block
`{% generation %}`; its origin is lost; it is reasoning; it is of a tool call; and, in two bits, the number of its
message among those of the assistant, modulo four."""


def _in_pieces(method: Callable[..., Any]) -> Any:
    """Return a method of `str` that cuts a text into pieces, for `MarkedText`."""

    def cut(text: MarkedText, sep: Any = None, *options: Any, **named: Any) -> Any:
        pieces, at, marked = method(text, sep, *options, **named), 0, []
        # Separators are between the pieces, or pieces themselves, or white space, with which no piece begins.
        gap = len(sep) if isinstance(pieces, list) and isinstance(sep, str) else 0
        for piece in pieces:
            at = str.find(text, piece, at)
            marked.append(text[at : at + len(piece)])
            at += len(piece) + gap
        return type(pieces)(marked)

    return cut


def _by_character(method: Callable[[str], str]) -> Any:
    """Return a method of `str` that replaces characters, for `MarkedText`."""

    def replaced(text: MarkedText) -> MarkedText:
        made = method(text)  # longer if a character becomes two, never shorter
        return MarkedText(made, text._flags if len(made) == len(text) else UNKNOWN)

    return replaced


class MarkedText(str):
    """A `str` with a byte of flags for each character.

    What selects, cuts and joins characters keeps their flags. Methods that make new text (`format`, `center`, …)
    return a plain `str`, whose characters count as UNKNOWN.
    """

    __slots__ = ("_flags",)
    _flags: bytes

    def __new__(cls, text: str, flags: int | bytes = UNKNOWN) -> MarkedText:
        made = super().__new__(cls, str.__str__(text))
        made._flags = bytes([flags]) * len(text) if isinstance(flags, int) else flags
        return made

    def __str__(self) -> str:  # `str(text)` is how Jinja prints
        return self

    def __add__(self, other: str) -> MarkedText:
        return joined((self, other)) if isinstance(other, str) else NotImplemented

    def __radd__(self, other: str) -> MarkedText:
        return joined((other, self)) if isinstance(other, str) else NotImplemented

    def __mul__(self, count: SupportsIndex) -> MarkedText:
        return MarkedText(str.__mul__(self, count), self._flags * count)

    __rmul__ = __mul__

    def __getitem__(self, key: SupportsIndex | slice) -> MarkedText:
        flags = self._flags[key]
        return MarkedText(str.__getitem__(self, key), flags)

    def __iter__(self) -> Iterator[MarkedText]:
        return map(self.__getitem__, range(len(self)))

    def join(self, parts: Iterable[str], /) -> MarkedText:
        return joined(parts, self)

    def lstrip(self, characters: str | None = None, /) -> MarkedText:
        return self[len(self) - len(str.lstrip(self, characters)) :]

    def rstrip(self, characters: str | None = None, /) -> MarkedText:
        return self[: len(str.rstrip(self, characters))]

    def strip(self, characters: str | None = None, /) -> MarkedText:
        return self.lstrip(characters).rstrip(characters)

    def replace(self, old: str, new: str, count: SupportsIndex = -1, /) -> str:
        return joined(self.split(old, count), new) if old else str.replace(self, old, new, count)

    def splitlines(self, keepends: bool = False) -> Any:
        return _in_pieces(lambda text, _: str.splitlines(text, keepends))(self)

    split, rsplit = _in_pieces(str.split), _in_pieces(str.rsplit)
    partition, rpartition = _in_pieces(str.partition), _in_pieces(str.rpartition)
    lower, upper, capitalize = map(_by_character, (str.lower, str.upper, str.capitalize))


def flags(text: str) -> bytes:
    """Return the flags of each character."""
    return text._flags if isinstance(text, MarkedText) else bytes([UNKNOWN]) * len(text)


def joined(parts: Iterable[object], separator: str = "") -> MarkedText:
    """Return texts, or what is shown of other values, joined."""
    texts = [str(part) for part in parts]
    return MarkedText(str.join(separator, texts), flags(separator).join(map(flags, texts)))


def flagged(text: str, added: int) -> MarkedText:
    """Return a text with flags added to each of its characters."""
    return MarkedText(text, flags(text).translate(bytes(each | added for each in range(256))))


def marked(value: Any, added: int) -> Any:
    """Return a value as plain data for a template, all texts in it with these flags.

    As in `transformers`, objects that are no data become their names: a template could call their methods.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return MarkedText(value, added)
    if isinstance(value, (int, float)):
        return int.__int__(value) if isinstance(value, int) else float.__float__(value)
    if isinstance(value, Mapping):
        return {marked(key, added): marked(item, added) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [marked(item, added) for item in value]
        return tuple(items) if isinstance(value, tuple) else items
    numpy = sys.modules.get("numpy")  # without it there are no values of NumPy
    if numpy is not None and isinstance(value, numpy.generic):
        return marked(value.item(), added)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return marked({field.name: getattr(value, field.name) for field in dataclasses.fields(value)}, added)
    if callable(getattr(value, "model_dump", None)):  # Pydantic's
        return marked(value.model_dump(), added)
    return MarkedText(f"<{type(value).__name__}>", added)


def flags_within(value: Any) -> set[int]:
    """Return the flags that characters within a value have."""
    if isinstance(value, str):
        return set(flags(value))
    items = (part for item in value.items() for part in item) if isinstance(value, dict) else value
    return set().union(*map(flags_within, items)) if isinstance(value, (dict, list, tuple)) else set()
