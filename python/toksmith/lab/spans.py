r"""The tokens of a text as they are displayed. Every view of tokens takes its text and its marks from here.

A text is never trusted: no control character, escape sequence or bidirectional control of it reaches a terminal or a
page. Visible characters of a token are shown as they are, and all others as marks:

- a space is `␣`, or stays a space where the place of a token is visible by its background;
- a newline is `\n`, a tab `\t`, and any other control character of ASCII `\xNN`;
- other characters that cannot be seen, such as U+202E or a no-break space, are `\u{202e}`, `\u{a0}`;
- a byte that is not part of a whole character of the token is `\xNN`;
- a backslash is `\\`, so that no mark can be confused with text;
- a combining character at the beginning of a token stands on a dotted circle, `◌`, and not on the token before it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from ..formats.verification import text_of
from ..tokenizer import Tokenizer

SPACE = "␣"
"""The mark for a space where a space could not be seen."""

# Characters that Python calls printable and that no font draws: default-ignorable ones, fillers, the empty Braille.
_UNSEEN = frozenset(
    {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, 0x3164, 0xFFA0}
    | {*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}
)


class Span(NamedTuple):
    r"""One token as people see it."""

    id: int
    token: bytes
    text: str  # one visible word: the token with its marks, as `shown` returns it
    special: bool  # whether it is the id of a special token
    partial: bool  # whether the bytes are no whole characters, as `b"\xe6\x97"` of "日"


class Spans(dict[int, Span]):
    r"""The span of each id of a tokenizer, made when it is first asked for.

    `spans[id]` raises `KeyError` for an id that has no token. Looking up an id again costs as much as in a `dict`, so
    use `map(spans.__getitem__, ids)` for a long text.

    >>> from toksmith import Tokenizer
    >>> Spans(Tokenizer())[10]
    Span(id=10, token=b'\n', text='\\n', special=False, partial=False)
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__()
        self._tokenizer = tokenizer
        self._specials = _special_ids(tokenizer)

    def __missing__(self, id: int) -> Span:
        token = self._tokenizer.token_bytes(id)
        span = self[id] = Span(id, token, shown(token), id in self._specials, text_of(token) is None)
        return span


def _special_ids(tokenizer: Tokenizer) -> frozenset[int]:
    """Return the ids of special tokens, without tokens that were added to a vocabulary as ordinary ones."""
    added = () if tokenizer.pipeline is None else tokenizer.pipeline.added_tokens
    ordinary = {token["id"] for token in added if not token["special"]}
    return frozenset(tokenizer.special_tokens.values()) - ordinary


def of_ids(tokenizer: Tokenizer, ids: Iterable[int]) -> list[Span]:
    """Return the span of each id, in order; `KeyError` for an id that has no token."""
    return list(map(Spans(tokenizer).__getitem__, ids))


# Characters and their marks


def shown(token: bytes, space: str = SPACE) -> str:
    r"""Return a token as one visible word; with the space " ", as a part of a visible text, in which spaces stay.

    >>> shown(b" a\n"), shown(b"\xe6\x97"), shown("日".encode()), shown(b"\\")
    ('␣a\\n', '\\xe6\\x97', '日', '\\\\')
    >>> shown(b" a\x1b[31m\n", " ")
    ' a\\x1b[31m\\n'
    """
    return "".join(text for text, _ in marked(token, space))


def marked(token: bytes, space: str = " ") -> list[tuple[str, bool]]:
    r"""Return a token in parts: text that is shown as it is, with False, and marks, with True.

    >>> marked(b"a\tb c")
    [('a', False), ('\\t', True), ('b c', False)]
    """
    text = token.decode("utf-8", "surrogateescape")
    if text.isprintable() and text.isascii() and "\\" not in text and (space == " " or " " not in text):
        return [(text, False)] if text else []
    parts: list[tuple[str, bool]] = []
    for place, character in enumerate(text):
        mark = space if character == " " else _mark(character)
        if place == 0 and mark == character and unicodedata.category(character).startswith("M"):
            mark = f"◌{character}"
        is_mark = mark != character
        if parts and parts[-1][1] == is_mark:
            parts[-1] = parts[-1][0] + mark, is_mark
        else:
            parts.append((mark, is_mark))
    return parts


def _mark(character: str) -> str:
    if character == "\\":
        return "\\\\"
    if "\udc80" <= character <= "\udcff":  # "surrogateescape" has made it of a byte that is part of no character
        return f"\\x{ord(character) - 0xDC00:02x}"
    return _visible(character)


def visible(text: str) -> str:
    r"""Return a text with each character that cannot be seen as an escape; backslashes stay as they are.

    >>> visible("a\tb\u202e"), visible("a b")
    ('a\\tb\\u{202e}', 'a b')
    """
    return text if text.isascii() and text.isprintable() else "".join(map(_visible, text))


def _visible(character: str) -> str:
    if character.isprintable() and ord(character) not in _UNSEEN:
        return character
    if character.isascii():
        return character.encode("unicode_escape").decode()
    return f"\\u{{{ord(character):x}}}"
