r"""Tokens for a terminal or a file of text: with colours or without, with ids or without, and with their counts.

The drawing of an id is made once, and a text is drawn by looking up its ids: without ids below the tokens, about as
fast as it is encoded.
"""

from __future__ import annotations

import functools
import itertools
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from .spans import Span, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

Ids: TypeAlias = "Sequence[int] | NDArray[Any]"

COLOURS = ("\x1b[30;46m", "\x1b[30;43m")
"""Colours that tokens have in turn, so that neighbours differ."""
SPECIAL, BOLD, FAINT, UNDERLINED, END = "\x1b[97;45m", "\x1b[1m", "\x1b[2m", "\x1b[4m", "\x1b[0m"

STYLES, SPECIAL_STYLE = ("bold cyan", "bold yellow"), "bold magenta"
"""The same for tokens in a table of `rich`, as colours of letters."""

SEPARATOR = "│"
"""Stands between two tokens that have no colours."""
_FRAMES = str.maketrans({sign: f"\\u{{{ord(sign):x}}}" for sign in "│⟦⟧"})
# Ids whose drawings are joined: enough that the cost of a write does not matter, and little memory.
_BLOCK = 1 << 15


def has_colours() -> bool:
    """Return whether standard output is a terminal that takes colours, and the user has not turned colours off."""
    from rich.console import Console  # takes long, and most commands need none

    console = Console(file=sys.stdout)
    # A console of Windows before version 10 shows escape sequences as text.
    takes_escapes = console.color_system is not None and not console.legacy_windows
    return console.is_terminal and takes_escapes and not console.no_color


def drawn(
    spans: Mapping[int, Span], tokens: Ids, *, colours: bool, ids: bool = False, underlined: Iterable[bool] = ()
) -> Iterator[str]:
    r"""Yield the drawing of tokens in parts. A line ends with a token that ends with a newline, and at the end.

    With colours each token has a background that differs from its neighbours', spaces stay, and `underlined` says for
    each of the first tokens whether it is underlined, unless ids stand below them. Without colours,
    tokens are separated by `│`, a space is `␣`, special tokens stand in `⟦` and `⟧`, and these signs in a text are
    escaped.

    With `ids` the id stands below each token, and lines are broken at the width of the terminal. An id without a
    token is a `KeyError`. Cost: linear in the text, and some microseconds for each different token.

    >>> from toksmith import Tokenizer
    >>> from toksmith.lab.spans import Spans
    >>> spans = Spans(Tokenizer(special_tokens=["<|end|>"]))
    >>> print("".join(drawn(spans, [97, 32, 256], colours=False)), end="")
    a│␣│⟦<|end|>⟧
    >>> print("".join(drawn(spans, [97, 32, 256], colours=False, ids=True)), end="")
    a │␣ │⟦<|end|>⟧
    97│32│256
    """
    if ids:
        return rows(spans, tokens, colours, shutil.get_terminal_size().columns)
    return _coloured(spans, tokens, underlined) if colours else _separated(spans, tokens)


# Running text, and one token a line


def colour(span: Span, parity: int) -> str:
    """Return the escape sequence of a token whose number in the text is even (0) or odd (1)."""
    return SPECIAL if span.special else COLOURS[parity]


def framed(span: Span) -> str:
    """Return a token without colours: special tokens in brackets, and signs of a frame in the text escaped."""
    text = span.text.translate(_FRAMES)
    return f"⟦{text}⟧" if span.special else text


def _blocks(ids: Ids) -> Iterator[list[int]]:
    for start in range(0, len(ids), _BLOCK):
        block: Any = ids[start : start + _BLOCK]
        yield block if isinstance(block, list) else block.tolist()


def _coloured(spans: Mapping[int, Span], tokens: Ids, underlined: Iterable[bool]) -> Iterator[str]:
    """Yield tokens on backgrounds in turn. A line ends after each newline, which is shown, and at the end."""
    draw = functools.cache(lambda id, parity, is_underlined: _on_colour(spans[id], parity, is_underlined))
    parities, lines = itertools.cycle((0, 1)), itertools.chain(underlined, itertools.repeat(False))
    for ids in _blocks(tokens):
        yield "".join(map(draw, ids, parities, lines))
    yield "\n"


def _on_colour(span: Span, parity: int, is_underlined: bool) -> str:
    begin = colour(span, parity) + UNDERLINED * is_underlined
    # The line ends without a colour, which would fill the space behind it.
    line_end = rf"\n{END}" + "\n" + begin
    return begin + line_end.join(shown(line, " ") for line in span.token.split(b"\n")) + END


def _separated(spans: Mapping[int, Span], tokens: Ids) -> Iterator[str]:
    """Yield tokens with a separator between them. A line ends with a newline at the end of a token."""
    drawing = functools.cache(lambda id: framed(spans[id]) + ("\n" if spans[id].token.endswith(b"\n") else SEPARATOR))
    last = ""
    for ids in _blocks(tokens):
        yield last
        last = "".join(map(drawing, ids))
    yield last[:-1] + "\n"


def lines(spans: Mapping[int, Span], tokens: Ids, *, ids: bool = False, name: str | None = None) -> Iterator[str]:
    r"""Return one line for each token, with tabs between columns: name, id, text, and "special" for a special token.

    >>> from toksmith import Tokenizer
    >>> from toksmith.lab.spans import Spans
    >>> spans = Spans(Tokenizer(special_tokens=["<|end|>"]))
    >>> "".join(lines(spans, [97, 32, 256], ids=True))
    '97\ta\n32\t␣\n256\t<|end|>\tspecial\n'
    """

    @functools.cache
    def line(id: int) -> str:
        span = spans[id]
        cells = [name, str(id) if ids else None, span.text, "special" if span.special else None]
        return "\t".join(cell for cell in cells if cell is not None) + "\n"

    return map(line, itertools.chain.from_iterable(_blocks(tokens)))


# Rows with ids below


def rows(spans: Mapping[int, Span], tokens: Ids, colours: bool, width: int) -> Iterator[str]:
    """Yield tokens and the ids below them in rows of at most `width` columns, two lines each."""
    cell_of = functools.cache(lambda id: _cell(spans[id], colours))
    between = " " if colours else SEPARATOR
    upper: list[str] = []
    lower: list[str] = []
    column = 0
    for place, id in enumerate(itertools.chain.from_iterable(_blocks(tokens))):
        cell = cell_of(id)
        if upper and column + cell.width > width:
            yield f"{between.join(upper).rstrip()}\n{between.join(lower).rstrip()}\n"
            upper, lower, column = [], [], 0
        upper.append(cell.texts[place % 2])
        lower.append(cell.id)
        column = width + 1 if cell.ends_line else column + cell.width + 1
    if upper:
        yield f"{between.join(upper).rstrip()}\n{between.join(lower).rstrip()}\n"


class _Cell(NamedTuple):
    width: int
    texts: tuple[str, str]  # for an even and for an odd number of the token
    id: str
    ends_line: bool


def _cell(span: Span, colours: bool) -> _Cell:
    from rich.cells import cell_len

    text = shown(span.token, " ") if colours else framed(span)
    width = max(cell_len(text), len(str(span.id)))
    upper, lower = text + " " * (width - cell_len(text)), str(span.id).ljust(width)
    texts = (upper, upper)
    if colours:
        texts = (f"{colour(span, 0)}{upper}{END}", f"{colour(span, 1)}{upper}{END}")
        lower = f"{FAINT}{lower}{END}"
    return _Cell(width, texts, lower, span.token.endswith(b"\n"))
