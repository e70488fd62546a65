"""A run of `toksmith tokenize` that is killed, again and again, ends in the same bytes as an undisturbed one."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import shards_oracle
import steps

import toksmith
from toksmith import Tokenizer
from toksmith.data import tokenize as module

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are killed as POSIX has it")

END = "<|endoftext|>"
# The command, with a state behind nearly every job: little text has many moments to be killed in.
COMMAND = """
import sys
from toksmith.data import tokenize as module
module.CHUNK_BYTES, module.SNAPSHOT_SECONDS = 4000, float(sys.argv.pop(1))
from toksmith.cli import main
main()
"""


def corpus(folder: Path) -> list[Path]:
    """Write sources of several kinds: files of all sizes, JSON lines, also compressed, one long document, Parquet."""
    import gzip

    rng = random.Random(3)
    words = ["low", "lower", "newest", "the", "quick", "brown", "fox", "über", "日本", "12", "\n"]

    def text(count: int) -> str:
        return " ".join(rng.choices(words, k=count))

    folder.mkdir()
    lines = [json.dumps({"text": text(rng.randrange(200))}) + "\n" for _ in range(1500)]
    (folder / "a.jsonl").write_text("".join(lines[:700]))
    (folder / "b.jsonl.gz").write_bytes(gzip.compress("".join(lines[700:]).encode()))
    for number in range(60):
        (folder / f"c{number:02}.txt").write_text(text(50))
    (folder / "d.txt").write_text(text(60_000))
    (folder / "e.txt").write_text(END.join(text(rng.randrange(300)) for _ in range(400)))
    with contextlib.suppress(ImportError):
        import pyarrow as pa
        from pyarrow import parquet

        table = pa.table({"text": [text(rng.randrange(200)) for _ in range(700)]})
        parquet.write_table(table, folder / "f.parquet", row_group_size=100)
    return sorted(folder.iterdir())


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tokenizer and sources."""
    folder = tmp_path_factory.mktemp("kills")
    toksmith.train(iter(["low lower newest the quick brown fox"] * 3), 280, special_tokens=[END]).save(
        folder / "t.json"
    )
    corpus(folder / "in")
    return folder


def start(place: Path, out: str, workers: int, options: list[str], seconds: float = 0.0) -> subprocess.Popen[bytes]:
    arguments = ["tokenize", "in", "-t", "t.json", "-o", out, "--append", END, "--shard-size", "9000"]
    arguments += ["--document-separator", END, "--workers", str(workers), *options]
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, str(seconds), *arguments],
        cwd=place,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


OPTIONS = {
    "plain": [],
    "splits": ["--split", "val=0.1", "--format", "npy"],
    "shuffle": ["--shuffle", "3", "--shuffle-buffer", "12000", "--format", "megatron"],
    "parquet": ["--format", "parquet"],
}


def check_kills(place: Path, name: str, kills: int) -> None:
    """Kill runs at random moments, and go on with another number of workers, until one ends.

    Other runs follow until there were so many kills, one of them after a state was saved.
    """
    rng = random.Random(f"{name} {kills}")
    options = OPTIONS[name]
    begun = time.monotonic()
    child = start(place, f"{name}-whole", 2, options)
    told = child.communicate()[1]
    assert child.returncode == 0, told
    duration = time.monotonic() - begun
    expected = shards_oracle.files(place / f"{name}-whole")
    struck = resumed = 0
    for attempt in range(10 * kills):
        out = f"{name}-{kills}-{attempt}"
        while True:
            child = start(place, out, rng.choice([1, 2, 3]), options)
            try:
                told = child.communicate(timeout=rng.uniform(0.4, 1.0) * duration)[1]
            except subprocess.TimeoutExpired:
                resumed += (place / out / ".toksmith-unfinished" / "state.json").exists()
                child.send_signal(signal.SIGKILL)
                child.communicate()
                struck += 1
                continue
            assert child.returncode == 0, told
            break
        assert shards_oracle.files(place / out) == expected
        if struck >= kills and resumed:
            break
    assert struck >= kills
    assert resumed > 0, "some had a state to go on from"


def test_killed_and_started_again(place: Path) -> None:
    check_kills(place, "splits", 3)


@pytest.mark.long
@pytest.mark.parametrize("name", OPTIONS)
def test_killed_many_times(name: str, place: Path) -> None:
    check_kills(place, name, 30)


