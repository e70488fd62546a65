"""Counts of pretokens in parts: each part's counts as Arrow batches, and the sum of all."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypedDict

from .. import _core, patterns
from .._internal import arguments, memory
from .._internal.choices import Errors, Unmatched
from ..files import tables
from ..training import counting, counts_files
from ..training.counts import PretokenCounts
from .batches import column_of

if TYPE_CHECKING:
    from pyarrow import Array, ChunkedArray, RecordBatch, Schema, Table

DEFAULT_LIMIT = 256 << 20
"""Bytes of memory that the counts of a part may take. An engine runs several parts on a machine at a time."""
_SLICES = 64
"""The memory is checked after each slice of text, whose size is the limit divided by this number. A pretoken takes up
to ten times its bytes, so a slice adds at most a sixth of the limit."""
_MIN_SLICE_BYTES = 1 << 16
"""A smaller slice would take longer to set up than to count."""
_MAX_ADDED_BYTES = 1 << 20
"""The maximum size of a batch that is added to a sum: adding it takes as much memory again."""
_MAX_BATCH_BYTES = 1 << 30
"""The maximum size of a batch: offsets of 32 bits can count twice as many bytes."""


class CountOptions(TypedDict, total=False):
    """The options of `count_batches` that are the same for all parts."""

    special_tokens: Iterable[str]
    pattern: object
    unmatched: Unmatched
    errors: Errors
    memory_limit: int | str | None


def counts_schema() -> Schema:
    """Return the schema of the batches of `count_batches`: `pretoken`, of type `binary`, and `count`, `int64`."""
    pa = tables.arrow()
    return pa.schema([("pretoken", pa.binary()), ("count", pa.int64())])


def count_batches(
    batches: Iterable[RecordBatch | Table],
    column: str,
    *,
    special_tokens: Iterable[str] = (),
    pattern: object = "gpt2",
    unmatched: Unmatched = "keep",
    errors: Errors = "strict",
    memory_limit: int | str | None = None,
    workers: int | None = 1,
) -> Iterator[RecordBatch]:
    """Yield the counts of the pretokens in one column, as record batches of `counts_schema`.

    Each text is a document; null texts are skipped. When the counts outgrow the memory limit, the counts so far are
    yielded and counting begins anew, so a pretoken may come more than once. Apply `min_pretoken_count` after the sum
    of all parts (`PretokenCounts.at_least`); in a part it would be wrong.

    Args:
        batches: Record batches or tables of pyarrow.
        column: The name of the column of texts; its type is one that `encode_arrow` takes.
        special_tokens: As in `count_pretokens`; so are `pattern`, `unmatched` and `errors`.
        pattern: What cuts the texts into pretokens.
        unmatched: What becomes of text that the pattern does not match.
        errors: What becomes of bytes that are not UTF-8.
        memory_limit: Bytes that the counts may take, such as "300MB"; default: 256 MiB. The batches themselves, and
            a text that is larger than a sixty-fourth of the limit, take memory in addition.
        workers: Threads; default: one, since an engine runs a part for each core. None: all cores.

    Raises:
        ValueError: There is no such column; a text is not UTF-8 (names its row).
        TypeError: The column is of another type.
        ImportError: pyarrow is not installed.
    """
    limit = DEFAULT_LIMIT if memory_limit is None else memory.limit(memory_limit)
    begin = functools.partial(
        counting.counter,
        arguments.special_names(special_tokens),
        patterns.resolve(pattern, unmatched).core(),
        workers=arguments.checked_workers(workers),
        replace=arguments.replaces_invalid(errors),
        memory_limit=limit,
    )
    slice_bytes = max(limit // _SLICES, _MIN_SLICE_BYTES)
    columns = (texts for batch in batches for texts in tables.slices(column_of(batch, column), slice_bytes))
    return _counted(columns, begin, errors == "replace")


def _counted(
    columns: Iterable[Array | ChunkedArray], begin: Callable[[], _core.Counting], replace: bool
) -> Iterator[RecordBatch]:
    current = None
    for texts in columns:
        current = current or begin()
        current.column(_core.ArrowColumn(texts), replace)
        if current.spills() > 0:
            yield from _batches(current.finish())
            current = None
    if current is not None:
        yield from _batches(current.finish())


def _batches(core: _core.PretokenCounts) -> Iterator[RecordBatch]:
    for batch in counts_files.batches(core, counts_files.schema()):
        for rows in tables.slices(batch.select(["pretoken", "count"]), _MAX_BATCH_BYTES):
            yield rows.cast(counts_schema())


def sum_counts(
    batches: Iterable[RecordBatch | Table],
    *,
    special_tokens: Iterable[str] = (),
    pattern: object = "gpt2",
    unmatched: Unmatched = "keep",
    memory_limit: int | str | None = None,
) -> PretokenCounts:
    """Return the sum of the counts of all parts, sorted by the bytes of the pretokens.

    The result depends neither on how the texts are split into parts nor on the order of the parts. It does not tell
    which pretoken came first in the text: `train` refuses it with `ties="first"`, and every other rule gives the
    merges of the whole text. Memory: a batch and the sum.

    Args:
        batches: Record batches or tables with the columns `pretoken` and `count`, such as those of `count_batches`.
        special_tokens: What the parts were counted with; so are `pattern` and `unmatched`.
        pattern: What cut the texts.
        unmatched: What became of text that the pattern does not match.
        memory_limit: Bytes for the sum, as in `count_pretokens`; default: no limit.

    Raises:
        ValueError: A column is missing, of another type, null or negative; or the sum passes 2^63.
        MemoryError: The sum does not fit into the limit: says what would fit.
        ImportError: pyarrow is not installed.
    """
    tables.arrow()
    resolved, specials = patterns.resolve(pattern, unmatched), arguments.special_names(special_tokens)
    limit = None if memory_limit is None else memory.limit(memory_limit)
    sums = counting.counter([], resolved.core(), workers=1, replace=False, memory_limit=limit)
    for batch in batches:
        column_of(batch, "count")
        for rows in tables.slices(batch, _MAX_ADDED_BYTES):
            counts_files.add(sums, column_of(rows, "pretoken"), rows.column("count"))
    return PretokenCounts._of(sums.finish(), resolved, specials, has_order=False)
