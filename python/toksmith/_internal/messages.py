"""Showing values in error messages: always short, whatever a file or a caller gives."""

from __future__ import annotations

from typing import Any

MAX_SHOWN = 80
"""Most characters of a value that a message shows; its length is added."""


def shown(value: Any, most: int = MAX_SHOWN) -> str:
    r"""Return a value as an error shows it: its `repr`, or the beginning of that with the length of the value.

    Cost: bounded, whatever the size of the value.

    Args:
        value: The value.
        most: Most characters of the value; its length is added.

    >>> shown(b"th"), shown("a" * 1000)[-24:]
    ("b'th'", 'aaaaa… (1000 characters)')
    """
    if isinstance(value, (str, bytes, bytearray)):
        return _shown_text(value, most)
    if isinstance(value, int) and value.bit_length() > 8 * MAX_SHOWN // 3:
        return f"a whole number of {value.bit_length()} bits"
    import reprlib

    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = most
    try:
        text = short.repr(value)
    except Exception:  # raised by a stranger's __repr__, or by a number with too many digits inside a list
        text = f"<{type(value).__name__}>"
    return text if len(text) <= most else f"{text[:most]}…"


def printable(text: str) -> str:
    r"""Return a text with an escape for each character that a terminal could obey; backslashes stay as they are.

    >>> printable("a\x1b[2J \\d"), printable("é")
    ('a\\x1b[2J \\d', 'é')
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _shown_text(value: str | bytes | bytearray, most: int) -> str:
    text = repr(value[:most])
    if len(value) <= most and len(text) <= 2 * most:
        return text
    unit = "characters" if isinstance(value, str) else "bytes"
    return f"{text[:most]}… ({len(value)} {unit})"
