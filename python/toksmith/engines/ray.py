"""Counting, training, encoding and tokenizing on Ray Data: `toksmith.engines.ray`.

Results are those of one machine, for any blocks. All machines need toksmith, Ray (`pip install "ray[data]"`) and
pyarrow.
"""

from __future__ import annotations

import contextlib
import functools
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..tokenizer import Tokenizer
from .batches import batch_function
from .counting import counts_schema
from .engine import Engine
from .kept import KeptFunction

__all__ = ["count_pretokens", "encode", "tokenize", "train"]

_BLOCKS: dict[str, Any] = {"batch_format": "pyarrow", "batch_size": None, "zero_copy_batch": True}
"""How Ray gives blocks: whole, in their own memory."""
_GROUPS = 4
"""Groups of pretokens for each partition of the shuffle: hashes fill partitions more evenly with several."""
_PARTITION_BYTES = 32 << 20
"""Bytes of counts for each partition of the shuffle: a million rows, which a worker adds in about a second."""


class _Ray(Engine):
    """Ray Data. A part is a block."""

    parts = "blocks"
    source = "ray.data.Dataset"
    shuffles = "use dataset.random_shuffle(seed=...), or order= a column of random numbers"

    def _sums(
        self, data: Any, column: str, count: Callable[..., Any], minimum: int, partitions: int | None
    ) -> Iterable[Any]:
        import pyarrow as pa

        function = functools.partial(_count, count=functools.partial(count, column=column))
        counted = data.select_columns([column]).map_batches(KeptFunction(function), **_BLOCKS).materialize()
        if partitions is None:
            partitions = -(-counted.size_bytes() // _PARTITION_BYTES)
        if partitions <= 1 or not counted.count():  # a shuffle would take longer than the sum
            return [_sum(pa.concat_tables([counts_schema().empty_table(), *_tables(counted)]), minimum)]
        group = functools.partial(_with_group, groups=_GROUPS * partitions)
        grouped = counted.map_batches(group, **_BLOCKS).groupby("group", num_partitions=partitions)
        return _tables(grouped.map_groups(functools.partial(_sum, minimum=minimum), batch_format="pyarrow"))

    def _encoded(self, data: Any, column: str, order: str | None, encode: Callable[..., Any]) -> list[str]:
        texts = data.select_columns([column] if order is None else [column, order])
        if order is not None:
            texts = texts.materialize().sort(order)  # into as many blocks; Ray sorts unknown ones into 200
        encoded = texts.map_batches(functools.partial(_rows, function=encode), **_BLOCKS)
        with _in_order(encoded.context):
            return [row["row"] for row in encoded.take_all()]

    def _each(self, data: Any, function: Callable[[str], str], names: list[str]) -> list[str]:
        import ray

        call = ray.remote(_call)
        waiting = [call.remote(function, name) for name in names]
        try:
            return list(ray.get(waiting))
        except BaseException:
            for result in waiting:
                ray.cancel(result)
            raise


_ENGINE = _Ray()
count_pretokens = _ENGINE.count_pretokens
train = _ENGINE.train
tokenize = _ENGINE.tokenize


@contextlib.contextmanager
def _in_order(context: Any) -> Iterator[None]:
    """Make Ray hand on blocks in their order."""
    options = context.execution_options
    before, options.preserve_order = options.preserve_order, True
    try:
        yield
    finally:
        options.preserve_order = before


def _count(block: Any, count: Callable[..., Any]) -> Iterator[Any]:
    import pyarrow as pa

    yield counts_schema().empty_table()  # a block without texts has columns too
    for batch in count([block]):
        yield pa.Table.from_batches([batch])


def _with_group(counts: Any, groups: int) -> Any:
    """Return counts with the group of each pretoken by its hash."""
    import pyarrow as pa

    hashes = [zlib.crc32(pretoken) % groups for pretoken in counts["pretoken"].to_pylist()]
    return counts.append_column("group", pa.array(hashes, pa.int32()))


def _tables(dataset: Any) -> Iterator[Any]:
    """Return the blocks that have rows, as tables."""
    import ray

    return (table for table in map(ray.get, dataset.to_arrow_refs()) if table.num_rows)


def _sum(group: Any, minimum: int) -> Any:
    """Return the sum for each pretoken of a group; a sum that does not fit into 64 bits is null.

    Sums of Arrow wrap, so high and low halves are summed separately. Each half is below 2^32, and there are fewer
    than 2^31 counts.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    half = pa.scalar(32, pa.int64())
    counts = group["count"]
    high = pc.shift_right(counts, half)
    low = pc.subtract(counts, pc.shift_left(high, half))
    halves = pa.table({"pretoken": group["pretoken"], "high": high, "low": low})
    sums = halves.group_by("pretoken").aggregate([("high", "sum"), ("low", "sum")])
    carried = pc.add(sums["high_sum"], pc.shift_right(sums["low_sum"], half))
    low_half = pc.bit_wise_and(sums["low_sum"], pa.scalar(2**32 - 1, pa.int64()))
    fits = pc.less(carried, 2**31)
    total = pc.add(pc.shift_left(pc.if_else(fits, carried, 0), half), low_half)
    table = pa.table({"pretoken": sums["pretoken"], "count": pc.if_else(fits, total, None)})
    return table.filter(pc.fill_null(pc.greater_equal(table["count"], minimum), True))


def _call(function: Callable[[str], str], name: str) -> str:
    return function(name)


def _rows(block: Any, function: Callable[..., Any]) -> Any:
    """Return what a function yields for a block, as a column."""
    import pyarrow as pa

    return pa.table({"row": pa.array(list(function([block])), pa.string())})


def encode(
    dataset: Any,
    column: str,
    tokenizer: Tokenizer,
    *,
    out: str = "input_ids",
    dtype: Any = None,
    keep: bool = True,
    special: bool = True,
) -> Any:
    """Return a dataset with the ids of the texts of a column, as a column of lists. Ray runs it when it is read.

    Each process of Ray makes the tokenizer once and keeps it.

    Args:
        dataset: A `ray.data.Dataset`.
        column: The name of the column of texts.
        tokenizer: What encodes them.
        out: The name of the column of ids.
        dtype: Type of the ids: `uint32`, the default, or `uint16`.
        keep: Whether the columns of the dataset stay.
        special: Whether special tokens become their ids.

    Raises:
        ValueError: An id of the tokenizer does not fit into `dtype`.
    """
    function = batch_function(tokenizer, column, out=out, dtype=dtype, keep=keep, special=special)
    return dataset.map_batches(KeptFunction(function), **_BLOCKS)
