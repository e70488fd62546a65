"""The result of `toksmith.compare`: as data, and as text, Markdown, HTML and plots."""

from __future__ import annotations

import html
import importlib.resources
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from .. import notebook, terminal
from ..spans import Span, is_partial, shown, visible
from ..text import aligned, counted, plain, quoted, size, write_whole
from . import plots as drawing
from .results import Curve, Difference, Estimate, Figures, Group, Overlap, Parity, PassageToken, Use

GroupKind: TypeAlias = Literal["language", "script", "file"]
GROUP_KINDS: tuple[GroupKind, ...] = ("language", "script", "file")


@dataclass(frozen=True, repr=False)
class Comparison:
    """Tokenizers compared on the same texts. `docs/comparing.md` says what each figure is.

    Attributes:
        tokenizers: The names of the tokenizers; the others are compared with the first.
        level: The share of the resamples that an interval holds.
        alpha: The order of the Rényi entropy.
        groups: All documents, then those by language, script and file.
        uses: How the documents use each vocabulary.
        overlaps: The tokens that each two vocabularies share, if their tokens are known.
        parity: The languages of parallel texts, the reference first.
        differences: Documents on which the other tokenizers differ most from the first.
        curves: The compression of each tokenizer at smaller sizes of its vocabulary.
    """

    tokenizers: tuple[str, ...]
    level: float
    alpha: float
    groups: tuple[Group, ...]
    uses: tuple[Use, ...]
    overlaps: tuple[Overlap, ...]
    parity: tuple[Parity, ...]
    differences: tuple[Difference, ...]
    curves: tuple[Curve, ...]

    @property
    def all(self) -> Group:
        """The figures of all documents."""
        return self.groups[0]

    def by(self, kind: str) -> tuple[Group, ...]:
        """Return the groups by "language", "script" or "file", the largest first."""
        return tuple(group for group in self.groups if group.by == kind)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dicts, lists, numbers and str. Tokens are escaped as in toksmith's own files."""
        return {name: plain(getattr(self, name)) for name in self.__dataclass_fields__}

    def to_json(self) -> str:
        """Return everything as a JSON object, in ASCII."""
        return json.dumps(self.to_dict(), ensure_ascii=True, allow_nan=False)

    def to_text(self, *, colours: bool = False) -> str:
        """Return the tables, and the passages on which tokenizers differ most, for a terminal or a file of text."""
        group = self.all
        parts = [f"{about(group)}, {counted(group.words, 'word')}\n"]
        parts += map(_text_section, sections(self))
        parts += (_text_difference(difference, colours) for difference in self.differences)
        return "\n".join(parts)

    def __str__(self) -> str:
        return self.to_text()

    def to_markdown(self) -> str:
        """Return the tables, and the passages on which tokenizers differ most, as Markdown."""
        parts = [f"# {escaped(', '.join(self.tokenizers))}", f"{about(self.all)}, {self.all.words:,} words."]
        for section in sections(self):
            parts += [f"## {section.title}", *([escaped(section.note)] if section.note else [])]
            parts.append(_markdown_table(section))
        if self.differences:
            parts += ["## Where they differ most", *map(_markdown_difference, self.differences)]
        return "\n\n".join(parts) + "\n"

    def to_html(self) -> str:
        """Return a report as one HTML page: tables, plots and passages. It needs no other files and no network.

        The plots need matplotlib; without it the page says so in their place.
        """
        group = self.all
        facts = [about(group), counted(group.characters, "character"), counted(group.words, "word")]
        parts = {
            "TITLE": " · ".join(map(_html_text, self.tokenizers)),
            "STYLE": _html_style(),
            "NAMES": "".join(f"<span>{_html_text(name)}</span>" for name in self.tokenizers),
            "FACTS": ", ".join(facts),
            "CONTENT": "".join([*_html_plots(self), *map(_html_section, sections(self)), _html_differences(self)]),
            "ALPHA": f"{self.alpha:g}",
        }
        return re.sub(r"{{([A-Z]+)}}", lambda match: parts[match[1]], _asset("report.html"))

    def _repr_html_(self) -> str:
        """Return the tables for a notebook."""
        parts = "".join(map(_html_section, sections(self)))
        return f'{_html_style()}<div class="toksmith-report">{parts}{_html_differences(self)}</div>'

    @property
    def plots(self) -> tuple[str, ...]:
        """The names of the plots that have something to draw, of "compression", "parity" and "curve"."""
        has_content = {
            "compression": True,
            "parity": len(self.parity) > 0,
            "curve": any(len(curve.points) > 1 for curve in self.curves),
        }
        return tuple(name for name, is_there in has_content.items() if is_there)

    def plot(self, name: str = "compression", axes: Any = None, *, by: GroupKind | None = None) -> Any:
        """Draw a plot with matplotlib.

        Args:
            name: "compression": bytes per token of each group, with intervals. "parity": tokens of each language over
                those of the reference, for the same sentences. "curve": bytes per token by size of the vocabulary.
            axes: matplotlib's `Axes` to draw on; default: new ones of a new figure.
            by: The groups of "compression": "language", "script" or "file"; default: the first of these of which
                there are several, else all documents.

        Returns:
            The `Axes`.

        Raises:
            ImportError: matplotlib is not installed.
            ValueError: There is no such plot, or nothing to draw in it.
        """
        return drawing.draw(self._plot(name, by), axes)

    def save_plots(self, folder: str | os.PathLike[str], format: drawing.Format = "svg") -> list[str]:
        """Write each of `plots` to a file of its own in a folder, which is made if need be; return their paths.

        Args:
            folder: Where they go. A file of the same name is replaced.
            format: "svg" or "png".

        Raises:
            ImportError: matplotlib is not installed.
            OSError: A file cannot be written.
            ValueError: The format is none of these.
        """
        pictures = {f"{name}.{format}": drawing.picture(self._plot(name), format) for name in self.plots}
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, data in pictures.items():
            write_whole(Path(folder, name), data)
        return [str(Path(folder, name)) for name in pictures]

    def _plot(self, name: str, by: str | None = None) -> drawing.Plot:
        if name not in drawing.TITLES:
            raise ValueError(f"name is one of {', '.join(map(repr, drawing.TITLES))}, not {quoted(name)}")
        if name not in self.plots:
            raise ValueError(f"there is nothing to draw in the plot {quoted(name)}")
        if name == "curve":
            return drawing.Plot(name, self.tokenizers, [], self.curves, "tokens of the vocabulary")
        if name == "compression":
            rows = self._compression(by)
            return drawing.Plot(name, self.tokenizers, rows, (), "bytes per token (more is better)")
        others = self.parity[1 : drawing.GROUPS_DRAWN + 1]
        rows = [(parity.language, [premium.premium for premium in parity.premiums]) for parity in others]
        axis = f"times the tokens of {visible(self.parity[0].reference)} (less is better)"
        return drawing.Plot(name, self.tokenizers, rows, (), axis)

    def _compression(self, by: str | None) -> list[drawing.Row]:
        """Return the names of groups, and the bytes per token of each tokenizer."""
        if by is not None:
            if by not in GROUP_KINDS:
                raise ValueError(f"by is one of {', '.join(map(repr, GROUP_KINDS))}, not {quoted(by)}")
            groups = self.by(by)
            if not groups:
                raise ValueError(f"there are no groups by {by}")
        else:
            groups = next((several for several in map(self.by, GROUP_KINDS) if len(several) > 1), (self.all,))
        return [
            ("all documents" if group.by == "all" else group.name, [item.bytes_per_token for item in group.figures])
            for group in groups[: drawing.GROUPS_DRAWN]
        ]

    def __repr__(self) -> str:
        group = self.all
        names = visible(", ".join(self.tokenizers))
        return f"<Comparison of {names} on {group.documents:,} documents, {group.bytes:,} bytes>"


