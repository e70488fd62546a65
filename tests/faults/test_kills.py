"""Killed at any moment, a writer leaves the old file or the whole new one, and nothing else."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from child import PRELUDE, Limits, run
from watching import bytes_in_new_files, names, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are watched as Linux has them")

# Every step of a writer, one after the other: a fork of this process is killed before its first step that touches a
# file, another one before the second, and so on, until one comes to its end.
STEPS = r"""
import contextlib, hashlib, io, json, os, random, signal, sys
from pathlib import Path

if sys.argv[1] == "named":
    del os.O_TMPFILE  # as on a system that has no files without a name
import toksmith
from toksmith import PretokenCounts, Tokenizer
from toksmith.formats.published import rank_cache
from toksmith.training.checkpoint import Checkpoint
from toksmith.compat import minbpe
from toksmith.cli import app

random.seed(0)
Path("text").write_text(" ".join(random.choices(["low", "lower", "newest", "wide"], k=5000)))
Path("trained").mkdir()
old = toksmith.train(iter(["low lower lowest"] * 3), 262)
new = toksmith.train(iter(["wide wider widest"] * 3), 265)
new.save("trained/t.json")
old_counts, new_counts = PretokenCounts({b"a": 1}), PretokenCounts({b"b": 1, b"cd": 2})
basic = minbpe.BasicTokenizer()
basic.train("low lower lowest" * 3, 260)


def checkpoint(counts):
    made = Checkpoint("out/ck", {"vocab_size": 300})
    made.begin("0" * 32)
    if counts:
        made.save(bytes(20 * counts))


def command(*args):
    with contextlib.redirect_stderr(io.StringIO()):
        assert app.run([*args]) == 0


WRITERS = {
    "save": lambda it: it.save("out/t.json", verify=False),
    "save, verified": lambda it: it.save("out/t.json"),
    "save_tiktoken": lambda it: it.save("out/t.tiktoken", format="tiktoken"),
    "save_gpt2": lambda it: it.save("out/gpt2/deep", format="gpt2"),
    "save_huggingface": lambda it: it.save_huggingface("out/hf", verify=False),
    "counts": lambda it: (old_counts if it is old else new_counts).save("out/counts"),
    "encode_file": lambda it: it.encode_file("text", "out/ids.npy", workers=1),
    "checkpoint": lambda it: checkpoint(1 if it is old else 2),
    "log": lambda it: toksmith.train(iter(["low lower"]), 258 if it is old else 260, log="out/log.csv"),
    "cache": lambda it: rank_cache.write(Path("out/cache/name"), b"old" if it is old else b"new"),
    "minbpe": lambda it: basic.save("out/basic"),
    "toksmith train": lambda it: command("train", "text", "--vocab-size", str(it.vocab_size), "-o", "out/t.json"),
    "toksmith encode": lambda it: command("encode", "-t", "trained/t.json", "text", "-o", "out/ids"),
}
TEMPORARY = ".toksmith-"


