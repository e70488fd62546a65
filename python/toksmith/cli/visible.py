"""Text and tokens as a terminal may show them: control characters are shown, never obeyed."""

from __future__ import annotations

import sys

from ..formats import native


def shown(token: bytes) -> str:
    r"""Return a token as one visible word.

    >>> shown(b" a\n"), shown(b"\xe6\x97"), shown("日".encode()), shown(b"\\")
    ('␣a\\n', '\\xe6\\x97', '日', '\\\\')
    """
    return "".join("␣" if character == " " else visible(character) for character in native.escape(token))


def spaced(token: bytes) -> str:
    r"""Return a token as a part of a visible text, in which spaces stay.

    >>> spaced(b" a\x1b[31m\n")
    ' a\\x1b[31m\\n'
    """
    return visible(native.escape(token))


def visible(text: str) -> str:
    r"""Return a text with each character that is not printable as an escape.

    >>> visible("a\tb\u202e"), visible("a b")
    ('a\\tb\\u{202e}', 'a b')
    """
    return text if text.isprintable() else "".join(map(_visible, text))


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    if character.isascii():
        return character.encode("unicode_escape").decode()
    return f"\\u{{{ord(character):x}}}"


def has_colours() -> bool:
    """Return whether standard output is a terminal that takes colours, and nobody has asked for none."""
    from rich.console import Console

    console = Console(file=sys.stdout)
    return console.is_terminal and console.color_system is not None and not console.no_color
