"""Times `encode_arrow` beside `encode_batch_to_numpy` on the same documents. Ids are compared first.

usage: python benches/arrow.py TOKENIZER FILES... [--workers 1 2] [--rounds 7]

TOKENIZER is what `Tokenizer.from_pretrained` takes; FILES are texts of UTF-8, also compressed with gzip. Documents
are pieces of these texts of about 4 KB. Rounds go through all ways in turns. A line has the best of the rounds in
megabytes of text a second, by the wall clock and by the time of all processors, and the ratio of both to the first:

    batch_to_numpy   a list of str to an array of ids
    encode_arrow     a column of `string` to lists of `uint32`; also to `uint16`, from `string_view`, from chunks
    count_arrow      only how many ids each text has
    datasets         `batch_function` on a dict of lists, and on a table
"""

from __future__ import annotations

import argparse
import gzip
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from toksmith import Tokenizer
from toksmith.engines import batch_function, count_arrow, encode_arrow

DOCUMENT_CHARACTERS = 4000


def documents(files: list[Path]) -> Iterator[str]:
    """Yield pieces of the texts."""
    for path in files:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        text = data.decode()
        for start in range(0, len(text), DOCUMENT_CHARACTERS):
            yield text[start : start + DOCUMENT_CHARACTERS]


def ways(tokenizer: Tokenizer, texts: list[str], workers: int) -> dict[str, Callable[[], Any]]:
    """Return what is timed, by name."""
    column = pa.array(texts)
    views = column.cast(pa.string_view())
    chunks = pa.chunked_array([column[start : start + 256] for start in range(0, len(column), 256)])
    table = pa.table({"text": column})
    function = batch_function(tokenizer, "text", workers=workers)
    found: dict[str, Callable[[], Any]] = {
        "batch_to_numpy": lambda: tokenizer.encode_batch_to_numpy(texts, workers=workers),
        "encode_arrow": lambda: encode_arrow(tokenizer, column, workers=workers),
    }
    if tokenizer.max_id < 2**16:
        found["encode_arrow, uint16"] = lambda: encode_arrow(tokenizer, column, dtype="uint16", workers=workers)
    return found | {
        "encode_arrow, string_view": lambda: encode_arrow(tokenizer, views, workers=workers),
        "encode_arrow, chunks": lambda: encode_arrow(tokenizer, chunks, workers=workers),
        "count_arrow": lambda: count_arrow(tokenizer, column, workers=workers),
        "datasets, dict": lambda: function({"text": texts}),
        "datasets, table": lambda: function(table),
    }


def check(tokenizer: Tokenizer, texts: list[str]) -> None:
    """Compare the ids of both ways."""
    ids, starts = tokenizer.encode_batch_to_numpy(texts)
    lists = encode_arrow(tokenizer, pa.array(texts))
    assert np.array_equal(lists.values.to_numpy(), ids)
    assert np.array_equal(lists.offsets.to_numpy(), starts)
    assert np.array_equal(count_arrow(tokenizer, pa.array(texts)).to_numpy(), np.diff(starts))


def timed(call: Callable[[], Any]) -> tuple[float, float]:
    """Return the seconds of a call, by the wall clock and of all processors."""
    wall, processors = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - processors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tokenizer")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    tokenizer = Tokenizer.from_pretrained(options.tokenizer)
    texts = list(documents(options.files))
    size = sum(len(text.encode()) for text in texts)
    check(tokenizer, texts)
    print(f"{len(texts)} documents, {size / 1e6:.1f} MB")
    for workers in options.workers:
        calls = ways(tokenizer, texts, workers)
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
        for _ in range(options.rounds):
            for name, call in calls.items():
                times[name].append(timed(call))
        best = {name: [min(kind) for kind in zip(*of, strict=True)] for name, of in times.items()}
        base = best["batch_to_numpy"]
        for name, (wall, processors) in best.items():
            ratios = f"{base[0] / wall:.2f} and {base[1] / processors:.2f} of the first"
            speed = f"{size / wall / 1e6:7.1f} MB/s wall, {size / processors / 1e6:7.1f} MB/s of processors"
            print(f"{workers} workers  {name:26} {speed}  {ratios}")


if __name__ == "__main__":
    main()
