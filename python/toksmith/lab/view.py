"""The tokens of a text, drawn as plain text, or as HTML for a notebook.

The HTML needs no script and no network. All text goes through `html.escape` and has only printable characters
(`spans.marked`); each token is isolated, so that text written from right to left does not reorder tokens.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence

from .._internal.arguments import checked_text, whole
from .._internal.messages import counted
from ..tokenizer import Tokenizer, tokenizer_of
from . import parts, terminal
from . import spans as spans_of
from .spans import Span

STYLE = """\
<style>
.toksmith-tokens{font-family:ui-monospace,monospace;white-space:break-spaces;overflow-wrap:anywhere;line-height:1.7}
.toksmith-tokens span{unicode-bidi:isolate;border-radius:.2em;padding:.1em 0}
.toksmith-tokens .a{background:rgba(56,178,172,.35)}
.toksmith-tokens .b{background:rgba(236,188,68,.4)}
.toksmith-tokens .special{background:rgba(170,70,190,.4);outline:1px solid rgb(150,60,170)}
.toksmith-tokens .partial{text-decoration:underline dotted}
.toksmith-tokens i{opacity:.6;font-style:normal}
.toksmith-tokens.ids span{display:inline-block;text-align:left;vertical-align:top;margin:0 .15em .3em 0}
.toksmith-tokens small{display:block;opacity:.7;line-height:1.2}
.toksmith-counts{opacity:.8;margin-top:.3em}
</style>
"""
"""The style of the elements of `tokens`, in light and dark surroundings. Put it into each document once."""


def tokens(spans: Sequence[Span], *, ids: bool = False) -> str:
    r"""Return the HTML of some tokens, in order: one `<div class="toksmith-tokens">` with a `<span>` for each.

    Neighbours have two backgrounds in turn (classes `a` and `b`), special tokens a third (`special`). Marks are
    `<i>`, tokens that are no whole characters have the class `partial`, and the title of each has id and bytes.
    `STYLE` must be in the same document, once.

    >>> from toksmith import Tokenizer
    >>> from toksmith.lab import spans
    >>> print(tokens(spans.of_ids(Tokenizer(), [60])))
    <div class="toksmith-tokens"><span class="a" title="id 60, byte 3c">&lt;</span></div>
    """
    parts = [_token(span, "ab"[place % 2], ids) for place, span in enumerate(spans)]
    return f'<div class="toksmith-tokens{" ids" if ids else ""}">{"".join(parts)}</div>'


def _token(span: Span, colour: str, ids: bool) -> str:
    classes = ["special" if span.special else colour, *(["partial"] if span.partial else [])]
    # In a box of its own a space at an end could not be seen.
    marked = spans_of.marked(span.token, spans_of.SPACE if ids else " ")
    shown = "".join(f"<i>{html.escape(text)}</i>" if is_mark else html.escape(text) for text, is_mark in marked)
    below = f"<small>{span.id}</small>" if ids else ""
    # A line of the text ends after the mark of its newline.
    after = "<br>" if span.token.endswith(b"\n") else ""
    size = "byte" if len(span.token) == 1 else f"{len(span.token)} bytes"
    title = f"id {span.id}, {size} {span.token[:64].hex(' ')}{' …' if len(span.token) > 64 else ''}"
    title += ", special token" if span.special else ""
    return f'<span class="{" ".join(classes)}" title="{title}">{shown}{below}</span>{after}'


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
        shown = tokens(self.spans, ids=self._show_ids)
        return f'<div>{STYLE}{shown}<div class="toksmith-counts">{self._below()}</div></div>'

    def _below(self) -> str:
        """Return how many tokens are not drawn, the counts, and what the pattern has lost."""
        count, size = len(self._ids), len(self.text.encode())
        left = count - self.limit if self.limit else 0
        below = f"… and {counted(left, 'more token')}\n" if left > 0 else ""
        below += f"{counted(count, 'token')}, {counted(size, 'byte')}"
        below += f", {size / count:.2f} bytes per token" if count else ""
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
