"""`toksmith tokenize` through the real process: output, exit status, bad input, pipes, interruption."""

import contextlib
import gzip
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shards_oracle
from command import TOKSMITH, run_command

import toksmith
from toksmith import Tokenizer

END = "<|endoftext|>"
PLAIN = ("-t", "tokenizer.json", "--append", "none")
DOCUMENTS = [f"low lower {number}\n" for number in range(50)]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return toksmith.train(iter(["low lower newest"] * 9), 262, special_tokens=[END])


@pytest.fixture
def place(tokenizer: Tokenizer, tmp_path: Path) -> Path:
    tokenizer.save(tmp_path / "tokenizer.json")
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in DOCUMENTS))
    (tmp_path / "stories.txt").write_text(END.join(DOCUMENTS))
    return tmp_path


def run(place: Path, *arguments: object, stdin: bytes = b"") -> Any:
    return run_command("tokenize", *arguments, cwd=place, stdin=stdin)


def test_a_run_and_its_summary(place: Path, tokenizer: Tokenizer) -> None:
    options = ("-t", "tokenizer.json", "-o", "out", "--append", END)
    done = run(place, "a.jsonl", *options, "--split", "val=0.2", "--progress")
    assert (done.returncode, done.stdout) == (0, b"")
    said = done.stderr.decode().splitlines()[-1] + "\n"
    size = sum(map(len, DOCUMENTS)) / 1e6
    assert re.fullmatch(
        rf"out: 50 documents, {size:.1f} MB of text, [\d,]+ tokens \(\d\.\d\d bytes each\) in 2 shards, \d+\.\d s\n",
        said,
    ), said
    append = [tokenizer.special_tokens[END]]
    shards_oracle.check(
        place / "out", shards_oracle.expected(tokenizer, DOCUMENTS, append=append, split={"val": 0.2})
    )
    again = run(place, "a.jsonl", *options, "--split", "val=0.2")
    assert (again.returncode, again.stdout) == (0, b"")
    assert again.stderr.decode().startswith("out is complete: 50 documents, ")
    other = run(place, "a.jsonl", *options, "--split", "val=0.3")
    assert (other.returncode, other.stdout) == (1, b"")
    assert other.stderr.decode().startswith("toksmith: error: the finished run in 'out' had split {'val': 0.2}, not")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of POSIX")
@pytest.mark.parametrize("columns", [140, 80, 60, 40])
def test_a_terminal_of_any_width_gets_a_bar(columns: int, place: Path) -> None:
    import pty

    name = "[long] name of a source.jsonl"
    (place / name).write_bytes((place / "a.jsonl").read_bytes() * 9)
    main, other = pty.openpty()
    command = [*TOKSMITH, "tokenize", name, "-t", "tokenizer.json", "-o", "out", "--append", END]
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm"}
    child = subprocess.Popen(command, cwd=place, stdout=other, stderr=other, env=environment)
    os.close(other)
    shown = b""
    with contextlib.suppress(OSError):  # how Linux says that the other side is closed
        while data := os.read(main, 65536):
            shown += data
    os.close(main)
    assert child.wait(60) == 0, shown
    drawn = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", shown.decode()).replace("\r", "\n").splitlines()
    bars = [line for line in drawn if "━" in line]
    assert bars
    for line in bars:
        assert re.search(r"━{10,}\s* \d+% .*[-\d]:[-\d]{2}:[-\d]{2}", line), line
        assert len(line) <= columns
    assert ("M tokens" in bars[-1]) == (columns >= 60)
    assert (name in bars[-1]) == (columns == 140)
    assert next(filter(None, reversed(drawn))).startswith("out: 450 documents, ")


def test_damaged_files_are_repaired(place: Path) -> None:
    command = ("a.jsonl", "-t", "tokenizer.json", "-o", "out", "--append", END)
    done = run(place, *command)
    assert done.returncode == 0
    assert re.fullmatch(r"out: 50 documents, .* in 1 shard, \d+\.\d s\n", done.stderr.decode()), "off a terminal, too"
    expected = shards_oracle.files(place / "out")
    (place / "out/train-00000.bin").unlink()
    opened = run_command("data", "out", cwd=place)
    assert b"or run the same toksmith tokenize again, which repairs it" in opened.stderr
    warning, summary = run(place, *command).stderr.decode().splitlines()
    assert warning == "toksmith: warning: out: 1 damaged file to be written again: train-00000.bin: it is missing"
    assert summary.startswith("out is complete: 50 documents, ")
    assert shards_oracle.files(place / "out") == expected
    (place / "out/train-00000.bin").write_bytes(bytes(len(expected["train-00000.bin"])))
    checked = run_command("data", "out", "--check", cwd=place)
    assert checked.returncode == 1
    assert b"run the same toksmith tokenize with --verify, which repairs them" in checked.stderr
    assert b"warning" not in run(place, *command).stderr
    assert b"train-00000.bin: checksum mismatch: the BLAKE3 is " in run(place, *command, "--verify").stderr
    assert shards_oracle.files(place / "out") == expected
    stages = [
        json.loads(line)["stage"]
        for line in run(place, *command, "--verify", "--progress", "json").stderr.splitlines()
    ]
    assert set(stages) == {"check"}


