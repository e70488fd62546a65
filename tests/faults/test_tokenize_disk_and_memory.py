"""`toksmith.tokenize` where the disk is full, and with sources far larger than its memory."""

import sys
from pathlib import Path

import pytest
import shards_oracle
from child import run

from toksmith import Tokenizer

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits as Linux has them")

FULL = r"""
import json, resource, signal, sys
from pathlib import Path
import toksmith
from toksmith.data import tokenize as module

module.CHUNK_BYTES, module.SNAPSHOT_SECONDS = 20_000, 0.0
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
out = Path("out")
texts = [f"low lower {number} " * 40 for number in range(3000)]
Path("a.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))


def attempt(most):
    # A write beyond this size of a file fails, as one to a full disk does.
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
    try:
        toksmith.tokenize("a.jsonl", toksmith.Tokenizer(), out, workers=2)
    except OSError as error:
        return [error.errno, str(error.filename)]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


first = attempt(1_000_000)
begun = (out / ".toksmith-unfinished/state.json").exists()
second = attempt(2_000_000)
snapshot = json.loads((out / ".toksmith-unfinished/state.json").read_text())["state"]["snapshot"]
attempt(1 << 40)
print(json.dumps([first, second, begun, snapshot["shards"][0][1]["ids"]]))
"""


def test_a_full_disk(tmp_path: Path) -> None:
    """The error names the file; after there is room, the run goes on and ends as if there always had been."""
    import errno
    import json

    outcome = run(FULL, cwd=tmp_path)
    assert outcome.status == 0, outcome.told
    first, second, begun, ids = json.loads(outcome.out)
    for code, name in (first, second):
        assert code == errno.EFBIG
        assert name.endswith("train-00000.ids")
    assert begun
    assert 300_000 < ids < 1_000_000, "the second attempt went on, and kept what it wrote"
    texts = [f"low lower {number} " * 40 for number in range(3000)]
    shards_oracle.check(tmp_path / "out", shards_oracle.expected(Tokenizer(), texts))


MEMORY = r"""
import json, resource, sys
from pathlib import Path
import toksmith

size = 120_000_000
line = json.dumps({"text": "the quick brown fox jumps over the lazy dog " * 80}) + "\n"
with open("a.jsonl", "w") as file:
    for _ in range(size // len(line)):
        file.write(line)
with open("b.txt", "w") as file:  # one document
    for _ in range(size // 44):
        file.write("the quick brown fox jumps over the lazy dog ")
tokenizer = toksmith.Tokenizer()
toksmith.tokenize(iter(["warm"]), tokenizer, "warm")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
told = toksmith.tokenize(["a.jsonl", "b.txt"], tokenizer, "out", workers=2)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024, told["totals"]["documents"])
"""


def test_memory_does_not_follow_the_sources(tmp_path: Path) -> None:
    outcome = run(MEMORY, cwd=tmp_path, timeout=300)
    assert outcome.status == 0, outcome.told
    megabytes, documents = map(int, outcome.out.split())
    assert documents > 30_000
    # Two workers with some chunks of a megabyte, whose ids take four bytes for each byte here, and their caches.
    assert megabytes < 150, megabytes
