"""Many processes with one checkpoint, as the ranks of a launcher have it."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from child import Outcome, run

from toksmith import PretokenCounts, train

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="children are run as POSIX has them")

WORDS = """
import random
rng = random.Random(5)
words = {rng.randbytes(rng.randint(2, 9)): rng.randint(1, 50) for _ in range(3000)}
"""
# Says that it is ready, and begins when all are.
RANK = (
    """
import json, os, sys, time
from pathlib import Path
import toksmith
"""
    + WORDS
    + """
path, ready, ranks, size, seconds = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
counts = toksmith.PretokenCounts(words, pattern=None)
(ready / str(os.getpid())).touch()
while len(os.listdir(ready)) < ranks:
    time.sleep(0.001)
try:
    tokenizer = toksmith.train(counts, size, checkpoint=(path, float(seconds)))
    print(json.dumps([[left.hex(), right.hex()] for left, right in tokenizer.merges]))
except ValueError as error:
    print(json.dumps(str(error)))
"""
)


def run_ranks(folder: Path, sizes: list[int], seconds: float) -> list[Outcome]:
    """Run a training of so many tokens on each rank, all at once."""
    ready = folder.with_name("ready")
    ready.mkdir()
    with ThreadPoolExecutor(len(sizes)) as pool:
        args = [(folder / "ck", ready, len(sizes), size, seconds) for size in sizes]
        return list(pool.map(lambda args: run(RANK, *args, timeout=600), args))


def expected_merges(size: int) -> list[list[str]]:
    namespace: dict[str, dict[bytes, int]] = {}
    exec(WORDS, namespace)
    counts = PretokenCounts(namespace["words"], pattern=None)
    return [[left.hex(), right.hex()] for left, right in train(counts, size).merges]


# How many ranks, and the seconds between two checkpoints.
RANKS = [(4, 0.0), *(pytest.param(24, seconds, marks=pytest.mark.long) for seconds in (0.0, 0.001, 0.01, 0.1, 30.0))]


@pytest.mark.parametrize(("ranks", "seconds"), RANKS)
def test_ranks_train_with_one_checkpoint(ranks: int, seconds: float, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    outcomes = run_ranks(folder, [700] * ranks, seconds)
    expected = expected_merges(700)
    for outcome in outcomes:
        assert outcome.status == 0, outcome.told
        assert json.loads(outcome.out) == expected
    assert [path.name for path in folder.iterdir()] == ["ck"]


def test_of_two_trainings_one_gets_the_checkpoint_and_the_other_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    outcomes = run_ranks(folder, [600, 700] * 4, 0.0)
    for outcome in outcomes:
        assert outcome.status == 0, outcome.told
    results = [json.loads(outcome.out) for outcome in outcomes]
    winner = 0 if isinstance(results[0], list) else 1
    assert results[winner::2] == [expected_merges([600, 700][winner])] * 4
    for message in results[1 - winner :: 2]:
        assert "is the checkpoint of another training: its vocab_size was" in message
    assert [path.name for path in folder.iterdir()] == ["ck"]


TAKEN_OVER = (
    "import sys, toksmith\n"
    + WORDS
    + """
from pathlib import Path
path = Path(sys.argv[1])
counts = toksmith.PretokenCounts(words, pattern=None)
toksmith.train(counts, 300, checkpoint=path)
other = path.read_bytes()
path.unlink()
def take_over(stage, done, total):
    path.write_bytes(other)
try:
    toksmith.train(counts, 700, checkpoint=(path, 0.0), progress=take_over)
except ValueError as error:
    print(error)
print(path.read_bytes() == other)
"""
)


def test_a_checkpoint_that_another_training_took_meanwhile_is_left_to_it(tmp_path: Path) -> None:
    outcome = run(TAKEN_OVER, tmp_path / "ck", timeout=300)
    message, is_left = outcome.out.splitlines()
    assert "is meanwhile the checkpoint of another training, and was left to it" in message, outcome.told
    assert is_left == "True"
