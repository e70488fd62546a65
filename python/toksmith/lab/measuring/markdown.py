"""A comparison as Markdown. Marks of Markdown and HTML in names and texts are escaped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..._internal.numbers import counted
from ..viewing import spans
from . import tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .comparison import Comparison
    from .results import Difference, PassageToken

_MARKS = re.compile(r"([\\`*_{}\[\]()#+!|~$-])")


def of(comparison: Comparison) -> str:
    """Return the tables and the differing passages."""
    group = comparison.all
    parts = [f"# {escaped(', '.join(comparison.tokenizers))}", f"{tables.about(group)}, {group.words:,} words."]
    for section in tables.of(comparison):
        parts += [f"## {section.title}", *([escaped(section.note)] if section.note else []), _table(section)]
    if comparison.differences:
        parts.append("## Where they differ most")
        parts += [_difference(one) for one in comparison.differences]
    return "\n\n".join(parts) + "\n"


def escaped(text: str) -> str:
    r"""Return the Markdown of a text, which shows the text itself.

    >>> print(escaped("a|b <i>_x_</i>"))
    a\|b &lt;i&gt;\_x\_&lt;/i&gt;
    """
    seen = spans.visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # A hyphen, a plus, a hash and brackets are marks only at the beginning of a line.
    return _MARKS.sub(lambda found: found[0] if found[0] in "-+#()" and found.start() else f"\\{found[0]}", seen)


def _table(section: tables.Section) -> str:
    lines = [_line(["", *map(escaped, section.header)]), _line(["---", *["---:"] * len(section.header)])]
    for row in section.rows:
        if row.cells:
            lines.append(_line([escaped(row.label), *row.cells]))
        else:
            lines.append(_line([f"**{escaped(row.label)}**", *[""] * len(section.header)]))
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _difference(one: Difference) -> str:
    parts = [f"**{tables.change(one.second_count / one.first_count)}** {escaped(tables.what(one))}"]
    for name, tokens in ((one.first, one.passage.first_tokens), (one.second, one.passage.second_tokens)):
        if tokens is not None:
            parts.append(f"{escaped(name)}, {counted(len(tokens), 'token')}:\n\n    {_tokens(tokens)}")
    return "\n\n".join(parts)


def _tokens(tokens: Sequence[PassageToken]) -> str:
    """Return tokens with bars between them. The caller indents the line, which makes it code without marks."""
    return "│".join(spans.shown(token.bytes) for token in tokens)