def state():
    files = (path for path in Path("out").rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def whole(found):
    return {name: digest for name, digest in found.items() if TEMPORARY not in name}


def forked(write, kill_at):
    # Returns whether the fork was killed, and before which step.
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        step = -1
        def watch(event, arguments):
            nonlocal step
            if event in ("open", "os.link", "os.rename", "os.remove", "os.mkdir", "fsync"):
                if event == "open" and not str(arguments[0]).startswith(("out", os.getcwd(), "/proc")):
                    return
                step += 1
                if step == kill_at:
                    os.write(writing, event.encode())
                    os.kill(os.getpid(), signal.SIGKILL)
        fsync = os.fsync
        def watched_fsync(descriptor):
            watch("fsync", ())
            fsync(descriptor)
        os.fsync = watched_fsync
        sys.addaudithook(watch)
        write()
        os._exit(0)
    os.close(writing)
    _, status = os.waitpid(pid, 0)
    event = os.read(reading, 99).decode()
    os.close(reading)
    assert status in (0, signal.SIGKILL), status
    return status != 0, event


def clear():
    import shutil
    shutil.rmtree("out", ignore_errors=True)
    os.mkdir("out")


kills = 0
for name in sys.argv[2:]:
    write = WRITERS[name]
    clear()
    write(new)
    after = state()
    for is_there in (False, True):
        clear()
        if is_there:
            write(old)
        before = state()
        begun = {}
        if name == "checkpoint" and not is_there:
            checkpoint(0)
            begun = state()
            os.remove("out/ck")
        assert not is_there or name in ("minbpe", "toksmith encode") or before != after, name
        step = 0
        while True:
            killed, event = forked(lambda: write(new), step)
            found = state()
            for file, digest in whole(found).items():
                assert digest in (before.get(file), begun.get(file), after[file]), (name, step, event, file)
            if len(after) == 1:
                assert whole(found) in (before, begun, after), (name, step, event, found)
            left = found.keys() - whole(found).keys()
            if sys.argv[1] == "nameless" and left:
                # Only between the steps that replace files.
                assert event in ("os.rename", "os.link"), (name, step, event, left)
            if not killed:
                assert not left and found == after, (name, found)
                break
            kills += 1
            step += 1
            # What the killed one left goes when the next writes.
            if left:
                write(old)
                assert not state().keys() - whole(state()).keys(), (name, step, event)
            clear()
            if is_there:
                write(old)
print(json.dumps(kills))
"""
WRITERS = [
    ["save", "save_tiktoken", "save_gpt2", "save_huggingface", "minbpe"],
    ["save, verified", "counts", "encode_file", "checkpoint", "log", "cache"],
    ["toksmith train", "toksmith encode"],
]


# Commands write by the same functions as the others: these are enough where the system has no files without a name.
SKIPPED = ("named", WRITERS[2])
STEPPED = [
    pytest.param(
        files, writers, id=f"{files}-{writers[0]}", marks=pytest.mark.long if (files, writers) == SKIPPED else ()
    )
    for files in ("nameless", "named")
    for writers in WRITERS
]


@pytest.mark.parametrize(("files", "writers"), STEPPED)
def test_a_writer_killed_before_each_of_its_steps(files: str, writers: list[str], tmp_path: Path) -> None:
    outcome = run(STEPS, files, *writers, cwd=tmp_path, timeout=600)
    assert outcome.status == 0, outcome.told
    assert int(outcome.out) > 5 * len(writers)


# Long calls, killed while they write. Each child says when the call begins.

LONG = r"""
import os, random, sys, threading, itertools
from pathlib import Path
import toksmith
from toksmith import PretokenCounts, Tokenizer

folder = Path(sys.argv[2])
random.seed(0)
LETTERS = bytes(b"abcdefghijklmnop  "[byte % 18] for byte in range(256))


def counts(n):
    rng = random.Random(1)
    return PretokenCounts({rng.randbytes(6): number % 50 + 1 for number in range(n)}, pattern=None)


def text(pieces=20):
    with open("long", "wb") as file:
        for _ in range(pieces):
            file.write(random.randbytes(1 << 19).translate(LETTERS))
    print("begun", flush=True)
    return "long"


def begin(it):
    print("begun", flush=True)
    return it


CALLS = {
    "train": lambda: toksmith.train(
        begin(counts(20_000)), 5000, checkpoint=(folder / "ck", 0.01)
    ).save("result", verify=False),
    "encode_file": lambda: Tokenizer().encode_file(text(), folder / "ids.npy", workers=2),
    "encode_file, raw": lambda: Tokenizer().encode_file(text(), folder / "ids", workers=1),
    "counts": lambda: begin(counts(300_000)).save(folder / "counts"),
    "spill": lambda: toksmith.count_pretokens(text(6), memory_limit="2MB", min_pretoken_count=50).save("result"),
}
CALLS[sys.argv[1]]()
print("ended", flush=True)
"""


def start(program: str, *args: object, cwd: Path, folder: Path) -> subprocess.Popen[str]:
    """Start a program whose temporary files are in `folder`, and wait until it says that it begins."""
    child = subprocess.Popen(
        [sys.executable, "-c", PRELUDE.format(**vars(Limits())) + program, *map(str, args)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env={**os.environ, "TMPDIR": str(folder)},
        start_new_session=True,
    )
    assert child.stdout is not None
    if child.stdout.readline() != "begun\n":
        raise AssertionError(child.communicate()[1])
    return child


def killed(child: subprocess.Popen[str], ready: Callable[[], bool]) -> bool:
    """Kill a child when it is ready; returns whether it was killed before it ended."""
    wait_until(ready, child)
    child.kill()
    child.communicate()
    assert child.returncode in (0, -signal.SIGKILL), child.returncode
    return child.returncode != 0


def check_kills(call: str, result: str, place: Path, kills: int, most: int) -> None:
    """Kill a call some times, at any size of its file up to `most`; then compare what it writes undisturbed."""
    folder, undisturbed = place / "watched", place / "undisturbed"
    for each in (folder, undisturbed):
        each.mkdir()
    child = start(LONG, call, undisturbed, cwd=undisturbed, folder=undisturbed)
    out, err = child.communicate()
    assert out == "ended\n", err
    expected = (undisturbed / result).read_bytes()
    is_here = (undisturbed / result).parent == undisturbed and result != "result"
    struck = 0
    for attempt in range(kills * 5):
        child = start(LONG, call, folder, cwd=place, folder=folder)
        size = random.Random(attempt).randrange(most)
        struck += killed(child, lambda pid=child.pid, size=size: bytes_in_new_files(pid, folder) > size)
        allowed = [result] if is_here else ["ck"]
        # A kill may fall between the two steps that replace a file. The next run removes what it leaves.
        temporary = [name for name in names(folder) if ".toksmith-" in name]
        assert len(temporary) <= 1, names(folder)
        assert set(names(folder)) <= {*allowed, *temporary}, names(folder)
        if is_here and (folder / result).exists():
            assert (folder / result).read_bytes() == expected
        if struck == kills:
            break
    assert struck >= kills, f"it ended before it was killed, {struck} kills"
    child = start(LONG, call, folder, cwd=place, folder=folder)
    out, err = child.communicate()
    assert out == "ended\n", err
    assert not [name for name in names(folder) if ".toksmith-" in name]
    found = folder / result if is_here else place / result
    assert found.read_bytes() == expected


SHORT_CALLS = [
    ("train", "result", 3, 1),
    ("encode_file", "ids.npy", 3, 8_000_000),
    ("counts", "counts", 2, 1_500_000),
    ("spill", "result", 2, 500_000),
]
LONG_CALLS = [
    ("train", "result", 100, 1),
    ("encode_file", "ids.npy", 40, 8_000_000),
    ("encode_file, raw", "ids", 40, 8_000_000),
    ("counts", "counts", 40, 1_500_000),
    ("spill", "result", 40, 500_000),
]


@pytest.mark.parametrize(("call", "result", "kills", "most"), SHORT_CALLS, ids=lambda value: str(value))
def test_a_call_killed_while_it_writes(call: str, result: str, kills: int, most: int, tmp_path: Path) -> None:
    check_kills(call, result, tmp_path, kills, most)


@pytest.mark.long
@pytest.mark.parametrize(("call", "result", "kills", "most"), LONG_CALLS, ids=lambda value: str(value))
def test_a_call_killed_many_times(call: str, result: str, kills: int, most: int, tmp_path: Path) -> None:
    check_kills(call, result, tmp_path, kills, most)


SPOOLED = """
import sys
from toksmith.cli import app
print("begun", flush=True)
sys.exit(app.run(sys.argv[1:]))
"""


@pytest.mark.parametrize("command", ["encode", "decode"])
def test_a_command_killed_while_it_reads_and_writes(command: str, tmp_path: Path) -> None:
    from toksmith import Tokenizer

    Tokenizer().save(tmp_path / "t.json")
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "file").write_text("old")
    child = start(SPOOLED, command, "-t", "t.json", "-o", folder / "file", cwd=tmp_path, folder=folder)
    assert child.stdin is not None
    child.stdin.write("12 34 " * 500_000)
    child.stdin.flush()
    assert killed(child, lambda: bytes_in_new_files(child.pid, folder) > 0)
    assert names(folder) == ["file"]
    assert (folder / "file").read_text() == "old"


LIVE = """
import sys
from pathlib import Path
if sys.argv[1] == "named":
    import os
    del os.O_TMPFILE
from toksmith.files import whole_files

def parts(name):
    yield name
    if name == b"outer":
        whole_files.write("out/file", parts(b"inner"))
    yield name

whole_files.write("out/file", parts(b"outer"))
print(Path("out/file").read_text(), [path.name for path in Path("out").iterdir()])
"""


@pytest.mark.parametrize("files", ["nameless", "named"])
def test_the_file_of_a_live_writer_is_left_alone(files: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for name in (".file.toksmith-0123abcd.tmp", ".file.toksmith-0123abcd.tmp.tmp", ".other.toksmith-0123abcd.tmp"):
        (out / name).write_text("left")
    outcome = run(LIVE, files, cwd=tmp_path)
    assert outcome.status == 0, outcome.told
    assert outcome.out.startswith("outerouter ")
    assert names(out) == [".file.toksmith-0123abcd.tmp.tmp", ".other.toksmith-0123abcd.tmp", "file"]
