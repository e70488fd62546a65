"""Counting and encoding in parts, for engines: functions that take Arrow batches and need no engine.

An engine counts each part of its texts with `count_batches` and sums the counts of equal pretokens by its shuffle.
Training starts from the `PretokenCounts` that `sum_counts` makes of these sums. `encode_batches` adds ids to the
batches of a part.

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

from .counting import count_batches as count_batches
from .counting import counts_schema as counts_schema
from .counting import sum_counts as sum_counts
from .encoding import encode_batches as encode_batches

__all__ = ["count_batches", "counts_schema", "encode_batches", "sum_counts"]
