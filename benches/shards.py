"""Times `toksmith.tokenize` on files of one folder, beside what it is measured by. Results are compared first.

usage: python benches/shards.py TOKENIZER FILES... [--workers 1 2] [--rounds 3] [--scratch DIR] [--python]

TOKENIZER is what `toksmith encode -t` takes; FILES are texts of UTF-8, also compressed with gzip. Documents are
pieces of these texts of about 4 KB. They are written as one text file, as JSON lines, as JSON lines behind Zstandard
(if the command zstd is there) and as Parquet (if pyarrow is). Each line that is printed has megabytes of text a
second:

    encode_file     the text file, in one piece, to one file of ids
    encode_arrow    the documents in memory, to memory; needs pyarrow
    tokenize ...    each kind of source to shards. Two steps are serial: placing ids, and cutting sources into jobs,
                    which also reads Parquet and waits for what is decompressed. Of both, the share in the time
    zstd -d, JSON   decompressing in a process of its own, and json.loads of each line in this one
    python loop     json.loads and Tokenizer.encode for each line, arrays written with NumPy (--python: it takes long)

and the most memory of the process that ran it. Every measurement is a process of its own. Rounds go through all cases
in turns; the best of the rounds is printed, with the median in parentheses.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import hashlib
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

DOCUMENT_CHARACTERS = 4000
SEPARATOR = "\x1e\x1e\x1e"


def documents(files: list[Path]) -> Iterator[str]:
    """Yield pieces of the texts, cut at ends of lines where that is possible."""
    for path in files:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            held: list[str] = []
            size = 0
            for line in file:
                held.append(line)
                size += len(line)
                if size >= DOCUMENT_CHARACTERS:
                    yield "".join(held)
                    held, size = [], 0
            if held:
                yield "".join(held)


def prepare(files: list[Path], folder: Path) -> tuple[dict[str, str], int]:
    """Write the sources; return their paths by kind, and the bytes of the text of all documents."""
    size = 0
    with (folder / "a.txt").open("w", encoding="utf-8") as text, (folder / "a.jsonl").open("w") as lines:
        for number, document in enumerate(documents(files)):
            size += len(document.encode())
            text.write((SEPARATOR if number else "") + document)
            lines.write(json.dumps({"id": number, "text": document}, ensure_ascii=False) + "\n")
    kinds = {"text": "a.txt", "jsonl": "a.jsonl"}
    if shutil.which("zstd"):
        subprocess.run(["zstd", "-q", "-f", "a.jsonl", "-o", "a.jsonl.zst"], cwd=folder, check=True)
        kinds["zst"] = "a.jsonl.zst"
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        pass
    else:
        table = pa.table({"text": pa.array(list(documents(files)), pa.string())})
        parquet.write_table(table, folder / "a.parquet", row_group_size=4096, compression="zstd")
        kinds["parquet"] = "a.parquet"
    return {kind: str(folder / name) for kind, name in kinds.items()}, size


# What runs in a process of its own. Each returns what a process says at its end.


def run_encode_file(job: dict[str, Any]) -> dict[str, Any]:
    from toksmith import Tokenizer

    tokenizer = Tokenizer.from_pretrained(job["tokenizer"])
    tokenizer.encode("warm")
    return timed(lambda: tokenizer.encode_file(job["source"], job["out"], workers=job["workers"]))


def run_encode_arrow(job: dict[str, Any]) -> dict[str, Any]:
    """Encode the documents in memory: the time of reading them is not counted, and nothing is written."""
    from pyarrow import parquet

    from toksmith import Tokenizer
    from toksmith.engines import encode_arrow

    tokenizer = Tokenizer.from_pretrained(job["tokenizer"])
    tokenizer.encode("warm")
    sums = {"seconds": 0.0, "cpu": 0.0}
    for batch in parquet.ParquetFile(job["source"]).iter_batches(20_000, columns=["text"]):
        texts = batch.column(0)
        times = timed(functools.partial(encode_arrow, tokenizer, texts, special=False, workers=job["workers"]))
        sums = {name: sums[name] + times[name] for name in ("seconds", "cpu")} | {"megabytes": times["megabytes"]}
    return sums


def run_tokenize(job: dict[str, Any]) -> dict[str, Any]:
    import toksmith
    from toksmith.data import tokenize as module

    tokenizer = toksmith.Tokenizer.from_pretrained(job["tokenizer"])
    tokenizer.encode("warm")
    if job["source"].endswith(".parquet"):
        import pyarrow.parquet  # noqa: F401  # imports are not timed
    separator = SEPARATOR if job["source"].endswith(".txt") else None
    runs: list[Any] = []
    inner = module._Run.run

    def run(self: Any) -> Any:
        runs.append(self._core)
        return inner(self)

    module._Run.run = run  # type: ignore[method-assign]
    told = timed(
        lambda: toksmith.tokenize(
            toksmith.Corpus(job["source"], document_separator=separator),
            tokenizer,
            job["out"],
            workers=job["workers"],
            special=False,
        )
    )
    counts = runs[0].counts()
    place, plan = counts.place_seconds, counts.plan_seconds
    return told | {"place": place / told["seconds"], "plan": plan / told["seconds"]}


def run_parsing(job: dict[str, Any]) -> dict[str, Any]:
    def parse() -> int:
        with subprocess.Popen(["zstd", "-dcq", job["source"]], stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            return sum(len(json.loads(line)["text"]) for line in child.stdout)

    return timed(parse)


def run_loop(job: dict[str, Any]) -> dict[str, Any]:
    import numpy as np

    from toksmith import Tokenizer

    tokenizer = Tokenizer.from_pretrained(job["tokenizer"])
    dtype = np.uint16 if tokenizer.max_id < 2**16 else np.uint32

    def loop() -> None:
        with Path(job["source"]).open("rb") as lines, Path(job["out"]).open("wb") as out:
            for line in lines:
                ids = tokenizer.encode(json.loads(line)["text"], special=False, workers=1)
                out.write(np.array(ids, dtype).tobytes())

    return timed(loop)


RUNNERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "encode_file": run_encode_file,
    "encode_arrow": run_encode_arrow,
    "tokenize": run_tokenize,
    "parsing": run_parsing,
    "loop": run_loop,
}


def timed(call: Callable[[], object]) -> dict[str, Any]:
    start, cpu = time.perf_counter(), time.process_time()
    call()
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "cpu": time.process_time() - cpu, "megabytes": most_memory() / 1024}


def most_memory() -> int:
    """Return the most memory of this process, in KB. `ru_maxrss` has that of the process that started it, too."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").split("\n")
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1])
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def in_process(job: dict[str, Any]) -> dict[str, Any]:
    """Run a job in a fresh process."""
    done = subprocess.run(
        [sys.executable, __file__, "--job", json.dumps(job)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{job['name']}: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def digest(out: Path, names: str = "*.bin") -> str:
    """Return the hash of all ids that were written: a file, or the shards of a folder one after the other."""
    found = hashlib.sha256()
    for path in sorted(out.glob(names)) if out.is_dir() else [out]:
        with path.open("rb") as file:
            while window := file.read(1 << 20):
                found.update(window)
    return found.hexdigest()


def remove(out: Path) -> None:
    if out.is_dir():
        shutil.rmtree(out)
    else:
        out.unlink(missing_ok=True)


def cases(kinds: dict[str, str], arguments: argparse.Namespace) -> list[dict[str, Any]]:
    found = []
    for workers in arguments.workers:
        for run, kind in (("encode_file", "text"), ("encode_arrow", "parquet")):
            if kind in kinds:
                name = f"{run}, {workers} workers"
                found.append({"name": name, "run": run, "source": kinds[kind], "workers": workers})
        for kind, source in kinds.items():
            name = f"tokenize {kind}, {workers} workers"
            found.append({"name": name, "run": "tokenize", "source": source, "workers": workers})
    if "zst" in kinds:
        found.append({"name": "zstd -d, JSON", "run": "parsing", "source": kinds["zst"]})
    if arguments.python:
        found.append({"name": "python loop", "run": "loop", "source": kinds["jsonl"]})
    return found


def check(jobs: list[dict[str, Any]]) -> None:
    """Run every case that writes the ids of documents once; all must write the same."""
    digests = {}
    for job in jobs:
        if job["run"] in ("tokenize", "loop"):
            in_process(job)
            digests[job["name"]] = digest(Path(job["out"]))
            remove(Path(job["out"]))
    if len(set(digests.values())) != 1:
        raise SystemExit(f"the ids differ: {json.dumps(digests, indent=1)}")
    print(f"{len(digests)} cases write the same ids: {next(iter(digests.values()))[:16]}", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("tokenizer")
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scratch", type=Path, default=None)
    parser.add_argument("--python", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as scratch:
        folder = Path(scratch)
        kinds, size = prepare(arguments.files, folder)
        jobs = cases(kinds, arguments)
        for number, job in enumerate(jobs):
            job |= {"tokenizer": arguments.tokenizer, "out": str(folder / f"out{number}")}
        check(jobs)
        found: dict[str, list[dict[str, Any]]] = {job["name"]: [] for job in jobs}
        for _ in range(arguments.rounds):
            for job in jobs:
                os.sync()  # what the last case left to be written is not in the time of this one
                found[job["name"]].append(in_process(job))
                remove(Path(job["out"]))
        print(f"{size / 1e6:,.0f} MB of text; best of {arguments.rounds}, median in parentheses")
        for job in jobs:
            rounds = found[job["name"]]
            speeds = [size / 1e6 / one["seconds"] for one in rounds]
            memory = max(one["megabytes"] for one in rounds)
            share = ""
            if job["run"] == "tokenize":
                place, plan = (100 * min(one[step] for one in rounds) for step in ("place", "plan"))
                share = f", placing {place:.3f}%, cutting and waiting {plan:.2f}%"
            print(
                f"{job['name']:32} {max(speeds):8.1f} ({statistics.median(speeds):.1f}) MB/s, {memory:,.0f} MB{share}"
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--job"]:
        job = json.loads(sys.argv[2])
        print(json.dumps(RUNNERS[job["run"]](job)))
    else:
        main()
