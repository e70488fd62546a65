"""Ctrl-C and SIGTERM while a call or a command writes or waits: it ends, as it should, and leaves nothing behind.

Ctrl-C in the calls that only compute, and in commands that read standard input, is tested in `tests/python`.
"""

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from watching import PATIENCE, has_new_file, names, wait_until

import toksmith

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are watched as Linux has them")

# Runs one call again and again, until a signal ends it.
LOOP = r"""
import itertools, os, random, sys, warnings
from pathlib import Path
import toksmith
from toksmith import PretokenCounts, Tokenizer
from toksmith.formats.published import rank_cache
from toksmith.compat import huggingface, minbpe
from toksmith.lab.page import document

warnings.simplefilter("ignore")
folder = Path(sys.argv[2])
rng = random.Random(0)
words = PretokenCounts({rng.randbytes(6): rng.randint(1, 50) for _ in range(100_000)}, pattern="gpt2")
some = words.at_least(40)
small, large = toksmith.train(some, 600), toksmith.train(some, 2000)
text = " ".join(f"{rng.randrange(10**7)}" for _ in range(100_000))
Path("text").write_text(text)
basic = minbpe.BasicTokenizer()
basic.train(text[:20_000], 600)
words.save("counts")
ids = large.encode(text)


def train_with_checkpoint(**options):
    (folder / "ck").unlink(missing_ok=True)
    toksmith.train(some, 500, checkpoint=(folder / "ck", 0.0), **options)


CALLS = {
    "checkpoint": train_with_checkpoint,
    "checkpoint and log": lambda: train_with_checkpoint(log=folder / "log.csv"),
    "spill": lambda: toksmith.count_pretokens(["text"] * 4, memory_limit="6MB", min_pretoken_count=50),
    "regex": lambda: toksmith.count_pretokens(["text"] * 9, pattern=r"\w|\W|(?<=a)b", workers=2),
    "save": lambda: large.save(folder / "t.json", verify=False),
    "save, verified": lambda: large.save(folder / "t.json"),
    "save_tiktoken": lambda: large.save(folder / "ranks", verify=False, format="tiktoken"),
    "save_gpt2": lambda: large.save(folder / "gpt2", verify=False, format="gpt2"),
    "save_huggingface": lambda: large.save_huggingface(folder / "hf", verify=False),
    "huggingface": lambda: huggingface.Tokenizer(large).save(folder / "hf.json", verify=False),
    "from_str": lambda: huggingface.Tokenizer.from_str(huggingface.Tokenizer(small).to_str()),
    "minbpe": lambda: basic.save(folder / "basic"),
    "counts.save": lambda: words.save(folder / "counts"),
    "counts.load": lambda: PretokenCounts.load("counts"),
    "encode_file": lambda: large.encode_file("text", folder / "ids.npy", workers=2),
    "inspect": lambda: toksmith.lab.inspect(large, on="text"),
    "compare": lambda: toksmith.lab.compare([small, large], "text").to_html(),
    "page": lambda: document.write(folder / "page.html", {"large": large}),
    "encode_to_numpy": lambda: large.encode_to_numpy(text * 30),
    "encode_batch_to_numpy": lambda: large.encode_batch_to_numpy([text] * 30),
    "decode_batch": lambda: large.decode_batch([ids] * 30),
    "cache": lambda: rank_cache.write(folder / "cache" / "ranks", bytes(1 << 20)),
}
call = CALLS[sys.argv[1]]
call()
for path in sorted(folder.rglob("*"), reverse=True):
    path.rmdir() if path.is_dir() else path.unlink()
print("begun", flush=True)
try:
    while True:
        call()
except KeyboardInterrupt:
    print("INTERRUPTED", flush=True)
"""
# What each call may leave: whole files under their names. Then there is the folder that it made.
FILES: dict[str, set[str]] = {
    "checkpoint": {"ck"},
    "checkpoint and log": {"ck", "log.csv"},
    "spill": set(),
    "regex": set(),
    "save": {"t.json"},
    "save, verified": {"t.json"},
    "save_tiktoken": {"ranks"},
    "save_gpt2": {"gpt2", "gpt2/vocab.json", "gpt2/merges.txt"},
    "save_huggingface": {
        "hf",
        "hf/tokenizer.json",
        "hf/vocab.json",
        "hf/merges.txt",
        "hf/tokenizer_config.json",
        "hf/special_tokens_map.json",
    },
    "huggingface": {"hf.json"},
    "from_str": set(),
    "minbpe": {"basic.model", "basic.vocab"},
    "counts.save": {"counts"},
    "counts.load": set(),
    "encode_file": {"ids.npy"},
    "inspect": set(),
    "compare": set(),
    "page": {"page.html"},
    "encode_to_numpy": set(),
    "encode_batch_to_numpy": set(),
    "decode_batch": set(),
    "cache": {"cache", "cache/ranks"},
}
QUICK = ("spill", "checkpoint", "save_huggingface", "counts.save")


