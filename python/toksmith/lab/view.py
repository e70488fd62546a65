"""The tokens of a text, drawn in a notebook or as plain text."""

from __future__ import annotations

from collections.abc import Iterator

from .._internal.arguments import checked_text, whole
from ..tokenizer import Tokenizer, tokenizer_of
from . import notebook, parts, terminal
from . import spans as spans_of
from .spans import Span

LIMIT = 2000
"""Tokens that are drawn by default; of a longer text, the first ones."""


class View:
    """The result of `view`: drawn with colours in a notebook, as plain text when it is printed.

    Attributes:
        text: The text.
        limit: How many tokens are drawn at most; None: all.
    """

    def __init__(self, tokenizer: Tokenizer, text: str, *, special: bool, show_ids: bool, limit: int | None) -> None:
        self.text, self.limit = checked_text(text), limit
        self._ids = tokenizer.encode_to_numpy(text, special=special)
        self._tokenizer, self._show_ids = tokenizer, show_ids

    @property
    def ids(self) -> list[int]:
        """All ids of the text."""
        ids: list[int] = self._ids.tolist()
        return ids

    @property
    def spans(self) -> list[Span]:
        """The spans of the first `limit` tokens."""
        return spans_of.of_ids(self._tokenizer, self._ids[: self.limit].tolist())

    def drawn(self, *, colours: bool) -> Iterator[str]:
        """Yield what a terminal shows, in parts, or what a file does, without colours."""
        if self.limit != 0:
            table = spans_of.Spans(self._tokenizer)
            yield from terminal.drawn(table, self._ids[: self.limit], colours=colours, ids=self._show_ids)
        yield f"{self._below()}\n"

    def lines(self, name: str | None) -> Iterator[str]:
        """Return a line for each token, with tabs between columns; the first is the name, if there is one."""
        table = spans_of.Spans(self._tokenizer)
        return terminal.lines(table, self._ids[: self.limit], ids=self._show_ids, name=name)

    def __str__(self) -> str:
        return "".join(self.drawn(colours=False)).removesuffix("\n")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        shown = notebook.tokens(self.spans, ids=self._show_ids)
        return f'<div>{notebook.STYLE}{shown}<div class="toksmith-counts">{self._below()}</div></div>'

    def _below(self) -> str:
        """Return how many tokens are not drawn, the counts, and what the pattern has lost."""
        count, size = len(self._ids), len(self.text.encode())
        below = (terminal.more(count - self.limit) if self.limit else "") + terminal.counts(count, size)
        # The steps of a pipeline may lose text on purpose.
        if parts.pattern(self._tokenizer).unmatched == "drop" and self._tokenizer.pipeline is None:
            lost = size - len(self._tokenizer.decode_bytes(self._ids))
            below += f"; {lost:,} bytes are in no token: the pattern does not match them" if lost else ""
        return below


def view(
    tokenizer: Tokenizer | object, text: str, *, special: bool = True, ids: bool = False, limit: int = LIMIT
) -> View:
    r"""Return a view of the tokens of `text`: coloured in a notebook, plain text when it is printed.

    Whitespace, characters that cannot be seen and bytes that are no whole characters are shown as marks;
    escape sequences and HTML in the text are shown, never obeyed. See docs/viewing.md.

    Args:
        tokenizer: A `Tokenizer`, or what `Tokenizer.from_pretrained` takes, such as "gpt2".
        text: Any text.
        special: Whether special tokens in the text become their ids.
        ids: Whether the id stands below each token.
        limit: How many tokens are drawn at most; all are counted. With 0 the counts alone are shown.

    Raises:
        ValueError: The text has a lone surrogate; or `limit` is negative.

    >>> import toksmith
    >>> toksmith.view(toksmith.Tokenizer(special_tokens=["<|end|>"]), "a b<|end|>", ids=True)
    a │␣ │b │⟦<|end|>⟧
    97│32│98│256
    4 tokens, 10 bytes, 2.50 bytes per token
    """
    limit = whole("limit", limit, 0)
    return View(tokenizer_of(tokenizer), text, special=special, show_ids=ids, limit=limit)
