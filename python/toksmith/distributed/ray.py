"""Counting, training and encoding on Ray Data: `toksmith.distributed.ray`.

Ray counts each block of a dataset, and sums the counts of equal pretokens by its own shuffle. Results are those of
one machine, for any blocks. All machines need toksmith, Ray (`pip install "ray[data]"`) and pyarrow.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..training import train as training
from ..training.counts import PretokenCounts
from . import options
from .counting import count_batches, counts_schema, sum_counts
from .kept import KeptFunction

if TYPE_CHECKING:
    from ..common.choices import Errors, Unmatched
    from ..tokenizer import Tokenizer

_BLOCKS: dict[str, Any] = {"batch_format": "pyarrow", "batch_size": None, "zero_copy_batch": True}
"""How Ray gives blocks: whole, in their own memory."""


def count_pretokens(
    dataset: Any,
    column: str,
    *,
    special_tokens: Iterable[str] = (),
    pattern: Any = "gpt2",
    unmatched: Unmatched = "keep",
    errors: Errors = "strict",
    memory_limit: int | str | None = None,
    min_pretoken_count: int = 1,
    partitions: int | None = None,
) -> PretokenCounts:
    """Count the pretokens of a column of a Ray dataset; each text that is not null is a document.

    Memory: the process that calls holds the sum; a worker holds a block and at most `memory_limit` of counts.

    Args:
        dataset: A `ray.data.Dataset`.
        column: The name of the column of texts; its type is one that `Tokenizer.encode_arrow` takes.
        special_tokens: As in `toksmith.count_pretokens`; so are `pattern`, `unmatched` and `errors`.
        pattern: What cuts the texts into pretokens.
        unmatched: What becomes of text that the pattern does not match.
        errors: What becomes of bytes that are not UTF-8.
        memory_limit: Bytes that the counts of a block may take; default: 256 MiB. What outgrows them is handed on.
        min_pretoken_count: Pretokens that occur less often in the whole dataset are left out, on the workers.
        partitions: Parts of Ray's shuffle; default: Ray's own number.

    Returns:
        The counts of one machine, in the order of the bytes of pretokens.

    Raises:
        ValueError: An option is wrong.
        ray.exceptions.RayTaskError: A worker failed; its cause is the error that `count_batches` raises.
    """
    given = options.checked(
        column,
        special_tokens=special_tokens,
        pattern=pattern,
        unmatched=unmatched,
        errors=errors,
        memory_limit=memory_limit,
        min_pretoken_count=min_pretoken_count,
    )
    from ray import get
    from ray.data.aggregate import Sum

    count = KeptFunction(functools.partial(_count, column=column, of_parts=given.of_parts))
    counted = dataset.select_columns([column]).map_batches(count, **_BLOCKS)
    sums = counted.groupby("pretoken", num_partitions=partitions).aggregate(Sum("count", alias_name="count"))
    if given.least > 1:
        sums = sums.map_batches(functools.partial(_at_least, least=given.least), **_BLOCKS)
    blocks = (get(block) for block in sums.to_arrow_refs())
    return sum_counts((block for block in blocks if block.num_rows), **given.of_sums)


def _count(block: Any, column: str, of_parts: dict[str, Any]) -> Iterator[Any]:
    """Yield the counts of a block, as tables."""
    import pyarrow as pa

    yield counts_schema().empty_table()  # a block without texts has columns, too
    for batch in count_batches([block], column, **of_parts):
        yield pa.Table.from_batches([batch])


def _at_least(block: Any, least: int) -> Any:
    import pyarrow.compute as pc

    return block.filter(pc.greater_equal(block["count"], least)) if block.num_rows else block


def train(
    dataset: Any,
    column: str,
    vocab_size: int,
    *,
    special_tokens: Iterable[str] = (),
    pattern: Any = "gpt2",
    unmatched: Unmatched = "keep",
    errors: Errors = "strict",
    memory_limit: int | str | None = None,
    min_pretoken_count: int = 1,
    partitions: int | None = None,
    **learning: Any,
) -> Tokenizer:
    """Train a tokenizer on a column of a Ray dataset; merges are learned in the process that calls.

    Args:
        dataset: A `ray.data.Dataset`.
        column: The name of the column of texts.
        vocab_size: How many tokens the tokenizer has in the end.
        special_tokens: As in `count_pretokens`; so are the others up to `partitions`.
        pattern: What cuts the texts into pretokens.
        unmatched: What becomes of text that the pattern does not match.
        errors: What becomes of bytes that are not UTF-8.
        memory_limit: Bytes that the counts of a block may take.
        min_pretoken_count: Pretokens that occur less often in the whole dataset are left out.
        partitions: Parts of Ray's shuffle.
        learning: Options of `toksmith.train` for learning merges, such as `ties`.

    Raises:
        ValueError: An option is wrong; or `ties="first"`, which goes by the order of the text.
    """
    options.refuse_first(learning, "blocks")
    counts = count_pretokens(
        dataset,
        column,
        special_tokens=special_tokens,
        pattern=pattern,
        unmatched=unmatched,
        errors=errors,
        memory_limit=memory_limit,
        min_pretoken_count=min_pretoken_count,
        partitions=partitions,
    )
    return training.train(counts, vocab_size, **learning)


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
    function = tokenizer.batch(column, out=out, dtype=dtype, keep=keep, special=special)
    return dataset.map_batches(KeptFunction(function), **_BLOCKS)
