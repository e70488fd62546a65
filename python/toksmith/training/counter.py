"""The core's counter: it counts files and texts one after another, on threads of this process."""

from __future__ import annotations

import tempfile

from .. import _core
from ..patterns import Pattern

# Bytes that are read and held at a time; None leaves the sizes to the core. Tests make them small, so that little
# text meets every border.
CHUNK_BYTES: int | None = None
WINDOW_BYTES: int | None = None
TABLE_BYTES: int | None = None


def counter(
    special_tokens: list[str],
    separator: str | None,
    pattern: Pattern,
    *,
    workers: int,
    replace: bool,
    memory_limit: int,
    min_count: int = 1,
) -> _core.Counting:
    """Return a counter that has counted nothing yet. The options are checked."""
    return _core.Counting(
        special_tokens if separator is None else list(dict.fromkeys([*special_tokens, separator])),
        pattern.core(),
        workers=workers,
        replace=replace,
        memory_limit=memory_limit,
        temporary=tempfile.gettempdir(),
        min_count=min_count,
        chunk_bytes=CHUNK_BYTES,
        window_bytes=WINDOW_BYTES,
        table_bytes=TABLE_BYTES,
    )
