"""The output of `toksmith train` on a terminal: a live screen while it runs, and a summary at the end."""

from __future__ import annotations

import heapq
import time
from typing import TYPE_CHECKING

from .._internal.progress import Bars
from ..lab.spans import shown
from ..training.watching import Watcher

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Any

    from rich.table import Table

    from ..tokenizer import Tokenizer

LAST = 8
"""Merges that the screen shows."""
FIRST, LONGEST = 12, 6
"""Tokens that the summary lists."""
STAGES = (("count", "counted"), ("merge", "learned"))
"""Stages, with their names in the summary."""
MOST_COLUMNS = 24
"""Columns of the terminal that one token takes at the most; a longer one is cut."""

# The least number of seconds between two drawings. The training waits while one is drawn, so the pause between two is
# also at least `_SHARE` times as long as a drawing takes.
_REFRESH, _SHARE = 0.1, 50


class Screen(Watcher):
    """The live screen. It is shown inside a `with` block, and nothing of it stays on the terminal.

    It draws on the thread that trains, at most ten times a second and in at most a fiftieth of the time.
    """

    def __init__(self) -> None:
        from rich.live import Live

        super().__init__()
        self._bars = Bars()
        self._live = Live(
            console=self._bars.drawn.console, auto_refresh=False, transient=True, get_renderable=self._drawing
        )
        self._due = 0.0
        self._begun: dict[str, float] = {}
        self.seconds: dict[str, float] = {}
        """How long each stage took."""

    def __enter__(self) -> Screen:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Bring the bar of a stage up to date."""
        now = time.monotonic()
        self.seconds[stage] = now - self._begun.setdefault(stage, now)
        self._bars.update(stage, done, total)
        if now >= self._due:
            self._live.refresh()
            ended = time.monotonic()
            self._due = ended + max(_REFRESH, _SHARE * (ended - now))

    def _drawing(self) -> Any:
        from rich.console import Group
        from rich.text import Text

        bars = self._bars.drawn.get_renderable()
        if not self.text_tokens:
            return bars
        return Group(bars, Text(self.compression()), last_merges(self.last(LAST)))

    def compression(self) -> str:
        """Return how well the merges so far compress the text, as a line."""
        per_token = self.text_bytes / self.text_tokens if self.text_tokens else 0
        return f"text: {self.text_bytes:,} bytes, {self.text_tokens:,} tokens, {per_token:.3f} bytes per token"


def last_merges(merges: list[tuple[int, bytes, bytes, int]]) -> Table:
    """Return merges, the latest first, as a table."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, justify in (("merge", "right"), ("token", "left"), ("parts", "left"), ("count", "right")):
        table.add_column(name, justify="right" if justify == "right" else "left", no_wrap=True)
    for number, left, right, count in merges:
        parts = Text(f"{_cut(shown(left))} + {_cut(shown(right))}")
        # A forced token was not chosen by its count.
        table.add_row(f"{number:,}", Text(_cut(shown(left + right)), "bold"), parts, f"{count:,}" if count else "")
    return table


def summary(tokenizer: Tokenizer, base: Tokenizer | None, screen: Screen) -> Iterator[str]:
    """Yield the lines of the summary: text and time, the first tokens that were learned, the longest ones."""
    spent = [f"{name} in {screen.seconds[stage]:.1f} s" for stage, name in STAGES if stage in screen.seconds]
    yield f"{screen.compression()}; {', '.join(spent)}" if spent else screen.compression()
    begun = len(base.merges) if base is not None else 0
    learned = [left + right for left, right in tokenizer.merges[begun:]]
    if learned:
        yield "first tokens:   " + "  ".join(_cut(shown(token)) for token in learned[:FIRST])
        longest = heapq.nlargest(LONGEST, learned, key=len)
        yield "longest tokens: " + "  ".join(f"{_cut(shown(token))} ({len(token)} bytes)" for token in longest)


def _cut(word: str) -> str:
    from rich.cells import cell_len, set_cell_size

    return word if cell_len(word) <= MOST_COLUMNS else f"{set_cell_size(word, MOST_COLUMNS - 1).rstrip()}…"
