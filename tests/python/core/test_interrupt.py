"""Ctrl-C in a real process, and threads that live on beside long calls."""

import itertools
import os
import queue
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toksmith import Tokenizer, count_pretokens, train

pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to a child on Windows"),
]

# A call ends within a second. The machine of a test may have other things to do.
SLACK = 3.0
# A call is interrupted so long after it began; later, where it does something else first.
ENTER, ENTER_LATER = 0.3, 0.6
LATER = {"merging", "merging with first ties", "encode, in its merges"}
HANG = 60.0

# Runs calls by name. Each is named as it begins, and then how it ended.
CHILD = r"""
import itertools, os, random, sys

random.seed(0)
LETTERS = "abcdefghijklmnop"
words = ["".join(random.choices(LETTERS, k=random.randint(2, 9))) for _ in range(5000)]
text = " ".join(random.choices(words, k=300_000))  # 2 MB
with open("text", "w") as file:
    file.write(text)
if "encode_file" in sys.argv[1:]:
    # Words that hardly ever come twice take longer.
    letters = "".join(random.choices(LETTERS + "  ", k=1 << 21))
    with open("long", "w") as file:
        file.writelines([letters] * 100)

import toksmith
from toksmith import Tokenizer
from toksmith.engines import count_arrow, encode_arrow

trained = toksmith.train(iter([text[:200_000]]), 500)
words_only = Tokenizer(trained.vocab, trained.merges, pattern=r"\w+|\W+|(?<=a)b")
# Matches nothing, in time exponential in the run of letters.
endless = r"(?:a|aa)+$(?<!a)b|(?:a|aa|aaa)*c"
stuck = Tokenizer(trained.vocab, trained.merges, pattern=endless)
trap = "a" * 60 + "d"
with open("trap", "w") as file:
    file.write(trap)


def long_text():
    return text * 100  # 200 MB


def chunks():
    import pyarrow

    return pyarrow.chunked_array([pyarrow.array([text])] * 1000)


def pairless():
    return "".join(random.choices("acgt", k=1 << 20)) * 48


calls = {name: call for name, call in CALLS.items() if name in sys.argv[1:]}
prepared = {name: make() for name, (make, call) in calls.items()}
before = sorted(os.listdir("."))
for name, (make, call) in calls.items():
    print(name, flush=True)
    try:
        call(prepared[name])
        print("FINISHED", flush=True)
    except KeyboardInterrupt:
        print("INTERRUPTED", flush=True)
    prepared[name] = None
after = sorted(os.listdir("."))
print("LEFT", [name for name in after if name not in before], flush=True)
"""

