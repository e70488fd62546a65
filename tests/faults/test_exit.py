"""The interpreter exits while daemon threads are inside calls: with its own status, and without a word."""

import sys

import pytest
from child import run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="threads are unwound as glibc does it")

# Each exit is that of a forked child, which needs no import of the package.
PROGRAM = r"""
import codecs, gzip, os, random, tempfile, threading, time
from pathlib import Path
import toksmith

TEXTS = ["the cat sat on the mat"] * 300
tokenizer = toksmith.train(iter(TEXTS), 268)
folder = Path(tempfile.mkdtemp(dir=sys.argv[2]))
(folder / "text.gz").write_bytes(gzip.compress(" ".join(TEXTS).encode(), 1))
codecs.register_error("slow", lambda error: ("?" * len(range(error.start, error.end)), error.end))


class Index(int):
    def __index__(self):
        return sum(range(int(self))) // max(1, sum(range(int(self)))) * int(self)


class Closed:
    def __init__(self, items):
        self.items = iter(items)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.items)

    def __del__(self):
        sum(range(1000))


def generator(items):
    return (item for item in items)


def shards():
    toksmith.tokenize(generator(TEXTS), tokenizer, tempfile.mkdtemp(dir=folder) + "/shards")


def seen(*progress):
    return sum(range(100))


CALLS = {
    "train": lambda: toksmith.train(generator(TEXTS), 268),
    "train, progress": lambda: toksmith.train(iter(TEXTS * 999), 268, progress=seen),
    "train, regex": lambda: toksmith.train(iter(generator(TEXTS)), 260, pattern=r"\w+|\W|(?<=a)b"),
    "count_pretokens": lambda: toksmith.count_pretokens(folder / "text.gz"),
    "encode_batch": lambda: tokenizer.encode_batch(generator(TEXTS)),
    "encode_iterable": lambda: list(tokenizer.encode_iterable(generator(TEXTS))),
    "encode_to_numpy": lambda: tokenizer.encode_to_numpy("the cat"),
    "tokenize": shards,
    "decode": lambda: tokenizer.decode(generator([260] * 2000)),
    "decode, __index__": lambda: tokenizer.decode([Index(260)] * 2000),
    "decode, __del__": lambda: [tokenizer.decode(Closed([260])) for _ in range(100)],
    "decode, errors": lambda: tokenizer.decode([255] * 200, errors="slow"),
    "decode_batch": lambda: tokenizer.decode_batch(generator([[260]] * 2000)),
    "pieces": lambda: list(toksmith.DecodeStream(tokenizer).pieces(generator([260] * 500))),
}


def work():
    while True:
        CALLS[sys.argv[1]]()


ended = []
for number in range(int(sys.argv[3])):
    child = os.fork()
    if not child:
        for _ in range(3):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(random.Random(number).random() * (0.2 if sys.argv[1] == "encode_to_numpy" else 0.04))
        break
    ended.append(os.waitpid(child, 0)[1])
else:
    assert not any(ended), ended
"""

CALLS = [line.split('"')[1] for line in PROGRAM.split("CALLS = {")[1].split("}")[0].splitlines() if '": ' in line]


@pytest.mark.parametrize("times", [5, pytest.param(20, marks=pytest.mark.long)])
@pytest.mark.parametrize("call", CALLS)
def test_exits_beside_calls_in_daemon_threads(call: str, times: int, tmp_path: object) -> None:
    outcome = run(PROGRAM, call, tmp_path, times)
    assert (outcome.status, outcome.out, outcome.err) == (0, "", ""), outcome.told
