"""Where the system starts no more threads and processes, every call goes on with those there are."""

import gzip
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from child import Limits, run

from toksmith import Tokenizer, train

pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(sys.platform != "linux", reason="limits are set as Linux has them"),
]

# All calls that start threads or processes, with and without the limit. What they import is imported before: NumPy
# starts threads of its own.
PROGRAM = r"""
import itertools, pathlib, warnings
import numpy, regex, rich.progress, toksmith.cli, toksmith.cli.app
import toksmith
from toksmith import *
from toksmith.training import counting, counts, train as training
from toksmith.cli import app
from toksmith.compat import huggingface

folder = pathlib.Path(sys.argv[1])
numbers, pipes = itertools.count(), itertools.count()
warnings.simplefilter("ignore")
for name in app.COMMANDS:
    app.load(name)
path = str(folder / "text")
text = (folder / "text").read_text()
pieces = [text[at : at + 3000] for at in range(0, len(text), 3000)]
tokenizer = Tokenizer.load(folder / "tokenizer")
encoding = Encoding.from_tiktoken(str(folder / "ranks"), pattern="cl100k")
other, eot = r"\w+|\W+|(?<=a)b", ["<|x|>"]  # for `regex`


def cli(*arguments):
    assert app.run([str(one) for one in arguments]) == 0


def pipe():
    return folder / f"pipe{next(pipes)}"


def file_of(name, call):
    out = folder / f"{next(numbers)}.{name}"
    call(out)
    return out.read_bytes()


def in_chunks(path):
    counting.CHUNK_BYTES = 1 << 16
    try:
        return count_pretokens(path, workers=4)
    finally:
        counting.CHUNK_BYTES = None


def shards(sources):
    out = folder / f"shards{next(numbers)}"
    tokenize(sources, tokenizer, out, workers=4, append="<|x|>", shard_size=200_000)
    return {one.name: one.read_bytes() for one in out.iterdir()}


def counted(counts):
    return counts.most_common(50), len(counts), counts.total


CALLS = {
    "encode": lambda: tokenizer.encode(text, workers=4),
    "encode_ordinary": lambda: tokenizer.encode(text, special=False),
    "encode_to_numpy": lambda: tokenizer.encode_to_numpy(text, workers=4).tolist(),
    "encode_bytes": lambda: tokenizer.encode(text.encode(), workers=4),
    "encode_batch": lambda: tokenizer.encode_batch(pieces, workers=4),
    "encode_batch_to_numpy": lambda: [a.tolist() for a in tokenizer.encode_batch_to_numpy(pieces, workers=4)],
    "encode_iterable": lambda: list(tokenizer.encode_iterable(pieces)),
    "count": lambda: tokenizer.count(text, workers=4),
    "encode_file": lambda: tokenizer.encode_file(path, workers=4).tolist(),
    "encode_file to a file": lambda: file_of("npy", lambda out: tokenizer.encode_file(path, out, workers=4)),
    "encode_file of a pipe": lambda: tokenizer.encode_file(pipe(), workers=4).tolist(),
    "tokenize": lambda: shards([path, path + ".gz", path + ".jsonl"]),
    "tokenize, texts": lambda: {k: v for k, v in shards(iter(pieces)).items() if k != "manifest.json"},
    "inspect": lambda: toksmith.lab.inspect(tokenizer, on=path).to_dict(),
    "compare": lambda: toksmith.lab.compare([tokenizer], path, workers=4).to_json(),
    "view": lambda: toksmith.view(tokenizer, text)._repr_html_(),
    "Encoding.encode": lambda: encoding.encode(text),
    "Encoding.encode_batch": lambda: encoding.encode_batch(pieces, num_threads=4),
    "Encoding.encode_ordinary_batch": lambda: encoding.encode_ordinary_batch(pieces, num_threads=4),
    "Encoding.decode_batch": lambda: encoding.decode_batch([[1, 2], [3]], num_threads=4),
    "count_pretokens": lambda: counted(in_chunks(path)),
    "count_pretokens of streams": lambda: counted(count_pretokens([path + ".gz", path + ".jsonl"], workers=4)),
    "count_pretokens of a pipe": lambda: counted(count_pretokens(pipe(), workers=4)),
    "count_pretokens, spilled": lambda: counted(count_pretokens(path, workers=4, memory_limit="2MB")),
    "count_pretokens, regex": lambda: counted(count_pretokens(path, pattern=other, workers=4, special_tokens=eot)),
    "count_pretokens of texts": lambda: counted(count_pretokens(iter(pieces), workers=4)),
    "train": lambda: train(count_pretokens(path, workers=4), 400).merges,
    "train, progress": lambda: train(count_pretokens(path, workers=4), 300, progress=True).merges,
    "train, texts": lambda: train(count_pretokens(iter(pieces), workers=4), 400).merges,
    "train_bpe": lambda: train_bpe(path, 300, ["<|x|>"])[1],
    "the stand-in": lambda: [one.ids for one in huggingface.Tokenizer(tokenizer).encode_batch(pieces[:50])],
    "toksmith train": lambda: file_of("tok", lambda out: cli("train", path, "--vocab-size", 300, "-o", out)),
    "toksmith encode": lambda: file_of("npy", lambda out: cli("encode", "-t", folder / "tokenizer", path, "-o", out)),
}

expected = {}
for name, call in CALLS.items():
    print(name, file=sys.stderr)
    expected[name] = call()
limit()
for name, call in CALLS.items():
    print("without threads:", name, file=sys.stderr)
    try:
        assert call() == expected[name], "another result"
    except BaseException as error:
        print(f"{name}: {type(error).__name__}: {str(error)[:300]}", flush=True)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder of texts and tokenizers that every user may write to: pytest's own is closed to all but one."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o777)
    rng = random.Random(7)
    words = ["".join(rng.choices("abcdefgh\u00e9\u65e5", k=rng.randint(1, 9))) for _ in range(3000)]
    lines = [" ".join(rng.choices(words, k=12)) for _ in range(15_000)]
    text = "\n".join(line + "<|x|>" * (number % 50 == 0) for number, line in enumerate(lines)).encode()
    (path / "text").write_bytes(text)
    (path / "text.gz").write_bytes(gzip.compress(text, 1))
    (path / "text.jsonl").write_text("\n".join(json.dumps({"text": line}) for line in lines))
    tokenizer = train(iter(lines[:1000]), 400, special_tokens=["<|x|>"])
    tokenizer.save(path / "tokenizer")
    Tokenizer(tokenizer.vocab, None, ["<|x|>"], pattern="cl100k").save(
        path / "ranks", verify=False, format="tiktoken"
    )
    feeds = []
    for number in range(4):
        os.mkfifo(path / f"pipe{number}", 0o644)
        feeds.append(subprocess.Popen(["sh", "-c", f"exec cat text > pipe{number}"], cwd=path))
    try:
        yield path
    finally:
        for feed in feeds:
            feed.kill()
            feed.wait()
        shutil.rmtree(path)


@pytest.mark.parametrize("threads", [0, 1])
def test_every_call_goes_on_with_the_threads_there_are(threads: int, folder: Path) -> None:
    outcome = run(PROGRAM, folder, limits=Limits(threads=threads), timeout=120)
    assert (outcome.status, outcome.out) == (0, ""), outcome.told
