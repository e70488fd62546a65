"""Draw docs/speed.svg, the picture of the README, from the figures that the benches wrote.

usage: python scripts/draw_speed.py [--check]

Reads benches/figures/training.json and benches/figures/encoding.json. To measure them again, run the `command` that
each file holds with `--figures FILE` added. With `--check` nothing is written, and the exit status is 1 if the
picture is out of date.
"""

from __future__ import annotations

import json
import sys
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FIGURES = ROOT / "benches" / "figures"
PICTURE = ROOT / "docs" / "speed.svg"

CORPORA = {"en": "English", "code": "Code", "multi": "Many languages", "cjk": "Chinese, Japanese"}
US = "toksmith"

# Lengths in pixels.
WIDTH, MARGIN, GAP = 880, 24, 40
PANEL = (WIDTH - 2 * MARGIN - GAP) // 2
LABELS = 92  # left of the bars: names of peers
VALUES = 62  # right of them: numbers
BAR, STEP = 11, 16  # a bar, and from one bar to the next
GROUP = 32  # a corpus: its title, and the distance to the one before
TOP = 74  # title and subtitle of a panel

STYLE = """
text { font: 12px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328; }
.page { fill: #ffffff; stroke: #d1d9e0; }
.title { font-size: 15px; font-weight: 600; }
.quiet { fill: #59636e; }
.small { font-size: 11px; }
.value { font-variant-numeric: tabular-nums; }
.us { fill: #0969da; }
.peer { fill: #afb8c1; }
.strong { font-weight: 600; }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc; }
  .page { fill: #0d1117; stroke: #3d444d; }
  .quiet { fill: #9198a1; }
  .us { fill: #4493f8; }
  .peer { fill: #656c76; }
}
"""


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>'


def panel(x: int, title: str, subtitle: str, figures: list[dict[str, Any]], unit: str) -> tuple[list[str], int]:
    """Return bars by corpus, all of one scale, and where they end."""
    most = max(figure["median"] for figure in figures)
    room = PANEL - LABELS - VALUES
    parts = [text(x, MARGIN + 20, title, "title"), text(x, MARGIN + 38, subtitle, "quiet")]
    y = TOP
    for corpus in dict.fromkeys(figure["corpus"] for figure in figures):
        parts.append(text(x, y + 12, CORPORA[corpus], "strong"))
        y += GROUP - 12
        for figure in (figure for figure in figures if figure["corpus"] == corpus):
            kind = "us" if figure["peer"] == US else "peer"
            width = max(2.0, room * figure["median"] / most)
            emphasis = "strong" if kind == "us" else ""
            parts.append(text(x + LABELS - 8, y + BAR - 1, figure["peer"], emphasis, "end"))
            parts.append(f'<rect x="{x + LABELS}" y="{y}" width="{width:.1f}" height="{BAR}" rx="2" class="{kind}"/>')
            shown = f"{figure['median']:.2f}" if unit == "s" else f"{figure['median']:.0f}"
            parts.append(text(x + LABELS + width + 6, y + BAR - 1, f"{shown} {unit}", f"value {emphasis}"))
            y += STEP
        y += 12
    return parts, y


def source(run: dict[str, Any]) -> str:
    """Return date, machine and versions in one line."""
    versions = ", ".join(f"{peer} {version}" for peer, version in run["versions"].items())
    return f"{run['date']}, {run['machine']}; {versions}."


def picture(training: dict[str, Any], encoding: dict[str, Any]) -> str:
    """Return the picture as SVG."""
    wanted = {"vocab": "gpt2", "threads": 1, "pass": "cold"}
    encoded = [figure for figure in encoding["figures"] if wanted.items() <= figure.items()]
    trained = [figure for figure in training["figures"] if figure["size"] == 32000]
    left, left_end = panel(
        MARGIN,
        "Training: seconds, less is better",
        "32,000 tokens from 15 MB, two threads, whole process",
        trained,
        training["unit"],
    )
    right, right_end = panel(
        MARGIN + PANEL + GAP,
        "Encoding: MB/s, more is better",
        "15 MB of fresh text, GPT-2's tokens, one thread",
        encoded,
        encoding["unit"],
    )
    end = max(left_end, right_end)
    notes = [f"Training: {source(training)}", f"Encoding: {source(encoding)}"]
    height = end + 18 * len(notes) + 14
    below = [text(MARGIN, end + 12 + 18 * i, note, "quiet small") for i, note in enumerate(notes)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}" role="img">',
            "<title>The speed of toksmith beside its peers: medians, machine and versions below</title>",
            f"<style>{STYLE}</style>",
            f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8" class="page"/>',
            *left,
            *right,
            *below,
            "</svg>\n",
        ]
    )


def main() -> None:
    read = {name: json.loads((FIGURES / f"{name}.json").read_text("utf-8")) for name in ("training", "encoding")}
    made = picture(read["training"], read["encoding"])
    if "--check" in sys.argv[1:]:
        sys.exit(made != PICTURE.read_text("utf-8"))
    PICTURE.write_text(made, "utf-8")


if __name__ == "__main__":
    main()
