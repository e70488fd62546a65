"""Times JSON lines to shards of ids: `toksmith.tokenize` beside datatrove's `DocumentTokenizer`, with GPT-2's tokens.

usage: python benches/preprocessing.py RANKS FILES... [--megabytes 50] [--workers 2] [--rounds 3] [--scratch DIR]

RANKS is GPT-2's file in tiktoken's format; FILES are texts in gzip, or Parquet with a column `text`. Their documents
are written to as many files of JSON lines as there are workers, with `<|endoftext|>` behind each document in the ids.
datatrove reads them with `JsonlReader`, a task for each file, without its shuffle; also with all files in one task,
where tokenizers itself uses all cores. Ids are compared first. Every measurement is a fresh process. Memory
is that of the process that calls.

datatrove is installed into a folder of its own, which is to be in `PYTHONPATH`:
`pip install --no-deps --target target/datatrove -r benches/preprocessing.txt`. Megatron's `preprocess_data.py` is not
timed: it is in no package, and needs PyTorch.
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

from shards import digest, most_memory, remove

sys.path.insert(1, str(Path(__file__).resolve().parent / "scale"))

END = "<|endoftext|>"


def prepare(options: argparse.Namespace, folder: Path) -> float:
    """Write the sources and the tokenizer as both libraries read it; returns the megabytes of text."""
    import corpus

    from toksmith import Tokenizer

    tokenizer = Tokenizer.from_tiktoken(options.ranks, pattern="gpt2", special_tokens={END: 50256})
    tokenizer.save_huggingface(folder / "tokenizer")
    taken: list[str] = []
    room = options.megabytes * 1e6
    for text in corpus.documents(options.files):
        if room > 0 and END not in text:
            taken.append(text)
            room -= len(text.encode())
    (folder / "source").mkdir()
    share = -(-len(taken) // options.workers)
    for number in range(options.workers):
        with (folder / f"source/{number}.jsonl").open("w", encoding="utf-8") as lines:
            for text in taken[number * share : (number + 1) * share]:
                lines.write(json.dumps({"text": text}, ensure_ascii=False) + "\n")
    return corpus.megabytes(taken)


def with_toksmith(job: dict[str, Any]) -> None:
    import toksmith

    tokenizer = toksmith.Tokenizer.from_huggingface(Path(job["folder"], "tokenizer"))
    source = str(Path(job["folder"], "source"))
    toksmith.tokenize(source, tokenizer, job["out"], workers=job["workers"], append=END, special=False)


def with_datatrove(job: dict[str, Any]) -> None:
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.tokens import DocumentTokenizer

    folder = Path(job["folder"])
    reader = JsonlReader(str(folder / "source"))
    model = str(folder / "tokenizer/tokenizer.json")
    writer = DocumentTokenizer(job["out"], model, eos_token=END, shuffle_documents=False)
    tasks = job["tasks"]
    LocalPipelineExecutor([reader, writer], tasks=tasks, workers=tasks, logging_dir=f"{job['out']}.log").run()


RUNNERS = {"toksmith": with_toksmith, "datatrove": with_datatrove}


def in_process(job: dict[str, Any]) -> tuple[float, float]:
    """Run a job in a fresh process; returns its seconds, without imports, and its megabytes of memory."""
    done = subprocess.run(
        [sys.executable, __file__, "--job", json.dumps(job)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{job['run']}: {done.stderr[-2000:]}")
    seconds, megabytes = json.loads(done.stdout.splitlines()[-1])
    return seconds, megabytes


def measure(options: argparse.Namespace, folder: Path) -> None:
    with ProcessPoolExecutor(1) as pool:
        size = pool.submit(prepare, options, folder).result()
    jobs: dict[str, dict[str, Any]] = {"toksmith": {"run": "toksmith", "workers": options.workers}}
    for tasks in sorted({1, options.workers}):
        jobs[f"datatrove, tasks: {tasks}"] = {"run": "datatrove", "tasks": tasks}
    for number, job in enumerate(jobs.values()):
        job |= {"folder": str(folder), "out": str(folder / f"out{number}")}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in jobs}
    for round_ in range(options.rounds + 1):  # the first compares
        digests = {}
        for name, job in jobs.items():
            os.sync()
            took, out = in_process(job), Path(job["out"])
            if round_:
                found[name].append(took)
            else:
                digests[name] = digest(out, "*.ds" if job["run"] == "datatrove" else "*.bin")
            for path in (out, Path(f"{out}.log")):
                remove(path)
        if len(set(digests.values())) > 1:
            raise SystemExit(f"the ids differ: {json.dumps(digests, indent=1)}")
    print(f"{size:,.0f} MB of text, {options.workers} workers; best of {options.rounds}, median in parentheses")
    for name, took in found.items():
        speeds = [size / seconds for seconds, _ in took]
        memory = max(megabytes for _, megabytes in took)
        print(f"{name:22} {max(speeds):8.1f} ({statistics.median(speeds):.1f}) MB/s, {memory:,.0f} MB of memory")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ranks", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--megabytes", type=float, default=50)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scratch", type=Path, default=None)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        measure(options, Path(folder))


def timed(job: dict[str, Any]) -> tuple[float, float]:
    runner = RUNNERS[job["run"]]
    __import__("toksmith" if job["run"] == "toksmith" else "datatrove.pipeline.tokens")
    start = time.perf_counter()
    runner(job)
    return time.perf_counter() - start, most_memory() / 1024


if __name__ == "__main__":
    if sys.argv[1:2] == ["--job"]:
        print(json.dumps(timed(json.loads(sys.argv[2]))))
    else:
        main()