# A source that forks, as one does whose texts come from a pool of processes. The child outlives the run.
FORKING = r"""
import os, sys, time
import toksmith

def texts():
    yield "low lower"
    if sys.argv[1] == "again":
        return
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    print(child, flush=True)
    if sys.argv[1] == "kill":
        time.sleep(60)
    raise RuntimeError("the source has failed")

toksmith.tokenize(texts(), toksmith.Tokenizer(), "out", workers=1)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("end", ["kill", "fail"])
def test_a_child_of_a_run_that_ended_keeps_no_lock(end: str, tmp_path: Path) -> None:
    run = subprocess.Popen(
        [sys.executable, "-c", FORKING, end], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert run.stdout is not None
    child = int(run.stdout.readline())
    try:
        if end == "kill":
            run.kill()
        assert run.wait(30) != 0
        again = subprocess.run(
            [sys.executable, "-c", FORKING, "again"], cwd=tmp_path, capture_output=True, timeout=60, check=False
        )
        assert again.returncode == 0, again.stderr[-3000:]
        assert (tmp_path / "out/manifest.json").exists()
    finally:
        os.kill(child, signal.SIGKILL)
        run.stdout.close()


STEPS = (
    steps.KILL_BEFORE
    + r"""
import os, signal, sys
from pathlib import Path
from toksmith.data import tokenize as module
import toksmith, hashlib, json

module.CHUNK_BYTES, module.SNAPSHOT_SECONDS = 20_000, 0.0
tokenizer = toksmith.Tokenizer.load("t.json")


def write(out, workers=1):
    return toksmith.tokenize("in/a.jsonl", tokenizer, out, shard_size=12_000, workers=workers)


def state(out):
    files = (path for path in out.rglob("*") if path.is_file())
    return {str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


write(Path("steps-whole"))
expected = state(Path("steps-whole"))
step, stride = map(int, sys.argv[1:])
kills = 0
while True:
    out = Path(f"steps-{step}")
    pid = os.fork()
    if not pid:
        kill_before(step)
        write(out)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    assert status in (0, signal.SIGKILL), status
    write(out, 2)
    assert state(out) == expected, (step, set(state(out)) ^ set(expected))
    if not status:
        break
    kills += 1
    step += stride
print(kills)
"""
)


def test_killed_before_its_steps(place: Path, tmp_path: Path) -> None:
    """A fork is killed before a step that touches a file, the next one before a later one, and so on."""
    found = subprocess.run(
        [sys.executable, "-c", STEPS, "0", "9"],
        cwd=place, env=steps.environment(tmp_path), capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr[-3000:]
    assert int(found.stdout) > 5


def test_a_state_of_something_else(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What differs from the run that was begun is named."""
    monkeypatch.setattr(module, "CHUNK_BYTES", 4000)
    tokenizer = Tokenizer.load(place / "t.json")
    source = tmp_path / "a.jsonl"
    source.write_bytes((place / "in/a.jsonl").read_bytes() + b"{")
    out = tmp_path / "out"
    with pytest.raises(ValueError, match="line 701"):
        toksmith.tokenize(source, tokenizer, out, shard_size=9000)
    assert (out / ".toksmith-unfinished/state.json").exists(), "what was before the broken line is kept"
    for options, message in (
        ({"shard_size": 9001}, "had shard_size 9000, not 9001"),
        ({"append": END}, r"had append \[\], not \['<\|endoftext\|>'\]"),
        ({"split": "val=0.5"}, "had split {}, not {'val': 0.5}"),
    ):
        with pytest.raises(ValueError, match=message):
            toksmith.tokenize(source, tokenizer, out, **{"shard_size": 9000, **options})
    with pytest.raises(ValueError, match="had another tokenizer"):
        toksmith.tokenize(source, Tokenizer(), out, shard_size=9000)
    os.utime(source, (1, 1))
    with pytest.raises(ValueError, match=r"had the source '.*a\.jsonl' that has changed since then"):
        toksmith.tokenize(source, tokenizer, out, shard_size=9000)
    source.write_bytes(b"{}")
    with pytest.raises(ValueError, match=r"of \d+ bytes, which are 2 now"):
        toksmith.tokenize(source, tokenizer, out, shard_size=9000)