CALLS = {
    "counting": ("None", "toksmith.count_pretokens(['text'] * 1000)"),
    "counting on one thread": ("None", "toksmith.count_pretokens(['text'] * 1000, workers=1)"),
    "counting texts": ("None", "toksmith.count_pretokens(iter(itertools.repeat(text)))"),
    "counting one long text": ("long_text()", "[toksmith.count_pretokens(iter(it)) for _ in range(9)]"),
    "merging": ("pairless()", "toksmith.train(iter([it]), 200_000, pattern=None)"),
    "merging with first ties": (
        "pairless()",
        "toksmith.train(iter([it]), 200_000, pattern=None, ties='first')",
    ),
    "encode": ("long_text() * 2", "trained.encode(it)"),
    "encode, one pretoken": ("'ab' * 100_000_000", "trained.encode(it)"),
    "encode, in its merges": ("pairless()", "trained.encode(it)"),
    "encode_bytes": ("(long_text() * 2).encode()", "trained.encode(it)"),
    "count": ("long_text()", "[trained.count(it) for _ in range(9)]"),
    "encode_batch": ("[text] * 1000", "trained.encode_batch(it, workers=2)"),
    "encode_batch on one thread": ("[text] * 1000", "trained.encode_batch(it, workers=1)"),
    "encode_arrow": ("chunks()", "[encode_arrow(trained, it, workers=n) for n in (2, 1)]"),
    "count_arrow": ("chunks()", "[count_arrow(trained, it) for _ in range(9)]"),
    "encode_iterable": ("None", "sum(trained.encode_iterable(itertools.repeat(text)))"),
    "encode_iterable, small pieces": ("None", "sum(trained.encode_iterable(itertools.repeat('ab cd')))"),
    "encode_with_offsets": ("long_text()", "trained.encode_with_offsets(it)"),
    "encode_file": ("None", "[trained.encode_file('long', workers=2) for _ in range(99)]"),
    "encode_file to a file": ("None", "[trained.encode_file('long', 'ids.npy', workers=1) for _ in range(99)]"),
    "encode_file, one piece": (
        "None",
        "Tokenizer(trained.vocab, trained.merges, pattern=None).encode_file('long', 'i')",
    ),
    "split": ("long_text()", "trained.split(it, 10)"),
    "decode": ("None", "trained.decode(itertools.repeat(97, 1_000_000_000))"),
    "decode a list": ("[97] * 40_000_000", "[trained.decode(it) for _ in range(99)]"),
    "decode_stream": ("None", "sum(map(len, trained.decode_stream(itertools.repeat(97))))"),
    "regex counting": ("None", "toksmith.count_pretokens(['text'] * 1000, pattern='cl100k')"),
    "regex encode": ("long_text()", "words_only.encode(it)"),
    "regex encode_batch": ("[text] * 1000", "words_only.encode_batch(it)"),
    "regex encode_iterable": ("None", "sum(words_only.encode_iterable([text] * 100))"),
    "one match, encode": ("None", "stuck.encode(trap)"),
    "one match, long text": ("text + trap", "stuck.encode(it)"),
    "one match, encode_batch": ("None", "stuck.encode_batch([trap] * 9, workers=2)"),
    "one match, encode_iterable": ("None", "list(stuck.encode_iterable(iter(trap)))"),
    "one match, count": ("None", "stuck.count(trap)"),
    "one match, truncate": ("None", "stuck.truncate(trap, 5)"),
    "one match, explain": ("None", "toksmith.lab.explain(stuck, trap)"),
    "one match, counting files": ("None", "toksmith.count_pretokens(['trap'] * 5, pattern=endless, workers=2)"),
    "one match, training": ("None", "toksmith.train(iter([trap]), 300, pattern=endless)"),
    "a pipe that nobody writes into": ("os.mkfifo('pipe')", "toksmith.count_pretokens(['text', 'pipe'])"),
    "a pipe that falls silent": (
        "[os.mkfifo('silent'), os.open('silent', os.O_RDWR)]",
        "[os.write(it[1], b'some text'), toksmith.train('silent', 300)]",
    ),
    "saving after a training": (
        "None",
        "toksmith.train(['text'] * 1000, 300).save('tokenizer.json')",
    ),
}
GROUPS = {
    "counting": ["counting", "counting on one thread", "counting texts", "counting one long text"],
    "merging": ["merging", "merging with first ties", "saving after a training"],
    "encode": ["encode", "encode, one pretoken", "encode, in its merges", "encode_bytes"],
    "other encoding": ["count", "encode_with_offsets", "split"],
    "batches": ["encode_batch", "encode_batch on one thread"],
    "arrow": ["encode_arrow", "count_arrow"],
    "streams": ["encode_iterable", "encode_iterable, small pieces"],
    "files": ["encode_file", "encode_file to a file", "encode_file, one piece"],
    "decode": ["decode", "decode a list", "decode_stream"],
    "regex": ["regex counting", "regex encode", "regex encode_batch", "regex encode_iterable"],
    "one match": [name for name in CALLS if name.startswith("one match")],
    "pipes": ["a pipe that nobody writes into", "a pipe that falls silent"],
}
assert sorted(name for group in GROUPS.values() for name in group) == sorted(CALLS)
assert set(CALLS) >= LATER


class Child:
    """A process that runs calls one after the other, in a folder of its own."""

    def __init__(self, names: list[str], folder: Path) -> None:
        table = ",\n".join(f"{name!r}: (lambda: {make}, lambda it: {call})" for name, (make, call) in CALLS.items())
        code = CHILD.replace("calls = {name: call for", f"CALLS = {{\n{table}\n}}\ncalls = {{name: call for", 1)
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, *names],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=folder,
            env={**os.environ, "TMPDIR": str(folder)},
        )
        self.lines: queue.Queue[str] = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))

    def line(self, timeout: float) -> str:
        try:
            return self.lines.get(timeout=timeout)
        except queue.Empty:
            return f"nothing in {timeout} s"

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.mark.parametrize("group", GROUPS)
def test_ctrl_c_ends_a_call(group: str, tmp_path: Path) -> None:
    if group == "arrow":
        pytest.importorskip("pyarrow", reason="needs pyarrow")
    names = GROUPS[group]
    child = Child(names, tmp_path)
    try:
        for name in names:
            assert child.line(HANG) == name
            time.sleep(ENTER_LATER if name in LATER else ENTER)
            assert child.lines.empty(), f"{name} was over before it could be interrupted: {child.line(0)}"
            start = time.perf_counter()
            child.process.send_signal(signal.SIGINT)
            assert child.line(HANG) == "INTERRUPTED", name
            took = time.perf_counter() - start
            assert took < SLACK, f"{name} took {took:.2f} s to end"
        assert child.line(HANG) == "LEFT []"
        assert child.process.wait(HANG) == 0
    finally:
        child.close()


