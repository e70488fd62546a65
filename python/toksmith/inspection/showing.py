"""Tokens as words that anybody may see: nothing in them is obeyed by a terminal."""

from __future__ import annotations

from ..formats import native


def shown(token: bytes) -> str:
    r"""Return a token as one visible word.

    >>> shown(b" a\n"), shown(b"\xe6\x97"), shown("日".encode())
    ('␣a\\n', '\\xe6\\x97', '日')
    """
    return visible(native.escape(token)).replace(" ", "␣")


def visible(text: str) -> str:
    r"""Return a text with each character that is not printable as an escape.

    >>> visible("a\tb\u202e")
    'a\\tb\\u{202e}'
    """
    return text if text.isprintable() else "".join(map(_visible, text))


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    if character.isascii():
        return character.encode("unicode_escape").decode()
    return f"\\u{{{ord(character):x}}}"
