"""Fuzz targets in turn: `python fuzz/run.py --seconds 60 [target …]`. Exits with 1 if one of them found something.

Inputs that reach something new are kept in `target/fuzz/corpus`, those that fail in `target/fuzz/found`. With
`--keep` the inputs of that folder that reach the most become those of the archive in the tree (`fuzz/corpus.tar.xz`).
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import archive

HERE = Path(__file__).parent
WORK = HERE.parent / "target/fuzz"
PROGRAM = WORK / "x86_64-unknown-linux-gnu/release/toksmith-fuzz"

# Bytes of an input at the most.
RUST = {
    "scanner": 200, "encode": 240, "stream": 240, "pieces": 200, "special": 240, "train": 160, "source": 400,
    "containers": 400, "state": 400, "normalize": 120,
    "sentencepiece_model": 200, "gguf": 240, "tekken": 160,
}  # fmt: skip
PYTHON = {
    "native": 64, "tiktoken": 64, "gpt2": 64, "huggingface": 64, "sentencepiece": 64, "counts": 64, "minbpe": 64,
    "pickled": 96, "checkpoint": 96, "unfinished": 64, "folder": 64, "named": 160, "tiktoken_patterns": 320,
    "huggingface_patterns": 320, "arguments": 24,
}  # fmt: skip

# Of one target in the tree.
MOST_FILES = 40
MOST_BYTES = 12_000

# Freed memory is used again soon, since fresh pages would take most of the time. One line of code is kept for each
# allocation instead of thirty. To see all of them, run the input that was found without these options.
ASAN = (
    "quarantine_size_mb=2:thread_local_quarantine_size_kb=256:allocator_release_to_os_interval_ms=-1:detect_leaks=0:"
    "malloc_context_size=1"
)


def command(target: str) -> list[str]:
    """Return what runs a target."""
    if target in RUST:
        return [str(PROGRAM), "-entropic=0"]
    return [sys.executable, str(HERE / "python/run.py"), target]


def run(target: str, options: list[str], log: Path | None = None) -> tuple[int, str]:
    """Run a target; returns its exit status and what it said."""
    environment = os.environ | {"TARGET": target, "ASAN_OPTIONS": ASAN, "RUST_BACKTRACE": "0"}
    if Path("/dev/shm").is_dir():
        environment["TMPDIR"] = "/dev/shm"  # files are written for every input
    limits = ["-timeout=60", "-rss_limit_mb=3000", "-malloc_limit_mb=6000", "-print_final_stats=1"]
    with (log or Path(os.devnull)).open("w+b") as file:
        arguments = [*command(target), *limits, f"-max_len={(RUST | PYTHON)[target]}", *options]
        # What the sanitizers of other languages say goes there too.
        done = subprocess.run(arguments, env=environment, stdout=file, stderr=subprocess.STDOUT, check=False)
        file.seek(0)
        said = file.read().decode(errors="replace")
    return done.returncode, said


def fuzz(target: str, seconds: int, executions: int) -> tuple[int, bool]:
    """Run a target for so many seconds, and on until it has had so many inputs.

    Returns the number of inputs, and whether one failed.
    """
    found, corpus = WORK / "found" / target, WORK / "corpus" / target
    for folder in (found, corpus):
        folder.mkdir(parents=True, exist_ok=True)
    options = ["-len_control=20", f"-artifact_prefix={found}/", str(corpus), str(seeds_of(target))]
    log = WORK / f"{target}.log"
    start = time.monotonic()
    status, said = run(target, [f"-max_total_time={seconds}", *options], log)
    count = executed(said)
    if status == 0 and count < executions:
        status, said = run(target, [f"-runs={executions - count}", *options], log)
        count += executed(said)
    spent = time.monotonic() - start
    print(f"{target:<22}{count:>12,} in {spent:,.0f} s  {'a finding' if status else 'no finding'}", flush=True)
    if status != 0:
        print(f"{target}: status {status}; the input is in {found}, and what was said in {log}", flush=True)
    return count, status != 0


def executed(said: str) -> int:
    """Return the number of inputs that a target has had, by what it said."""
    count = re.search(r"number_of_executed_units: *(\d+)", said) or re.search(r"#(\d+)[^\n]*\n(?!.*\n#\d)", said)
    return int(count[1]) if count else 0


def seeds_of(target: str) -> Path:
    """Return a folder with the inputs of a target that are in the tree."""
    archive.unpack(WORK / "seeds", target)
    folder = WORK / "seeds" / target
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def keep(target: str) -> None:
    """Choose the inputs that together reach the most for the tree. Those of a name that somebody gave them stay."""
    seeds, corpus = seeds_of(target), WORK / "corpus" / target
    with tempfile.TemporaryDirectory() as folder:
        chosen = list(corpus.iterdir())
        if target in RUST:  # atheris cannot start itself anew, which merging needs
            folders = [folder, str(seeds), str(corpus)]
            run(target, ["-set_cover_merge=1", "-use_counters=0", *folders], WORK / f"{target}-keep.log")
            chosen = list(Path(folder).iterdir())
        chosen.sort(key=lambda path: (-path.stat().st_size, path.name))
        inputs = {
            name: data for name, data in archive.read().items() if not re.fullmatch(f"{target}/[0-9a-f]{{12}}", name)
        }
        # The largest reach the furthest.
        size = 0
        for path in chosen[:: max(1, len(chosen) // MOST_FILES)][:MOST_FILES]:
            size += path.stat().st_size
            if size <= MOST_BYTES:
                inputs[f"{target}/{path.name[:12]}"] = path.read_bytes()
    archive.write(inputs)


def main() -> int:
    """Do as the command line says."""
    parser = argparse.ArgumentParser(description="Fuzz targets in turn.")
    parser.add_argument("targets", nargs="*", metavar="target", help="by default all of them")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--executions", type=int, default=0, help="of each target at the least, beyond the seconds")
    parser.add_argument("--jobs", type=int, default=1, help="targets that run at a time")
    parser.add_argument("--keep", action="store_true", help="choose the corpus of the tree, and fuzz nothing")
    arguments = parser.parse_args()
    targets = arguments.targets or [*RUST, *PYTHON]
    if unknown := set(targets) - {*RUST, *PYTHON}:
        parser.error(f"no such target: {', '.join(sorted(unknown))}; there are {', '.join([*RUST, *PYTHON])}")
    if arguments.keep:
        for target in targets:
            keep(target)
        return 0
    with ThreadPoolExecutor(arguments.jobs) as pool:
        results = pool.map(lambda target: fuzz(target, arguments.seconds, arguments.executions), targets)
        return int(any(failed for _, failed in results))


if __name__ == "__main__":
    sys.exit(main())
