"""Word ids: for each id of a text, the number of the pretoken that it is in."""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...tokenizer import Tokenizer


def word_ids(tokenizer: Tokenizer, text: str, special: bool) -> list[int]:
    """Return for each id the number of its pretoken; an added token counts as one. Dropped text has no number."""
    core: Any = tokenizer._core
    if tokenizer.pipeline is not None and not tokenizer.pipeline.is_plain:
        found: list[int] = core.word_ids(text, special)
        return found
    ids, spans = tokenizer.encode_with_offsets(text, unit="bytes", special=special)
    places = spans.tolist()
    added = set(tokenizer.special_tokens.values()) if special else set()
    whole = [(start, stop) for (start, stop), id in zip(places, ids, strict=True) if id in added]
    starts = _starts(tokenizer, text.encode(), whole)
    return [bisect.bisect_right(starts, start) - 1 for start, _ in places]


def _starts(tokenizer: Tokenizer, data: bytes, added: list[tuple[int, int]]) -> list[int]:
    """Return the byte at which each word starts: each pretoken, and each added token."""
    splitter = tokenizer._pattern.core()
    starts: list[int] = []
    at = 0
    for start, stop in [*added, (len(data), len(data))]:
        starts += [at + first for first, _ in splitter.ranges(data[at:start])]
        if stop > start:
            starts.append(start)
        at = stop
    return starts
