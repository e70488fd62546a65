"""Counting, training, encoding and tokenizing on PySpark: `toksmith.engines.spark`.

Results are those of one machine, for any partitions. All machines need toksmith, pyarrow, and pandas, which PySpark
asks for, in the Python that `PYSPARK_PYTHON` names when the session starts; default: the `python3` of the `PATH`.
PySpark is 4.1 or later.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .._internal.messages import shown
from ..tokenizer import Tokenizer, tokenizer_of
from .batches import encode_arrow
from .engine import Engine
from .workers import KeptFunction

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from .engine import Count, Encode

__all__ = ["COUNTS", "count_pretokens", "encode", "encode_udf", "tokenize", "train"]

COUNTS = "pretoken binary, count bigint"
"""Spark's schema of the batches of `toksmith.engines.count_batches`, for `mapInArrow`."""
_PIECES = 16
"""Pieces in which the sums of all partitions come to the process that calls, if its memory is limited."""
_MAX_ID = 2**31 - 1
"""The largest id in Spark, whose integers have signs."""


class _Spark(Engine["DataFrame"]):
    """PySpark. A part is a partition."""

    parts = "partitions"
    source = "pyspark.sql.DataFrame"

    def _sums(
        self, data: DataFrame, column: str, count: Count, minimum: int, partitions: int | None, limited: bool
    ) -> Iterator[pa.Table]:
        texts = data.select(_texts(data, column)).toDF("text")
        function = KeptFunction(functools.partial(count, column="text"))
        sums = _summed(texts.mapInArrow(function, COUNTS), minimum, partitions)
        if not limited:
            yield _collected(sums)
            return
        sums.persist()
        try:
            for piece in range(_PIECES):
                yield _collected(sums.where(f"pmod(hash(pretoken), {_PIECES}) = {piece}"))
        finally:
            sums.unpersist()

    def _encoded(self, data: DataFrame, column: str, order: str | None, encode: Encode) -> list[str]:
        if order is None:
            return _rows(data.select(_texts(data, column)).toDF("text"), encode)
        texts = data.select(_texts(data, column), _quoted(_unique(data, order)))
        return _rows(texts.toDF("text", "number").orderBy("number"), encode)


_ENGINE = _Spark()
count_pretokens = _ENGINE.count_pretokens
train = _ENGINE.train
tokenize = _ENGINE.tokenize


def _collected(frame: DataFrame) -> pa.Table:
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


def _rows(frame: DataFrame, function: Encode) -> list[str]:
    """Return what a function yields for the partitions of a data frame, in their order."""
    numbered = KeptFunction(functools.partial(_numbered, function=function))
    table = _collected(frame.mapInArrow(numbered, "part int, row string"))
    return [str(row) for row in table.sort_by("part")["row"].to_pylist()]


def _numbered(batches: Iterable[pa.RecordBatch], function: Encode) -> Iterator[pa.RecordBatch]:
    from pyspark import TaskContext

    part = pa.array([TaskContext.get().partitionId()], pa.int32())
    for row in function(batches):
        yield pa.record_batch({"part": part, "row": [row]})


def _texts(frame: DataFrame, column: str) -> str:
    """Return the name of a column of texts as `select` takes it."""
    kind = frame.schema.fields[frame.columns.index(_unique(frame, column))].dataType.typeName()
    if kind not in ("string", "binary", "char", "varchar"):
        raise TypeError(f"column {shown(column)} is of type {kind}: texts are of type string or binary")
    return _quoted(column)


def _unique(frame: DataFrame, column: str) -> str:
    if frame.columns.count(column) != 1:
        there = ", ".join(map(shown, frame.columns))
        raise ValueError(f"the data frame needs exactly one column {shown(column)}: it has {there}")
    return column


def _quoted(column: str) -> str:
    return "`" + column.replace("`", "``") + "`"


def _summed(counted: DataFrame, minimum: int, partitions: int | None) -> DataFrame:
    """Return one count for each pretoken; a sum that does not fit into 64 bits is null, with or without ANSI mode."""
    from pyspark.sql import functions

    if partitions is not None:
        counted = counted.repartition(partitions, "pretoken")
    sums = counted.groupBy("pretoken").agg(functions.expr("try_sum(count)").alias("count"))
    return sums.where(f"count >= {minimum} OR count IS NULL") if minimum > 1 else sums


def encode(
    frame: DataFrame,
    column: str,
    tokenizer: Tokenizer | object,
    *,
    out: str = "input_ids",
    keep: bool = True,
    special: bool = True,
) -> DataFrame:
    """Return a data frame with the ids of the texts of a column, as `array<int>`. Spark runs it when it is read.

    Only texts go through Python. Options are those of `batch_function`.

    Raises:
        ValueError: There is no such column; or the tokenizer has ids above 2^31 - 1, for which Spark has no integer.
        TypeError: The column is of another type.
    """
    ids = encode_udf(tokenizer, special=special)(_texts(frame, column))
    return frame.withColumn(out, ids) if keep else frame.select(ids.alias(out))


def encode_udf(tokenizer: Tokenizer | object, *, special: bool = True) -> Any:
    """Return a function of Spark from a column of texts to one of their ids, for `select`, `withColumn` and SQL.

    `spark.udf.register("token_ids", encode_udf(tokenizer))` makes it a function of SQL. Texts are of type `string` or
    `binary`. Ids of the tokenizer above 2^31 - 1 are a `ValueError`, since Spark has no integer for them. Spark sends
    the tokenizer once to each executor, and each Python worker makes it once and keeps it.
    """
    from pyspark.sql import functions, types

    tokenizer = tokenizer_of(tokenizer)
    if tokenizer.max_id > _MAX_ID:
        raise ValueError(f"the tokenizer has ids up to {tokenizer.max_id}: the integers of Spark go up to {_MAX_ID}")
    kept = KeptFunction(functools.partial(_ids, tokenizer=tokenizer, special=special))

    def encode(texts: pa.Array) -> pa.Array:
        return kept(texts)

    encode.__annotations__ = {"texts": pa.Array, "return": pa.Array}  # these tell Spark the kind of function
    return functions.arrow_udf(encode, types.ArrayType(types.IntegerType(), containsNull=False))


def _ids(texts: pa.Array, tokenizer: Tokenizer, special: bool) -> pa.Array:
    """Return lists of ids in the integers of Spark, which have signs.

    Spark copies lists one element at a time, and looks whether each is null unless the type excludes it.
    """
    ids = encode_arrow(tokenizer, texts, special=special, workers=1)
    return ids.cast(pa.list_(pa.field("element", pa.int32(), nullable=False)))
