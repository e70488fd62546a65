"""Checks of values in a file, with errors that name their place."""

from __future__ import annotations

from typing import Any, TypeVar

from ..._internal.messages import shown

Kind = TypeVar("Kind")
Json = dict[str, Any]
"""An object of JSON."""

BPE_OPTIONS: Json = {
    "unk_token": None,
    "continuing_subword_prefix": None,
    "end_of_word_suffix": None,
    "fuse_unk": False,
    "byte_fallback": False,
}
"""The options of a `BPE` model that have no effect on the ids of a vocabulary of bytes, with their defaults."""


def refused(place: str, why: str) -> ValueError:
    """Return the error for a place of the file, with the reason."""
    return ValueError(f"{place}: {why}")


_NAMES = {str: "a text", int: "a whole number", bool: "true or false", list: "a list", dict: "an object"}


def field(content: Json, key: str, kind: type[Kind], place: str) -> Kind:
    """Return a field of an object."""
    if key not in content:
        raise refused(place, f"the field {shown(key)} is missing")
    return checked(content[key], kind, f"{place}.{key}")


def checked(value: object, kind: type[Kind], place: str) -> Kind:
    """Return a value that is of a kind."""
    if type(value) is not kind:  # a bool is no number here
        raise refused(place, f"expected {_NAMES[kind]}, got {shown(value)}")
    if isinstance(value, str) and not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
        raise refused(place, "the text has a lone surrogate")
    return value


def checked_id(value: object, place: str) -> int:
    """Return a value that is an id."""
    if type(value) is not int or not 0 <= value < 2**32:
        raise refused(place, f"the id is {shown(value)}, not a whole number below 2^32")
    return value
