"""The harness itself: each limit strikes, and each ending is told."""

import sys
from pathlib import Path

import pytest
from child import Limits, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits are set as Linux has them")


def test_a_child_ends_with_what_it_said() -> None:
    outcome = run("import sys; print(sys.argv[1:]); sys.exit(3)", "a", 1)
    assert (outcome.status, outcome.out) == (3, "['a', '1']\n"), outcome.told


def test_a_child_that_hangs_or_dies_is_told() -> None:
    assert run("import time; time.sleep(60)", timeout=0.5).status is None
    outcome = run("import os; os.abort()")
    assert "SIGABRT" in outcome.told


def test_a_limit_on_memory_strikes_after_it_was_set() -> None:
    program = "kept = bytes(300 << 20); limit()\ntry: bytes(200 << 20)\nexcept MemoryError: print('none')"
    outcome = run(program, limits=Limits(address_space=100 << 20))
    assert outcome.out == "none\n", outcome.told


def test_a_limit_on_threads_strikes_for_root_too() -> None:
    program = (
        "import threading; limit()\ntry: threading.Thread(target=print).start()\nexcept RuntimeError: print('none')"
    )
    outcome = run(program, limits=Limits(threads=0))
    assert outcome.out == "none\n", outcome.told


def test_a_limit_on_open_files_strikes() -> None:
    program = "limit()\ntry: open('/dev/null')\nexcept OSError: print('none')"
    outcome = run(program, limits=Limits(open_files=3))
    assert outcome.out == "none\n", outcome.told


FULL = """
limit()
file = open("it", "wb", 0)
try:
    print(file.write(bytes(2000)), file.write(b"x"))
except OSError:
    print("full")
"""


def test_a_limit_on_the_size_of_a_file_strikes(tmp_path: Path) -> None:
    outcome = run(FULL, limits=Limits(file_bytes=1000), cwd=tmp_path)
    assert outcome.out == "full\n", outcome.told