def test_nothing_between_documents_is_a_choice(place: Path, tokenizer: Tokenizer) -> None:
    warning = (
        "toksmith: warning: the documents have no token between them, and the tokenizer has one to end a text: "
        "choose --append '<|endoftext|>', or --append none"
    )
    plain = shards_oracle.expected(tokenizer, DOCUMENTS)
    for number, (options, expected) in enumerate(
        (([], [warning]), (["--append", "none"], []), (["--append", END], []), (["--prepend", END], []))
    ):
        done = run(place, "a.jsonl", "-t", "tokenizer.json", "-o", f"out{number}", *options)
        said = done.stderr.decode().splitlines()
        assert (done.returncode, said[:-1]) == (0, expected)
        if number < 2:
            assert shards_oracle.check(place / f"out{number}", plain)["options"]["append"] == []
    toksmith.train(iter(["low"]), 257, special_tokens=["none"]).save(place / "none.json")
    assert run(place, "a.jsonl", "-t", "none.json", "-o", "named", "--append", "none").returncode == 0
    assert json.loads((place / "named/manifest.json").read_text())["options"]["append"] == ["none"]


def test_standard_input(place: Path, tokenizer: Tokenizer) -> None:
    text = "".join(DOCUMENTS)
    expected = {"text": [text], "separated": DOCUMENTS, "lines": DOCUMENTS}
    options = {"text": [], "separated": ["--document-separator", END], "lines": ["--field", "text"]}
    data = {
        "text": text.encode(),
        "separated": (place / "stories.txt").read_bytes(),
        "lines": (place / "a.jsonl").read_bytes(),
    }
    for name, documents in expected.items():
        done = run(place, "-", *PLAIN, "-o", name, *options[name], stdin=data[name])
        assert done.returncode == 0, done.stderr
        told = shards_oracle.check(place / name, shards_oracle.expected(tokenizer, documents))
        assert told["sources"][0]["name"] == "standard input"
    done = run(place, "-", *PLAIN, "-o", "broken", stdin=b"low\xff")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode().startswith(
        "toksmith: error: standard input: not UTF-8 at byte 3: give --errors replace"
    )


def test_json_lines_of_progress(place: Path) -> None:
    done = run(place, "a.jsonl", *PLAIN, "-o", "out", "--progress", "json")
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert {"stage", "done", "total", "seconds"} == set(lines[-1])
    quiet = run(place, "a.jsonl", *PLAIN, "-o", "quiet", "--no-progress")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, b"", b"")