def check_signal(name: str, sent: signal.Signals, place: Path, seed: int) -> None:
    folder = place / "out"
    folder.mkdir(exist_ok=True)
    child = subprocess.Popen(
        [sys.executable, "-c", LOOP, name, str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=place,
        env={**os.environ, "TMPDIR": str(folder)},
        start_new_session=True,
    )
    try:
        assert child.stdout is not None
        if child.stdout.readline() != "begun\n":
            raise AssertionError(child.communicate()[1])
        time.sleep(random.Random(seed).uniform(0.0, 0.3))
        # To the group, as a terminal sends it.
        os.killpg(child.pid, sent)
        out, errors = child.communicate(timeout=PATIENCE)
    finally:
        child.kill()
        child.communicate()
    if sent == signal.SIGINT:
        assert (child.returncode, out) == (0, "INTERRUPTED\n"), errors
    else:
        assert child.returncode == -sent, errors
    left = set(names(folder)) - FILES[name]
    if sent == signal.SIGTERM:
        # The two steps that replace a file may be apart for a moment.
        left = {path for path in left if ".toksmith-" not in path}
    assert left == set()


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("name", QUICK)
def test_a_signal_ends_a_call(name: str, sent: signal.Signals, tmp_path: Path) -> None:
    check_signal(name, sent, tmp_path, 0)


@pytest.mark.long
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("name", FILES)
def test_a_signal_at_any_moment_ends_a_call(name: str, sent: signal.Signals, tmp_path: Path) -> None:
    for seed in range(8):
        check_signal(name, sent, tmp_path, seed)
    # What a killed process left goes with the next.
    check_signal(name, signal.SIGINT, tmp_path, 99)
    assert not [path for path in names(tmp_path / "out") if ".toksmith-" in path]


# Commands


@pytest.fixture
def place(tmp_path: Path) -> Path:
    tokenizer = toksmith.train(iter(["low lower lowest newest widest " * 100]), 270)
    tokenizer.save(tmp_path / "t.json")
    letters = bytes(b"acgt "[byte % 5] for byte in range(256))
    (tmp_path / "text").write_bytes(random.Random(0).randbytes(1 << 22).translate(letters))
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "out").mkdir()
    return tmp_path


def start(place: Path, *args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "toksmith", *args],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=place,
        env={
            **os.environ,
            "TMPDIR": str(place / "out"),
            "TIKTOKEN_CACHE_DIR": "",
            "TOKSMITH_CACHE_DIR": str(place / "out"),
        },
        start_new_session=True,
    )


def check_command(
    child: subprocess.Popen[str], sent: signal.Signals, folder: Path, allowed: set[str], said: str = ""
) -> None:
    child.send_signal(sent)
    try:
        out, errors = child.communicate(timeout=PATIENCE)
    finally:
        child.kill()
        child.communicate()
    assert child.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[sent], errors
    assert (out, errors) == ("", said)
    assert set(names(folder)) <= allowed


@pytest.fixture(params=[signal.SIGINT, signal.SIGTERM], ids=lambda sent: sent.name)
def sent(request: pytest.FixtureRequest) -> signal.Signals:
    return signal.Signals(request.param)


def test_a_command_that_writes_an_array(sent: signal.Signals, place: Path) -> None:
    with (place / "text").open("ab") as file:
        file.truncate(1 << 30)  # a gigabyte of zero bytes, which take no room on the disk
    child = start(place, "encode", "-t", "t.json", "text", "-o", "out/ids.npy")
    assert wait_until(lambda: has_new_file(child.pid, place / "out"), child)
    check_command(child, sent, place / "out", set())


def test_a_command_that_trains_with_a_checkpoint(sent: signal.Signals, place: Path) -> None:
    arguments = ["train", *["text"] * 8, "--vocab-size", "100000", "--checkpoint", "out/ck", "-o", "out/t.json"]
    child = start(place, *arguments)
    assert wait_until((place / "out" / "ck").exists, child)
    said = "toksmith: out/t.json: interrupted; the same command goes on from where it stopped\n"
    check_command(child, sent, place / "out", {"ck"}, said)
    assert (place / "out" / "ck").stat().st_size > 0


READING = {
    "encode to an array": ["encode", "-t", "t.json", "pipe", "-o", "out/ids.npy"],
    "verify": ["verify", "t.json", "--against", "tiktoken", "pipe"],
}


@pytest.mark.parametrize("command", READING)
def test_a_command_that_waits_for_a_pipe(command: str, sent: signal.Signals, place: Path) -> None:
    if command == "verify":
        pytest.importorskip("tiktoken")
    child = start(place, *READING[command])
    pipes: list[int] = []
    assert wait_until(lambda: has_reader(place / "pipe", pipes), child), child.communicate()
    os.write(pipes[0], b"12 ")
    check_command(child, sent, place / "out", set())
    os.close(pipes[0])


def has_reader(pipe: Path, opened: list[int]) -> bool:
    """Open a pipe to write into, if somebody reads from it."""
    with contextlib.suppress(OSError):
        opened.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
    return bool(opened)


def test_a_download_that_falls_silent(sent: signal.Signals, place: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        child = start(place, "fetch", "r50k_base", "--to", "out", "--from", address)
        accepted: list[socket.socket] = []
        assert wait_until(lambda: has_client(server, accepted), child), child.communicate()
        with accepted[0] as connection:
            connection.setblocking(True)
            connection.recv(1 << 16)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + bytes(1000))
            check_command(child, sent, place / "out", set())


def has_client(server: socket.socket, accepted: list[socket.socket]) -> bool:
    with contextlib.suppress(BlockingIOError):
        accepted.append(server.accept()[0])
    return bool(accepted)
