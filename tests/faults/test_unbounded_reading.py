"""Files without an end: refused after a bounded number of bytes, in bounded memory."""

import sys

import pytest
from child import Limits, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits are set as Linux has them")

PRELUDE = """
import sys
from toksmith import Encoding, PretokenCounts, Tokenizer, train
from toksmith.compat import minbpe
from toksmith.compat.tiktoken import load
Encoding("x", pat_str=".", mergeable_ranks={bytes([b]): b for b in range(256)}, special_tokens={})
limit()
try:
    CALL
except (OSError, ValueError) as error:
    print(type(error).__name__, error)
"""
CALLS = {
    "Encoding.from_tiktoken": "Encoding.from_tiktoken('/dev/zero', pattern='.')",
    "Tokenizer.from_tiktoken": "Tokenizer.from_tiktoken('/dev/zero', pattern=None)",
    "Tokenizer.load": "Tokenizer.load('/dev/zero')",
    "from_files": "Tokenizer.from_files('/dev/zero', '/dev/zero')",
    "from_huggingface": "Tokenizer.from_huggingface('/dev/zero')",
    "PretokenCounts.load": "PretokenCounts.load('/dev/zero')",
    "read_file": "load.read_file('/dev/zero')",
    "checkpoint": "train(iter(['aa']), 257, checkpoint='/dev/zero')",
    "an endless pipe": "Encoding.from_tiktoken('/dev/stdin', pattern='.')",
}


@pytest.mark.parametrize("call", CALLS)
def test_devices_without_an_end(call: str) -> None:
    program = PRELUDE.replace("CALL", CALLS[call])
    if call == "an endless pipe":
        program = program.replace(
            "limit()",
            "import os, subprocess\nos.dup2(subprocess.Popen(['yes'], stdout=-1).stdout.fileno(), 0)\nlimit()",
        )
    outcome = run(program, limits=Limits(address_space=900 << 20), timeout=60)
    assert outcome.status == 0, outcome.told
    assert outcome.out.startswith(("ValueError", "OSError")), outcome.told
    assert len(outcome.out) < 500
