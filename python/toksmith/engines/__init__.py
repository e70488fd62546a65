"""Columns of Arrow, batches of `datasets`, and counting and encoding in parts, for Ray, Spark and others.

`encode_arrow` and `count_arrow` take a column of texts, and `batch_function` makes a function for
`datasets.Dataset.map`. An engine counts each part of its texts with `count_batches` and sums the counts of equal
pretokens by its shuffle. Training starts from the `PretokenCounts` that `sum_counts` makes of these sums.
`encode_batches` adds ids to the batches of a part.

>>> import pyarrow as pa
>>> import toksmith
>>> from toksmith import engines
>>> parts = [pa.table({"text": ["low low", "lower"]}), pa.table({"text": ["low", None]})]
>>> counted = [batch for part in parts for batch in engines.count_batches(part.to_batches(), "text")]
>>> counts = engines.sum_counts(counted)
>>> counts.items()
[(b' low', 1), (b'low', 2), (b'lower', 1)]
>>> tokenizer = toksmith.train(counts, 258)
>>> next(engines.encode_batches(parts[0].to_batches(), "text", tokenizer)).column_names
['text', 'input_ids']
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
