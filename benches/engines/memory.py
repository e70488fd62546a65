"""Memory of a Python worker of Ray and of Spark that counts a large partition under a memory limit.

usage: python benches/engines memory FILES... [--limit 300MB] [--megabytes 1000] [--engines ray spark]

The texts are one partition (Spark), or blocks that one worker counts in turn (Ray). The engine has one core. A
small count comes before, so that the worker has imported everything. A line has how far the memory of the worker
stood above that: all that is resident, and the part that it shares with no other process. A block of Ray lies in
memory that is shared, so it is in the first figure alone; a batch of Spark is in both.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

import plans
import pyarrow as pa
import workers

from toksmith import Tokenizer

BLOCK = 128_000_000
"""Bytes of a block of Ray, as it makes them of large files."""


def measure(plan: plans.Plan, table: pa.Table, options: argparse.Namespace) -> None:
    from toksmith.engines import ray as on_ray
    from toksmith.engines import spark as on_spark

    count = on_ray.count_pretokens if plan.name == "Ray" else on_spark.count_pretokens
    size = sum(chunk.nbytes for chunk in table["text"].chunks)
    plan.load(table.slice(0, 100), 1)
    count(plan.texts, "text", partitions=1)
    idle = workers.now(os.getpid())
    plan.load(table, max(1, round(size / BLOCK)) if plan.name == "Ray" else 1)
    with workers.Watch(os.getpid()) as busy:
        counts = count(plan.texts, "text", memory_limit=options.limit, partitions=options.partitions)
    resident, private = (most - least for most, least in zip(busy.most, idle, strict=True))
    print(
        f"{plan.name:6} {size / 1e6:,.0f} MB, {len(counts):,} different pretokens, limit {options.limit}: "
        f"{resident:,.0f} MB resident and {private:,.0f} MB private above an idle worker of {idle[0]:,.0f} MB",
        flush=True,
    )


def run(options: argparse.Namespace) -> None:
    from __main__ import pieces  # type: ignore[attr-defined]

    table = pa.table({"text": pa.array(pieces(options.files, options.megabytes), pa.large_string())})
    table = table.cast(pa.schema([("text", pa.string())])) if table.nbytes < 2**31 else table
    with tempfile.TemporaryDirectory() as scratch:
        for engine in options.engines:
            plan = plans.PLANS[engine](Tokenizer(), Path(scratch), "")
            plan.cores = 1
            plan.start()
            try:
                measure(plan, table, options)
            finally:
                plan.stop()


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", type=Path, nargs="+", help="Parquet with a column `text`, or texts in gzip")
    parser.add_argument("--engines", nargs="+", choices=plans.PLANS, default=[*plans.PLANS])
    parser.add_argument("--limit", default="300MB")
    parser.add_argument("--megabytes", type=float, default=1000)
    parser.add_argument("--partitions", type=int, default=8, help="parts of the shuffle")
    parser.set_defaults(run=run)
