"""Draw docs/speed.svg from the figures that the benches wrote, and describe it in the README.

usage: python scripts/draw_speed.py [--check]

Reads benches/figures/speed.json. To measure again, run the `command` of each of its sections. With `--check` nothing
is written, and the exit status is 1 if the picture or its description is out of date.
"""

from __future__ import annotations

import json
import re
import sys
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FIGURES = ROOT / "benches" / "figures" / "speed.json"
PICTURE = ROOT / "docs" / "speed.svg"
README = ROOT / "README.md"
DESCRIPTION = re.compile(r"!\[[^]]*\]\(docs/speed\.svg\)")

CORPORA = {"en": "English", "code": "Code", "multi": "Many languages"}
US = "toksmith"
TRAINED = {"size": 32000}
ENCODED = {"vocab": "o200k", "threads": 1, "pass": "cold"}

Figure = dict[str, Any]
Section = dict[str, Any]

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


def chosen(section: Section, wanted: Figure) -> list[Figure]:
    """Return the figures of the picture, by corpus, the fastest peer of each first."""
    least_first = wanted is TRAINED
    figures = [figure for figure in section["figures"] if wanted.items() <= figure.items()]
    return [
        figure
        for corpus in CORPORA
        for figure in sorted(figures, key=lambda figure: figure["median"], reverse=not least_first)
        if figure["corpus"] == corpus
    ]


def panel(x: int, title: str, subtitle: str, figures: list[Figure], unit: str) -> tuple[list[str], int]:
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
            number = figure["median"]
            shown = f"{number:.2f}" if unit == "s" else f"{number:.0f}" if number >= 10 else f"{number:.1f}"
            parts.append(text(x + LABELS + width + 6, y + BAR - 1, f"{shown} {unit}", f"value {emphasis}"))
            y += STEP
        y += 12
    return parts, y


def sources(sections: dict[str, Section]) -> list[str]:
    """Return date, machine and versions, in two lines for each section; once if they agree."""
    training, encoding = sections["training"], sections["encoding"]
    if all(training[name] == encoding[name] for name in ("date", "machine")):
        merged = training | {"versions": training["versions"] | encoding["versions"]}
        return source("", merged)
    return [*source("Training: ", training), *source("Encoding: ", encoding)]


def source(label: str, section: Section) -> list[str]:
    versions = ", ".join(f"{peer} {version}" for peer, version in section["versions"].items())
    return [f"{label}{section['date']}, {section['machine']}.", f"{versions}."]


def picture(sections: dict[str, Section]) -> str:
    """Return the picture as SVG."""
    left, left_end = panel(
        MARGIN,
        "Training: seconds, less is better",
        "32,000 tokens from 15 MB, two threads, whole process",
        chosen(sections["training"], TRAINED),
        "s",
    )
    right, right_end = panel(
        MARGIN + PANEL + GAP,
        "Encoding: MB/s, more is better",
        "15 MB of new text, GPT-4o's tokens, one thread",
        chosen(sections["encoding"], ENCODED),
        "MB/s",
    )
    end = max(left_end, right_end)
    notes = sources(sections)
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


def description(sections: dict[str, Section]) -> str:
    """Return how many times faster toksmith is than each peer: least and most of the corpora."""
    training = ratios(chosen(sections["training"], TRAINED), least_first=True)
    encoding = ratios(chosen(sections["encoding"], ENCODED), least_first=False)
    return f"Speed of toksmith over its peers. Training: {training} times. Encoding: {encoding} times."


def ratios(figures: list[Figure], least_first: bool) -> str:
    ours = {figure["corpus"]: figure["median"] for figure in figures if figure["peer"] == US}
    times: dict[str, list[float]] = {}
    for figure in figures:
        if figure["peer"] != US:
            ratio = figure["median"] / ours[figure["corpus"]]
            times.setdefault(figure["peer"], []).append(ratio if least_first else 1 / ratio)
    return ", ".join(f"{peer} {min(some):.2g} to {max(some):.2g}" for peer, some in times.items())


def main() -> None:
    sections = json.loads(FIGURES.read_text("utf-8"))
    old = README.read_text("utf-8")
    new = DESCRIPTION.sub(lambda _: f"![{description(sections)}](docs/speed.svg)", old)
    made = picture(sections)
    if "--check" in sys.argv[1:]:
        sys.exit((made, new) != (PICTURE.read_text("utf-8"), old))
    PICTURE.write_text(made, "utf-8")
    README.write_text(new, "utf-8")


if __name__ == "__main__":
    main()
