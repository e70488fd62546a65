"""Tokens as HTML: coloured spans for notebooks and reports.

The HTML needs no script and no network. All text goes through `html.escape` and has only printable characters
(`spans.marked`); each token is isolated, so that text written from right to left does not reorder tokens.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

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
    title = html.escape(_title(span))
    return f'<span class="{" ".join(classes)}" title="{title}">{shown}{below}</span>{after}'


def _title(span: Span) -> str:
    size = "byte" if len(span.token) == 1 else f"{len(span.token)} bytes"
    title = f"id {span.id}, {size} {span.token[:64].hex(' ')}{' …' if len(span.token) > 64 else ''}"
    return title + (", special token" if span.special else "")
