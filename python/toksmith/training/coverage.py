"""A warning for a pattern that matches almost nothing of the text that was counted."""

from __future__ import annotations

import heapq
import warnings
from collections.abc import Iterator

from .. import _core
from .._internal.messages import shown
from ..patterns import Pattern

_MIN_SHARE = 0.001
"""Share of the text, by bytes, that a pattern should match."""
_MAX_TRIED = 1000
"""Most pretokens that are tried: those that make up most of the text."""
_ROWS = 1 << 14
# Bytes of text below which a share says little.
_MIN_TEXT = 1000


def warn_if_hardly_any(counts: _core.PretokenCounts, pattern: Pattern) -> None:
    """Warn if a pattern of `regex` matched less than a thousandth of the text: the user hardly meant this pattern.

    Cost: a pass over the counts, after `regex` has matched all of the text.

    Args:
        counts: The counts under the pattern.
        pattern: The pattern. Those that have a name match all text.

    Warns:
        UserWarning: The pattern matched less; says how much.
    """
    if pattern.text is None or pattern.name is not None:
        return
    matched, total = _matched(counts, pattern) if pattern.unmatched == "keep" else _left(counts)
    if total < _MIN_TEXT or matched >= _MIN_SHARE * total:
        return
    unmatched = "kept as pieces of its own" if pattern.unmatched == "keep" else "lost"
    share = f"{100 * matched / total:.2g}%"
    warnings.warn(
        f"the pattern {shown(pattern.text)} matches {share} of the text, and all other text is {unmatched}: "
        "is it the expression that you mean? toksmith.patterns.NAMED has the patterns that have names",
        stacklevel=4,
    )


def _matched(counts: _core.PretokenCounts, pattern: Pattern) -> tuple[int, int]:
    """Return the bytes of pretokens that the pattern matches at their beginning, and of all that were tried."""
    largest = heapq.nlargest(_MAX_TRIED, ((len(pretoken) * count, pretoken) for pretoken, count in _items(counts)))
    match = pattern.searched().match
    matched = 0
    for size, pretoken in largest:
        prefix = match(pretoken.decode("utf-8", "surrogateescape"))
        matched += size if prefix and prefix.end() else 0
    return matched, sum(size for size, _ in largest)


def _left(counts: _core.PretokenCounts) -> tuple[int, int]:
    """Return the bytes of all pretokens, and of the text: text that was not matched is not in the pretokens."""
    return sum(len(pretoken) * count for pretoken, count in _items(counts)), counts.end_place()


def _items(counts: _core.PretokenCounts) -> Iterator[tuple[bytes, int]]:
    for start in range(0, len(counts), _ROWS):
        yield from counts.items(start, _ROWS)
