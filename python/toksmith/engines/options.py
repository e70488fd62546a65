"""Options of counting on an engine, checked before the engine starts anything."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from .._internal import arguments
from .counting import count_batches


class CountOptions(NamedTuple):
    """Options of counting that were checked, for those who apply them."""

    of_parts: dict[str, Any]
    """The options of `count_batches` for each part."""
    of_sums: dict[str, Any]
    """The options of `sum_counts`."""
    least: int
    """Pretokens that occur less often in the whole are left out."""


def checked(
    column: str,
    *,
    special_tokens: Iterable[str],
    pattern: Any,
    unmatched: Any,
    errors: Any,
    memory_limit: Any,
    min_pretoken_count: int,
) -> CountOptions:
    """Return the options of counting on an engine.

    Raises:
        ValueError: One is wrong.
    """
    of_sums: dict[str, Any] = {"special_tokens": [*special_tokens], "pattern": pattern, "unmatched": unmatched}
    of_parts = {**of_sums, "errors": errors, "memory_limit": memory_limit}
    least = arguments.checked_limit("min_pretoken_count", min_pretoken_count, 0)
    count_batches([], column, **of_parts)
    return CountOptions(of_parts, of_sums, least)


def refuse_first(options: dict[str, Any], parts: str) -> None:
    """Refuse options of learning merges that need the order of the text.

    Raises:
        ValueError: There is such an option; the text names the parts of the engine, in the plural.
    """
    if options.get("ties") == "first":
        raise ValueError(
            f'ties="first" goes by the order of the text, which {parts} do not tell: choose another rule'
        )
