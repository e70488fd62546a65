"""Processor time and memory of each step on one thread: `python benches/scale rates FILES...`.

Steps are those of a run on an engine: reading Parquet, counting a part, summing the counts of all parts, learning
merges, encoding, writing Parquet. Each runs in a process of its own, on one thread. Time is that of the processor,
so that other programs of the machine hardly change it. Memory is how far the most of the step stands above that of
the process before it, and what stays with its result. `--times 8` also sums and learns from eight times as many
different pretokens, made by putting digits behind the real ones.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import feather, parquet

from toksmith import Tokenizer, engines, train

ROWS = 1024
"""Documents of a batch."""
STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def memory(field: str) -> float:
    """Return a field of the memory of this process, in MB: `VmRSS` for now, `VmHWM` for the most."""
    lines = STATUS.read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1]) / 1024


def measured(call: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """Return the result of a call, its seconds of the processor, and MB of memory: the most of it, and what stays."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    CLEAR.write_text("5", encoding="ascii")  # the most begins anew
    before, start = memory("VmRSS"), time.process_time()
    result = call()
    seconds = time.process_time() - start
    most = memory("VmHWM") - before
    gc.collect()
    pa.default_memory_pool().release_unused()
    return result, {"seconds": seconds, "most": most, "stays": memory("VmRSS") - before}


def read(paths: list[Path]) -> tuple[pa.Table, dict[str, float]]:
    return measured(
        lambda: pa.concat_tables(parquet.read_table(path, columns=["text"], use_threads=False) for path in paths)
    )


# The steps. Each returns what a line has.


def count(paths: list[Path], folder: Path, options: argparse.Namespace) -> None:
    """Read and count, in as many parts; write the rows of all parts to a file."""
    table, reading = read(paths)
    size = pc.sum(pc.binary_length(table["text"])).as_py() / 1e6
    say("read Parquet", f"{size / reading['seconds']:,.0f} MB/s")
    parts = [
        table.slice(start, -(-len(table) // options.parts))
        for start in range(0, len(table), -(-len(table) // options.parts))
    ]
    batches = [part.to_batches(max_chunksize=ROWS) for part in parts]

    def counting() -> list[pa.RecordBatch]:
        kind: dict[str, Any] = {"pattern": options.pattern}
        return [row for part in batches for row in engines.count_batches(part, "text", **kind)]

    rows, told = measured(counting)
    say(f"count in {options.parts} parts", f"{size / told['seconds']:,.0f} MB/s")
    rows_table = pa.Table.from_batches(rows)
    feather.write_feather(rows_table, folder / "rows", compression="uncompressed")
    number = len(rows_table)
    feather.write_feather(rows_table, folder / "lz4", compression="lz4")
    plain, packed = ((folder / name).stat().st_size / number for name in ("rows", "lz4"))
    say("rows of all parts", f"{number:,}, {plain:.1f} bytes each in Arrow, {packed:.1f} with LZ4")


def add(paths: list[Path], folder: Path, options: argparse.Namespace) -> None:
    """Sum the rows of all parts as an engine does; then what the driver does with the sums."""
    table = feather.read_table(folder / "rows")
    summed, shuffling = measured(lambda: table.group_by("pretoken", use_threads=False).aggregate([("count", "sum")]))
    say("sum in the shuffle, by pyarrow", f"{1e9 * shuffling['seconds'] / len(table):,.0f} ns a row")
    summed = summed.rename_columns(["pretoken", "count"])
    feather.write_feather(summed, folder / "sums", compression="uncompressed")


def driver(paths: list[Path], folder: Path, options: argparse.Namespace) -> None:
    """The sum on the driver, and learning merges from it."""
    table = feather.read_table(folder / "sums", memory_map=False)
    if options.times > 1:
        table = pa.concat_tables(
            pa.table({"pretoken": _with_digits(table["pretoken"], n), "count": table["count"]})
            for n in range(options.times)
        )
    different, held = len(table), table.nbytes
    counts, told = measured(lambda: engines.sum_counts([table], pattern=options.pattern))
    _each("sum_counts on the driver", told, different)
    say("bytes of the rows that it is given", f"{held / different:.1f} for each different pretoken")
    for size in options.sizes:
        _, told = measured(lambda size=size: train(counts, size))  # type: ignore[misc]
        _each(f"learn {size:,} tokens", told, different)


def _with_digits(pretokens: pa.ChunkedArray, number: int) -> pa.ChunkedArray:
    if not number:
        return pretokens
    return pc.binary_join_element_wise(pretokens, pa.scalar(str(number).encode()), pa.scalar(b"")).cast(pa.binary())


def encode(paths: list[Path], folder: Path, options: argparse.Namespace) -> None:
    """Encode the first hundred megabytes or so, and write the ids."""
    table, _ = read(paths)
    texts = [batch.column(0) for batch in table.to_batches(max_chunksize=ROWS)][: options.batches]
    size = sum(pc.sum(pc.binary_length(text)).as_py() for text in texts) / 1e6
    for name in options.tokenizers:
        tokenizer = Tokenizer.from_pretrained(name)
        ids, told = measured(lambda: [engines.encode_arrow(tokenizer, text, workers=1) for text in texts])  # noqa: B023
        tokens = sum(len(one.values) for one in ids)
        say(
            f"encode_arrow, {Path(name).stem}",
            f"{size / told['seconds']:,.0f} MB/s, {size * 1e6 / tokens:.2f} bytes a token",
        )
        out = pa.table({"input_ids": pa.chunked_array(ids)})
        for compression in ("none", "zstd"):
            target = folder / "ids.parquet"
            _, told = measured(lambda: parquet.write_table(out, target, compression=compression))  # noqa: B023
            each = target.stat().st_size / tokens
            say(
                f"write Parquet, {compression}",
                f"{size / told['seconds']:,.0f} MB/s of text, {each:.2f} bytes a token",
            )


def _each(name: str, told: dict[str, float], different: int) -> None:
    most, stays = (told[key] * 2**20 / different for key in ("most", "stays"))
    seconds = told["seconds"]
    say(
        name,
        f"{different:,} different pretokens, {seconds:.1f} s, {1e9 * seconds / different:,.0f} ns each; "
        f"{most:.0f} bytes each at the most, {stays:.0f} stay",
    )


def say(name: str, what: str) -> None:
    print(f"{name:32} {what}", flush=True)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", type=Path, nargs="+", help="Parquet of `gather`")
    parser.add_argument("--pattern", default="gpt2")
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50_000])
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--batches", type=int, default=100, help="batches of 1024 documents that are encoded")
    parser.add_argument("--tokenizers", nargs="*", default=["gpt2"], help="what `Tokenizer.from_pretrained` takes")


def run(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for step in (count, add, driver, encode):
            process = multiprocessing.get_context("spawn").Process(
                target=step, args=(options.files, Path(folder), options)
            )
            process.start()
            process.join()
            if process.exitcode:
                raise SystemExit(f"{step.__name__} ended with {process.exitcode}")
