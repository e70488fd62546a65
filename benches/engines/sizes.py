"""From which size of the text training on an engine takes less time than in one process.

usage: python benches/engines sizes [--megabytes 12 100 400 1600] [--engines ray spark] [--machines 2 4 16]

Texts come from scripts/make_corpus.py, as Parquet with a file for each 32 MB. One process trains on all cores, and
the engine on as many cores of the same machine; both must learn the same merges. The engine has been started before,
which is listed by itself, and has run a training on the smallest text. Times are medians of the wall clock.

A line is fitted to the times of each, by least squares: seconds = start + seconds per MB. Machines like this one
divide what the engine takes per MB among them, and each reads its own text; its start stays. So training on them
takes less time from the size at which the two lines cross; there is none if the engine takes more per MB and machine
than one process. The start of the engine is left out: a cluster runs already.
"""

from __future__ import annotations

import argparse
import io
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import plans
import pyarrow as pa
from pyarrow import parquet

from toksmith import Tokenizer, train

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "scripts"))

import make_corpus

END = "<|endoftext|>"
FILE = 32_000_000
"""Bytes of text in a file."""
OPTIONS: dict[str, Any] = {"special_tokens": [END], "pattern": "o200k"}


def write_texts(folder: Path, megabytes: float) -> None:
    """Write Parquet with a column `text`, of so many megabytes of text."""
    folder.mkdir()
    size = int(megabytes * 1e6)
    for number, start in enumerate(range(0, size, FILE)):
        made = io.BytesIO()
        make_corpus.make(made, min(FILE, size - start), seed=number)
        texts = made.getvalue().decode().split(END)
        parquet.write_table(pa.table({"text": texts}), folder / f"{number:05}.parquet")


def trained_on(plan: plans.Plan, folder: Path, vocab_size: int) -> Tokenizer:
    """Return what the engine trains on the texts of a folder."""
    if plan.name == "Ray":
        import ray

        from toksmith.engines import ray as on_ray

        return on_ray.train(ray.data.read_parquet(str(folder)), "text", vocab_size, **OPTIONS)
    from toksmith.engines import spark as on_spark

    return on_spark.train(plan.session.read.parquet(str(folder)), "text", vocab_size, **OPTIONS)


def median(train: Callable[[], Tokenizer], expected: Tokenizer, rounds: int) -> float:
    """Return the median of the seconds that a training takes; its result is compared."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        made = train()
        times.append(time.perf_counter() - start)
        if made != expected:
            raise SystemExit("a training has other merges")
    return statistics.median(times)


def crossing(alone: list[float], engine: list[float], megabytes: list[float], machines: int) -> float | None:
    """Return the megabytes from which so many machines take less time than one process; None if there are none."""
    (slope, start), (own_slope, own_start) = (np.polyfit(megabytes, times, 1) for times in (alone, engine))
    gain = slope - own_slope / machines
    return max(0.0, (own_start - start) / gain) if gain > 0 else None


def measure(plan: plans.Plan, folders: dict[float, Path], options: argparse.Namespace) -> None:
    print(f"\n{plan.name}: started in {plan.start():.1f} s")
    trained_on(plan, folders[min(folders)], 300)
    print("\n| MB | one process, s | engine, s |\n|---|---|---|")
    alone, engine = [], []
    for size, folder in folders.items():
        pattern = str(folder / "*.parquet")
        own = lambda: train(pattern, options.vocab_size, **OPTIONS)  # noqa: B023, E731
        expected = own()
        alone.append(median(own, expected, options.rounds))
        on_engine = lambda: trained_on(plan, folder, options.vocab_size)  # noqa: B023, E731
        engine.append(median(on_engine, expected, options.rounds))
        print(f"| {size:,.0f} | {alone[-1]:.2f} | {engine[-1]:.1f} |", flush=True)
    for machines in options.machines:
        size = crossing(alone, engine, [*folders], machines)
        print(f"{machines} machines take less time than one: {'never' if size is None else f'from {size:,.0f} MB'}")


def run(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folders = {size: Path(scratch) / f"{size:g}" for size in sorted(options.megabytes)}
        for size, folder in folders.items():
            write_texts(folder, size)
        for engine in options.engines:
            plan = plans.PLANS[engine](Tokenizer(), Path(scratch), "")
            try:
                measure(plan, folders, options)
            finally:
                plan.stop()


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--engines", nargs="+", choices=plans.PLANS, default=[*plans.PLANS])
    parser.add_argument("--megabytes", type=float, nargs="+", default=[12, 100, 400, 1600])
    parser.add_argument("--machines", type=int, nargs="+", default=[2, 4, 16])
    parser.add_argument("--vocab-size", type=int, default=32_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.set_defaults(run=run)
