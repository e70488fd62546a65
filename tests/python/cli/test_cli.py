"""The `toksmith` command, run as people run it: in a process of its own."""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from command import TOKSMITH, run_command
from training_data import train_as_asked

import toksmith

SPECIAL = "<|endoftext|>"
CORPUS = (
    f"""the lowest of the low, the newest of the new
the low and the new, lower and newer{SPECIAL}each step merges the pair that occurs most
often; what merges early is short and common, what merges late is long and rare{SPECIAL}"""
    * 2
)
# What a newline translation, a decoder that eats a byte order mark, or a print would change.
TEXTS = {
    "plain": b"the lowest\n",
    "no newline at the end": b"the lowest",
    "empty": b"",
    "one newline": b"\n",
    "spaces at both ends": b"  the low  ",
    "CRLF and CR": b"the\r\nlow\rnew\n\r\n",
    "byte order mark": b"\xef\xbb\xbfthe low",
    "nulls and controls": b"a\0b\x1a\x1b[31mc\x7f",
    "many scripts": "naïve Größe 日本語 नमस्ते 👩‍👩‍👧 \u2028 \u0085".encode(),
    "special tokens": f"{SPECIAL}a{SPECIAL}{SPECIAL}<|endof".encode(),
}

posix_only = pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals and terminals")


def environment() -> dict[str, str]:
    """Return the environment without what changes colours, widths and warnings."""
    unwanted = ("FORCE_COLOR", "NO_COLOR", "COLUMNS", "PYTHONWARNINGS", "GITHUB_ACTIONS", "PYTHONPATH")
    return {key: value for key, value in os.environ.items() if key not in unwanted} | {"TERM": "xterm-256color"}


def run(*args: object, stdin: bytes = b"", cwd: Path | None = None, status: int = 0) -> subprocess.CompletedProcess:
    """Run the command, and check its exit status."""
    done = run_command(*args, stdin=stdin, cwd=cwd, env=environment())
    assert done.returncode == status, done.stderr.decode()
    return done