# The tables: what text, Markdown and HTML have in common


GROUPS_SHOWN = 30
"""The most groups of one kind that a table shows; JSON has all."""
NOTHING = "–"
"""The text in place of a missing figure."""


class Row(NamedTuple):
    """A line of a table: a label and cells. A line without cells is a heading of the lines below it."""

    label: str
    cells: tuple[str, ...] = ()


class Section(NamedTuple):
    """A table with a title and a sentence that explains it."""

    title: str
    note: str
    header: tuple[str, ...]
    rows: list[Row]


def sections(comparison: Comparison) -> list[Section]:
    """Return all tables that have something to show."""
    tables = [_all(comparison)]
    of_languages = [group.figures for group in comparison.by("language")]
    for by, title in (("language", "By language"), ("script", "By script"), ("file", "By file")):
        groups = comparison.by(by)
        # If each language has one file, the table by file would repeat the one by language.
        if by == "file" and [group.figures for group in groups] == of_languages:
            continue
        if len(groups) > 1 or (by == "language" and groups):
            tables.append(_groups(comparison, title, groups))
    if comparison.parity:
        tables.append(_parity(comparison))
    tables.append(_uses(comparison))
    if comparison.overlaps:
        tables.append(_overlaps(comparison))
    curve = _curves(comparison)
    return [*tables, curve] if curve.rows else tables


