"""The plots of a comparison, drawn by matplotlib: for notebooks, as files, and inside the report."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from ..spans import visible
from .statistics import Estimate

Row: TypeAlias = "tuple[str, Sequence[Estimate | None]]"

MISSING = "plots need matplotlib: pip install 'toksmith[plots]'"
TITLES = {"compression": "Bytes per token", "parity": "Tokens for the same sentences"}
GROUPS_DRAWN = 20
"""The most groups that a plot shows; tables show more."""

# Colours that are readable on white and on black.
_COLOURS = ("#3b7ddd", "#e07b26", "#2f9e62", "#c9489b", "#8b6fd6", "#a8862a", "#2a9fb0", "#d64a4a")
_MARKERS = "osD^vPXp"
# Colours of text and of lines. In the report the page's own colours replace them.
_INK, _GRID = "#1f2329", "#d4d9df"
# The width of a plot in inches.
_WIDTH = 5.6


class Plot(NamedTuple):
    """What a plot shows: rows of estimates, one for each tokenizer."""

    name: str  # a key of `TITLES`
    tokenizers: Sequence[str]
    rows: Sequence[Row]
    axis: str  # the text below the horizontal axis


def draw(plot: Plot) -> Any:
    """Draw a plot on new axes of pyplot. See `Comparison.plot`."""
    # The figure comes before the style: the first one loads the backend, and what that sets would end with the style.
    # In Jupyter no figure but the first would be shown.
    figure = _imported("matplotlib.pyplot").figure(figsize=_size(plot), layout="constrained")
    with _style():
        axes = figure.subplots()
        _rows(plot, axes)
    return axes


def picture(plot: Plot) -> bytes:
    """Return a plot as the content of an SVG file."""
    with _style():
        figure = _imported("matplotlib.figure").Figure(figsize=_size(plot), layout="constrained")
        _rows(plot, figure.subplots())
        file = io.BytesIO()
        # A picture depends on the comparison alone: no date, no version.
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()


def inline(plot: Plot) -> str:
    """Return a plot as an `svg` element in the colours of the page that it stands in."""
    text = picture(plot).decode()
    text = text[text.index("<svg") :]
    # Ids of groups are removed: nothing refers to them, and they would not be unique with several plots on a page.
    # The background is removed, so that the page shows through.
    text = re.sub(r'<g id="[^"]*"', "<g", text)
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = text.replace("fill: #ffffff", "fill: none").replace(_INK, "currentColor").replace(_GRID, "var(--line)")
    return text.replace("<svg ", f'<svg role="img" aria-label="{TITLES[plot.name]}" ', 1)


def available() -> bool:
    """Return whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(MISSING) from None


@contextlib.contextmanager
def _style() -> Iterator[None]:
    style = _imported("matplotlib.style").context(Path(__file__).with_name("plots.mplstyle"))
    with style, warnings.catch_warnings():
        # A name may have characters that the font here lacks. An SVG is drawn with the fonts of whoever views it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def _size(plot: Plot) -> tuple[float, float]:
    return _WIDTH, 1.1 + len(plot.rows) * (0.14 + 0.08 * len(plot.tokenizers))


def _rows(plot: Plot, axes: Any) -> None:
    """Draw estimates with their intervals: a row for each group, in it a mark for each tokenizer."""
    step = 0.6 / len(plot.tokenizers)
    drawn = []
    for number in range(len(plot.tokenizers)):
        look = {"color": _COLOURS[number % len(_COLOURS)], "marker": _MARKERS[number % len(_MARKERS)]}
        rows = [(row, of_row[number]) for row, (_, of_row) in enumerate(plot.rows)]
        marks = [(row + (number + 0.5) * step - 0.3, estimate) for row, estimate in rows if estimate is not None]
        for place, estimate in marks:
            if estimate.low is not None and estimate.high is not None:
                axes.plot([estimate.low, estimate.high], [place] * 2, color=look["color"], linewidth=1.6)
        values = [estimate.value for _, estimate in marks]
        drawn += axes.plot(values, [place for place, _ in marks], linestyle="none", markersize=4.5, **look)
    axes.set_yticks(range(len(plot.rows)), [_short(name) for name, _ in plot.rows])
    axes.set_ylim(len(plot.rows) - 0.5, -0.5)
    axes.set_xlabel(plot.axis)
    if plot.name == "parity":
        axes.axvline(1, color=_INK, linewidth=1)
        low, high = axes.get_xlim()
        axes.set_xlim(min(low, 0.95), max(high, 1.05))
    else:
        axes.set_xlim(left=0)
    # A label that begins with an underscore would be left out.
    labels = [f" {_short(name)}" if name.startswith("_") else _short(name) for name in plot.tokenizers]
    # As many in a row as there is room for.
    columns = min(len(labels), max(1, 60 // (max(map(len, labels)) + 6)))
    legend = axes.legend(drawn, labels, loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, borderaxespad=0.2)
    # A dollar in a name is no formula. Labels are drawn after the style ends, so each needs the setting itself.
    for text in [*legend.get_texts(), *axes.get_yticklabels(), axes.xaxis.label]:
        text.set_parse_math(False)


def _short(name: str) -> str:
    """Return a name of at most 32 visible characters: its end, which tells files apart."""
    text = visible(name)
    return text if len(text) <= 32 else f"…{text[-31:]}"
