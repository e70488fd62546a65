"""The result of `toksmith.lab.compare`: as data, as text, as a report in HTML, and as plots."""

from __future__ import annotations

import html
import importlib.resources
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..._internal.messages import aligned, counted, shown, size
from ...files import whole_files
from ..spans import visible
from . import plots as drawing
from .statistics import Estimate, Figures, Group, Parity


@dataclass(frozen=True, repr=False)
class Comparison:
    """Tokenizers compared on the same texts. `docs/comparing.md` says what each figure is.

    Attributes:
        tokenizers: The names of the tokenizers; the others are compared with the first.
        groups: All documents, then those by language and by file.
        parity: The languages of parallel texts, the reference first.
    """

    tokenizers: tuple[str, ...]
    groups: tuple[Group, ...]
    parity: tuple[Parity, ...]

    @property
    def all(self) -> Group:
        """The figures of all documents."""
        return self.groups[0]

    def by(self, kind: str) -> tuple[Group, ...]:
        """Return the groups by "language" or "file", the largest first."""
        return tuple(group for group in self.groups if group.by == kind)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dicts, lists, numbers and str."""
        content: dict[str, Any] = json.loads(self.to_json())
        return content

    def to_json(self) -> str:
        """Return everything as a JSON object, in ASCII."""
        return json.dumps(asdict(self), ensure_ascii=True, allow_nan=False)

    def to_text(self) -> str:
        """Return the tables, for a terminal or a file of text."""
        return "\n".join([f"{about(self.all)}\n", *map(_text_section, sections(self))])

    __str__ = to_text

    def to_html(self) -> str:
        """Return a report as one HTML page: tables and plots. It needs no other files and no network.

        The plots need matplotlib; without it the page says so in their place.
        """
        parts = {
            "TITLE": " · ".join(map(_html_text, self.tokenizers)),
            "STYLE": _asset("report.css"),
            "NAMES": "".join(f"<span>{_html_text(name)}</span>" for name in self.tokenizers),
            "FACTS": about(self.all),
            "CONTENT": "".join([*_html_plots(self), *map(_html_section, sections(self))]),
        }
        return re.sub(r"{{([A-Z]+)}}", lambda match: parts[match[1]], _asset("report.html"))

    def _repr_html_(self) -> str:
        parts = "".join(map(_html_section, sections(self)))
        return f'<style>{_asset("report.css")}</style><div class="toksmith-report">{parts}</div>'

    @property
    def plots(self) -> tuple[str, ...]:
        """The names of the plots that have something to draw, of "compression" and "parity"."""
        return (*drawing.TITLES,) if self.parity else ("compression",)

    def plot(self, name: str = "compression") -> Any:
        """Draw a plot with matplotlib.

        Args:
            name: "compression": bytes per token of each language, with intervals; of each file, if there are not
                several languages. "parity": tokens of each language over those of the reference, for the same
                sentences.

        Returns:
            matplotlib's `Axes`, of a new figure.

        Raises:
            ImportError: matplotlib is not installed.
            ValueError: There is no such plot, or nothing to draw in it.
        """
        return drawing.draw(self._plot(name))

    def save_plots(self, folder: str | os.PathLike[str]) -> list[str]:
        """Write each of `plots` as SVG to a file of a folder, which is made if need be; return their paths.

        Args:
            folder: Where they go. A file of the same name is replaced.

        Raises:
            ImportError: matplotlib is not installed.
            OSError: A file cannot be written.
        """
        pictures = {f"{name}.svg": drawing.picture(self._plot(name)) for name in self.plots}
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, data in pictures.items():
            whole_files.write(Path(folder, name), [data])
        return [str(Path(folder, name)) for name in pictures]

    def _plot(self, name: str) -> drawing.Plot:
        if name not in self.plots:
            raise ValueError(f"name is one of {', '.join(map(repr, self.plots))}, not {shown(name)}")
        if name == "compression":
            return drawing.Plot(name, self.tokenizers, self._compression(), "bytes per token (more is better)")
        others = self.parity[1 : drawing.GROUPS_DRAWN + 1]
        rows = [(parity.language, [premium.premium for premium in parity.premiums]) for parity in others]
        axis = f"times the tokens of {visible(self.parity[0].reference)} (less is better)"
        return drawing.Plot(name, self.tokenizers, rows, axis)

    def _compression(self) -> list[drawing.Row]:
        """Return the names of groups, and the bytes per token of each tokenizer."""
        kinds = (self.by("language"), self.by("file"))
        groups = next((several for several in kinds if len(several) > 1), (self.all,))
        return [
            ("all documents" if group.by == "all" else group.name, [item.bytes_per_token for item in group.figures])
            for group in groups[: drawing.GROUPS_DRAWN]
        ]

    def __repr__(self) -> str:
        group = self.all
        names = visible(", ".join(self.tokenizers))
        return f"<Comparison of {names} on {group.documents:,} documents, {group.bytes:,} bytes>"


# The tables: what text and HTML have in common


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
    for by, title in (("language", "By language"), ("file", "By file")):
        groups = comparison.by(by)
        # If each language has one file, the table by file would repeat the one by language.
        if by == "file" and [group.figures for group in groups] == of_languages:
            continue
        if len(groups) > 1 or (by == "language" and groups):
            tables.append(_groups(comparison, title, groups))
    if comparison.parity:
        tables.append(_parity(comparison))
    return tables


def ratio(value: float) -> str:
    """Return a ratio with two digits after the point."""
    return f"{value:,.2f}"


def change(value: float) -> str:
    """Return a ratio as a change in percent.

    >>> change(0.877), change(1.5), change(1.0)
    ('-12.3%', '+50.0%', '0.0%')
    """
    text = f"{100 * (value - 1):+.1f}%"
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
    return f"{counted(group.documents, 'document')}, {size(group.bytes)}, {counted(group.characters, 'character')}"


def _header(comparison: Comparison) -> tuple[str, ...]:
    columns = ("tokens", "bytes/token", "characters/token")
    return (*columns, f"tokens vs {comparison.tokenizers[0]}") if len(comparison.tokenizers) > 1 else columns


def _cells(comparison: Comparison, figures: Figures) -> tuple[str, ...]:
    ratios = (estimate(value, ratio) for value in (figures.bytes_per_token, figures.characters_per_token))
    cells = (f"{figures.tokens:,}", *ratios)
    if len(comparison.tokenizers) == 1:
        return cells
    is_first = figures.tokenizer == comparison.tokenizers[0]
    return (*cells, NOTHING if is_first else estimate(figures.relative, change))


def _all(comparison: Comparison) -> Section:
    rows = [Row(figures.tokenizer, _cells(comparison, figures)) for figures in comparison.all.figures]
    note = "In brackets: 95% intervals by the bootstrap over documents."
    has_intervals = any(
        item.bytes_per_token and item.bytes_per_token.low is not None for item in comparison.all.figures
    )
    return Section("All documents", note if has_intervals else "", _header(comparison), rows)


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
            ratios = [item and Estimate(item.value) for item in ratios]  # all are 1, without an interval
        rows.append(Row(parity.language, tuple(estimate(item, ratio) for item in ratios)))
    note = (
        f"{counted(first.sentences, 'sentence')} in each language: their bytes, characters and tokens, over those "
        f"in {first.reference}."
    )
    return Section("Parity of languages", note, ("UTF-8 bytes", "characters", *comparison.tokenizers), rows)


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


# HTML that has no script and uses no network. Names and texts are escaped.


def _asset(name: str) -> str:
    return importlib.resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


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
