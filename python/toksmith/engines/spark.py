"""Counting, training, encoding and tokenizing on PySpark: `toksmith.engines.spark`.

Results are those of one machine, for any partitions. All machines need toksmith, pyarrow, and pandas, which PySpark
asks for, in the Python that `PYSPARK_PYTHON` names when the session starts; default: the `python3` of the `PATH`.
PySpark is 4.0 or later; `encode_udf` needs 4.1.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .._internal.messages import shown
from ..tokenizer import Tokenizer
from .batches import batch_function
from .engine import Engine
from .kept import KeptFunction

__all__ = ["COUNTS", "count_pretokens", "encode", "encode_udf", "tokenize", "train"]

COUNTS = "pretoken binary, count bigint"
"""Spark's schema of the batches of `toksmith.engines.count_batches`, for `mapInArrow`."""
_MAX_ID = 2**31 - 1
"""The largest id in Spark, whose integers have signs."""


class _Spark(Engine):
    """PySpark. A part is a partition."""

    parts = "partitions"
    source = "pyspark.sql.DataFrame"
    shuffles = "use frame.orderBy(rand(seed)), or order= a column of random numbers"

    def _sums(
        self, data: Any, column: str, count: Callable[..., Any], minimum: int, partitions: int | None
    ) -> Iterator[Any]:
        texts = data.select(_texts(data, column)).toDF("text")
        function = KeptFunction(functools.partial(count, column="text"))
        yield _collected(_summed(texts.mapInArrow(function, COUNTS), minimum, partitions))

    def _encoded(self, data: Any, column: str, order: str | None, encode: Callable[..., Any]) -> list[str]:
        texts = data.select(_texts(data, column)).toDF("text")
        if order is not None:
            texts = (
                data.select(_texts(data, column), _quoted(_unique(data, order)))
                .toDF("text", "number")
                .orderBy("number")
            )
        rows = texts.mapInArrow(KeptFunction(functools.partial(_rows, function=encode)), "part int, row string")
        return _strings(_collected(rows))

    def _each(self, data: Any, function: Callable[[str], str], names: list[str]) -> list[str]:
        if not names:
            return []
        numbers = data.sparkSession.range(0, len(names), 1, len(names))  # a partition for each
        each = functools.partial(_each, function=function, names=names)
        return _strings(_collected(numbers.mapInArrow(KeptFunction(each), "part int, row string")))


_ENGINE = _Spark()
count_pretokens = _ENGINE.count_pretokens
train = _ENGINE.train
tokenize = _ENGINE.tokenize


def _collected(frame: Any) -> Any:
    """Return a data frame as a table, in the process that calls."""
    from pyspark.errors import PythonException

    try:
        return frame.toArrow()
    except PythonException as error:
        missing = re.search(r"No module named '(toksmith|pyarrow|pandas|numpy)'", str(error))
        if missing is None:
            raise
        raise ModuleNotFoundError(
            f"the Python of Spark's workers has no module {missing[1]}: set the environment variable PYSPARK_PYTHON "
            f"before the session starts; on one machine, to {sys.executable}"
        ) from error


def _strings(table: Any) -> list[str]:
    return [str(row) for row in table.sort_by("part")["row"].to_pylist()]


def _texts(frame: Any, column: str) -> str:
    """Return the name of a column of texts as `select` takes it."""
    kind = frame.schema.fields[frame.columns.index(_unique(frame, column))].dataType.typeName()
    if kind not in ("string", "binary", "char", "varchar"):
        raise TypeError(f"column {shown(column)} is of type {kind}: texts are of type string or binary")
    return _quoted(column)


def _unique(frame: Any, column: str) -> str:
    """Return the name of a column that occurs exactly once."""
    if frame.columns.count(column) != 1:
        there = ", ".join(map(shown, frame.columns))
        raise ValueError(f"the data frame needs exactly one column {shown(column)}: it has {there}")
    return column


def _quoted(column: str) -> str:
    return "`" + column.replace("`", "``") + "`"


def _summed(counted: Any, minimum: int, partitions: int | None) -> Any:
    """Return one count for each pretoken; a sum that does not fit into 64 bits is null, with or without ANSI mode."""
    from pyspark.sql import functions

    if partitions is not None:
        counted = counted.repartition(partitions, "pretoken")
    sums = counted.groupBy("pretoken").agg(functions.expr("try_sum(count)").alias("count"))
    return sums.where(f"count >= {minimum} OR count IS NULL") if minimum > 1 else sums


def _rows(batches: Iterable[Any], function: Callable[..., Any]) -> Iterator[Any]:
    """Yield what a function yields for a partition, with the number of the partition."""
    from pyspark import TaskContext

    part = TaskContext.get().partitionId()
    for row in function(batches):
        yield _row(part, row)


def _each(batches: Iterable[Any], function: Callable[[str], str], names: list[str]) -> Iterator[Any]:
    """Yield what a function returns for the names whose numbers are in a partition."""
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield _row(number, function(names[number]))


def _row(part: int, row: str) -> Any:
    import pyarrow as pa

    return pa.record_batch({"part": pa.array([part], pa.int32()), "row": [row]})


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
        keep: Whether the columns of the frame stay. All that stay go through Python; `encode_udf` gets only texts.
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
    fields[position : position + 1] = [types.StructField(out, _ids_type())]
    selected = frame if keep else frame.select(texts)
    source = selected.columns.index(column)
    function = batch_function(tokenizer, str(source), out=str(position), keep=keep, special=special)
    encoded = functools.partial(
        _encoded, function=function, position=position, names=[field.name for field in fields]
    )
    numbered = selected.toDF(*map(str, range(len(selected.columns))))  # mapInArrow takes no name with a dot
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
    function = batch_function(tokenizer, "text", out="ids", special=special)
    kept = KeptFunction(functools.partial(_ids, function=function))

    def encode(texts: Any) -> Any:
        return kept(texts)

    encode.__annotations__ = {"texts": pa.Array, "return": pa.Array}  # these tell Spark the kind of function
    return functions.arrow_udf(encode, _ids_type())


def _ids_type() -> Any:
    """Return Spark's type of a list of ids, none of which is null."""
    from pyspark.sql import types

    return types.ArrayType(types.IntegerType(), containsNull=False)


def _check_ids(tokenizer: Tokenizer) -> None:
    if tokenizer.max_id > _MAX_ID:
        raise ValueError(f"the tokenizer has ids up to {tokenizer.max_id}: the integers of Spark go up to {_MAX_ID}")


def _encoded(batches: Iterable[Any], function: Any, position: int, names: list[str]) -> Iterator[Any]:
    """Yield batches with a column of ids at a position among the columns, all named as in a frame."""
    import pyarrow as pa

    for batch in batches:
        columns = function(batch).columns
        columns[position] = _with_sign(columns[position])
        yield pa.RecordBatch.from_arrays(columns, names=names)


def _ids(texts: Any, function: Any) -> Any:
    import pyarrow as pa

    return _with_sign(function(pa.record_batch({"text": texts})).column(1))


def _with_sign(ids: Any) -> Any:
    """Return lists of ids in the integers of Spark, which have signs.

    Spark copies lists one element at a time, and looks whether each is null unless the type excludes it.
    """
    import pyarrow as pa

    return ids.cast(pa.list_(pa.field("element", pa.int32(), nullable=False)))
