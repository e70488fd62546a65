"""Results as JSON has them."""

from __future__ import annotations

import dataclasses
from typing import Any


def plain(value: Any) -> Any:
    r"""Return a result as dicts, lists, numbers and str. In bytes, what is not text is `\xNN`, and a backslash `\\`.

    A field of a dataclass whose metadata has `left_out` is left out.

    >>> plain({1: (b"\xff", 2.5, None)})
    {'1': ['\\xff', 2.5, None]}
    """
    if isinstance(value, bytes):
        return value.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
    if dataclasses.is_dataclass(value):
        fields = (field for field in dataclasses.fields(value) if not field.metadata.get("left_out"))
        return {field.name: plain(getattr(value, field.name)) for field in fields}
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return value
