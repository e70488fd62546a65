"""A column of a batch by its name."""

from __future__ import annotations

from typing import Any

from .._internal import columns


def column_of(batch: Any, name: str) -> Any:
    """Return the column of a name of a record batch or a table of pyarrow.

    Raises:
        TypeError: `batch` is neither.
        ValueError: There is no such column, or there are several.
    """
    if not hasattr(batch, "column_names") or not hasattr(batch, "column"):
        raise TypeError(f"a batch is a pyarrow.RecordBatch or a pyarrow.Table, not {type(batch).__name__}")
    return batch.column(columns.place_of(name, batch.column_names))
