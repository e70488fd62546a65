"""Times files to files of ids: `encode_file` beside gigatoken's `encode_files`, and what two cores can give.

usage: python benches/files.py RANKS FILES... [--pattern gpt2] [--workers 1 2] [--rounds 3] [--scratch DIR]

RANKS is a file of tiktoken's format; FILES are texts, also in gzip, or Parquet with a column `text`. Their documents
are written to one file with `<|endoftext|>` between them. Each line that is printed has megabytes of text a second:

    encode_file     the file to one file of ids, `uint16` where they fit
    gigatoken       encode_files of the documents, ids brought to the same type and written with NumPy. In the second
                    line its file is on the disk at the end (`fsync`), as that of encode_file always is
    two processes   encode_file on one thread, in two processes at a time, each on a copy of the file: what two cores
                    of this machine give to work that shares nothing, which is about the most that two threads can

Ids are compared first, and a difference is named. Every measurement is a fresh process, kept on as many cores as it
has threads; what was written before is on the disk. gigatoken and awkward (versions in requirements.txt) are to be in
`PYTHONPATH`, otherwise toksmith is timed alone.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from shards import most_memory

sys.path.insert(1, str(Path(__file__).resolve().parent / "scale"))

END = "<|endoftext|>"
SCHEMES = {"gpt2": "gpt2", "cl100k": "gpt4", "o200k": "o200k"}
"""What gigatoken calls a pattern."""


def prepare(files: list[Path], out: Path) -> int:
    """Write the documents to one file; returns its size in bytes."""
    import corpus

    with out.open("w", encoding="utf-8", newline="") as text:
        for number, document in enumerate(corpus.documents(files)):
            text.write((END if number else "") + document.replace(END, ""))
    return out.stat().st_size


def page_faults() -> int:
    """Pages that this process touched for the first time so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def encode_file(job: dict[str, Any]) -> tuple[list[float], int]:
    """Return the seconds that toksmith takes until the ids are on the disk, and page faults."""
    from toksmith import Tokenizer

    tokenizer = Tokenizer.from_tiktoken(job["ranks"], pattern=job["pattern"], special_tokens={END: job["end"]})
    tokenizer.encode("warm")
    faults, start = page_faults(), time.perf_counter()
    tokenizer.encode_file(job["source"], job["out"], workers=job["workers"], dtype=job["dtype"])
    return [time.perf_counter() - start], page_faults() - faults


def gigatoken(job: dict[str, Any]) -> tuple[list[float], int]:
    """Return the seconds that gigatoken takes until ids are written, until they are on the disk, and page faults."""
    os.environ["RAYON_NUM_THREADS"] = str(job["workers"])
    import awkward
    import gigatoken
    import numpy as np

    path, source = Path(job["ranks"]), gigatoken.TextFileSource([job["source"]], separator=END)
    tokenizer = gigatoken.Tokenizer.from_tiktoken(path, SCHEMES[job["pattern"]], {})
    tokenizer.encode("warm")
    faults, start = page_faults(), time.perf_counter()
    ids = tokenizer.encode_files(source, parallel=job["workers"] > 1)
    np.asarray(awkward.flatten(ids)).astype(job["dtype"], copy=False).tofile(job["out"])
    written = time.perf_counter() - start
    with Path(job["out"]).open("rb+") as out:
        os.fsync(out)
    return [written, time.perf_counter() - start], page_faults() - faults


RUNNERS = {"encode_file": encode_file, "gigatoken": gigatoken}


def start(job: dict[str, Any], core: int = 0) -> subprocess.Popen[str]:
    """Start a process that does a job on so many cores as it has threads."""
    cores = range(core, core + job["workers"])
    return subprocess.Popen(
        [sys.executable, __file__, "--job", json.dumps(job | {"cores": [*cores]})], stdout=subprocess.PIPE, text=True
    )


class Run(NamedTuple):
    """What a process measured."""

    seconds: list[float]
    megabytes: float
    """Peak memory."""
    faults: int
    """Pages touched for the first time while the file was encoded."""