def number(value: float | None, digits: int) -> str:
    """Return a number with `digits` digits after the point; "–" for None."""
    return NOTHING if value is None else f"{value:,.{digits}f}"


def percent(value: float | None, digits: int = 1) -> str:
    """Return a share in percent; "–" for None.

    >>> percent(0.1234), percent(None)
    ('12.3%', '–')
    """
    return NOTHING if value is None else f"{100 * value:.{digits}f}%"


def change(ratio: float) -> str:
    """Return a ratio as a change in percent.

    >>> change(0.877), change(1.5), change(1.0)
    ('-12.3%', '+50.0%', '0.0%')
    """
    text = f"{100 * (ratio - 1):+.1f}%"
    return text[1:] if text[1:] == "0.0%" else text


def estimate(value: Estimate | None, form: Callable[[float], str]) -> str:
    """Return an estimate with its interval, if it has one."""
    if value is None:
        return NOTHING
    if value.low is None or value.high is None:
        return form(value.value)
    return f"{form(value.value)} [{form(value.low)}, {form(value.high)}]"


def about(group: Group) -> str:
    """Return the size of a group in words."""
    return f"{counted(group.documents, 'document')}, {size(group.bytes)}"


def _header(comparison: Comparison) -> tuple[str, ...]:
    columns = ("tokens", "bytes/token", "tokens/word", "tokens/character")
    return (*columns, f"tokens vs {comparison.tokenizers[0]}") if len(comparison.tokenizers) > 1 else columns


def _cells(comparison: Comparison, figures: Figures) -> tuple[str, ...]:
    cells = (
        f"{figures.tokens:,}",
        estimate(figures.bytes_per_token, lambda value: number(value, 2)),
        estimate(figures.tokens_per_word, lambda value: number(value, 2)),
        estimate(figures.tokens_per_character, lambda value: number(value, 3)),
    )
    if len(comparison.tokenizers) == 1:
        return cells
    is_first = figures.tokenizer == comparison.tokenizers[0]
    return (*cells, NOTHING if is_first else estimate(figures.relative, change))


def _all(comparison: Comparison) -> Section:
    rows = [Row(figures.tokenizer, _cells(comparison, figures)) for figures in comparison.all.figures]
    note = f"In brackets: {percent(comparison.level, 0)} intervals by the bootstrap over documents."
    has_intervals = any(
        item.bytes_per_token and item.bytes_per_token.low is not None for item in comparison.all.figures
    )
    return Section("All documents", note if has_intervals else "", _header(comparison), rows)


def _uses(comparison: Comparison) -> Section:
    rows = []
    for use, figures in zip(comparison.uses, comparison.all.figures, strict=True):
        share = None if use.vocab_size is None else use.used / use.vocab_size
        size = NOTHING if use.vocab_size is None else f"{use.vocab_size:,}"
        cells = (size, f"{use.used:,}", percent(share), number(use.renyi_efficiency, 3))
        rows.append(Row(use.tokenizer, (*cells, *_superwords(use, figures.tokens))))
    efficiency = f"Rényi efficiency, α = {comparison.alpha:g}"
    header = ("ordinary tokens", "in the text", "share", efficiency, "of several words", "their share of the text")
    return Section("Use of the vocabulary", "", header, rows)


def _superwords(use: Use, tokens: int) -> tuple[str, str]:
    if use.superwords is None or use.superword_tokens is None:
        return NOTHING, NOTHING
    return f"{use.superwords:,}", percent(use.superword_tokens / tokens if tokens else None)


def _groups(comparison: Comparison, title: str, groups: Sequence[Group]) -> Section:
    rows = []
    for group in groups[:GROUPS_SHOWN]:
        rows.append(Row(f"{group.name}: {about(group)}"))
        rows += [Row(figures.tokenizer, _cells(comparison, figures)) for figures in group.figures]
    left = len(groups) - GROUPS_SHOWN
    note = f"The {GROUPS_SHOWN} largest; {left:,} more are in the JSON." if left > 0 else ""
    return Section(title, note, _header(comparison), rows)


