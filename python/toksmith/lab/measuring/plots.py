"""The plots of a comparison, drawn by matplotlib: for notebooks, as files, and inside the report."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._internal import arguments, choices
from ..._internal.messages import shown
from ...files import whole_files
from ..viewing.spans import visible
from . import tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .bootstrap import Estimate
    from .comparison import Comparison

MISSING = "plots need matplotlib: pip install 'toksmith[plots]'"
TITLES = {
    "compression": "Bytes per token",
    "parity": "Tokens for the same sentences",
    "curve": "Compression by size of the vocabulary",
}
GROUPS_DRAWN = 20
"""The most groups that a plot shows; tables show more."""

# Colours that are readable on white and on black.
_COLOURS = ("#3b7ddd", "#e07b26", "#2f9e62", "#c9489b", "#8b6fd6", "#a8862a", "#2a9fb0", "#d64a4a")
_MARKERS = "osD^vPXp"
# Colours of text and of lines. In the report the page's own colours replace them.
_INK, _GRID = "#1f2329", "#d4d9df"
_STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 9.5,
    "text.color": _INK,
    "text.parse_math": False,
    "axes.edgecolor": _GRID,
    "axes.labelcolor": _INK,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": _GRID,
    "grid.linewidth": 0.7,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "toksmith",
}
# The width of a plot in inches.
_WIDTH = 5.6


def draw(comparison: Comparison, name: str, axes: Any, by: str | None) -> Any:
    """Draw a plot, on new axes of pyplot if none are given. See `Comparison.plot`."""
    arguments.one_of("name", name, tuple(TITLES))
    if name not in comparison.plots:
        raise ValueError(f"there is nothing to draw in the plot {shown(name)}")
    groups = _groups(comparison, by) if name == "compression" else []
    # The figure comes before the style: the first one loads the backend, and what that sets would end with the style.
    # In Jupyter no figure but the first would be shown.
    size = _size(comparison, name, groups)
    figure = _imported("matplotlib.pyplot").figure(figsize=size, layout="constrained") if axes is None else None
    with _style():
        axes = axes if figure is None else figure.subplots()
        _DRAWN[name](comparison, axes, groups)
    return axes


def save(comparison: Comparison, folder: str | os.PathLike[str], format: str) -> list[str]:
    """Write all plots to files. See `Comparison.save_plots`."""
    arguments.one_of("format", format, choices.PLOT_FORMATS)
    pictures = [(f"{name}.{format}", picture(comparison, name, format)) for name in comparison.plots]
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for name, data in pictures:
        whole_files.write(str(place / name), [data])
    return [str(place / name) for name, _ in pictures]


def picture(comparison: Comparison, name: str, format: str, by: str | None = None) -> bytes:
    """Return a plot as the content of a file."""
    with _style():
        from matplotlib.figure import Figure

        groups = _groups(comparison, by) if name == "compression" else []
        figure = Figure(figsize=_size(comparison, name, groups), layout="constrained")
        _DRAWN[name](comparison, figure.subplots(), groups)
        file = io.BytesIO()
        # A picture depends on the comparison alone: no date, no version.
        nothing = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}[format]
        figure.savefig(file, format=format, dpi=160, metadata=nothing)
    return file.getvalue()


def inline(comparison: Comparison, name: str, by: str | None = None) -> str:
    """Return a plot as an `svg` element in the colours of the page that it stands in."""
    text = picture(comparison, name, "svg", by).decode()
    text = text[text.index("<svg") :]
    # Ids of groups are removed: nothing refers to them, and they would not be unique with several plots on a page.
    # The background is removed, so that the page shows through.
    text = re.sub(r'<g id="[^"]*"', "<g", text)
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = text.replace("fill: #ffffff", "fill: none").replace(_INK, "currentColor").replace(_GRID, "var(--line)")
    return text.replace("<svg ", f'<svg role="img" aria-label="{TITLES[name]}" ', 1)


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
    with _imported("matplotlib").rc_context(_STYLE), warnings.catch_warnings():
        # A name may have characters that the font here lacks. An SVG is drawn with the fonts of whoever views it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def _groups(comparison: Comparison, by: str | None) -> list[tuple[str, list[Estimate | None]]]:
    """Return the names of groups, and the bytes per token of each tokenizer."""
    if by is not None:
        arguments.one_of("by", by, choices.GROUP_KINDS)
        found = comparison.by(by)
        if not found:
            raise ValueError(f"there are no groups by {by}")
    else:
        several = (comparison.by(kind) for kind in choices.GROUP_KINDS)
        found = next((groups for groups in several if len(groups) > 1), (comparison.all,))
    return [
        ("all documents" if group.by == "all" else group.name, [one.bytes_per_token for one in group.figures])
        for group in found[:GROUPS_DRAWN]
    ]


def _size(comparison: Comparison, name: str, groups: Sequence[Any]) -> tuple[float, float]:
    if name == "curve":
        return _WIDTH, 3.6
    rows = len(groups) if name == "compression" else min(len(comparison.parity) - 1, GROUPS_DRAWN)
    return _WIDTH, 1.1 + rows * (0.14 + 0.08 * len(comparison.tokenizers))


def _compression(comparison: Comparison, axes: Any, groups: Sequence[tuple[str, list[Estimate | None]]]) -> None:
    _rows(comparison, axes, groups)
    axes.set_xlim(left=0)
    axes.set_xlabel("bytes per token (more is better)")


def _parity(comparison: Comparison, axes: Any, _: Any) -> None:
    others = comparison.parity[1 : GROUPS_DRAWN + 1]
    _rows(comparison, axes, [(one.language, [premium.premium for premium in one.premiums]) for one in others])
    axes.axvline(1, color=_INK, linewidth=1)
    low, high = axes.get_xlim()
    axes.set_xlim(min(low, 0.95), max(high, 1.05))
    axes.set_xlabel(f"times the tokens of {visible(comparison.parity[0].reference)} (less is better)")


def _rows(comparison: Comparison, axes: Any, groups: Sequence[tuple[str, Sequence[Estimate | None]]]) -> None:
    """Draw estimates with their intervals: a row for each group, in it a mark for each tokenizer."""
    count = len(comparison.tokenizers)
    step = 0.6 / count
    drawn = []
    for number in range(count):
        found = [(row, estimates[number]) for row, (_, estimates) in enumerate(groups)]
        shift = (number - (count - 1) / 2) * step
        places = [row + shift for row, one in found if one is not None]
        values = [one.value for _, one in found if one is not None]
        ends = [(one.low, one.high) for _, one in found if one is not None]
        lines = [(place, *end) for place, end in zip(places, ends, strict=True) if None not in end]
        colour = _COLOURS[number % len(_COLOURS)]
        for place, low, high in lines:
            axes.plot([low, high], [place, place], color=colour, linewidth=1.6, solid_capstyle="round")
        marker = _MARKERS[number % len(_MARKERS)]
        drawn += axes.plot(values, places, linestyle="none", marker=marker, markersize=4.5, color=colour)
    axes.set_yticks(range(len(groups)), [_short(name) for name, _ in groups])
    axes.set_ylim(len(groups) - 0.5, -0.5)
    _finish(axes, drawn, comparison.tokenizers)


def _curve(comparison: Comparison, axes: Any, _: Any) -> None:
    drawn, names = [], []
    for number, curve in enumerate(comparison.curves):
        points = [(one.vocab_size, one.bytes_per_token) for one in curve.points if one.bytes_per_token is not None]
        if not points:
            continue
        sizes, values = zip(*points, strict=True)
        marker, colour = _MARKERS[number % len(_MARKERS)], _COLOURS[number % len(_COLOURS)]
        drawn += axes.plot(sizes, values, marker=marker, markersize=4, color=colour, linewidth=1.6)
        names.append(curve.tokenizer)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda size, _: tables.number(size, 0))
    axes.xaxis.get_major_locator().set_params(numticks=7)
    axes.tick_params(axis="x", which="minor", size=0)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("tokens of the vocabulary")
    axes.set_ylabel("bytes per token")
    _finish(axes, drawn, names)


def _finish(axes: Any, drawn: Sequence[Any], names: Sequence[str]) -> None:
    # A label that begins with an underscore would be left out.
    labels = [f" {_short(name)}" if name.startswith("_") else _short(name) for name in names]
    # As many in a row as there is room for.
    columns = min(len(labels), max(1, 60 // (max(map(len, labels)) + 6)))
    legend = axes.legend(drawn, labels, loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, borderaxespad=0.2)
    # A dollar in a name is no formula. Labels are drawn after the style ends, so each needs the setting itself.
    for text in [*legend.get_texts(), *axes.get_yticklabels(), axes.xaxis.label]:
        text.set_parse_math(False)


def _short(name: str) -> str:
    """Return a name of at most 32 visible characters: its end, which tells files apart."""
    seen = visible(name)
    return seen if len(seen) <= 32 else f"…{seen[-31:]}"


_DRAWN: dict[str, Callable[[Comparison, Any, Any], None]] = {
    "compression": _compression,
    "parity": _parity,
    "curve": _curve,
}
