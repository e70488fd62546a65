"""Counting, training, encoding and tokenizing on Ray Data: `toksmith.engines.ray`.

Results are those of one machine, for any blocks. All machines need toksmith, Ray (`pip install "ray[data]"`) and
pyarrow.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from .._internal import arguments
from ..tokenizer import Tokenizer
from .batches import batch_function
from .counting import counts_schema
from .engine import Engine
from .workers import KeptFunction

if TYPE_CHECKING:
    from ray.data import Dataset

    from .engine import Count, Encode

__all__ = ["count_pretokens", "encode", "tokenize", "train"]

_BLOCKS = {"batch_format": "pyarrow", "batch_size": None, "zero_copy_batch": True}
"""How Ray gives blocks: whole, in their own memory."""
_GROUPS = 4
"""Groups of pretokens for each partition of the shuffle: hashes fill partitions more evenly with several."""
_PARTITION_BYTES = 32 << 20
"""Bytes of counts for each partition of the shuffle: a million rows, which a worker adds in about a second."""


class _Ray(Engine["Dataset"]):
    """Ray Data. A part is a block."""

    parts = "blocks"
    source = "ray.data.Dataset"

    def _sums(
        self, data: Dataset, column: str, count: Count, minimum: int, partitions: int | None, limited: bool
    ) -> Iterator[pa.Table]:
        function = functools.partial(_count, count=functools.partial(count, column=column))
        counted = data.select_columns([column]).map_batches(KeptFunction(function), **_BLOCKS).materialize()
        if partitions is None:
            partitions = -(-counted.size_bytes() // _PARTITION_BYTES)
        if partitions <= 1 or not counted.count():  # a shuffle would take longer than the sum
            return iter([_sum(pa.concat_tables([counts_schema().empty_table(), *_tables(counted)]), minimum)])
        group = functools.partial(_with_group, groups=_GROUPS * partitions)
        grouped = counted.map_batches(group, **_BLOCKS).groupby("group", num_partitions=partitions)
        return _tables(grouped.map_groups(functools.partial(_sum, minimum=minimum), batch_format="pyarrow"))

    def _encoded(self, data: Dataset, column: str, order: str | None, encode: Encode) -> list[str]:
        texts = data.select_columns([column] if order is None else [column, order])
        if order is not None:
            texts = texts.materialize().sort(order)  # into as many blocks; Ray sorts unknown ones into 200
        encoded = texts.map_batches(functools.partial(_rows, function=encode), **_BLOCKS)
        options = encoded.context.execution_options
        before, options.preserve_order = options.preserve_order, True
        try:
            return [row["row"] for row in encoded.take_all()]
        finally:
            options.preserve_order = before


_ENGINE = _Ray()
count_pretokens = _ENGINE.count_pretokens
train = _ENGINE.train
tokenize = _ENGINE.tokenize


def _count(block: pa.Table, count: Count) -> Iterator[pa.Table]:
    yield counts_schema().empty_table()  # a block without texts has columns too
    for batch in count([block]):
        yield pa.Table.from_batches([batch])


def _with_group(counts: pa.Table, groups: int) -> pa.Table:
    hashes = [zlib.crc32(pretoken) % groups for pretoken in counts["pretoken"].to_pylist()]
    return counts.append_column("group", pa.array(hashes, pa.int32()))


def _tables(dataset: Dataset) -> Iterator[pa.Table]:
    """Return the blocks that have rows, as tables."""
    import ray

    return (table for table in map(ray.get, dataset.to_arrow_refs()) if table.num_rows)


def _sum(group: pa.Table, minimum: int) -> pa.Table:
    """Return the sum for each pretoken of a group; a sum that does not fit into 64 bits is null.

    Sums of integers of 64 bits wrap in Arrow, so these are of 128 bits.
    """
    wide = pa.table({"pretoken": group["pretoken"], "count": group["count"].cast(pa.decimal128(38))})
    sums = wide.group_by("pretoken").aggregate([("count", "sum")])
    total = pc.if_else(pc.less(sums["count_sum"], Decimal(2**63)), sums["count_sum"], None).cast(pa.int64())
    table = pa.table({"pretoken": sums["pretoken"], "count": total})
    return table.filter(pc.fill_null(pc.greater_equal(total, minimum), True))


def _rows(block: pa.Table, function: Encode) -> pa.Table:
    return pa.table({"row": pa.array(list(function([block])), pa.string())})


def encode(dataset: Dataset, column: str, tokenizer: Tokenizer | object, **options: Any) -> Dataset:
    """Return a dataset with the ids of the texts of a column, as a column of lists. Ray runs it when it is read.

    Each process of Ray makes the tokenizer once and keeps it. The options are those of `batch_function`.
    """
    arguments.check_keywords(encode, options, batch_function)
    return dataset.map_batches(KeptFunction(batch_function(tokenizer, column, **options)), **_BLOCKS)
