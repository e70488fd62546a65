"""`Comparison`: the result of `toksmith.compare`, and the forms in which it is written."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...formats import records
from ..viewing.spans import visible

if TYPE_CHECKING:
    from ..._internal.choices import GroupKind, PlotFormat
    from .results import Curve, Difference, Group, Overlap, Parity, Use


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
        found: dict[str, Any] = records.plain(self)
        return found

    def to_json(self) -> str:
        """Return everything as a JSON object, in ASCII."""
        return json.dumps(self.to_dict(), ensure_ascii=True, allow_nan=False)

    def to_markdown(self) -> str:
        """Return the tables, and the passages on which tokenizers differ most, as Markdown."""
        from . import markdown

        return markdown.of(self)

    def to_html(self) -> str:
        """Return a report as one HTML page: tables, plots and passages. It needs no other files and no network.

        The plots need matplotlib; without it the page says so in their place.
        """
        from . import report

        return report.page(self)

    def _repr_html_(self) -> str:
        """Return the tables for a notebook."""
        from . import report

        return report.fragment(self)

    @property
    def plots(self) -> tuple[str, ...]:
        """The names of the plots that have something to draw, of "compression", "parity" and "curve"."""
        found = {
            "compression": True,
            "parity": len(self.parity) > 0,
            "curve": any(len(curve.points) > 1 for curve in self.curves),
        }
        return tuple(name for name, is_there in found.items() if is_there)

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
        from . import plots

        return plots.draw(self, name, axes, by)

    def save_plots(self, folder: str | os.PathLike[str], format: PlotFormat = "svg") -> list[str]:
        """Write each of `plots` to a file of its own in a folder, which is made if need be; return their paths.

        Args:
            folder: Where they go. A file of the same name is replaced.
            format: "svg" or "png".

        Raises:
            ImportError: matplotlib is not installed.
            OSError: A file cannot be written.
            ValueError: The format is none of these.
        """
        from . import plots

        return plots.save(self, folder, format)

    def __repr__(self) -> str:
        group = self.all
        names = visible(", ".join(self.tokenizers))
        return f"<Comparison of {names} on {group.documents:,} documents, {group.bytes:,} bytes>"