def error_of(*args: object, status: int = 1, stdin: bytes = b"", cwd: Path | None = None) -> str:
    """Run a command that fails; return what it says, which is one line on standard error."""
    done = run(*args, status=status, stdin=stdin, cwd=cwd)
    lines = done.stderr.decode().splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("toksmith: error: ")
    assert done.stdout == b""
    return lines[0].removeprefix("toksmith: error: ")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a corpus, and a tokenizer that the command made of it."""
    folder = tmp_path_factory.mktemp("cli")
    (folder / "corpus.txt").write_bytes(CORPUS.encode())
    done = run("train", "corpus.txt", "--vocab-size", 280, "--special-token", SPECIAL, "-o", "t.json", cwd=folder)
    assert (done.stdout, done.stderr) == (b"", b"t.json: 280 tokens, 23 of them merged\n")
    return folder


@pytest.fixture(scope="module")
def tokenizer(folder: Path) -> toksmith.Tokenizer:
    return toksmith.Tokenizer.load(folder / "t.json")


# Training


def test_train_is_train(folder: Path, tokenizer: toksmith.Tokenizer) -> None:
    assert tokenizer == toksmith.train(folder / "corpus.txt", 280, special_tokens=[SPECIAL])
    assert not list(folder.glob(".*"))


OPTIONS = {
    "special tokens": (["--special-token", "<a b>", "--special-token", "x=5"], {"special_tokens": ["<a b>", "x=5"]}),
    "pattern by name": (["--pattern", "cl100k"], {"pattern": "cl100k"}),
    "any pattern": (["--pattern", r"\w+"], {"pattern": r"\w+"}),
    "no pattern": (["--pattern", "none"], {"pattern": None}),
    "unmatched": (["--pattern", r"\w+", "--unmatched", "drop"], {"pattern": r"\w+", "unmatched": "drop"}),
    "ties": (["--ties", "smallest_ids"], {"ties": "smallest_ids"}),
    "special ids": (
        ["--special-token", "x", "--special-ids", "last"],
        {"special_tokens": ["x"], "special_ids": "last"},
    ),
    "byte order": (["--byte-order", "gpt2"], {"byte_order": "gpt2"}),
    "workers": (["--workers", "2", "--no-progress"], {"workers": 2}),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options_of_train(name: str, folder: Path, tmp_path: Path) -> None:
    given, meant = OPTIONS[name]
    run("train", folder / "corpus.txt", "--vocab-size", 270, "-o", tmp_path / "out", *given)
    made = toksmith.Tokenizer.load(tmp_path / "out")
    assert made == train_as_asked(folder / "corpus.txt", 270, **meant)
    if name != "workers":
        assert made != toksmith.train(folder / "corpus.txt", 270)


def test_superwords(folder: Path, tmp_path: Path) -> None:
    run("train", folder / "corpus.txt", "--vocab-size", 300, "-o", tmp_path / "out", "--superwords", "spaces")
    expected = toksmith.train(folder / "corpus.txt", 300, superwords="spaces")
    assert toksmith.Tokenizer.load(tmp_path / "out") == expected


def test_train_on_many_files(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for index in range(3):
        (tmp_path / f"in/{index}.txt").write_text(f"file {index} ab ab", newline="")
    (tmp_path / "other.md").write_text("other other")
    run("train", "in", "*.md", "-", "--vocab-size", 265, "-o", "t", stdin=b"from a pipe a pipe", cwd=tmp_path)
    texts = [*(f"file {index} ab ab" for index in range(3)), "other other", "from a pipe a pipe"]
    assert toksmith.Tokenizer.load(tmp_path / "t") == toksmith.train(iter(texts), 265)


def test_train_from_a_pipe_to_a_pipe(folder: Path, tokenizer: toksmith.Tokenizer, tmp_path: Path) -> None:
    args = ["train", "-", "--vocab-size", 280, "--special-token", SPECIAL, "-o", "-"]
    done = run(*args, stdin=CORPUS.encode())
    assert done.stderr == b""
    assert done.stdout == (folder / "t.json").read_bytes()


def test_the_vocabulary_runs_out(tmp_path: Path) -> None:
    done = run("train", "-", "--vocab-size", 300, "--min-frequency", 2, "-o", tmp_path / "t", stdin=b"ab ab")
    assert done.stderr.decode().splitlines() == [
        "toksmith: warning: no pair is left that occurs at least 2 times: 1 merge was made, not 44, "
        "so the vocabulary has 257 tokens",
        f"{tmp_path / 't'}: 257 tokens, 1 of them merged",
    ]
    assert list(toksmith.Tokenizer.load(tmp_path / "t").merges) == [(b"a", b"b")]


def test_train_on_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(b"ab\xffab")
    args = ["--vocab-size", 257, "-o", "t"]
    assert error_of("train", "bad", *args, cwd=tmp_path).startswith("bad: not UTF-8 at byte 2: give --errors replace")
    message = error_of("train", "-", *args, cwd=tmp_path, stdin=b"abc\xff")
    assert message.startswith("standard input: not UTF-8 at byte 3")
    assert names(tmp_path) == ["bad"]
    run("train", "bad", *args, "--errors", "replace", cwd=tmp_path)
    assert list(toksmith.Tokenizer.load(tmp_path / "t").merges) == [(b"a", b"b")]


# Encoding and decoding


@pytest.mark.parametrize("name", TEXTS)
def test_round_trip_through_pipes(name: str, folder: Path, tokenizer: toksmith.Tokenizer) -> None:
    data = TEXTS[name]
    encoded = run("encode", "-t", "t.json", stdin=data, cwd=folder)
    ids = tokenizer.encode(data.decode())
    assert encoded.stdout.decode() == (" ".join(map(str, ids)) + "\n" if ids else "")
    decoded = run("decode", "-t", "t.json", stdin=encoded.stdout, cwd=folder)
    assert decoded.stdout == data
    assert encoded.stderr == decoded.stderr == b""


def test_round_trip_through_files(folder: Path, tmp_path: Path) -> None:
    data = b"\r\n".join(TEXTS.values())
    (tmp_path / "in").write_bytes(data)
    (tmp_path / "ids").write_text("what was there before")
    t = folder / "t.json"
    count = toksmith.Tokenizer.load(t).count(data.decode())
    for done, says in (
        (run("encode", "-t", t, "in", "-o", "ids", cwd=tmp_path), f"ids: {count:,} ids\n"),
        (run("decode", "-t", t, "ids", "-o", "out", cwd=tmp_path), f"out: {len(data)} bytes\n"),
    ):
        assert (done.stdout, done.stderr.decode()) == (b"", says)
    assert (tmp_path / "out").read_bytes() == data
    assert names(tmp_path) == ["ids", "in", "out"]


@pytest.mark.parametrize(("format", "expected"), [("lines", "98\n257\n"), ("json", "[98, 257]\n")])
def test_formats(format: str, expected: str, folder: Path, tokenizer: toksmith.Tokenizer) -> None:
    text = tokenizer.decode([98, 257]).encode()
    encoded = run("encode", "-t", "t.json", "--format", format, stdin=text, cwd=folder).stdout
    assert encoded.decode() == expected
    assert run("decode", "-t", "t.json", stdin=encoded, cwd=folder).stdout == text


def test_no_special(folder: Path, tokenizer: toksmith.Tokenizer) -> None:
    encoded = run("encode", "-t", "t.json", "--no-special", stdin=SPECIAL.encode(), cwd=folder).stdout
    assert list(map(int, encoded.split())) == tokenizer.encode(SPECIAL, special=False)


def test_encode_bytes_that_are_not_utf8(folder: Path, tmp_path: Path) -> None:
    # The first byte of a character ends one window, and what should go on with it begins the next.
    bad = b"a" * (2**20 - 1) + b"\xe6x"
    (tmp_path / "bad").write_bytes(bad)
    message = error_of("encode", "-t", folder / "t.json", "bad", "-o", "out", cwd=tmp_path)
    assert message.startswith(f"bad: not UTF-8 at byte {2**20 - 1}")
    assert "standard input: not UTF-8 at byte 1" in error_of("encode", "-t", "t.json", stdin=b"a\xe6", cwd=folder)
    assert names(tmp_path) == ["bad"]
    encoded = run("encode", "-t", folder / "t.json", "--errors", "replace", "bad", cwd=tmp_path).stdout
    assert run("decode", "-t", folder / "t.json", stdin=encoded).stdout == bad.decode(errors="replace").encode()


def test_encode_to_binary_files(folder: Path, tmp_path: Path) -> None:
    data = TEXTS["special tokens"] + TEXTS["many scripts"]
    (tmp_path / "text").write_bytes(data)
    tokenizer = toksmith.Tokenizer.load(folder / "t.json")
    encode = ["encode", "-t", folder / "t.json", "text"]
    for options, special in (([], True), (["--no-special"], False)):
        expected = tokenizer.encode(data.decode(), special=special)
        for out in ("ids.npy", "ids.bin", "ids"):
            more = ["--format", "bin"] if out == "ids" else []
            assert run(*encode, "-o", out, *options, *more, cwd=tmp_path).stdout == b""
            path = tmp_path / out
            ids = np.load(path) if out == "ids.npy" else np.fromfile(path, "<u2")
            assert ids.tolist() == expected
            path.unlink()
    assert "goes from a file to a file" in error_of(*encode, "--format", "npy", status=2, cwd=tmp_path)
    assert "goes from a file to a file" in error_of(*encode[:-1], "-o", "a.bin", status=2, cwd=tmp_path)
    for out, format in (("a.bin", "npy"), ("a.npy", "bin")):
        assert "does not go with" in error_of(*encode, "-o", out, "--format", format, status=2, cwd=tmp_path)
    (tmp_path / "text").write_bytes(b"a\xff")
    assert error_of(*encode, "-o", "a.npy", cwd=tmp_path).startswith("text: not UTF-8 at byte 1")
    assert names(tmp_path) == ["text"]


def test_decode_takes_any_whitespace(folder: Path) -> None:
    assert run("decode", "-t", "t.json", stdin=b" 98\t98\r\n0098\n\n", cwd=folder).stdout == b"aaa"


def test_ids_across_windows(folder: Path) -> None:
    ids = random.Random(5).choices(range(280), k=700_000)
    expected = toksmith.Tokenizer.load(folder / "t.json").decode_bytes(ids)
    assert run("decode", "-t", "t.json", stdin=" ".join(map(str, ids)).encode(), cwd=folder).stdout == expected


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (b"5 abc", "standard input: number 2 is 'abc', not an id"),
        (b"5 -1", "standard input: number 2 is '-1', not an id"),
        (b"1_0", "standard input: number 1 is '1_0', not an id"),
        (b"1.5", "standard input: number 1 is '1.5', not an id"),
        (b"\xff\xfe", "standard input: number 1 is '\\\\xff\\\\xfe', not an id"),
        (b"5 5 280", "standard input: number 3 is 280: no token has this id"),
        (b"4294967296", "standard input: number 1 is 4294967296: no token has this id"),
        (b"9" * 5000, f"standard input: number 1 is {'9' * 40}: no token has this id"),
        (b"1 " * 600_000 + b"x", "standard input: number 600001 is 'x', not an id"),
    ],
)
def test_bad_ids(ids: bytes, message: str, folder: Path, tmp_path: Path) -> None:
    assert error_of("decode", "-t", folder / "t.json", "-o", tmp_path / "out", stdin=ids) == message
    assert names(tmp_path) == []


# In between is a process that is small: the system counts to a command's memory what the one had that started it.
PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def peak_memory(args: list[str], out: Path) -> int:
    """Run the command; return its peak memory in bytes."""
    command = [sys.executable, "-c", PEAK, *TOKSMITH, *args, "-o", str(out)]
    done = subprocess.run(command, env=environment(), stdout=subprocess.PIPE, check=True)
    return int(done.stdout) * (1 if sys.platform == "darwin" else 1024)


@posix_only
@pytest.mark.parametrize(("large", "most"), [(14, 6), pytest.param(100, 8, marks=pytest.mark.long)])
def test_memory_does_not_follow_the_file(large: int, most: int, folder: Path, tmp_path: Path) -> None:
    """A file of so many megabytes takes little more memory than one of four, for which all buffers are full."""
    line = CORPUS.encode() * 10
    peaks: dict[str, list[int]] = {"encode": [], "decode": []}
    for megabytes in (4, large):
        (tmp_path / "in").write_bytes(line * (megabytes * 2**20 // len(line)))
        for command, source, target in (("encode", "in", "ids"), ("decode", "ids", "out")):
            args = [command, "-t", str(folder / "t.json"), str(tmp_path / source)]
            peaks[command].append(peak_memory(args, tmp_path / target))
        assert (tmp_path / "in").read_bytes() == (tmp_path / "out").read_bytes()
    for command, (of_small, of_large) in peaks.items():
        assert of_large - of_small < most * 2**20, (command, of_small, of_large)


# Tokenizers of other formats


def test_tiktoken_rank_file(folder: Path, tokenizer: toksmith.Tokenizer, tmp_path: Path) -> None:
    ranks = tmp_path / "x.tiktoken"
    tokenizer.save(ranks, format="tiktoken")
    text = f"the lowest{SPECIAL}"
    same = toksmith.Tokenizer.from_tiktoken(ranks, pattern="gpt2", special_tokens={SPECIAL: 1000})
    args = ["-t", ranks, "--pattern", "gpt2", "--special-token", f"{SPECIAL}=1000"]
    encoded = run("encode", *args, stdin=text.encode()).stdout
    assert list(map(int, encoded.split())) == same.encode(text)
    assert encoded.endswith(b" 1000\n")
    assert run("decode", *args, stdin=encoded).stdout == text.encode()
    assert "holds no pattern: give --pattern" in error_of("encode", "-t", ranks, status=2)


def test_gpt2_folder(folder: Path, tokenizer: toksmith.Tokenizer, tmp_path: Path) -> None:
    tokenizer.save(tmp_path, format="gpt2")
    text = f"the lowest{SPECIAL}"
    encoded = run("encode", "-t", tmp_path, "--special-token", SPECIAL, stdin=text.encode()).stdout
    assert list(map(int, encoded.split())) == tokenizer.encode(text)
    ordinary = run("encode", "-t", tmp_path, "--pattern", "none", stdin=b"the low").stdout
    whole = toksmith.Tokenizer(tokenizer.vocab, tokenizer.merges, pattern=None)
    assert list(map(int, ordinary.split())) == whole.encode("the low")


def test_messages_escape_the_names_of_files(tmp_path: Path) -> None:
    (tmp_path / "a\x1b]0;title\x07.txt").write_bytes(b"low \xff")
    said = error_of("train", ".", "--vocab-size", "300", "-o", "t.json", cwd=tmp_path)
    assert r"a\x1b]0;title\x07.txt: not UTF-8 at byte 4" in said
    assert said.isprintable()


# Explaining


def test_explain(folder: Path, tokenizer: toksmith.Tokenizer) -> None:
    text = f"the low\n日{SPECIAL}"
    done = run("explain", "-t", "t.json", "--text", text, cwd=folder)
    assert done.stderr == b""
    shown = done.stdout.decode()
    assert "\x1b" not in shown
    rows = [line.split() for line in shown.splitlines()]
    for explanation in toksmith.lab.explain(tokenizer, text):
        for step in explanation.steps:
            pair = [piece.decode().replace(" ", "␣") for piece in (step.left, step.right)]
            assert [str(step.rank), pair[0], "+", pair[1]] in [row[:4] for row in rows]
    assert ["\\n", "\\n", str(tokenizer.token_id(b"\n"))] in rows
    assert [SPECIAL, "a", "special", "token", SPECIAL, "0"] in rows
    assert any(row[:4] == ["日", "\\xe6", "\\x97", "\\xa5"] for row in rows)
    assert rows[-1] == [str(id) for id in tokenizer.encode(text)]
    for given in (["-"], []):
        assert run("explain", "-t", "t.json", *given, stdin=text.encode(), cwd=folder).stdout == done.stdout


def test_explain_shows_merges_of_whole_pretokens(tmp_path: Path) -> None:
    vocab = {id: bytes([id]) for id in range(256)} | {256: b"ab", 257: b"abc", 258: b"xyz"}
    tokenizer = toksmith.Tokenizer(vocab)
    made, not_made, byte = (toksmith.lab.explain(tokenizer, text)[0] for text in ("abc", "xyz", "a"))
    assert [(step.left, step.right, step.rank) for step in made.steps] == [(b"a", b"b", 256), (b"ab", b"c", 257)]
    assert (made.ids, made.whole, made.is_merged) == ([257], True, True)
    assert (not_made.ids, not_made.whole, not_made.is_merged, len(not_made.steps)) == ([258], True, False, 0)
    assert (byte.whole, byte.is_merged) == (True, True)
    tokenizer.save(tmp_path / "t.json")
    shown = run("explain", "-t", "t.json", "--text", "abc\nxyz", cwd=tmp_path).stdout.decode()
    rows = [line.split() for line in shown.splitlines()]
    assert ["256", "a", "+", "b", "ab", "c"] in rows
    assert ["257", "ab", "+", "c", "abc", "257"] in rows
    assert ["looked", "up:", "merging", "does", "not", "make", "it", "xyz", "258"] in rows
    assert shown.count("looked up") == 1
    assert ["\\n", "\\n", "10"] in rows
    merging = toksmith.Tokenizer(vocab, [(b"a", b"b"), (b"ab", b"c")])
    assert [one.whole for one in toksmith.lab.explain(merging, "abc")] == [False]


def test_explain_without_special_tokens(folder: Path, tokenizer: toksmith.Tokenizer) -> None:
    shown = run("explain", "-t", "t.json", "--no-special", "--text", SPECIAL, cwd=folder).stdout.decode()
    assert shown.splitlines()[-1] == " ".join(map(str, tokenizer.encode(SPECIAL, special=False)))


def test_explain_never_sends_controls_to_the_terminal(folder: Path) -> None:
    shown = run("explain", "-t", "t.json", "--text", "a\x1b[31m\u202eb\\", cwd=folder).stdout.decode()
    assert "\x1b" not in shown
    assert "\u202e" not in shown


# Errors


@pytest.mark.parametrize(
    ("args", "status", "message"),
    [
        (["train", "nope.txt", "--vocab-size", "300", "-o", "x"], 1, "nope.txt: No such file"),
        (["train", "nope*", "--vocab-size", "300", "-o", "x"], 1, "no file matches 'nope*'"),
        (["train", "corpus.txt", "--vocab-size", "100", "-o", "x"], 1, "--vocab-size is 100, less than the 256"),
        (["train", "corpus.txt", "--vocab-size", "-1", "-o", "x"], 1, "--vocab-size is -1, less than"),
        (["train", "corpus.txt", "--vocab-size", "many", "-o", "x"], 2, "Invalid value for '--vocab-size'"),
        (["train", "corpus.txt", "--vocab-size", "300"], 2, "Missing option"),
        (["train", "--vocab-size", "300", "-o", "x"], 2, "Missing argument"),
        (
            ["train", "corpus.txt", "--vocab-size", "300", "-o", "x", "--ties", "odd"],
            2,
            "'--ties': 'odd' is not one of",
        ),
        (["train", "corpus.txt", "--vocab-size", "300", "-o", "x", "--workers", "0"], 1, "workers is at least 1"),
        (["train", "corpus.txt", "--vocab-size", "300", "-o", "x", "--pattern", "("], 1, "the pattern '(' is broken"),
        (["train", "corpus.txt", "--vocab-size", "300", "-o", "x", "--special-token", ""], 1, "is empty"),
        (["train", "corpus.txt", "--vocab-size", "300", "-o", "no/x"], 1, "no: there is no such folder"),
        (["train", "corpus.txt", "--vocab-size", "300", "-o", "."], 1, ".: this is a folder"),
        (["train", "corpus.txt", "--vocab-size", "300", "-o", "x.tiktoken"], 2, "this command writes toksmith's own"),
        (["encode", "-t", "nope.json"], 1, "nope.json: No such file"),
        (["encode", "-t", "corpus.txt"], 1, "corpus.txt: line 1: not a toksmith file: not JSON"),
        (["encode", "-t", "t.json", "nope.txt"], 1, "nope.txt: No such file"),
        (["encode", "-t", "t.json", "."], 1, ".: Is a directory"),
        (["encode", "-t", "."], 1, "holds neither tokenizer.json nor vocab.json"),
        (["encode", "-t", "t.json", "--pattern", "gpt2"], 2, "t.json has its own pattern"),
        (["encode", "-t", "t.json", "--special-token", "a"], 2, "t.json has its own pattern"),
        (
            ["encode", "-t", "x.tiktoken", "--special-token", "a=1", "--special-token", "b"],
            2,
            "give all special tokens",
        ),
        (["encode", "corpus.txt"], 2, "Missing option"),
        (["decode", "-t", "t.json", "nope.ids"], 1, "nope.ids: No such file"),
        (["verify", "t.json", "--against", "numpy"], 2, "'--against': 'numpy' is not one of 'tiktoken', 'hugging"),
        (["frobnicate"], 2, "No such command 'frobnicate'"),
        (["encode", "--frobnicate"], 2, "No such option"),
    ],
)
def test_errors(args: list[str], status: int, message: str, folder: Path) -> None:
    before = names(folder)
    assert message in error_of(*args, status=status, cwd=folder)
    assert names(folder) == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("out", [["-o", "/dev/full"], []])
def test_a_full_disk(out: list[str], folder: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        args = [*TOKSMITH, "encode", "-t", "t.json", "corpus.txt", *out]
        done = subprocess.run(args, stdout=full, stderr=subprocess.PIPE, cwd=folder, env=environment())
    name = "/dev/full" if out else "standard output"
    assert done.stderr.decode() == f"toksmith: error: {name}: No space left on device\n"
    assert done.returncode == 1


@posix_only
def test_a_device_stays_a_device(folder: Path) -> None:
    run("encode", "-t", "t.json", "corpus.txt", "-o", os.devnull, cwd=folder)
    run("train", "corpus.txt", "--vocab-size", 260, "-o", os.devnull, cwd=folder)
    assert Path(os.devnull).is_char_device()


@posix_only
def test_a_link_stays_a_link(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    run("train", "corpus.txt", "--vocab-size", 260, "-o", tmp_path / "link", cwd=folder)
    assert (tmp_path / "link").is_symlink()
    assert toksmith.Tokenizer.load(tmp_path / "target").vocab_size == 260


@posix_only
def test_a_reader_that_leaves(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(CORPUS.encode() * 10_000)
    args = [*TOKSMITH, "encode", "-t", str(folder / "t.json"), str(tmp_path / "in")]
    with subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as child:
        child.stdout.read(10)
        child.stdout.close()
        assert child.stderr.read() == b""
        assert child.wait(60) == 141


# Ctrl-C


def start(folder: Path, *args: object) -> subprocess.Popen:
    """Start a command that reads standard input, with its temporary files in `folder`."""
    return subprocess.Popen(
        [*TOKSMITH, *map(str, args)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environment() | {"TMPDIR": str(folder)},
    )


def wait_for_a_file(child: subprocess.Popen, folder: Path) -> None:
    """Wait until the command has begun to write a file: one without a name, or a hidden one."""
    deadline = time.monotonic() + 60
    while not writes_a_file(child, folder):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def writes_a_file(child: subprocess.Popen, folder: Path) -> bool:
    if any(path.is_file() and path.name[0] == "." for path in folder.iterdir()):
        return True
    with contextlib.suppress(OSError):  # it opens and closes files meanwhile
        opened = Path(f"/proc/{child.pid}/fd").iterdir() if sys.platform == "linux" else ()
        # Files without a name: `tempfile` tries a folder with one that has a name, and removes it at once.
        return any(
            path.readlink().is_relative_to(folder) and str(path.readlink()).endswith(" (deleted)") for path in opened
        )
    return False


NOTHING_WRITTEN = b"toksmith: out: interrupted; nothing was written (--checkpoint FILE keeps merges)\n"


def check_ended(child: subprocess.Popen, sent: signal.Signals, status: int, said: bytes = b"") -> None:
    child.send_signal(sent)
    started = time.monotonic()
    with contextlib.suppress(BrokenPipeError):
        child.stdin.close()
    output, errors = child.stdout.read(), child.stderr.read()
    assert child.wait(30) == status, errors
    assert time.monotonic() - started < 5  # a second, and what a busy machine adds
    assert output == b""
    assert errors == said
    child.stdout.close()
    child.stderr.close()


@posix_only
@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize(
    "args",
    [
        ["encode", "-o", "out"],
        ["decode", "-o", "out"],
        ["train", "-", "--vocab-size", 300, "-o", "out"],
    ],
    ids=lambda args: args[0],
)
def test_ctrl_c_while_reading(
    args: list[object], sent: signal.Signals, status: int, folder: Path, tmp_path: Path
) -> None:
    tokenizer = [] if args[0] == "train" else ["-t", folder / "t.json"]
    child = start(tmp_path, *args, *tokenizer)
    # More than a pipe takes: afterwards the command is reading.
    child.stdin.write(b"12 " * (100_000 if args[0] == "train" else 1000))
    child.stdin.flush()
    if args[0] != "train":  # which writes nothing until all is read
        wait_for_a_file(child, tmp_path)
    check_ended(child, sent, status, NOTHING_WRITTEN if args[0] == "train" else b"")
    assert names(tmp_path) == []


@posix_only
def test_ctrl_c_while_counting(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(CORPUS.encode() * 150_000)  # through `regex`, letter by letter: many seconds
    child = start(tmp_path, "train", "in", "--vocab-size", 300, "--pattern", r"\w|\W|(?<=a)b", "-o", "out")
    time.sleep(1.5)
    check_ended(child, signal.SIGINT, 130, NOTHING_WRITTEN)
    assert names(tmp_path) == ["in"]


# On a terminal


def on_terminal(*args: object) -> str:
    """Run the command on a terminal; return all that appears there."""
    import pty

    main, other = pty.openpty()
    child = subprocess.Popen([*TOKSMITH, *map(str, args)], stdin=other, stdout=other, stderr=other, env=environment())
    os.close(other)
    shown = b""
    with contextlib.suppress(OSError):  # how Linux says that the other side is closed
        while data := os.read(main, 65536):
            shown += data
    os.close(main)
    assert child.wait(60) == 0, shown
    return shown.decode()


@posix_only
def test_a_terminal_gets_a_bar(folder: Path, tmp_path: Path) -> None:
    shown = on_terminal("train", folder / "corpus.txt", "--vocab-size", 280, "-o", tmp_path / "t")
    assert "merges" in shown
    assert f"{tmp_path / 't'}: 280 tokens, 24 of them merged" in shown.replace("\r\n", "")
    shown = on_terminal("train", folder / "corpus.txt", "--vocab-size", 280, "-o", tmp_path / "t", "--no-progress")
    assert shown == ""
    assert "encoding" in on_terminal("encode", "-t", folder / "t.json", folder / "corpus.txt", "-o", tmp_path / "ids")


@posix_only
def test_a_terminal_gets_colours(folder: Path) -> None:
    assert "\x1b[" in on_terminal("explain", "-t", folder / "t.json", "--text", "the lowest")


@posix_only
def test_no_bar_runs_through_the_output(folder: Path, tokenizer: toksmith.Tokenizer) -> None:
    shown = on_terminal("encode", "-t", folder / "t.json", folder / "corpus.txt")
    assert shown.split() == [str(id) for id in tokenizer.encode(CORPUS)]


def test_options_of_training_are_those_of_the_library(folder: Path, tmp_path: Path) -> None:
    text, out = folder / "corpus.txt", tmp_path / "t"
    for options, same in (
        (["--max-token-length", 3], {"max_token_length": 3}),
        (["--min-frequency", 4], {"min_frequency": 4}),
        (["--forced-token", "zebra", "--forced-token", "é"], {"forced_tokens": ["zebra", "é"]}),
        (["--base", folder / "t.json"], {"base": toksmith.Tokenizer.load(folder / "t.json")}),
        (["--pattern", "none", "--ties", "first"], {"pattern": None, "ties": "first"}),
    ):
        specials = [] if "base" in same else [SPECIAL]
        given = [value for name in specials for value in ("--special-token", name)]
        run("train", text, "--vocab-size", 290, *given, *options, "-o", out)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the vocabulary runs out
            expected = toksmith.train(text, 290, special_tokens=specials, **same)
        assert toksmith.Tokenizer.load(out) == expected
        if "base" in same:
            assert expected.special_tokens == same["base"].special_tokens
        else:
            assert expected != toksmith.train(text, 290, special_tokens=[SPECIAL])


def test_a_checkpoint_and_a_log_from_the_command_line(folder: Path, tmp_path: Path) -> None:
    command = ["train", folder / "corpus.txt", "--vocab-size", 290, "-o", "t", "--checkpoint", "c"]
    run(*command, "--log", "log.csv", cwd=tmp_path)
    assert names(tmp_path) == ["c", "log.csv", "t"]
    assert len((tmp_path / "log.csv").read_text().splitlines()) == 290 - 256 + 1
    first = (tmp_path / "t").read_bytes()
    run(*command, cwd=tmp_path)
    assert (tmp_path / "t").read_bytes() == first
    assert "checkpoint of another training: its ties was" in error_of(*command, "--ties", "ids", cwd=tmp_path)


def test_a_base_that_holds_no_pattern(tmp_path: Path) -> None:
    base = toksmith.train(iter([CORPUS]), 280, pattern="cl100k")
    base.save(tmp_path / "base.tiktoken", format="tiktoken")
    (tmp_path / "more.txt").write_bytes(b"zz zzz zz" * 9)
    command = ["train", "more.txt", "--vocab-size", 284, "--base", "base.tiktoken", "-o", "t"]
    assert "holds no pattern" in error_of(*command, status=2, cwd=tmp_path)
    run(*command, "--pattern", "cl100k", "--special-token", SPECIAL, cwd=tmp_path)
    larger = toksmith.Tokenizer.load(tmp_path / "t")
    assert larger.special_tokens == {SPECIAL: 280}
    assert [larger.vocab[id] for id in range(281, 284)] == [b"zz", b" zz", b" zzz"]


# The command itself


def test_version_and_help() -> None:
    assert run("--version").stdout.decode() == f"toksmith {toksmith.__version__}\n"
    shown = run("--help").stdout.decode()
    assert all(command in shown for command in ("train", "encode", "decode", "explain", "Examples:"))
    assert run().stdout == run("--help").stdout
    assert "\x1b" not in shown


@pytest.mark.parametrize("command", ["train", "encode", "decode", "explain"])
def test_help_has_examples(command: str) -> None:
    shown = run(command, "--help").stdout.decode()
    assert f"toksmith {command} " in shown.partition("Examples:")[2]


def test_help_is_utf8_whatever_the_code_page() -> None:
    code_page = environment() | {"PYTHONIOENCODING": "cp1252"}
    done = subprocess.run([*TOKSMITH, "view", "--help"], capture_output=True, check=True, env=code_page)
    assert "│" in done.stdout.decode()


def test_the_installed_command() -> None:
    script = shutil.which("toksmith", path=str(Path(sys.executable).parent))
    if script is None:
        pytest.skip("toksmith is importable here, but not installed beside this interpreter")
    done = subprocess.run([script, "--version"], capture_output=True, check=True)
    assert done.stdout.decode() == f"toksmith {toksmith.__version__}\n"


@pytest.mark.parametrize("use", ["", "; toksmith.train(iter(['low low']), 258).encode('low')"])
def test_import_is_light(use: str) -> None:
    code = f"import sys, toksmith{use}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout.decode().split()
    assert "toksmith" in loaded
    assert not {"regex", "numpy", "click", "rich", "toksmith.cli.app"} & set(loaded)
