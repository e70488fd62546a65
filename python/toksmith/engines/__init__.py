"""Columns of Arrow, batches of `datasets`, and counting and encoding in parts, for Ray, Spark and others.

`encode_arrow` and `count_arrow` take a column of texts, and `batch_function` makes a function for
`datasets.Dataset.map`. An engine counts each part of its texts with `count_batches` and sums the counts of equal
pretokens by its shuffle. Training starts from the `PretokenCounts` that `sum_counts` makes of these sums.
`encode_batches` adds ids to the batches of a part.
"""

from .batches import BatchFunction, batch_function, count_arrow, encode_arrow, encode_batches
from .counting import count_batches, counts_schema, sum_counts

__all__ = [
    "BatchFunction",
    "batch_function",
    "count_arrow",
    "count_batches",
    "counts_schema",
    "encode_arrow",
    "encode_batches",
    "sum_counts",
]
