"""The merges of a text as a table for a terminal."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .explanation import Explanation
from .spans import shown
from .terminal import SPECIAL_STYLE, STYLES

MAX_STEPS = 200
"""Merges of one pretoken that are shown; if there are more, the first and the last of them."""
MAX_PIECES = 400
"""Pieces of a pretoken that are shown after each merge."""


def rendered(text: str, explanations: list[Explanation]) -> str:
    """Return what a terminal shows, with colours; or plain text of any width for all else."""
    ids = [id for explanation in explanations for id in explanation.ids]
    sizes = f"bytes: {len(text.encode()):,}   pretokens: {len(explanations):,}   ids: {len(ids):,}"
    console = Console()
    if not console.is_terminal:
        console = Console(file=io.StringIO(), width=1 << 20, color_system=None)
    with console.capture() as captured:
        console.print(merge_table(explanations))
        console.print(f"{sizes}\n{' '.join(map(str, ids))}".rstrip(), highlight=False, markup=False)
    return "".join(line.rstrip() + "\n" for line in captured.get().split("\n")[:-1])


def merge_table(explanations: list[Explanation]) -> Table:
    """Return the merges of each pretoken as a table."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("pretoken", "rank", "pair", "pieces", "ids"):
        table.add_column(name, justify="right" if name == "rank" else "left", overflow="fold")
    for explanation in explanations:
        for row in _rows(explanation):
            table.add_row(*row)
        table.add_section()
    return table


def _rows(explanation: Explanation) -> Iterator[tuple[Text | str, ...]]:
    """Yield the rows of one pretoken: its bytes, each merge, and the ids in the last."""
    ids = " ".join(map(str, explanation.ids))
    name = Text(shown(explanation.text), SPECIAL_STYLE if explanation.special else "bold")
    if explanation.special:
        yield name, "", "a special token", Text(shown(explanation.text), name.style), ids
        return
    steps = explanation.steps
    is_shortcut = not explanation.is_merged
    last = "" if is_shortcut else ids
    start = [bytes([byte]) for byte in explanation.text]
    yield name, "", "", _pieces(start), "" if steps else last
    for index in range(len(steps)):
        if len(steps) > MAX_STEPS and index == MAX_STEPS // 2:
            yield "", "", f"… {len(steps) - MAX_STEPS:,} merges more …", "", ""
        if MAX_STEPS // 2 <= index < len(steps) - MAX_STEPS // 2:
            continue
        step = steps[index]
        pair = Text(f"{shown(step.left)} + {shown(step.right)}")
        yield "", str(step.rank), pair, _pieces(step.pieces), last if index == len(steps) - 1 else ""
    if is_shortcut:
        yield "", "", "looked up: merging does not make it", _pieces([explanation.text]), ids


def _pieces(pieces: Sequence[bytes]) -> Text:
    styled = [Text(shown(piece), STYLES[index % 2]) for index, piece in enumerate(pieces[:MAX_PIECES])]
    if len(pieces) > MAX_PIECES:
        styled.append(Text(f"… {len(pieces) - MAX_PIECES:,} more"))
    return Text(" ").join(styled)
