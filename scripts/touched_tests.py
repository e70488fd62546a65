"""Runs the tests that a change touches: `python scripts/touched_tests.py [REVISION]`; `make dev` calls it.

A change is what differs from REVISION (by default HEAD, so what is not committed), and files that git does not know.
`TESTS` says which tests belong to which files; a file that no line names belongs to all tests of its language.
This is a quick look while one works: `make test` runs everything.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

PYTHON = "tests/python"
# The start of a path, and what to run for it: folders and files for pytest, and filters for `cargo test` (parts of
# the names of modules in `src/` and `tests/rust/`, "" for all). The longest start that fits counts.
TESTS: dict[str, tuple[list[str], list[str]]] = {
    "src/": ([f"{PYTHON}/core"], [""]),
    "src/arrow/": ([f"{PYTHON}/arrow"], ["arrow"]),
    "src/count/": ([f"{PYTHON}/training"], ["count"]),
    "src/decode": ([f"{PYTHON}/core/test_decode.py"], ["decode"]),
    "src/encode/": ([f"{PYTHON}/core"], ["encode"]),
    "src/merge/": ([f"{PYTHON}/core/test_encode.py"], ["merge", "encode"]),
    "src/normalize/": ([f"{PYTHON}/huggingface"], ["normalize"]),
    "src/pretokenize/": ([f"{PYTHON}/core/test_pretokenize.py", f"{PYTHON}/dialects"], ["pretokenize", "scanner"]),
    "src/python/": ([f"{PYTHON}/core"], []),
    "src/python/arrow": ([f"{PYTHON}/arrow"], []),
    "src/simd/": ([f"{PYTHON}/core/test_pretokenize.py"], ["simd", "scanner"]),
    "src/source/": ([f"{PYTHON}/training", "tests/faults/test_changing_files.py"], ["source"]),
    "src/special/": ([f"{PYTHON}/core/test_encode.py", "tests/faults/test_special_tokens.py"], ["special"]),
    "src/train/": ([f"{PYTHON}/training"], ["train"]),
    "src/vocab/": ([f"{PYTHON}/core"], ["vocab"]),
    "src/workers/": (["tests/faults/test_no_threads.py"], ["workers"]),
    "fuzz/": ([f"{PYTHON}/core/test_fuzz_corpus.py"], ["fuzz"]),
    "python/toksmith/": ([PYTHON], []),
    "python/toksmith/cli/": ([f"{PYTHON}/cli"], []),
    "python/toksmith/compat/": ([f"{PYTHON}/compat"], []),
    "python/toksmith/compat/huggingface/": ([f"{PYTHON}/huggingface"], []),
    "python/toksmith/compat/tiktoken/": ([f"{PYTHON}/tiktoken"], []),
    "python/toksmith/encoding/arrow_columns.py": ([f"{PYTHON}/arrow"], []),
    "python/toksmith/encoding/batch_function.py": ([f"{PYTHON}/arrow"], []),
    "python/toksmith/engines/": ([f"{PYTHON}/engines"], []),
    "python/toksmith/formats/": ([f"{PYTHON}/formats"], []),
    "python/toksmith/formats/huggingface/": ([f"{PYTHON}/huggingface"], []),
    "python/toksmith/lab/comparison/": ([f"{PYTHON}/lab/comparison", f"{PYTHON}/cli/test_compare_command.py"], []),
    "python/toksmith/reference.py": ([f"{PYTHON}/core/test_reference.py"], []),
    "python/toksmith/regex_dialects/": ([f"{PYTHON}/dialects"], []),
    "python/toksmith/samples/": ([f"{PYTHON}/docs"], []),
    "python/toksmith/training/": ([f"{PYTHON}/training"], []),
    "examples/": ([f"{PYTHON}/docs"], []),
    "docs/": ([f"{PYTHON}/docs"], []),
    "README.md": ([f"{PYTHON}/docs"], []),
    "CHANGELOG.md": ([f"{PYTHON}/docs"], []),
    "CONTRIBUTING.md": ([f"{PYTHON}/docs"], []),
    "benches/": ([f"{PYTHON}/docs"], []),
}


def changed(revision: str) -> list[str]:
    """Return the paths that differ from a revision, and those that git does not know."""
    commands = (["diff", "--name-only", revision], ["ls-files", "--others", "--exclude-standard"])
    found: set[str] = set()
    for command in commands:
        done = subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, check=True)
        found.update(done.stdout.split("\n"))
    return sorted(found - {""})


def tests_of(path: str) -> tuple[list[str], list[str]]:
    """Return the folders and files for pytest, and the filters for `cargo test`, of a changed file."""
    here = ROOT / path
    if path.startswith(f"{PYTHON}/helpers/"):
        return [PYTHON], []
    if path.startswith(("tests/python/", "tests/faults/")):
        return ([path] if here.name.startswith("test_") and here.exists() else [str(Path(path).parent)]), []
    if path.startswith("tests/rust/"):
        return [], [here.stem]
    starts = [start for start in TESTS if path.startswith(start)]
    if starts:
        python, rust = TESTS[max(starts, key=len)]
        own = [path] if path.startswith("python/") and path.endswith(".py") and here.exists() else []  # its examples
        return python + own, rust
    return ([PYTHON] if path.endswith(".py") else []), ([""] if path.endswith((".rs", ".toml")) else [])


def outermost(paths: set[str]) -> list[str]:
    """Return the paths without those inside another of them."""
    return sorted(path for path in paths if not any(path.startswith(f"{other}/") for other in paths))


def main() -> int:
    """Run them, those of Rust first."""
    paths = changed(sys.argv[1] if len(sys.argv) > 1 else "HEAD")
    pairs = [tests_of(path) for path in paths]
    python = outermost({one for tests, _ in pairs for one in tests})
    rust = {one for _, filters in pairs for one in filters}
    commands = [["cargo", "test", "--quiet", "--locked", "--", *([] if "" in rust else sorted(rust))]] if rust else []
    if python:
        commands.append([sys.executable, "-m", "pytest", *python])
    print(f"{len(paths)} changed files" + ("" if commands else ": no test belongs to them"), flush=True)
    for command in commands:
        print("$ " + " ".join(command), flush=True)
        status = subprocess.run(command, cwd=ROOT, check=False).returncode
        if status:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
