"""Plans of Ray Data and of Spark on this machine, on two cores: texts to ids with each library."""

from __future__ import annotations

import functools
import logging
import os
import secrets
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import functions
import pyarrow as pa
from typing_extensions import override

from toksmith import Tokenizer
from toksmith.engines.workers import KeptFunction

CORES = 2
STORE = 4 << 30
"""Bytes of Ray's object store."""
LIBRARIES = ("toksmith", "toksmith, all columns", "tiktoken", "tokenizers", "texts as they are", "texts, no result")


class Plan:
    """An engine with texts in its memory. `run` encodes all of them, and leaves the ids in the engine."""

    name: str
    cores = CORES
    texts: Any

    def __init__(self, tokenizer: Tokenizer, folder: Path, pattern: str) -> None:
        self.tokenizer, self.folder, self.pattern = tokenizer, folder, pattern

    def start(self) -> float:
        """Start the engine; returns the seconds until it has run something."""
        raise NotImplementedError

    def load(self, table: pa.Table, parts: int) -> None:
        """Put texts into the memory of the engine, in so many parts."""
        raise NotImplementedError

    def encoded(self, library: str) -> Any:
        """Return the plan of a library: a dataset or a data frame that is not run yet."""
        raise NotImplementedError

    def run(self, library: str) -> None:
        """Encode, and keep the ids where the engine has them."""
        raise NotImplementedError

    def ids(self, library: str) -> list[list[int]]:
        """Encode, and return the ids in any order."""
        raise NotImplementedError

    def stop(self) -> None:
        """End the engine and its processes."""
        raise NotImplementedError

    def function(self, name: Callable[..., Any], library: str) -> KeptFunction:
        """Return a function of `functions` as the engines get it, with the same care as toksmith's."""
        return KeptFunction(functools.partial(name, library=library, folder=str(self.folder), pattern=self.pattern))


class OnRay(Plan):
    """Ray Data."""

    name = "Ray"

    @override
    def start(self) -> float:
        import ray

        start = time.perf_counter()
        token = self.folder / "token"
        token.write_text(secrets.token_hex(32))
        os.environ |= {"RAY_AUTH_TOKEN_PATH": str(token), "RAY_USAGE_STATS_ENABLED": "0"}
        ray.init(
            "local",  # and not a cluster that somebody else has started on this machine
            num_cpus=self.cores,
            object_store_memory=STORE,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="error",
        )
        ray.data.DataContext.get_current().enable_progress_bars = False
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        ray.data.from_arrow(pa.table({"text": ["a"]})).map_batches(_same, batch_format="pyarrow").materialize()
        return time.perf_counter() - start

    @override
    def load(self, table: pa.Table, parts: int) -> None:
        import ray

        size = -(-len(table) // parts)
        tables = [table.slice(start, size).combine_chunks() for start in range(0, len(table), size)]
        self.texts = ray.data.from_arrow(tables).materialize()

    @override
    def encoded(self, library: str) -> Any:
        from toksmith.engines import ray as on_ray

        if library.startswith("toksmith"):
            return on_ray.encode(self.texts, "text", self.tokenizer, keep="all" in library)
        whole = {"batch_format": "pyarrow", "batch_size": None, "zero_copy_batch": True}
        if library == "texts as they are":
            return self.texts.map_batches(_same, **whole)
        if library == "texts, no result":
            return self.texts.map_batches(_number, **whole)
        return self.texts.map_batches(self.function(functions.encode_table, library), **whole)

    @override
    def run(self, library: str) -> None:
        self.encoded(library).materialize()

    @override
    def ids(self, library: str) -> list[list[int]]:
        import ray

        blocks = [ray.get(block) for block in self.encoded(library).to_arrow_refs()]
        return [ids for block in blocks for ids in block["input_ids"].to_pylist()]

    @override
    def stop(self) -> None:
        import ray

        ray.shutdown()


def _same(table: Any) -> Any:
    return table


def _number(table: Any) -> Any:
    return pa.table({"n": [table.num_rows]})


class OnSpark(Plan):
    """PySpark."""

    name = "Spark"

    @override
    def start(self) -> float:
        from pyspark.sql import SparkSession

        start = time.perf_counter()
        os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
        settings = {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.memory": "4g",
            "spark.driver.maxResultSize": "4g",
            "spark.driver.extraJavaOptions": f"-Dderby.system.home={self.folder}",
            "spark.local.dir": str(self.folder),
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "ERROR",
            "spark.sql.warehouse.dir": str(self.folder / "warehouse"),
        }
        builder = SparkSession.builder.master(f"local[{self.cores}]").appName("toksmith")
        for key, value in settings.items():
            builder = builder.config(key, value)
        self.session = builder.getOrCreate()
        self.session.range(1).mapInArrow(functions.passed_on, "id bigint").collect()
        return time.perf_counter() - start

    @override
    def load(self, table: pa.Table, parts: int) -> None:
        self.texts = self.session.createDataFrame(table).repartition(parts).cache()
        self.texts.count()

    @override
    def encoded(self, library: str) -> Any:
        from toksmith.engines import spark as on_spark

        if library.startswith("toksmith"):
            return on_spark.encode(self.texts, "text", self.tokenizer, keep="all" in library)
        if library == "texts as they are":
            return self.texts.mapInArrow(functions.passed_on, "text string")
        if library == "texts, no result":
            return self.texts.mapInArrow(functions.only_read, "n bigint")
        return self.texts.mapInArrow(self.function(functions.encode_batches, library), "input_ids array<int>")

    @override
    def run(self, library: str) -> None:
        self.encoded(library).write.format("noop").mode("overwrite").save()

    @override
    def ids(self, library: str) -> list[list[int]]:
        found: list[list[int]] = self.encoded(library).select("input_ids").toArrow()["input_ids"].to_pylist()
        return found

    @override
    def stop(self) -> None:
        gateway = self.session.sparkContext._gateway
        self.session.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()  # the Java process ends with its input
        gateway.proc.wait(60)


PLANS = {"ray": OnRay, "spark": OnSpark}
