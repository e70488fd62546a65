"""Two builds of toksmith, operation by operation: a change that one bench does not show may cost another path.

Each round runs both builds in fresh processes, in turn. Prints the least and the median milliseconds of the old
build, and the ratio of the new one to each; a row where both exceed 1.04 is marked.

usage: python benches/builds.py OLD NEW TOKENIZER TEXT [--rounds 5] [--only decode,train]

OLD and NEW are folders that hold the package `toksmith` with its extension; TOKENIZER is a file of `Tokenizer.save`.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

SIZE = 3_000_000
PATTERNS = {"ascii": r"\w+(?=\s)|\s+|[^\w\s]+|\w+", "digits": r" ?\p{L}{1,12}|\p{N}| ?[^\s\p{L}\p{N}]+|\s+"}


def operations(tokenizer_path: str, text_path: str, folder: str) -> dict[str, Callable[[], Any]]:
    """Return the timed calls by name."""
    import toksmith

    tokenizer = toksmith.Tokenizer.load(tokenizer_path)
    text = Path(text_path).read_text(encoding="utf-8", errors="replace")[:SIZE]
    special = next(iter(tokenizer.special_tokens), "")
    marked, ids = text.replace("\n", special or "\n"), tokenizer.encode(text)
    short = [text[at : at + 140] for at in range(0, len(text), 140)]
    rows = [ids[at : at + 400] for at in range(0, len(ids), 400)]
    lines, hub = f"{folder}/lines.jsonl", f"{folder}/hub"
    Path(lines).write_text("".join(json.dumps({"text": part}) + "\n" for part in short), encoding="utf-8")
    tokenizer.save_huggingface(hub)
    compiled = {name: toksmith.train(text_path, 1000, pattern=pattern) for name, pattern in PATTERNS.items()}

    def edit() -> None:
        document = tokenizer.document(text[:200_000])
        for at in range(0, 150_000, 500):
            document.replace(at, at + 3, "xyz")

    return {
        "encode": lambda: tokenizer.encode(text),
        "encode special": lambda: tokenizer.encode(marked),
        "encode short": lambda: [tokenizer.encode(part) for part in short],
        "encode batch": lambda: tokenizer.encode_batch(short, workers=1),
        "encode stream": lambda: list(tokenizer.encode_iterable(short)),
        "encode offsets": lambda: tokenizer.encode_with_offsets(text),
        "encode file": lambda: tokenizer.encode_file(text_path, f"{folder}/ids.npy", workers=1),
        "count": lambda: tokenizer.count(text, workers=1),
        "split": lambda: tokenizer.split(text, 500),
        "document": edit,
        **{f"pattern {name}": partial(one.count, text, workers=1) for name, one in compiled.items()},
        "decode": lambda: tokenizer.decode(ids),
        "decode bytes": lambda: tokenizer.decode_bytes(ids),
        "decode batch": lambda: tokenizer.decode_batch(rows),
        "decode short": lambda: [tokenizer.decode(row[:8]) for row in rows],
        "load": lambda: toksmith.Tokenizer.load(tokenizer_path),
        "load hub": lambda: toksmith.Tokenizer.from_huggingface(hub),
        "pretokens file": lambda: toksmith.count_pretokens(text_path, workers=1),
        "pretokens lines": lambda: toksmith.count_pretokens(lines, workers=1),
        "train": lambda: toksmith.train(text_path, 8000),
    }


def measured(tokenizer: str, text: str, only: list[str]) -> dict[str, float]:
    """Return the least milliseconds of five calls, for each operation."""
    times = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, operation in operations(tokenizer, text, folder).items():
            if not only or any(name.startswith(part) for part in only):
                calls = []
                for _ in range(5):
                    start = time.perf_counter()
                    operation()
                    calls.append(1e3 * (time.perf_counter() - start))
                times[name] = min(calls)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("old", "new", "tokenizer", "text"):
        parser.add_argument(name)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    only = [part for part in options.only.split(",") if part]
    if options.old == options.new == "-":
        print(json.dumps(measured(options.tokenizer, options.text, only)))
        return
    times: dict[str, list[list[float]]] = {}
    for number in range(options.rounds):
        for build in (0, 1) if number % 2 else (1, 0):
            arguments = ["-", "-", options.tokenizer, options.text, "--only", options.only]
            environment = {**os.environ, "PYTHONPATH": (options.old, options.new)[build]}
            command = [sys.executable, "-P", __file__, *arguments]
            process = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
            for name, value in json.loads(process.stdout).items():
                times.setdefault(name, [[], []])[build].append(value)
    for name, (old, new) in times.items():
        least, median = min(new) / min(old), statistics.median(new) / statistics.median(old)
        mark = "  <" if min(least, median) > 1.04 else ""
        print(f"{name:<16} {min(old):9.2f} {statistics.median(old):9.2f} ms   {least:.2f} {median:.2f}{mark}")


if __name__ == "__main__":
    main()
