"""Times training, batches, files and shards on several numbers of threads, and says what is serial.

usage: python benches/threads.py RANKS FILES... [--pattern gpt2] [--workers 1 2 4 8 16] [--rounds 3] [--scratch DIR]

RANKS is a file of tiktoken's format; FILES are Parquet with a column `text`, or texts in gzip. Each measurement is a
fresh process on as many cores as it has threads, and all numbers of threads must give the same result. The speed-up
is over one thread. The serial share is the one by which Amdahl's law gives this speed-up on n threads,
(n / speed-up - 1) / (n - 1): whatever the threads share is in it, memory bandwidth and clock rate included.

    count      count_pretokens of the file
    learn      32,000 tokens from these counts: one thread, whatever the number
    batch      encode_batch_to_numpy of the documents, the first of the process
    file       encode_file to the disk
    shards     tokenize to the disk
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from files import END, prepare, settle
from shards import digest, remove

VOCAB_SIZE = 32_000


def tokenizer_of(job: dict[str, Any]) -> Any:
    from toksmith import Tokenizer

    tokenizer = Tokenizer.from_tiktoken(job["ranks"], pattern=job["pattern"], special_tokens={END: job["end"]})
    tokenizer.encode("warm")
    return tokenizer


def timed_training(job: dict[str, Any]) -> tuple[dict[str, float], str]:
    """Return the seconds of counting and of learning, and the fingerprint of what was learned."""
    import toksmith

    start = time.perf_counter()
    counts = toksmith.count_pretokens(job["source"], special_tokens=[END], workers=job["workers"])
    counted = time.perf_counter()
    learned = toksmith.train(counts, VOCAB_SIZE)
    return {"count": counted - start, "learn": time.perf_counter() - counted}, learned.fingerprint


def timed_batch(job: dict[str, Any]) -> tuple[dict[str, float], str]:
    import hashlib

    tokenizer = tokenizer_of(job)
    documents = Path(job["source"]).read_bytes().decode().split(END)
    start = time.perf_counter()
    ids, starts = tokenizer.encode_batch_to_numpy(documents, workers=job["workers"])
    taken = time.perf_counter() - start
    return {"batch": taken}, hashlib.sha256(ids.tobytes() + starts.tobytes()).hexdigest()


def timed_file(job: dict[str, Any]) -> tuple[dict[str, float], str]:
    tokenizer = tokenizer_of(job)
    start = time.perf_counter()
    tokenizer.encode_file(job["source"], job["out"], workers=job["workers"], dtype="uint32")
    return {"file": time.perf_counter() - start}, digest(Path(job["out"]))


def timed_shards(job: dict[str, Any]) -> tuple[dict[str, float], str]:
    import toksmith

    tokenizer = tokenizer_of(job)
    start = time.perf_counter()
    toksmith.tokenize(
        toksmith.Corpus(job["source"], document_separator=END), tokenizer, job["out"], workers=job["workers"]
    )
    return {"shards": time.perf_counter() - start}, digest(Path(job["out"]))


RUNNERS = {"train": timed_training, "batch": timed_batch, "file": timed_file, "shards": timed_shards}


def in_process(job: dict[str, Any]) -> tuple[dict[str, float], str]:
    command = [sys.executable, __file__, "--job", json.dumps(job)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{job['run']}: {done.stderr[-2000:]}")
    seconds, result = json.loads(done.stdout)
    return seconds, result


def measure(options: argparse.Namespace, folder: Path) -> None:
    source, out = folder / "documents.txt", folder / "ids.bin"
    with ProcessPoolExecutor(1) as pool:  # the processes that are timed then start from a small one
        size = pool.submit(prepare, options.files, source).result()
    end = sum(1 for _ in options.ranks.open("rb")) + 1
    base = {
        "ranks": str(options.ranks),
        "pattern": options.pattern,
        "source": str(source),
        "out": str(out),
        "end": end,
    }
    times: dict[str, dict[int, list[float]]] = {}
    results: dict[str, str] = {}
    for _ in range(options.rounds):
        for workers in options.workers:
            for run in RUNNERS:
                settle(folder)
                seconds, result = in_process(base | {"run": run, "workers": workers})
                remove(out)
                if results.setdefault(run, result) != result:
                    raise SystemExit(f"{run}: another result on {workers} threads")
                for step, taken in seconds.items():
                    times.setdefault(step, {}).setdefault(workers, []).append(taken)
    print(f"{size / 1e6:,.0f} MB, {options.ranks.name}; best of {options.rounds} (median), speed-up, serial share")
    for step, by_workers in times.items():
        alone = min(by_workers[min(by_workers)])
        for workers, taken in by_workers.items():
            faster = alone / min(taken)
            share = f"{100 * (workers / faster - 1) / (workers - 1):5.1f}%" if workers > 1 and step != "learn" else ""
            rates = f"{size / 1e6 / min(taken):8.1f} ({size / 1e6 / statistics.median(taken):.1f}) MB/s"
            print(f"{step:8} {workers:3} threads {rates}, {min(taken):7.2f} s, {faster:5.2f} {share}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ranks", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--pattern", default="gpt2")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scratch", type=Path, default=None)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        measure(options, Path(folder))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--job"]:
        own = json.loads(sys.argv[2])
        os.sched_setaffinity(0, range(own["workers"]))
        print(json.dumps(RUNNERS[own["run"]](own)))
    else:
        main()
