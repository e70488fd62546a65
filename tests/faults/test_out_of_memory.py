"""Every kind of call under a limit on the address space: a right result or `MemoryError`, and the process goes on.

Each call runs in a fork of one process (`memory_calls.py`), so that an abort or a hang is a result like others.
"""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from child import run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits are set as Linux has them")

CALLS = Path(__file__).with_name("memory_calls.py")
MB = 1 << 20
# The words of the text, and the limits under which the calls are made.
SHORT_WORDS, SHORT = 250_000, [2 * MB, 8 * MB]
LONG_WORDS, LONG = (
    2_000_000,
    [MB * mb for mb in (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024)],
)
# One or two of each way through the core; the long test has all.
REPRESENTATIVE = (
    "encode_1",
    "encode_wide_2",
    "batch_numpy_2",
    "encode_with_offsets",
    "split",
    "decode",
    "tokenizer",
    "load",
    "save",
    "train_1",
    "counted_2",
    "counts_items",
    "file_2",
    "pattern_encode",
    "NFKD_offsets",
    *(("arrow_2",) if importlib.util.find_spec("pyarrow") else ()),
)
# Python itself may have no memory left for what it imports or opens.
ENDINGS = ("MemoryError:", "OSError: [Errno 12]")


def prepared(folder: Path, words: int) -> Path:
    """The folder with files for the calls to read."""
    subprocess.run([sys.executable, str(CALLS), str(folder), "prepare", str(words)], check=True, timeout=300)
    return folder


def endings(
    folder: Path, kinds: str, limits: list[int], timeout: float
) -> Iterator[tuple[str, int, list[str], list[str]]]:
    """Kind, limit, how the large and the small call ended without a limit, and with it."""
    program = f"import runpy; runpy.run_path({str(CALLS)!r}, run_name='__main__')"
    outcome = run(
        program,
        folder,
        kinds,
        ",".join(map(str, limits)),
        timeout=timeout,
        # Where there was a panic, it would be looked up, which takes memory; NumPy is to start no threads.
        environment={"RUST_BACKTRACE": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    assert outcome.status == 0, outcome.told
    expected: dict[str, list[str]] = {}
    for kind, limit, found in map(json.loads, outcome.out.splitlines()):
        if limit is None:
            expected[kind] = found.split("\n")
        else:
            yield kind, limit, expected[kind], found.split("\n")


def wrong(folder: Path, kinds: str, limits: list[int], timeout: float) -> list[str]:
    """What must not be, in words."""
    found = []
    for kind, limit, expected, ended in endings(folder, kinds, limits, timeout):
        assert expected[0].startswith("is "), (kind, expected)
        if len(ended) == 2:
            large, small = ended
            right = large == expected[0] or large.startswith(ENDINGS)
            # Where there is next to no memory, there may be none for a small call either.
            right_again = small == expected[1] or (small.startswith(ENDINGS) and limit <= 8 * MB)
            if right and right_again:
                continue
        found.append(f"{kind} within {limit >> 20} MB: {ended}, without a limit {expected}")
    return found


def test_calls_without_memory_end_with_memory_error(tmp_path: Path) -> None:
    bad = wrong(prepared(tmp_path, SHORT_WORDS), ",".join(REPRESENTATIVE), SHORT, 300)
    assert not bad, "\n".join(bad)


@pytest.mark.long
def test_all_calls_within_any_memory_end_with_memory_error(tmp_path: Path) -> None:
    bad = wrong(prepared(tmp_path, LONG_WORDS), "all", LONG, 3600)
    assert not bad, "\n".join(bad)
