"""Counting, training and encoding on PySpark: `toksmith.distributed.spark`.

Spark counts each partition of a data frame, and sums the counts of equal pretokens by its own shuffle. Results are
those of one machine, for any partitions. All machines need toksmith, pyarrow, and pandas, which PySpark asks for.
PySpark is 4.0 or later; `encode_udf` needs 4.1.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..common.messages import shown
from ..training import train as training
from ..training.counts import PretokenCounts
from . import options
from .counting import count_batches, sum_counts
from .kept import KeptFunction

if TYPE_CHECKING:
    from ..common.choices import Errors, Unmatched
    from ..tokenizer import Tokenizer

COUNTS = "pretoken binary, count bigint"
"""Spark's schema of the batches of `toksmith.distributed.count_batches`, for `mapInArrow`."""
_MOST_ID = 2**31 - 1
"""The largest id in Spark, whose integers have signs."""


def count_pretokens(
    frame: Any,
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
    """Count the pretokens of a column of a data frame of Spark; each text that is not null is a document.

    Memory: the driver holds the sum, which Spark's `spark.driver.maxResultSize` limits; a Python worker holds a batch
    of Arrow and at most `memory_limit` of counts.

    Args:
        frame: A `pyspark.sql.DataFrame`.
        column: The name of the column of texts, of type `string` or `binary`.
        special_tokens: As in `toksmith.count_pretokens`; so are `pattern`, `unmatched` and `errors`.
        pattern: What cuts the texts into pretokens.
        unmatched: What becomes of text that the pattern does not match.
        errors: What becomes of bytes that are not UTF-8.
        memory_limit: Bytes that the counts of a partition may take; default: 256 MiB. The rest is handed on.
        min_pretoken_count: Pretokens that occur less often in the whole frame are left out, on the workers.
        partitions: Partitions of the shuffle; default: Spark's own number.

    Returns:
        The counts of one machine, in the order of the bytes of pretokens.

    Raises:
        ValueError: An option is wrong, or there is no such column.
        TypeError: The column is of another type.
        OverflowError: A pretoken occurs more than 2^63 - 1 times.
        pyspark.errors.PythonException: A worker failed; the text has the error that `count_batches` raised.
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
    texts = frame.select(_texts(frame, column)).toDF("text")
    count = KeptFunction(functools.partial(count_batches, column="text", **given.of_parts))
    sums = _summed(texts.mapInArrow(count, COUNTS), given.least, partitions).toArrow()
    if sums["count"].null_count:
        raise OverflowError("a pretoken occurs more than 2^63 - 1 times")
    return sum_counts([sums], **given.of_sums)


def _texts(frame: Any, column: str) -> str:
    """Return the name of a column of texts as `select` takes it.

    Raises:
        ValueError: There is no such column, or there are several.
        TypeError: It is of another type.
    """
    if frame.columns.count(column) != 1:
        there = ", ".join(map(shown, frame.columns))
        raise ValueError(f"there is no one column {shown(column)}: the data frame has {there}")
    kind = frame.schema.fields[frame.columns.index(column)].dataType.typeName()
    if kind not in ("string", "binary", "char", "varchar"):
        raise TypeError(f"column {shown(column)} is of type {kind}: texts are of type string or binary")
    return "`" + column.replace("`", "``") + "`"


def _summed(counted: Any, least: int, partitions: int | None) -> Any:
    """Return the counts of each pretoken once; a sum that 64 bits do not hold is null, whatever ANSI mode says."""
    from pyspark.sql import functions

    if partitions is not None:
        counted = counted.repartition(partitions, "pretoken")
    sums = counted.groupBy("pretoken").agg(functions.expr("try_sum(count)").alias("count"))
    return sums.where(f"count >= {least} OR count IS NULL") if least > 1 else sums


def train(
    frame: Any,
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
    """Train a tokenizer on a column of a data frame of Spark; merges are learned on the driver.

    Args:
        frame: A `pyspark.sql.DataFrame`.
        column: The name of the column of texts.
        vocab_size: How many tokens the tokenizer has in the end.
        special_tokens: As in `count_pretokens`; so are the others up to `partitions`.
        pattern: What cuts the texts into pretokens.
        unmatched: What becomes of text that the pattern does not match.
        errors: What becomes of bytes that are not UTF-8.
        memory_limit: Bytes that the counts of a partition may take.
        min_pretoken_count: Pretokens that occur less often in the whole frame are left out.
        partitions: Partitions of the shuffle.
        learning: Options of `toksmith.train` for learning merges, such as `ties`.

    Raises:
        ValueError: An option is wrong; or `ties="first"`, which goes by the order of the text.
    """
    options.refuse_first(learning, "partitions")
    counts = count_pretokens(
        frame,
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
    frame: Any,
    column: str,
    tokenizer: Tokenizer,
    *,
    out: str = "input_ids",
    keep: bool = True,
    special: bool = True,
) -> Any:
    """Return a data frame with the ids of the texts of a column, as `array<int>`. Spark runs it when it is read.

    Spark sends the tokenizer once to each executor, and each Python worker makes it once and keeps it.

    Args:
        frame: A `pyspark.sql.DataFrame`.
        column: The name of the column of texts.
        tokenizer: What encodes them.
        out: The name of the column of ids.
        keep: Whether the columns of the frame stay. All that stay go through Python; `encode_udf` gets texts alone.
        special: Whether special tokens become their ids.

    Raises:
        ValueError: There is no such column; or the tokenizer has ids above 2^31 - 1, for which Spark has no integer.
        TypeError: The column is of another type.
    """
    from pyspark.sql import types

    _check_ids(tokenizer)
    texts = _texts(frame, column)
    fields = list(frame.schema.fields) if keep else []
    names = [field.name for field in fields]
    position = names.index(out) if out in names else len(names)
    fields[position : position + 1] = [types.StructField(out, types.ArrayType(types.IntegerType()))]
    given = frame if keep else frame.select(texts)
    source = given.columns.index(column)
    function = tokenizer.batch(str(source), out=str(position), keep=keep, special=special)
    encoded = functools.partial(
        _encoded, function=function, position=position, names=[field.name for field in fields]
    )
    numbered = given.toDF(*map(str, range(len(given.columns))))  # mapInArrow takes no name with a dot
    return numbered.mapInArrow(KeptFunction(encoded), types.StructType(fields))


def encode_udf(tokenizer: Tokenizer, *, special: bool = True) -> Any:
    """Return a function of Spark from a column of texts to one of their ids, for `select`, `withColumn` and SQL.

    `frame.withColumn("input_ids", encode_udf(tokenizer)("text"))` is a plan in which only texts go through Python;
    `spark.udf.register("token_ids", encode_udf(tokenizer))` makes it a function of SQL.

    Args:
        tokenizer: What encodes the texts, of type `string` or `binary`.
        special: Whether special tokens become their ids.

    Raises:
        ValueError: The tokenizer has ids above 2^31 - 1, for which Spark has no integer.
    """
    import pyarrow as pa
    from pyspark.sql import functions

    _check_ids(tokenizer)
    kept = KeptFunction(functools.partial(_ids, function=tokenizer.batch("text", out="ids", special=special)))

    def encode(texts: Any) -> Any:
        return kept(texts)

    encode.__annotations__ = {"texts": pa.Array, "return": pa.Array}  # these tell Spark the kind of function
    return functions.arrow_udf(encode, "array<int>")


def _check_ids(tokenizer: Tokenizer) -> None:
    most = tokenizer._core.max_id()
    if most > _MOST_ID:
        raise ValueError(f"the tokenizer has ids up to {most}: the integers of Spark go up to {_MOST_ID}")


def _encoded(batches: Iterable[Any], function: Any, position: int, names: list[str]) -> Iterator[Any]:
    """Yield batches with ids, which are at a position among the columns, under the names of a frame."""
    import pyarrow as pa

    for batch in batches:
        columns = function(batch).columns
        columns[position] = _with_sign(columns[position])
        yield pa.RecordBatch.from_arrays(columns, names=names)


def _ids(texts: Any, function: Any) -> Any:
    """Return the ids of a column of texts."""
    import pyarrow as pa

    return _with_sign(function(pa.record_batch({"text": texts})).column(1))


def _with_sign(ids: Any) -> Any:
    """Return lists of ids in the integers of Spark, which have signs."""
    import pyarrow as pa

    return ids.cast(pa.list_(pa.field("element", pa.int32())))