WRONG = {
    "missing": (["missing.txt"], 1, "missing.txt: No such file"),
    "dtype": (["a.jsonl", "--dtype", "int8"], 2, "Invalid value for '--dtype'"),
    "format": (["a.jsonl", "--format", "bun"], 2, "Invalid value for '--format'"),
    "split": (["a.jsonl", "--split", "val"], 1, "--split must be a name and a share, such as val=0.01, not 'val'"),
    "append": (["a.jsonl", "--append", "<|eot|>"], 1, "append: '<|eot|>' is not a special token"),
    "size": (["a.jsonl", "--shard-size", "0"], 1, "--shard-size is at least 1, not 0"),
    "pack": (["a.jsonl", "--pack", "0"], 1, "--pack is at least 1, not 0"),
    "long": (["a.jsonl", "--long", "drop"], 1, "long and pad are for rows: choose their length with --pack N"),
    "field": (["a.jsonl", "--field", "body"], 1, 'a.jsonl: line 1 (byte 0): there is no field "body"'),
    "column": (["a.jsonl", "--column", "body"], 1, 'line 1 (byte 0): there is no field "body", only ["text"]'),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong(case: str, place: Path) -> None:
    arguments, status, message = WRONG[case]
    done = run(place, "-t", "tokenizer.json", "-o", "out", "--prepend", END, *arguments)
    assert (done.returncode, done.stdout) == (status, b"")
    said = done.stderr.decode()
    assert said.startswith("toksmith: error: ")
    assert said.count("\n") == 1, said
    assert message in said


def test_documents_that_are_left_out(place: Path) -> None:
    (place / "b.jsonl").write_text('{"text": "low"}\n{"text": 5}\n')
    done = run(place, "b.jsonl", "-t", "tokenizer.json", "-o", "out", "--on-error", "skip", "--progress")
    assert done.returncode == 0
    said = done.stderr.decode()
    assert "toksmith: warning: 1 document was left out" in said
    assert "out: 1 document, 1 left out" in said
    skipped = json.loads((place / "out/manifest.json").read_text())["skipped"]
    assert [(one["source"], one["place"]) for one in skipped] == [("b.jsonl", "line 2")]


@pytest.mark.skipif(sys.platform == "win32", reason="signals as POSIX has them")
@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_and_started_again(signum: int, place: Path, tokenizer: Tokenizer) -> None:
    """A pipe that waits is left at once; what came before is there for the next run."""
    command = [*TOKSMITH, "tokenize", "-", *PLAIN, "-o", "out", "--field", "text"]
    lines = (place / "a.jsonl").read_bytes()
    with subprocess.Popen(command, cwd=place, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stderr is not None
        child.stdin.write(lines)
        child.stdin.flush()
        deadline = time.monotonic() + 30
        while not (place / "out/.toksmith-unfinished").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.3)
        child.send_signal(signum)
        child.wait(timeout=10)
        said = child.stderr.read()
    assert child.returncode == (130 if signum == signal.SIGINT else 143), said
    assert said.decode() == "toksmith: out: interrupted; the same command goes on from where it stopped\n"
    assert not (place / "out/manifest.json").exists()
    done = run(place, "-", *PLAIN, "-o", "out", "--field", "text", stdin=lines)
    assert done.returncode == 0, done.stderr
    shards_oracle.check(place / "out", shards_oracle.expected(tokenizer, DOCUMENTS))


def test_the_examples_of_the_help_run(place: Path) -> None:
    said = run(place, "--help").stdout.decode()
    examples = said.partition("Examples:\n")[2].replace("\\\n", "")
    commands = [line.strip() for line in examples.splitlines() if line.strip().startswith(("toksmith", "zcat"))]
    assert len(commands) == 7
    (place / "corpus.txt").write_text("low lower")
    (place / "chats.jsonl").write_text(json.dumps({"messages": [{"role": "assistant", "content": "low"}]}))
    template = {"chat_template.jinja": "{{ messages[0].content }}"}
    Tokenizer.load(place / "tokenizer.json").save_huggingface(place / "model", verify=False)
    for name, source in template.items():
        (place / "model" / name).write_text(source)
    (place / "web").mkdir()
    (place / "tables").mkdir()
    (place / "dump.jsonl.gz").write_bytes(gzip.compress((place / "a.jsonl").read_bytes()))
    zst = subprocess.run(["zstd", "-q", "a.jsonl", "-o", "web/a.jsonl.zst"], cwd=place, check=False)
    parquet = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    parquet.write_table(pa.table({"text": DOCUMENTS}), place / "tables/a.parquet")
    for number, command in enumerate(commands):
        if "zst" in command and zst.returncode:
            continue
        words = shlex.split(command.partition("| ")[2] or command)
        words = [
            "tokenizer.json" if word == "gpt2" else f"data{number}" if word == "data" else word for word in words
        ]
        stdin = (place / "a.jsonl").read_bytes() if command.startswith("zcat") else b""
        done = run_command(*words[1:], cwd=place, stdin=stdin)
        assert (done.returncode, done.stderr.count(b"\n")) == (0, 1), (command, done.stderr)
        told = json.loads((place / f"data{number}/manifest.json").read_text())
        shard = told["splits"]["train"]["shards"][0]
        assert np.fromfile(place / f"data{number}" / shard["file"], np.uint16).size == shard["tokens"]


def test_a_folder_that_is_taken(place: Path) -> None:
    (place / "out").mkdir()
    (place / "out/mine").write_text("mine")
    done = run(place, "a.jsonl", "-t", "tokenizer.json", "-o", "out")
    assert done.returncode == 1
    assert "out: the folder is not empty, and has no unfinished run: choose another folder" in done.stderr.decode()
    assert [path.name for path in (place / "out").iterdir()] == ["mine"]
