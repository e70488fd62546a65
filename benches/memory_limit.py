"""Training under memory limits, on text that resembles source code and has millions of different pretokens.

`python benches/memory_limit.py` makes the text in a temporary folder, and trains on it with each limit in a process
of its own: the time, the peak of memory beyond what the process held before, and whether the merges are the same.
With a path it trains on that text. With `--workers N` it only counts, on so many threads.
"""

import argparse
import hashlib
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

KEYWORDS = ("def", "return", "if", "else", "for", "in", "import", "from", "self", "None", "class", "while", "not")
KINDS = {"keyword": 43, "name": 33, "joined": 14, "number": 5, "hash": 5}
"""The words of the text, in percent."""
ENDS = (":", "()", "", ",", " = 0", "[0]")
BLOCK_WORDS = 100_000


def source_text(megabytes: float, seed: int = 46) -> Iterator[str]:
    """Yield text like source code: keywords, identifiers, numbers and hashes, in indented lines."""
    rng = random.Random(seed)
    syllables = [first + second for first in "bcdfghklmnprstvw" for second in "aeiou"]
    names = ["".join(rng.choices(syllables, k=rng.randint(1, 3))) for _ in range(3000)]
    often = [1 / (1 + rank) for rank in range(len(names))]
    left = megabytes * 1e6
    while left > 0:
        kinds = rng.choices(list(KINDS), KINDS.values(), k=BLOCK_WORDS)
        made = {
            "keyword": iter(rng.choices(KEYWORDS, k=BLOCK_WORDS)),
            "name": iter(rng.choices(names, often, k=BLOCK_WORDS)),
            "joined": (rng.choice(names) + rng.choice(names).title() for _ in kinds),
            "number": (str(rng.randrange(10 ** rng.randint(1, 7))) for _ in kinds),
            "hash": (f"{rng.getrandbits(64):016x}" for _ in kinds),
        }
        words = [next(made[kind]) for kind in kinds]
        lines, start = [], 0
        while start < len(words):
            end = start + rng.randint(2, 9)
            lines.append("    " * rng.randint(0, 3) + " ".join(words[start:end]) + rng.choice(ENDS))
            start = end
        block = "\n".join(lines) + "\n"
        left -= len(block)
        yield block


def memory(name: str) -> int:
    """Return a number of bytes from the status of this process."""
    with open("/proc/self/status") as status:  # noqa: PTH123
        return next(int(line.split()[1]) << 10 for line in status if line.startswith(name))


def train(path: str, vocab_size: int, workers: int, limit: str) -> None:
    """Train, or count if there are workers, and print what it took, or the error of a limit that is too small."""
    import toksmith

    toksmith.train(iter(["low lower lowest"] * 2), 258)  # imports what a training needs
    before, start, processor = memory("VmRSS"), time.perf_counter(), time.process_time()
    memory_limit = None if limit == "none" else limit
    try:
        if workers:
            toksmith.count_pretokens(path, workers=workers, memory_limit=memory_limit)
            merges = []
        else:
            merges = list(toksmith.train(path, vocab_size, memory_limit=memory_limit).merges)
    except MemoryError as error:
        print(json.dumps({"error": str(error)}))
        return
    took = {"seconds": time.perf_counter() - start, "processor": time.process_time() - processor}
    digest = hashlib.sha256(repr(merges).encode()).hexdigest()
    print(json.dumps(took | {"peak": memory("VmHWM") - before, "merges": digest}))


def main() -> None:
    """Make the text, train with each limit, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text", nargs="?", help="a file of text to train on, instead of one that is made")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--megabytes", type=float, default=450)
    parser.add_argument("--vocab-size", type=int, default=50_000)
    parser.add_argument("--limits", nargs="+", default=["none", "500MB", "400MB", "300MB", "100MB"])
    parser.add_argument("--rounds", type=int, default=1, help="the best of so many rounds counts")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        path, vocab_size, workers, limit = options.child
        train(path, int(vocab_size), int(workers), limit)
        return
    if options.text:
        report(options.text, options)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "text.txt")
        with path.open("w") as file:
            file.writelines(source_text(options.megabytes))
        report(str(path), options)


def report(path: str, options: argparse.Namespace) -> None:
    """Print a row for each limit, in rounds that take turns."""
    import toksmith

    unique = len(toksmith.count_pretokens(path))
    runs: dict[str, list[dict[str, Any]]] = {limit: [] for limit in options.limits}
    for _ in range(options.rounds):
        for limit in options.limits:
            command = [
                sys.executable,
                __file__,
                "--child",
                path,
                str(options.vocab_size),
                str(options.workers),
                limit,
            ]
            runs[limit].append(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    same = len({run["merges"] for each in runs.values() for run in each if "merges" in run}) <= 1
    print(
        f"{unique:,} different pretokens, {options.vocab_size:,} tokens, the same merges: {'yes' if same else 'NO'}\n"
    )
    print("| limit | seconds | processor | peak, MB |\n|---|---|---|---|")
    for limit, each in runs.items():
        if "error" in each[0]:
            print(f"| {limit} | MemoryError: {each[0]['error']} | | |")
            continue
        best = {name: min(run[name] for run in each) for name in ("seconds", "processor")}
        peak = max(run["peak"] for run in each)
        print(f"| {limit} | {best['seconds']:.1f} | {best['processor']:.1f} | {peak / 1e6:.0f} |", flush=True)


if __name__ == "__main__":
    main()
