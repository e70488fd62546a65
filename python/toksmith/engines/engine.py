"""Counting, training and tokenizing on any engine. Each engine defines how its parts are processed."""

from __future__ import annotations

import functools
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from .._internal import arguments
from ..data.options import ShardOptions
from ..tokenizer import Tokenizer
from ..training import train as training
from ..training.counts import PretokenCounts
from . import tokenizing
from .counting import CountOptions, count_batches, sum_counts

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Engine(ABC):
    """An engine: `toksmith.engines.ray` and `toksmith.engines.spark` have its methods as functions.

    A part is the unit that the engine processes at a time: a block of Ray, a partition of Spark.
    """

    parts: ClassVar[str]
    """The engine's word for its parts."""
    source: ClassVar[str]
    """The name of the data in the manifest of a folder."""
    shuffles: ClassVar[str]
    """The engine's own way to shuffle."""

    def count_pretokens(
        self,
        data: Any,
        column: str,
        *,
        min_pretoken_count: int = 1,
        partitions: int | None = None,
        **options: Unpack[CountOptions],
    ) -> PretokenCounts:
        """Count the pretokens of a column; each text that is not null is a document.

        Memory: the process that calls holds the sum, which Spark's `spark.driver.maxResultSize` limits; a worker
        holds a block of Ray, or a batch of Arrow of Spark, and at most `memory_limit` of counts.

        Args:
            data: A `ray.data.Dataset`, or a `pyspark.sql.DataFrame`.
            column: The name of the column of texts, of a type that `encode_arrow` takes.
            min_pretoken_count: Pretokens that occur less often in the whole data are left out, on the workers.
            partitions: Partitions of the engine's shuffle; default: on Ray one for each 32 MiB of counts, on Spark
                what the session sets.
            options: `special_tokens`, `pattern`, `unmatched`, `errors` and `memory_limit` of `count_batches`.

        Returns:
            The same counts as on one machine, sorted by the bytes of the pretokens.

        Raises:
            ValueError: An option is wrong; or, on Spark, there is no such column.
            TypeError: On Spark, the column is of another type.
            OverflowError: A pretoken occurs more than 2^63 - 1 times.
            ray.exceptions.RayTaskError: A worker of Ray failed; the text has the error that `count_batches` raised.
            pyspark.errors.PythonException: A worker of Spark failed; the same.
            ModuleNotFoundError: On Spark, the Python of the workers lacks toksmith, or what it needs.
        """
        options["special_tokens"] = specials = [*options.get("special_tokens", ())]
        minimum = arguments.checked_limit("min_pretoken_count", min_pretoken_count, 0)
        count_batches([], column, **options)  # refuses wrong options before the engine starts anything
        sums = list(self._sums(data, column, functools.partial(count_batches, **options), minimum, partitions))
        if any(batch.column("count").null_count for batch in sums):
            raise OverflowError("a pretoken occurs more than 2^63 - 1 times")
        pattern, unmatched = options.get("pattern", "gpt2"), options.get("unmatched", "keep")
        return sum_counts(sums, special_tokens=specials, pattern=pattern, unmatched=unmatched)

    def train(
        self,
        data: Any,
        column: str,
        vocab_size: int,
        *,
        min_pretoken_count: int = 1,
        partitions: int | None = None,
        **options: Any,
    ) -> Tokenizer:
        """Train a tokenizer on a column; merges are learned in the process that calls.

        Args:
            data: A `ray.data.Dataset`, or a `pyspark.sql.DataFrame`.
            column: The name of the column of texts.
            vocab_size: How many tokens the tokenizer has in the end.
            min_pretoken_count: Pretokens that occur less often in the whole data are left out.
            partitions: Partitions of the engine's shuffle.
            options: Options of `count_pretokens`, and those of `toksmith.train` for learning merges, such as `ties`.

        Raises:
            ValueError: An option is wrong; or `ties="first"`, which needs the order of the text.
            OverflowError: A pretoken occurs more than 2^63 - 1 times.
        """
        if options.get("ties") == "first":
            raise ValueError(
                f'ties="first" goes by the order of the text, which {self.parts} do not tell: choose another rule'
            )
        counting: Any = {name: options.pop(name) for name in CountOptions.__annotations__ if name in options}
        counts = self.count_pretokens(
            data, column, min_pretoken_count=min_pretoken_count, partitions=partitions, **counting
        )
        return training.train(counts, vocab_size, **options)

    def tokenize(
        self,
        data: Any,
        column: str,
        tokenizer: Any,
        out: str | os.PathLike[str],
        *,
        order: str | None = None,
        shuffle: None = None,
        **options: Unpack[ShardOptions],
    ) -> dict[str, Any]:
        """Encode the texts of a column into a folder of shards: the files of `toksmith.tokenize`, byte for byte.

        Workers encode each part once and write its ids beside the shards, in a hidden folder; then each shard is
        written by a task of its own. This takes twice the bytes of the shards on the disk. The process that calls
        holds some hundred bytes for each part and each shard, and nothing for a document.

        A call that fails removes the files that it has written. The files that a killed process leaves have no
        manifest; the same call removes them and begins anew.

        Args:
            data: A `ray.data.Dataset`, or a `pyspark.sql.DataFrame`.
            column: The name of the column of texts. Each that is not null is a document.
            tokenizer: As in `toksmith.tokenize`.
            out: The folder. All machines see it under this name, as on a network file system.
            order: The name of a column of whole numbers, which differ for each document: the documents are sorted by
                it, and the folder is the same for any parts. Without `order` the documents keep the engine's order:
                the order of blocks or partitions, and of the rows in each.
            shuffle: Refused: shuffle with the engine before, or order by a column of random numbers.
            options: `format`, `dtype`, `shard_size`, `split`, `seed`, `append`, `prepend`, `special`, `errors` and
                `on_error` of `toksmith.tokenize`.

        Returns:
            The content of `manifest.json` in the folder. It has one source, the data as a whole.

        Raises:
            FileExistsError: The folder has other contents, or is finished.
            ValueError: An option is wrong; two documents have the same number; the folder has a finished run of
                something else. On workers also: a text is not UTF-8; a document has no number.
            TypeError: On workers: a column is of another type.
            OSError: A file cannot be written; or a machine does not see the folder.
            ray.exceptions.RayTaskError: A worker of Ray failed; the text has its error.
            pyspark.errors.PythonException: A worker of Spark failed; the text has its error.
        """
        if shuffle is not None:
            raise ValueError(f"shuffle with the engine instead: {self.shuffles}")
        encode = functools.partial(self._encoded, data, column, order)
        work = tokenizing.Work(self.source, column, order, encode, functools.partial(self._each, data))
        return tokenizing.tokenize(work, tokenizer, out, **options)

    @abstractmethod
    def _sums(
        self, data: Any, column: str, count: Callable[..., Any], minimum: int, partitions: int | None
    ) -> Iterable[Any]:
        """Return tables of `pretoken` and `count` that sum what is counted in all parts.

        Args:
            data: The data.
            column: The name of the column of texts.
            count: Takes batches of a part, and the name of their column of texts; yields batches of `counts_schema`.
            minimum: Pretokens that occur less often in the whole are left out.
            partitions: Partitions of the shuffle.

        Returns:
            Tables; if `minimum` is above one, each pretoken is in only one of them. A sum that does not fit into 64
            bits is null.
        """

    @abstractmethod
    def _encoded(self, data: Any, column: str, order: str | None, encode: Callable[..., Any]) -> list[str]:
        """Return what `encode` yields for all parts, in the order of the documents.

        Args:
            data: The data.
            column: The name of the column of texts.
            order: The name of the column of numbers that the documents are sorted by first.
            encode: Takes batches of a part, with the texts as first and the numbers as second column.
        """

    @abstractmethod
    def _each(self, data: Any, function: Callable[[str], str], names: list[str]) -> list[str]:
        """Return the results of a function for each name, in the order of names; each call is a task of its own."""
