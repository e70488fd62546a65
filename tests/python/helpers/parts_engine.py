"""An engine in this process, whose data are tables of Arrow; and what a folder of shards of an engine must hold."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from toksmith.engines.engine import Engine


class PartsEngine(Engine):
    """Works off one table after the other. Functions are pickled, as on the way to a worker."""

    parts = "tables"
    source = "tables"

    def _sums(
        self, data: Any, column: str, count: Callable[..., Any], minimum: int, partitions: int | None, limited: bool
    ) -> Iterable[Any]:
        for part in data:
            yield from pickle.loads(pickle.dumps(count))(part.to_batches(), column)

    def _encoded(self, data: Any, column: str, order: str | None, encode: Callable[..., Any]) -> list[str]:
        if order is not None:
            rows = pa.concat_tables(data).sort_by(order)
            size = -(-max(rows.num_rows, 1) // len(data))
            data = [rows.slice(start, size) for start in range(0, rows.num_rows, size)]
        tables = [part.select([column] if order is None else [column, order]) for part in data]
        return [row for table in tables for row in self._worker(encode, table)]

    def _worker(self, encode: Callable[..., Any], table: Any) -> Iterator[str]:
        yield from pickle.loads(pickle.dumps(encode))(iter(table.to_batches(max_chunksize=7)))


def check_equal(found: Path, expected: Path) -> dict[str, Any]:
    """Compare a folder of an engine with one of a single machine; return the manifest."""
    names = [sorted(path.name for path in folder.iterdir()) for folder in (found, expected)]
    assert names[0] == names[1]
    for name in names[0]:
        if name != "manifest.json":
            assert (found / name).read_bytes() == (expected / name).read_bytes(), name
    told, wanted = ((folder / "manifest.json").read_text() for folder in (found, expected))
    manifest, other = json.loads(told), json.loads(wanted)
    [source] = manifest["sources"]
    assert source["documents"] == sum(one["documents"] for one in other["sources"])
    for each in (manifest, other):
        for key in ("sources", "run"):
            del each[key]
        for skipped in each["skipped"]:
            del skipped["source"]
    assert manifest == other
    result: dict[str, Any] = json.loads(told)
    return result
