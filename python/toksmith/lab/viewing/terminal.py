"""Tokens for a terminal or a file of text: with colours or without, with ids or without, and with their counts."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from ..._internal.numbers import counted
from . import flow, rows, wrapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .flow import Blocks
    from .spans import Spans


def is_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def has_colours() -> bool:
    """Return whether standard output is a terminal that takes colours, and the user has not turned colours off."""
    from rich.console import Console

    console = Console(file=sys.stdout)
    return console.is_terminal and console.color_system is not None and not console.no_color


def width() -> int:
    """Return the columns of the terminal (or of `COLUMNS`); 80 if there is no terminal."""
    return shutil.get_terminal_size().columns


def drawn(spans: Spans, blocks: Blocks, *, colours: bool, ids: bool = False) -> Iterator[str]:
    r"""Yield the drawing of tokens in parts. A line ends with a token that ends with a newline, and at the end.

    On a terminal a line also ends before an escape, such as `\xe7`, that the edge would break.

    With colours each token has a background that differs from its neighbours', and spaces stay. Without colours,
    tokens are separated by `│`, a space is `␣`, special tokens stand in `⟦` and `⟧`, and these signs in a text are
    escaped.

    Cost: linear in the text. About 0.15 microseconds for a token, twice that with ids, and 15 microseconds for each
    different token.

    Args:
        spans: The spans of the tokenizer.
        blocks: The ids of a text, in any number of lists or arrays.
        colours: Whether escape sequences for colours may be used.
        ids: Whether the id stands below each token. If so, lines are broken at the width of the terminal.

    Raises:
        KeyError: An id has no token.

    >>> from toksmith import Tokenizer
    >>> from toksmith.lab.viewing.spans import Spans
    >>> spans = Spans(Tokenizer(special_tokens=["<|end|>"]))
    >>> print("".join(drawn(spans, [[97, 32, 256]], colours=False)), end="")
    a│␣│⟦<|end|>⟧
    >>> print("".join(drawn(spans, [[97, 32, 256]], colours=False, ids=True)), end="")
    a │␣ │⟦<|end|>⟧
    97│32│256
    """
    if ids:
        drawing = rows.drawn(spans, blocks, colours, width())
    else:
        drawing = (flow.coloured if colours else flow.separated)(spans, blocks)
    return wrapping.wrapped(drawing, width()) if is_terminal() else drawing


def heading(name: str, colours: bool) -> str:
    """Return the line above the tokens of one of several tokenizers."""
    return f"{flow.BOLD}{name}{flow.END}\n" if colours else f"{name}\n"


def counts(tokens: int, size: int) -> str:
    """Return the counts of a view as one line.

    Args:
        tokens: The number of tokens.
        size: Bytes of the text.

    >>> counts(4, 19)
    '4 tokens, 19 bytes, 4.75 bytes per token'
    >>> counts(0, 0)
    '0 tokens, 0 bytes'
    """
    line = f"{counted(tokens, 'token')}, {counted(size, 'byte')}"
    return f"{line}, {size / tokens:.2f} bytes per token" if tokens else line


def more(tokens: int) -> str:
    r"""Return a line that says how many tokens are not drawn; "" for none.

    >>> more(1200), more(0)
    ('… and 1,200 more tokens\n', '')
    """
    return f"… and {counted(tokens, 'more token')}\n" if tokens > 0 else ""
