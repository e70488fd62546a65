"""Runs the tests that a change touches: `python scripts/touched_tests.py [REVISION]`; `make dev` calls it.

A change is what differs from REVISION (by default HEAD, so what is not committed), and files that git does not know.
Tests belong to a file by name: `src/encode/cache/mod.rs` has the tests of Rust whose names have "encode" or "cache",
and `test_encode_file.py`; `python/toksmith/formats/sources.py` has `tests/python/formats`, and its own examples.
This is a quick look while one works: `make test` runs everything.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = [path.relative_to(ROOT) for path in sorted(ROOT.glob("tests/*/**/test_*.py"))]
FOLDERS = {folder for path in TESTS for folder in path.parents[:-2]}
EVERY_FILE = {"tests", "src", "python", "toksmith", "mod", "lib"}


def changed(revision: str) -> list[Path]:
    """Return the paths that differ from a revision, and those that git does not know."""
    commands = (["diff", "--name-only", revision], ["ls-files", "--others", "--exclude-standard"])
    outputs = [subprocess.check_output(["git", *command], cwd=ROOT, text=True) for command in commands]
    return sorted({Path(line) for output in outputs for line in output.splitlines()})


def names_of(path: Path) -> list[str]:
    """Return the names of a file and of its folders, from the inner to the outer, in the singular."""
    return [name.rstrip("s") for name in (path.stem, *reversed(path.parts[:-1])) if name not in EVERY_FILE]


def python_tests_of(path: Path) -> set[Path]:
    """Return the folders and files for pytest of a changed file."""
    if path.suffix in (".md", ".ipynb"):
        return {Path("tests/python/docs")}
    if path.parts[0] == "tests" and path.suffix == ".py":
        return {path} & set(TESTS) or {path.parent} & FOLDERS or {Path("tests/python")}
    if path.parts[0] not in ("src", "python", "fuzz"):
        return set()
    names = names_of(path)
    folders = [{folder for folder in FOLDERS if folder.name.rstrip("s") == name} for name in names]
    inner = next(filter(None, folders), {Path("tests/python/core")})
    files = {test for test in TESTS if {word.rstrip("s") for word in test.stem.split("_")} & set(names[:2])}
    examples = {path} if path.parts[0] == "python" and path.suffix == ".py" and (ROOT / path).exists() else set()
    return inner | files | examples


def main() -> int:
    """Run them, those of Rust first."""
    paths = changed(sys.argv[1] if len(sys.argv) > 1 else "HEAD")
    tests: set[Path] = set().union(*map(python_tests_of, paths))
    rust = [path for path in paths if path.suffix == ".rs"]
    filters = {name for path in rust for name in names_of(path)}
    commands = [["cargo", "test", "--quiet", "--locked", "--", *sorted(filters)]] if rust else []
    if tests:
        outermost = sorted(str(test) for test in tests if not tests & set(test.parents))
        commands.append([sys.executable, "-m", "pytest", *outermost])
    print(f"{len(paths)} changed files" + ("" if commands else ": no test belongs to them"), flush=True)
    for command in commands:
        print("$ " + " ".join(command), flush=True)
        if status := subprocess.run(command, cwd=ROOT, check=False).returncode:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