def _parity(comparison: Comparison) -> Section:
    first = comparison.parity[0]
    rows = []
    for parity in comparison.parity:
        ratios = [parity.bytes, parity.characters, *(item.premium for item in parity.premiums)]
        if parity.language == parity.reference:
            cells = tuple(NOTHING if item is None else number(item.value, 2) for item in ratios)
        else:
            cells = tuple(estimate(item, lambda value: number(value, 2)) for item in ratios)
        rows.append(Row(parity.language, cells))
    note = (
        f"{counted(first.sentences, 'sentence')} in each language: their bytes, characters and tokens, over those "
        f"in {first.reference}."
    )
    return Section("Parity of languages", note, ("UTF-8 bytes", "characters", *comparison.tokenizers), rows)


def _overlaps(comparison: Comparison) -> Section:
    rows = []
    for pair in comparison.overlaps:
        shared = (
            f"{pair.first} and {pair.second}: {counted(pair.shared, 'token')} in both, Jaccard {pair.jaccard:.3f}"
        )
        rows += [
            Row(shared),
            Row(pair.first, (percent(pair.shared / pair.first_size), percent(pair.first_tokens_shared))),
            Row(pair.second, (percent(pair.shared / pair.second_size), percent(pair.second_tokens_shared))),
        ]
    note = "Ordinary tokens with the same bytes: their share of each vocabulary, and of the tokens of the text."
    return Section("Overlap of vocabularies", note, ("of the vocabulary", "of the text"), rows)


def _curves(comparison: Comparison) -> Section:
    curves = [curve for curve in comparison.curves if curve.points]
    sizes = sorted({point.vocab_size for curve in curves for point in curve.points})
    by_size = [{point.vocab_size: point.bytes_per_token for point in curve.points} for curve in curves]
    rows = [Row(f"{item:,}", tuple(number(points.get(item), 2) for points in by_size)) for item in sizes]
    left_out = [f"{curve.tokenizer} has none: {curve.reason}." for curve in comparison.curves if curve.reason]
    note = " ".join(["Bytes per token of smaller vocabularies: each tokenizer without its last merges.", *left_out])
    return Section("Compression by size of the vocabulary", note, tuple(curve.tokenizer for curve in curves), rows)


def what(difference: Difference) -> str:
    """Return which document two tokenizers differ on, and by how many tokens."""
    return (
        f"{difference.file}, document {difference.document:,}: {difference.first_count:,} tokens of "
        f"{difference.first}, {difference.second_count:,} of {difference.second}"
    )


def _change_of(difference: Difference) -> str:
    return change(difference.second_count / difference.first_count)


def _sides(difference: Difference) -> list[tuple[str, tuple[PassageToken, ...] | None]]:
    passage = difference.passage
    return [(difference.first, passage.first_tokens), (difference.second, passage.second_tokens)]


# Text


def _text_section(section: Section) -> str:
    """Return a table. A row without cells is a heading: it is in no column, and the rows below it are indented."""
    indent = "  " if all(row.cells for row in section.rows) else "    "
    rows = [("", *map(visible, section.header))]
    rows += [(f"{indent}{visible(row.label)}", *row.cells) for row in section.rows if row.cells]
    lines = iter(aligned(rows).splitlines())
    table = [section.title, *([f"  {visible(section.note)}"] if section.note else []), next(lines)]
    table += [next(lines) if row.cells else f"  {visible(row.label)}" for row in section.rows]
    return "\n".join(table) + "\n"


def _text_difference(difference: Difference, colours: bool) -> str:
    parts = [f"{_change_of(difference)}  {visible(what(difference))}\n"]
    for name, tokens in _sides(difference):
        if tokens is not None:
            parts.append(f"  {visible(name)}, {counted(len(tokens), 'token')}:\n")
            spans = {token.id: _span(token) for token in tokens}
            parts += terminal.drawn(spans, [[token.id for token in tokens]], colours=colours)
    return "".join(parts)


def _span(token: PassageToken) -> Span:
    return Span(token.id, token.bytes, shown(token.bytes), False, is_partial(token.bytes))


# Markdown, in which marks of Markdown and HTML in names and texts are escaped


_MARKS = re.compile(r"([\\`*_{}\[\]()#+!|~$-])")


