"""Counting, training and tokenizing on any engine. Each engine defines how its parts are processed."""

from __future__ import annotations

import functools
import json
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar

from .._internal import arguments
from .._internal.messages import shown
from ..data.options import Options, ShardOptions
from ..data.tokenize import warn_of_skipped
from ..tokenizer import Tokenizer, tokenizer_of
from ..training import train as training
from ..training.counts import PretokenCounts
from .counting import CountOptions, count_batches, sum_counts
from .run_folder import RunFolder, check_order, outcome
from .workers import KeptFunction, write_pieces

if TYPE_CHECKING:
    from pyarrow import RecordBatch, Table
    from typing_extensions import Unpack

    Count: TypeAlias = Callable[..., Iterator[RecordBatch]]
    """`count_batches` with its options, which takes the batches of a part and the name of their column of texts."""
    Encode: TypeAlias = Callable[[Iterable[RecordBatch | Table]], Iterable[str]]
    """Takes the batches of a part: texts as first column and, if they have an order, numbers as second."""

Data = TypeVar("Data")
"""A `ray.data.Dataset`, or a `pyspark.sql.DataFrame`."""


class Engine(ABC, Generic[Data]):
    """An engine: `toksmith.engines.ray` and `toksmith.engines.spark` have its methods as functions.

    A part is the unit that the engine processes at a time: a block of Ray, a partition of Spark.
    """

    parts: ClassVar[str]
    source: ClassVar[str]
    """The name of the data in the manifest of a folder."""

    def count_pretokens(
        self,
        data: Data,
        column: str,
        *,
        min_pretoken_count: int = 1,
        partitions: int | None = None,
        **options: Unpack[CountOptions],
    ) -> PretokenCounts:
        """Count the pretokens of a column; each text that is not null is a document.

        A worker holds a block of Ray, or a batch of Arrow of Spark, and at most `memory_limit` of counts; the process
        that calls holds the sum, which stays below that limit as well.

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
            MemoryError: The sum does not fit into `memory_limit`: says what would fit.
            RayTaskError, PythonException: A worker of Ray or Spark failed; the text has the error of `count_batches`.
            ModuleNotFoundError: On Spark, the Python of the workers lacks toksmith, or what it needs.
        """
        options["special_tokens"] = specials = [*options.get("special_tokens", ())]
        arguments.check_keywords(self.count_pretokens, options, CountOptions)
        minimum = arguments.checked_limit("min_pretoken_count", min_pretoken_count, 0)
        count_batches([], column, **options)  # refuses wrong options before the engine starts anything
        limit, count = options.get("memory_limit"), functools.partial(count_batches, **options)
        return sum_counts(
            map(_whole, self._sums(data, column, count, minimum, partitions, limited=limit is not None)),
            special_tokens=specials,
            pattern=options.get("pattern", "gpt2"),
            unmatched=options.get("unmatched", "keep"),
            memory_limit=limit,
        )

    def train(self, data: Data, column: str, vocab_size: int, **options: Any) -> Tokenizer:
        """Train a tokenizer on a column; merges are learned in the process that calls.

        The options are those of `count_pretokens`, and those of `toksmith.train` for learning merges; `memory_limit`
        bounds the counts of a worker, the sum, and learning. `ties="first"`, which needs the order of the text, is
        refused. Errors are those of `count_pretokens` and `toksmith.train`.
        """
        arguments.check_keywords(self.train, options, training.train, CountOptions, self.count_pretokens)
        if options.get("ties") == "first":
            raise ValueError(
                f'ties="first" goes by the order of the text, which {self.parts} do not tell: choose another rule'
            )
        names = (*CountOptions.__annotations__, "min_pretoken_count", "partitions")
        counting = {name: options.pop(name) for name in names if name in options}
        limit = counting.get("memory_limit")
        counts = self.count_pretokens(data, column, **counting)
        counts._is_temporary = True  # the training may free their memory
        return training.train(counts, vocab_size, memory_limit=limit, **options)

    def tokenize(
        self,
        data: Data,
        column: str,
        tokenizer: object,
        out: str | os.PathLike[str],
        *,
        order: str | None = None,
        **options: Unpack[ShardOptions],
    ) -> dict[str, Any]:
        """Encode the texts of a column into a folder of shards: the files of `toksmith.tokenize`, byte for byte.

        Workers write the ids of each part beside the shards, in a hidden folder, and the process that calls joins
        them: this takes twice the bytes of the shards on the disk. A call that fails removes the files that it has
        written; after a kill, the next call does. To shuffle, use the engine before, or order by random numbers.

        Args:
            data: A `ray.data.Dataset`, or a `pyspark.sql.DataFrame`.
            column: The name of the column of texts. Each that is not null is a document.
            tokenizer: As in `toksmith.tokenize`.
            out: The folder. All machines see it under this name, as on a network file system.
            order: The name of a column of whole numbers, which differ for each document: the documents are sorted by
                it, and the folder is the same for any parts. Without it they keep the engine's order.
            options: `format`, `dtype`, `shard_size`, `split`, `seed`, `append`, `prepend`, `template`, `special`,
                `errors` and `on_error` of `toksmith.tokenize`.

        Returns:
            The content of `manifest.json` in the folder. It has one source, the data as a whole.

        Raises:
            FileExistsError: The folder has other contents, or is finished.
            ValueError: An option is wrong; two documents have the same number; the folder has a finished run of
                something else. On workers also: a text is not UTF-8; a document has no number.
            TypeError: On workers: a column is of another type.
            OSError: A file cannot be written; or a machine does not see the folder.
            RayTaskError, PythonException: A worker of Ray or Spark failed; the text has its error.
        """
        arguments.check_keywords(self.tokenize, options, ShardOptions)
        encoder = tokenizer_of(tokenizer)
        folder = self._folder(encoder, column, out, order, Options(encoder, **options))
        with folder.begun():
            if folder.options.warning is not None:
                warnings.warn(folder.options.warning, stacklevel=2)
            write = functools.partial(
                write_pieces,
                work=str(folder.unfinished),
                tokenizer=encoder,
                options=folder.piece_options(),
                column=column,
                order=order,
            )
            pieces = [json.loads(row) for row in self._encoded(data, column, order, KeptFunction(write))]
            if order is not None:
                check_order(pieces, order)
            folder.join(pieces)
            manifest = folder.manifest(encoder, *outcome(pieces, self.source, len(folder.options.splits)))
            folder.publish_all()
            folder.write_manifest(manifest, encoder)
        warn_of_skipped(manifest, folder, stacklevel=3)
        return manifest

    def _folder(
        self, tokenizer: Tokenizer, column: str, out: str | os.PathLike[str], order: str | None, options: Options
    ) -> RunFolder:
        if "://" in str(out):
            raise ValueError(
                f"out must be a folder that all machines see, not {shown(str(out))}: mount it, and pass its path"
            )
        settings = options.settings | {"field": None, "column": column, "order": order}
        run = {"tokenizer": tokenizer.fingerprint, "options": settings, "sources": [[self.source, None, None]]}
        return RunFolder(Path(out).absolute(), run, options)

    @abstractmethod
    def _sums(
        self, data: Data, column: str, count: Count, minimum: int, partitions: int | None, limited: bool
    ) -> Iterable[Table]:
        """Return tables that sum what is counted in all parts, without counts below `minimum`.

        If memory is `limited`, they come one at a time. If `minimum` is above one, each pretoken is in only one of
        them. A sum that does not fit into 64 bits is null.
        """

    @abstractmethod
    def _encoded(self, data: Data, column: str, order: str | None, encode: Encode) -> list[str]:
        """Return what `encode` yields for all parts, in the order of the documents."""


def _whole(sums: RecordBatch | Table) -> RecordBatch | Table:
    """Return sums; an error if one does not fit into 64 bits, and is null."""
    if sums.column("count").null_count:
        raise OverflowError("a pretoken occurs more than 2^63 - 1 times")
    return sums
