"""Tokens as a person reads them, in `.vocab` files."""

from __future__ import annotations

import unicodedata


def replace_control_characters(s: str) -> str:
    r"""Return `s` with control, format and unassigned characters as escapes: they would spoil the lines.

    >>> print(replace_control_characters("a\n"))
    a\u000a
    """
    return "".join(c if unicodedata.category(c)[0] != "C" else f"\\u{ord(c):04x}" for c in s)


def render_token(t: bytes) -> str:
    r"""Return the text of a token, with U+FFFD for bytes that are not UTF-8, and control characters escaped.

    >>> render_token(b"caf\xc3\xa9")
    'café'
    """
    return replace_control_characters(t.decode(errors="replace"))
