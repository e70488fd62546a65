"""A comparison as HTML: a page of its own, and a fragment for notebooks.

The page holds everything that it shows; it has no script and uses no network. Names and texts are escaped, and
characters that cannot be seen are shown as escapes.
"""

from __future__ import annotations

import html
import importlib.resources
from typing import TYPE_CHECKING

from ..._internal.numbers import counted
from ..viewing import notebook, spans
from . import plots, tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .comparison import Comparison
    from .results import Difference, PassageToken
    from .tables import Section

# The browser loads nothing and runs nothing, even if the content of a text got through the escaping.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

_TERMS = (
    (
        "Bytes per token",
        "The bytes of the text (UTF-8) divided by its tokens. More is better: the same text takes fewer tokens.",
    ),
    (
        "Tokens per word",
        "A word is what stands between whitespace. There is no figure where most letters are in a script that is "
        "written without spaces.",
    ),
    ("Tokens per character", "A character is a code point of Unicode."),
    (
        "Intervals",
        "Documents are drawn with replacement, as many as there are, and the ratio of the sums is taken, again and "
        "again; the interval holds the middle share of these ratios. It says how much the figure would change with "
        "other documents of the same kind, and nothing of other kinds. Fewer than 8 documents have none.",
    ),
    (
        "Script",
        "The script that most characters of a document belong to, among those that belong to one. Han and kana "
        "together are Japanese where at least a tenth of them are kana.",
    ),
    (
        "Rényi efficiency",
        "How evenly the vocabulary is used: the Rényi entropy of the tokens of the text, of order {alpha:g}, divided "
        "by the logarithm of the number of ordinary tokens. Zouhar et al. (Tokenization and the Noiseless Channel, "
        "2023) find that with order 2.5 it correlates with the quality of translation.",
    ),
    (
        "Parity",
        "The tokens of the sentences in a language, divided by the tokens of the same sentences in the reference.",
    ),
    (
        "Smaller vocabularies",
        "The tokens of the text under the same tokenizer without its last merges, as if it had been trained to fewer "
        "tokens. These counts are exact.",
    ),
)


def page(comparison: Comparison) -> str:
    """Return a whole page."""
    title = " · ".join(map(_text, comparison.tokenizers))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f'<meta name="color-scheme" content="light dark">\n<title>{title}</title>\n{_style()}</head>\n'
        f'<body class="toksmith-report page">\n<main>\n{_head(comparison)}'
        f"{''.join(_plots(comparison))}{''.join(map(_section, tables.of(comparison)))}"
        f"{_differences(comparison)}{_terms(comparison)}</main>\n</body>\n</html>\n"
    )


def fragment(comparison: Comparison) -> str:
    """Return the tables and the passages, to be put into a page that has other content."""
    parts = "".join(map(_section, tables.of(comparison)))
    return f'{_style()}<div class="toksmith-report">{parts}{_differences(comparison)}</div>'


def _style() -> str:
    css = importlib.resources.files(__package__).joinpath("report.css").read_text(encoding="utf-8")
    return f"<style>\n{css}</style>\n{notebook.STYLE}"


def _text(text: str) -> str:
    return html.escape(spans.visible(text))


def _head(comparison: Comparison) -> str:
    group = comparison.all
    facts = [tables.about(group), counted(group.characters, "character"), counted(group.words, "word")]
    names = "".join(f"<span>{_text(name)}</span>" for name in comparison.tokenizers)
    return (
        f'<header>\n<p class="quiet">Tokenizers compared</p>\n<h1>{names}</h1>\n'
        f'<p class="quiet">on {", ".join(facts)}</p>\n</header>\n'
    )


def _plots(comparison: Comparison) -> Iterator[str]:
    if not plots.available():
        yield "<p class=\"quiet\">The plots are missing: they need matplotlib (pip install 'toksmith[plots]').</p>\n"
        return
    yield '<div class="plots">\n'
    for name in comparison.plots:
        caption = plots.TITLES[name]
        yield f"<figure><figcaption>{caption}</figcaption>{plots.inline(comparison, name)}</figure>\n"
    yield "</div>\n"


def _section(section: Section) -> str:
    note = f'<p class="quiet">{_text(section.note)}</p>\n' if section.note else ""
    header = "".join(f'<th scope="col">{_text(cell)}</th>' for cell in ("", *section.header))
    rows = "".join(map(_row, section.rows, [len(section.header)] * len(section.rows)))
    return (
        f'<section>\n<h2>{section.title}</h2>\n{note}<div class="wide" tabindex="0" role="region" '
        f'aria-label="{section.title}"><table>\n<thead><tr>{header}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n'
        "</section>\n"
    )


def _row(row: tables.Row, columns: int) -> str:
    if not row.cells:
        return f'<tr class="group"><th scope="rowgroup" colspan="{columns + 1}">{_text(row.label)}</th></tr>\n'
    cells = "".join(f"<td>{_cell(cell)}</td>" for cell in row.cells)
    return f'<tr><th scope="row">{_text(row.label)}</th>{cells}</tr>\n'


def _cell(cell: str) -> str:
    value, bracket, interval = cell.partition(" [")
    return f'{_text(value)} <span class="interval">[{_text(interval)}</span>' if bracket else _text(cell)


def _differences(comparison: Comparison) -> str:
    if not comparison.differences:
        return ""
    shown = "".join(map(_difference, comparison.differences))
    note = "Whole documents are counted; of each the passage is shown that differs most, encoded by itself."
    return f'<section>\n<h2>Where they differ most</h2>\n<p class="quiet">{note}</p>\n{shown}</section>\n'


def _difference(one: Difference) -> str:
    change = tables.change(one.second_count / one.first_count)
    kind = "fewer" if one.second_count < one.first_count else "more"
    sides = ((one.first, one.passage.first_tokens), (one.second, one.passage.second_tokens))
    shown = "".join(_side(name, tokens) for name, tokens in sides)
    return (
        f'<article>\n<h3><span class="{kind}">{change}</span> {_text(tables.what(one))}</h3>\n'
        f'<blockquote dir="auto">{_text(one.passage.text)}</blockquote>\n{shown}</article>\n'
    )


def _side(name: str, tokens: Sequence[PassageToken] | None) -> str:
    if tokens is None:
        return f'<p class="quiet">{_text(name)}: the bytes of its tokens are not known.</p>\n'
    drawn = notebook.tokens(
        [spans.Span(one.id, one.bytes, spans.shown(one.bytes), False, spans.is_partial(one.bytes)) for one in tokens]
    )
    count = counted(len(tokens), "token")
    return f'<p class="side">{_text(name)} <span class="quiet">{count}</span></p>{drawn}\n'


def _terms(comparison: Comparison) -> str:
    terms = "".join(f"<dt>{term}</dt><dd>{what.format(alpha=comparison.alpha)}</dd>\n" for term, what in _TERMS)
    made = "Made by toksmith. Special tokens in the text were read as ordinary text."
    return (
        f'<section class="terms">\n<h2>What the figures are</h2>\n<dl>\n{terms}</dl>\n<p class="quiet">{made}</p>\n'
        "</section>\n"
    )
