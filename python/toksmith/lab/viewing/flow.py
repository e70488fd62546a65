"""Tokens as running text, with colours or separators; and one token a line.

The drawing of an id is made once. A text is then drawn by looking up its ids, without a step of Python for each
token, so that it is drawn about as fast as it is encoded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from .spans import spaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from .spans import Span, Spans

    Blocks = Iterable[Sequence[int] | NDArray[Any]]

T = TypeVar("T")

COLOURS = ("\x1b[30;46m", "\x1b[30;43m")
"""Colours that tokens have in turn, so that neighbours differ."""
SPECIAL, BOLD, FAINT, END = "\x1b[97;45m", "\x1b[1m", "\x1b[2m", "\x1b[0m"

STYLES, SPECIAL_STYLE = ("bold cyan", "bold yellow"), "bold magenta"
"""The same for tokens in a table of `rich`, as colours of letters."""

SEPARATOR = "│"
"""Stands between two tokens that have no colours."""
_FRAMES = str.maketrans({sign: f"\\u{{{ord(sign):x}}}" for sign in "│⟦⟧"})
# Ids whose drawings are joined: enough that the cost of a write does not matter, and little memory.
_BLOCK = 1 << 15


def colour(span: Span, parity: int) -> str:
    """Return the escape sequence of a token whose number in the text is even (0) or odd (1)."""
    return SPECIAL if span.special else COLOURS[parity]


def framed(span: Span) -> str:
    """Return a token without colours: special tokens in brackets, and signs of a frame in the text escaped."""
    text = span.text.translate(_FRAMES)
    return f"⟦{text}⟧" if span.special else text


def ends_line(span: Span) -> bool:
    """Return whether the line of a drawing ends with this token."""
    return span.token.endswith(b"\n")


class Made(dict[int, T]):
    """A value for each id, made by a function when it is first asked for."""

    def __init__(self, make: Callable[[int], T]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: int) -> T:
        made = self[key] = self._make(key)
        return made


def pieces(blocks: Blocks) -> Iterator[list[int]]:
    """Yield the ids in lists of a size that is handled at a time."""
    for block in blocks:
        for start in range(0, len(block), _BLOCK):
            piece: Any = block[start : start + _BLOCK]
            yield piece if isinstance(piece, list) else piece.tolist() if hasattr(piece, "tolist") else list(piece)


def coloured(spans: Spans, blocks: Blocks) -> Iterator[str]:
    """Yield tokens on backgrounds in turn. A line ends after each newline, which is shown, and at the end."""
    drawings = [Made(lambda id: _on_colour(spans[id], 0)), Made(lambda id: _on_colour(spans[id], 1))]
    place = 0
    for ids in pieces(blocks):
        parts = [""] * len(ids)
        parts[0::2] = map(drawings[place % 2].__getitem__, ids[0::2])
        parts[1::2] = map(drawings[(place + 1) % 2].__getitem__, ids[1::2])
        place += len(ids)
        yield "".join(parts)
    yield "\n"


def _on_colour(span: Span, parity: int) -> str:
    begin = colour(span, parity)
    # The line ends without a colour, which would fill the rest of the line.
    line_end = rf"\n{END}" + "\n" + begin
    return begin + line_end.join(map(spaced, span.token.split(b"\n"))) + END


def separated(spans: Spans, blocks: Blocks) -> Iterator[str]:
    """Yield tokens with a separator between them. A line ends with a newline at the end of a token."""
    drawings = Made(lambda id: framed(spans[id]) + ("\n" if ends_line(spans[id]) else SEPARATOR))
    held = ""
    for ids in pieces(blocks):
        yield held
        held = "".join(map(drawings.__getitem__, ids))
    yield held[:-1] + "\n"


def lines(spans: Spans, blocks: Blocks, *, ids: bool = False, name: str | None = None) -> Iterator[str]:
    r"""Yield one line for each token, with tabs between columns: name, id, text, and "special" for a special token.

    Args:
        spans: The spans of the tokenizer.
        blocks: The ids of a text, in any number of lists or arrays.
        ids: Whether the id is a column.
        name: The text of the first column; None for no such column.

    >>> from toksmith import Tokenizer
    >>> from toksmith.lab.viewing.spans import Spans
    >>> spans = Spans(Tokenizer(special_tokens=["<|end|>"]))
    >>> "".join(lines(spans, [[97, 32, 256]], ids=True))
    '97\ta\n32\t␣\n256\t<|end|>\tspecial\n'
    """

    def line(id: int) -> str:
        span = spans[id]
        cells = [name, str(id) if ids else None, span.text, "special" if span.special else None]
        return "\t".join(cell for cell in cells if cell is not None) + "\n"

    drawings = Made(line)
    for block in pieces(blocks):
        yield "".join(map(drawings.__getitem__, block))
