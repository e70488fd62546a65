"""The result of `Tokenizer.view`: the tokens of a text, drawn in a notebook or as plain text."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from . import notebook, terminal
from . import spans as spans_of

if TYPE_CHECKING:
    from ...tokenizer import Tokenizer
    from .spans import Span

LIMIT = 2000
"""Tokens that are drawn by default; of a longer text, the first ones."""


class View:
    r"""The tokens of a text, drawn: with colours in a notebook, as plain text when it is printed.

    Attributes:
        text: The text.
        ids: All its ids.
        limit: How many tokens are drawn at the most.

    >>> from toksmith import Tokenizer
    >>> print(Tokenizer().view("a b\n"))
    a│␣│b│\n
    4 tokens, 4 bytes, 1.00 bytes per token
    """

    def __init__(self, tokenizer: Tokenizer, text: str, *, special: bool, show_ids: bool, limit: int) -> None:
        self.text, self.limit = text, limit
        self.ids = tokenizer.encode(text, special=special)
        self._tokenizer, self._show_ids = tokenizer, show_ids

    @property
    def spans(self) -> list[Span]:
        """The spans of the first `limit` tokens."""
        return spans_of.of_ids(self._tokenizer, self.ids[: self.limit])

    def __str__(self) -> str:
        table = spans_of.Spans(self._tokenizer)
        drawn = terminal.drawn(table, [self.ids[: self.limit]], colours=False, ids=self._show_ids)
        return f"{''.join(drawn)}{self._more()}{self._counts()}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        shown, more = notebook.tokens(self.spans, ids=self._show_ids), html.escape(self._more())
        return f'<div>{notebook.STYLE}{shown}<div class="toksmith-counts">{more} {self._counts()}</div></div>'

    def _more(self) -> str:
        return terminal.more(len(self.ids) - self.limit)

    def _counts(self) -> str:
        return terminal.counts(len(self.ids), len(self.text.encode()))