def escaped(text: str) -> str:
    r"""Return the Markdown of a text, which shows the text itself.

    >>> print(escaped("a|b <i>_x_</i>"))
    a\|b &lt;i&gt;\_x\_&lt;/i&gt;
    """
    seen = visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # A hyphen, a plus, a hash and brackets are marks only at the beginning of a line.
    return _MARKS.sub(lambda mark: mark[0] if mark[0] in "-+#()" and mark.start() else f"\\{mark[0]}", seen)


def _markdown_table(section: Section) -> str:
    lines = [_line(["", *map(escaped, section.header)]), _line(["---", *["---:"] * len(section.header)])]
    for row in section.rows:
        if row.cells:
            lines.append(_line([escaped(row.label), *row.cells]))
        else:
            lines.append(_line([f"**{escaped(row.label)}**", *[""] * len(section.header)]))
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_difference(difference: Difference) -> str:
    parts = [f"**{_change_of(difference)}** {escaped(what(difference))}"]
    for name, tokens in _sides(difference):
        if tokens is not None:
            # Indented, and so code without marks.
            drawn = "│".join(shown(token.bytes) for token in tokens)
            parts.append(f"{escaped(name)}, {counted(len(tokens), 'token')}:\n\n    {drawn}")
    return "\n\n".join(parts)


# HTML that has no script and uses no network. Names and texts are escaped.


def _asset(name: str) -> str:
    return importlib.resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _html_style() -> str:
    return f"<style>\n{_asset('report.css')}</style>\n{notebook.STYLE}"


def _html_text(text: str) -> str:
    return html.escape(visible(text))


def _html_plots(comparison: Comparison) -> Iterator[str]:
    if not drawing.available():
        yield "<p class=\"quiet\">The plots are missing: they need matplotlib (pip install 'toksmith[plots]').</p>\n"
        return
    yield '<div class="plots">\n'
    for name in comparison.plots:
        picture = drawing.inline(comparison._plot(name))
        yield f"<figure><figcaption>{drawing.TITLES[name]}</figcaption>{picture}</figure>\n"
    yield "</div>\n"


def _html_section(section: Section) -> str:
    note = f'<p class="quiet">{_html_text(section.note)}</p>\n' if section.note else ""
    header = "".join(f'<th scope="col">{_html_text(cell)}</th>' for cell in ("", *section.header))
    rows = "".join(_html_row(row, len(section.header)) for row in section.rows)
    return (
        f'<section>\n<h2>{section.title}</h2>\n{note}<div class="wide" tabindex="0" role="region" '
        f'aria-label="{section.title}"><table>\n<thead><tr>{header}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n'
        "</section>\n"
    )


def _html_row(row: Row, columns: int) -> str:
    label = _html_text(row.label)
    if not row.cells:
        return f'<tr class="group"><th scope="rowgroup" colspan="{columns + 1}">{label}</th></tr>\n'
    cells = "".join(f"<td>{_html_cell(cell)}</td>" for cell in row.cells)
    return f'<tr><th scope="row">{label}</th>{cells}</tr>\n'


def _html_cell(cell: str) -> str:
    value, bracket, interval = cell.partition(" [")
    text = _html_text(value)
    return f'{text} <span class="interval">[{_html_text(interval)}</span>' if bracket else text


def _html_differences(comparison: Comparison) -> str:
    if not comparison.differences:
        return ""
    articles = "".join(map(_html_difference, comparison.differences))
    note = "Whole documents are counted; of each the passage is shown that differs most, encoded by itself."
    return f'<section>\n<h2>Where they differ most</h2>\n<p class="quiet">{note}</p>\n{articles}</section>\n'


def _html_difference(difference: Difference) -> str:
    kind = "fewer" if difference.second_count < difference.first_count else "more"
    sides = "".join(_html_side(name, tokens) for name, tokens in _sides(difference))
    heading = f'<span class="{kind}">{_change_of(difference)}</span> {_html_text(what(difference))}'
    return (
        f"<article>\n<h3>{heading}</h3>\n"
        f'<blockquote dir="auto">{_html_text(difference.passage.text)}</blockquote>\n{sides}</article>\n'
    )


def _html_side(name: str, tokens: Sequence[PassageToken] | None) -> str:
    if tokens is None:
        return f'<p class="quiet">{_html_text(name)}: the bytes of its tokens are not known.</p>\n'
    drawn = notebook.tokens(list(map(_span, tokens)))
    count = counted(len(tokens), "token")
    return f'<p class="side">{_html_text(name)} <span class="quiet">{count}</span></p>{drawn}\n'