def result(process: subprocess.Popen[str]) -> Run:
    """Wait for a process, and return what it measured."""
    out, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"a process ended with status {process.returncode}")
    return Run(*json.loads(out))


def in_two(job: dict[str, Any]) -> Run:
    """Run a job of one thread in two processes at a time; returns the mean seconds for one file."""
    copy = job | {"source": job["source"] + ".copy", "out": job["out"] + ".copy"}
    both = [start(job, 0), start(copy, 1)]
    runs = [result(process) for process in both]
    seconds = statistics.mean(run.seconds[0] for run in runs) / len(runs)
    return Run([seconds], max(run.megabytes for run in runs), runs[0].faults)


def check(jobs: dict[str, dict[str, Any]]) -> None:
    """Compare the ids of all jobs, but for the ends of documents, which gigatoken leaves out; names a difference."""
    import numpy as np

    expected: Any = None
    for name, job in jobs.items():
        result(start(job))
        ids = np.fromfile(job["out"], job["dtype"])
        ids = ids[ids != job["end"]]
        Path(job["out"]).unlink()
        expected = ids if expected is None else expected
        if not np.array_equal(ids, expected):
            most = min(len(ids), len(expected))
            place = np.flatnonzero(np.append(ids[:most] != expected[:most], True))[0]
            print(
                f"{name}: {len(ids):,} ids and not {len(expected):,}; the first that differs has the place {place:,}"
            )


def settle(folder: Path) -> None:
    """Remove what the last job wrote: to free half a gigabyte of cached pages would be 0.2 s of the next one."""
    for written in folder.glob("ids.bin*"):
        written.unlink()
    os.sync()


def measure(options: argparse.Namespace, folder: Path) -> None:
    source, out = folder / "documents.txt", folder / "ids.bin"
    with ProcessPoolExecutor(1) as pool:  # the processes that are timed then start from a small one
        size = pool.submit(prepare, options.files, source).result()
    shutil.copy(source, f"{source}.copy")
    end = sum(1 for _ in options.ranks.open("rb")) + 1  # behind every rank, also where one is left out
    base = {"ranks": str(options.ranks), "pattern": options.pattern, "source": str(source), "out": str(out)}
    base |= {"end": end, "dtype": "uint16" if end < 2**16 else "uint32"}
    names = ["encode_file", *(["gigatoken"] if importlib.util.find_spec("gigatoken") else [])]
    jobs = {f"{name}, {n} threads": base | {"run": name, "workers": n} for n in options.workers for name in names}
    check(jobs)
    found: dict[str, list[Run]] = {}
    for _ in range(options.rounds):
        for name, job in jobs.items():
            settle(folder)
            found.setdefault(name, []).append(result(start(job)))
        settle(folder)
        alone = base | {"run": "encode_file", "workers": 1}
        found.setdefault("two processes, together", []).append(in_two(alone))
    print(f"{size / 1e6:,.0f} MB, {options.ranks.name}; best of {options.rounds}, median in parentheses")
    for name, runs in found.items():
        memory = max(run.megabytes for run in runs)
        faults = statistics.median(run.faults for run in runs) * 1e6 / size
        for step, times in zip(("", ", on the disk"), zip(*(run.seconds for run in runs), strict=True), strict=False):
            speeds = [size / 1e6 / seconds for seconds in times]
            best, median = max(speeds), statistics.median(speeds)
            print(f"{name + step:34} {best:8.1f} ({median:.1f}) MB/s, {memory:,.0f} MB, {faults:.0f} faults a MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ranks", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--pattern", choices=SCHEMES, default="gpt2")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scratch", type=Path, default=None)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        measure(options, Path(folder))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--job"]:
        own = json.loads(sys.argv[2])
        os.sched_setaffinity(0, own["cores"])
        seconds, faults = RUNNERS[own["run"]](own)
        print(json.dumps([seconds, most_memory() / 1024, faults]))
    else:
        main()
