"""Records of results as JSON has them."""

from __future__ import annotations

import dataclasses
from typing import Any

from .native import escape


def plain(value: Any) -> Any:
    r"""Return data as dicts, lists, numbers and str: a record is a dict of its fields, and bytes are escaped.

    A field of a dataclass whose metadata has `left_out` is left out.

    >>> plain({1: (b"\xff", 2.5, None)})
    {'1': ['\\xff', 2.5, None]}
    """
    if isinstance(value, bytes):
        return escape(value)
    if dataclasses.is_dataclass(value):
        fields = (field for field in dataclasses.fields(value) if not field.metadata.get("left_out"))
        return {field.name: plain(getattr(value, field.name)) for field in fields}
    if hasattr(value, "_asdict"):
        return {name: plain(part) for name, part in value._asdict().items()}
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return value