def test_ctrl_c_ends_the_command_and_leaves_no_file(tmp_path: Path) -> None:
    rng = random.Random(0)
    (tmp_path / "text").write_text("".join(rng.choices("acgt", k=1 << 22)))
    arguments = ["train", *["text"] * 8, "--vocab-size", "100000", "-o", "tokenizer.json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "toksmith", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    try:
        time.sleep(2 * ENTER_LATER)
        assert process.poll() is None, process.communicate()
        start = time.perf_counter()
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=HANG)
        assert time.perf_counter() - start < SLACK
        assert process.returncode != 0
        assert out == ""
        assert "Traceback" not in errors
        assert [path.name for path in tmp_path.iterdir()] == ["text"]
    finally:
        process.kill()
        process.wait()


# Other threads


class Ticker:
    """A thread that notes when it runs. `longest` is how long it waited at most between two times."""

    def __enter__(self) -> "Ticker":
        self.ticks = [time.perf_counter()]
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._tick)
        self.thread.start()
        return self

    def _tick(self) -> None:
        while not self.stop.wait(0.005):
            self.ticks.append(time.perf_counter())

    def __exit__(self, *_: object) -> None:
        self.ticks.append(time.perf_counter())
        self.stop.set()
        self.thread.join()

    @property
    def longest(self) -> float:
        return max(later - earlier for earlier, later in zip(self.ticks, self.ticks[1:], strict=False))


@pytest.fixture(scope="module")
def text() -> str:
    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefgh", k=rng.randint(1, 9))) for _ in range(3000)]
    return " ".join(rng.choices(words, k=400_000))  # 2 MB


@pytest.fixture(scope="module")
def tokenizer(text: str) -> Tokenizer:
    return train(iter([text[:100_000]]), 400)


LONG_CALLS: dict[str, Callable[[str, Tokenizer], Any]] = {
    "counting": lambda text, _: count_pretokens(iter([text] * 100)),
    "merging": lambda text, _: train(iter([text * 4]), 3000, pattern=None),
    "encode": lambda text, tokenizer: tokenizer.encode(text * 32),
    "encode_to_numpy": lambda text, tokenizer: tokenizer.encode_to_numpy(text * 80),
    "encode_batch": lambda text, tokenizer: tokenizer.encode_batch([text] * 48),
    "regex counting": lambda text, _: count_pretokens(iter([text] * 2), pattern=r"\w+|\W+|(?<=a)b"),
    "regex encode": lambda text, tokenizer: Tokenizer(
        tokenizer.vocab, tokenizer.merges, pattern=r"\w+|\W+|(?<=a)b"
    ).encode(text * 2),
    "decode": lambda _, tokenizer: tokenizer.decode(itertools.repeat(97, 20_000_000)),
}


@pytest.mark.parametrize("name", LONG_CALLS)
def test_other_threads_run_beside_a_long_call(name: str, text: str, tokenizer: Tokenizer) -> None:
    with Ticker() as ticker:
        result = LONG_CALLS[name](text, tokenizer)
        # Freeing a list of millions is Python's own, and waits for the end.
    assert len(ticker.ticks) > 10, "the call is too short to show anything"
    # In one piece each of these is longer; and on a busy machine a wait is long, as the whole call is.
    whole = ticker.ticks[-1] - ticker.ticks[0]
    assert ticker.longest < max(0.25, whole / 4), f"another thread stood still for {ticker.longest:.2f} s"
    del result


def test_an_interrupt_is_raised_in_the_thread_that_called(text: str) -> None:
    # A worker thread goes on to its end; only the main thread is told of signals.
    results: list[int] = []
    thread = threading.Thread(
        target=lambda: results.append(count_pretokens(iter([text] * 10), pattern=r"\w+|\W+|(?<=a)b").total)
    )
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
        count_pretokens(iter([text] * 200))
    thread.join()
    assert len(results) == 1
    assert count_pretokens(iter(["a b"])).total == 2
