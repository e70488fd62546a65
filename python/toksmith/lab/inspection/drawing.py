"""An inspection as text for a terminal, and as HTML for a notebook, from the same sections."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from ..._internal.tables import aligned, columns
from ..viewing.spans import visible
from .sections import Section, sections

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .inspect import Inspection

_STYLE = (
    "text-align:{};padding:0 1em 0 0;border:0;background:none;vertical-align:top;white-space:pre-wrap;"
    "overflow-wrap:anywhere"
)


def as_text(inspection: Inspection) -> str:
    """Return lines of plain text, of any width, without control characters."""
    return "\n".join(_text(section) for section in sections(inspection)).rstrip("\n")


def _text(section: Section) -> str:
    lines = [section.title]
    if section.facts:
        lines.append(aligned(section.facts).rstrip("\n"))
    lines += section.words
    for table in section.tables:
        draw = columns if table.ends_with_words else aligned
        lines += ["", draw([table.head, *table.rows]).rstrip("\n")]
    indented = (f"  {line}".rstrip() for part in lines[1:] for line in part.split("\n"))
    return "\n".join([visible(lines[0]), *indented]) + "\n"


def as_html(inspection: Inspection) -> str:
    """Return a fragment of HTML without scripts. All text of tokens is escaped."""
    parts = []
    for section in sections(inspection):
        parts.append(f"<details open><summary><b>{html.escape(section.title)}</b></summary>")
        if section.facts:
            parts.append(_html(None, section.facts, False))
        parts += [f"<div>{html.escape(line)}</div>" for line in section.words]
        parts += [_html(table.head, table.rows, table.ends_with_words) for table in section.tables]
        parts.append("</details>")
    return "\n".join(parts)


def _html(head: tuple[str, ...] | None, rows: Sequence[tuple[str, ...]], ends_with_words: bool) -> str:
    width = len(rows[0]) if rows else 0
    left = width - 1 if ends_with_words else 0

    def row(cells: tuple[str, ...], tag: str) -> str:
        written = (
            f'<{tag} style="{_STYLE.format("left" if place == left else "right")}">{html.escape(cell)}</{tag}>'
            for place, cell in enumerate(cells)
        )
        return f"<tr>{''.join(written)}</tr>"

    lines = [*([row(head, "th")] if head else []), *(row(cells, "td") for cells in rows)]
    return f'<table style="margin:0 0 .5em 1em">{"".join(lines)}</table>'
