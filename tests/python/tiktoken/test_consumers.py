"""Programs from the package index that use tiktoken, on toksmith under its name: the same results.

`make test-long` installs them into `target/consumers` (tests/consumers.txt).
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "target/consumers"
PROGRAM = ROOT / "tests/python/helpers/consumers.py"
PACKAGES = {
    "langchain": "langchain_text_splitters",
    "chonkie": "chonkie",
    "semchunk": "semchunk",
    "ttok": "ttok",
    "whisper": "whisper",
}

pytestmark = pytest.mark.long


def outcome(name: str, tiktoken_cache: Path, *start: str) -> tuple[str, Any]:
    """Which module the program got as tiktoken, and what it made."""
    # Whisper lists its languages in the order of a set.
    environment = {
        **os.environ,
        "PYTHONPATH": str(FOLDER),
        "TIKTOKEN_CACHE_DIR": str(tiktoken_cache),
        "PYTHONHASHSEED": "0",
    }
    command = [sys.executable, *start, str(PROGRAM), name, str(FOLDER)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    module, result = json.loads(done.stdout.splitlines()[-1])
    return module, result


@pytest.mark.parametrize("name", PACKAGES)
def test_the_same_results_as_with_tiktoken(name: str, tiktoken_cache: Path) -> None:
    if not (FOLDER / PACKAGES[name]).is_dir():
        pytest.skip(f"{PACKAGES[name]} is not in target/consumers: `make test-long` installs it there")
    theirs_module, theirs = outcome(name, tiktoken_cache)
    ours_module, ours = outcome(name, tiktoken_cache, "-m", "toksmith.run")
    assert (theirs_module, ours_module) == ("tiktoken", "toksmith.compat.tiktoken")
    assert len(json.dumps(theirs)) > 500
    assert ours == theirs
