"""The command line's own words: its help at 80 columns, its options in messages, progress, ids in binary files."""

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import numpy as np
import pytest
from command import run_command

import toksmith
from toksmith import Tokenizer
from toksmith._internal import choices, progress
from toksmith.cli import app
from toksmith.cli.app import COMMANDS, load

TEXT = "the lowest of the low, the newest of the new, žluťoučký 日本\n" * 40


def run(
    *arguments: object, cwd: Path | None = None, status: int = 0, stdin: bytes = b"", columns: int = 80
) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "COLUMNS": str(columns), "PYTHONIOENCODING": "utf-8"}
    done = run_command(*arguments, stdin=stdin, cwd=cwd, env=environment)
    assert done.returncode == status, done.stderr.decode()
    return done


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    Tokenizer(special_tokens=["<|end|>"]).save(tmp_path / "t.json")
    Tokenizer(special_tokens={"<|end|>": 70_000}).save(tmp_path / "wide.json")
    return tmp_path


# Help


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_every_option_whole_in_80_columns(command: str) -> None:
    shown = run(command, "--help").stdout.decode()
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert "…" not in shown
    for parameter in load(command).params:
        for option in (*parameter.opts, *parameter.secondary_opts):
            if option.startswith("-"):
                assert re.search(rf"(^|[\s,]){re.escape(option)}([\s,]|$)", shown, re.M), option
    if command == "train":
        for kind in (choices.Ties, choices.SpecialIds, choices.ByteOrder, choices.Unmatched, choices.Errors):
            assert set(get_args(kind)) <= set(re.split(r"[][<>|,:;\s.]+", shown))


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_keep_their_lines(command: str) -> None:
    shown = run(command, "--help").stdout.decode()
    examples = shown.partition("Examples:\n")[2]
    assert f"\n    toksmith {command} " in examples


def test_help_of_the_whole_is_not_cut_off() -> None:
    shown = run("--help").stdout.decode()
    assert "..." not in shown.partition("Commands:")[2]
    assert all(len(line) <= 80 for line in shown.splitlines())


# Messages


@pytest.mark.parametrize(
    ("options", "expected", "status"),
    [
        (("--field", "x"), "--field x is for files of records", 1),
        (("--memory-limit", "much"), "--memory-limit is a number of bytes", 1),
        (("--workers", "0"), "--workers is at least 1", 1),
        (("--min-frequency", "-1"), "--min-frequency is -1", 1),
        (("--special-token", ""), "special token number 0 is empty", 1),
        (("--document-separator", ""), "--document-separator is empty", 1),
        (("--document-separator", "\udcff"), "--document-separator has a lone surrogate at 0", 1),
    ],
)
def test_errors_speak_of_options(options: tuple[str, ...], expected: str, status: int, folder: Path) -> None:
    done = run("train", "text.txt", "--vocab-size", 300, "-o", "out", *options, cwd=folder, status=status)
    assert expected in done.stderr.decode()


def test_a_column_that_is_missing_is_named_by_its_option(folder: Path) -> None:
    pytest.importorskip("pyarrow")
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table({"body": ["a"]}), folder / "t.parquet")
    done = run("train", "t.parquet", "--vocab-size", 300, "-o", "out", cwd=folder, status=1)
    assert "name one with --column NAME" in done.stderr.decode()


def test_no_message_of_the_library_keeps_an_argument() -> None:
    """The texts of all errors of training and encoding, with an option that a value is given to in each."""
    root = Path(toksmith.__file__).parent
    given = re.compile(rf"""({app._NAMES})=["'…{{]""")
    for path in [*root.glob("training/*.py"), *root.glob("_internal/*.py"), root / "tokenizer.py"]:
        for line in path.read_text(encoding="utf-8").splitlines():
            found = given.search(line)
            if found and line.lstrip().startswith(("f'", 'f"', '"', "'")):
                text = line.strip().strip("f'\"")
                assert f"{found[1]}=" not in app.in_options(text.replace("{", "").replace("}", "")), line


def test_names_of_files_stay() -> None:
    for message in ("memory_limit.txt: x", "a/special_tokens: x", "'vocab_size' is there", "min_frequency-2"):
        assert app.in_options(message) == message


def test_a_memory_limit_that_is_too_small_makes_sense(folder: Path) -> None:
    (folder / "numbers.txt").write_text(" ".join(f"x{number}y" for number in range(320_000)))
    options = ("--vocab-size", 300, "-o", "out", "--memory-limit", "12MB")
    message = run("train", "numbers.txt", *options, cwd=folder, status=1).stderr.decode()
    found = re.search(
        r"training on them takes at least (\d+) MB, and --memory-limit is 12 MB: raise it, or leave rare ones out "
        r"with --min-pretoken-count 2, ",
        message,
    )
    assert found, message
    assert int(found[1]) > 12
    run("train", "numbers.txt", *options[:-1], f"{int(found[1]) + 1}MB", cwd=folder)


# Progress


@pytest.mark.parametrize("where", ["before", "after"])
def test_progress_in_json(where: str, folder: Path) -> None:
    options = ("--vocab-size", 270, "-o", "out")
    asked = ("--progress", "json", "text.txt") if where == "before" else ("text.txt", "--progress=json")
    done = run("train", *asked, *options, cwd=folder)
    lines = [json.loads(line) for line in done.stderr.decode().splitlines()]
    assert {line["stage"] for line in lines} == {"count", "merge"}
    assert all(line.keys() == {"stage", "done", "total", "seconds"} for line in lines)
    last = {line["stage"]: line for line in lines}
    assert last["count"]["done"] == last["count"]["total"] == len(TEXT.encode())
    assert last["merge"]["done"] == 14
    calls = ("encode", "text.txt", "ids.npy"), ("encode", "text.txt", "ids"), ("decode", "ids", "back")
    for command, file, out in calls:
        done = run(command, "-t", "t.json", file, "-o", out, "--progress", "json", cwd=folder)
        lines = [json.loads(line) for line in done.stderr.decode().splitlines()]
        assert {line["stage"] for line in lines} == {command}
        assert lines[-1]["done"] == lines[-1]["total"] == (folder / file).stat().st_size


@pytest.mark.parametrize("columns", [200, 120, 80, 60, 50])
@pytest.mark.parametrize("stages", [["count", "merge"], ["encode"], ["check"]])
def test_bars_stay_in_a_narrow_terminal(stages: list[str], columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.console import Console

    monkeypatch.setenv("COLUMNS", str(columns))
    facts = ["1,234.5 MB/s", "2,500.0 M tokens", "1,234,567 documents", "[1] 日本.txt"]
    bars = progress.Bars(lambda: facts[:1] if len(stages) > 1 else facts)
    for stage in stages:
        bars.report(stage, 1, 2)
    console = Console(width=columns, file=io.StringIO())
    console.print(bars.drawn.get_renderable())
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert len(lines) == len(stages)
    for line in lines:
        assert re.search(r"━{5,}.* 50% .*-:--:--", line), line
        assert "…" not in line
    assert ("MB/s" in lines[-1]) == (columns >= 60)
    assert ("日本" in lines[-1]) == (columns >= 120 and len(stages) == 1)


def test_progress_takes_no_file_for_its_value(folder: Path) -> None:
    done = run("encode", "-t", "t.json", "--progress", "text.txt", "-o", "ids", cwd=folder)
    assert not done.stderr.startswith(b"{")
    assert (folder / "ids").stat().st_size > 0
    assert run("encode", "-t", "t.json", "--no-progress", "text.txt", "-o", "ids", cwd=folder).stderr == b""
    assert "--progress" in run("encode", "-t", "t.json", "--progress=all", cwd=folder, status=2).stderr.decode()


class ZMQInteractiveShell:
    """What IPython calls the shell of a notebook."""


class TerminalInteractiveShell:
    """What it calls the one of a terminal."""


@pytest.mark.parametrize("shell", [ZMQInteractiveShell, TerminalInteractiveShell, None])
def test_a_notebook_gets_text(
    shell: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell and shell()))
    assert progress.in_notebook() is (shell is ZMQInteractiveShell)
    toksmith.train(iter([TEXT]), 270, progress=True)
    shown = capsys.readouterr().err
    if shell is ZMQInteractiveShell:
        lines = shown.splitlines()
        assert "counting pretokens: " in shown
        assert "learning merges: 100%, 14 of 14 merges" in lines[-1].rpartition("\r")[2] + lines[-1]
    else:
        assert "learning merges" not in shown


def test_text_is_written_now_and_then_and_at_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "in_notebook", lambda: True)
    with progress.reporter(True) as report:
        assert report is not None
        for done in range(10_001):
            report("count", done * 1000, 10_000_000)
        report("merge", 0, 5)
        report("merge", 5, 5)
    shown = capsys.readouterr().err
    assert len(shown) < 2000
    assert "counting pretokens: 100%, 10.0 of 10.0 MB, 0 s\n" in shown.replace("\r", "")
    assert shown.rstrip().endswith("learning merges: 100%, 5 of 5 merges, 0 s")


# Ids in binary files


@pytest.mark.parametrize(
    ("tokenizer", "text"), [("t.json", TEXT), ("wide.json", TEXT), ("t.json", ""), ("wide.json", "<|end|>" * 3)]
)
def test_decode_reads_what_encode_writes(tokenizer: str, text: str, folder: Path) -> None:
    (folder / "in").write_text(text, encoding="utf-8")
    for out in ("ids.npy", "ids.bin", "ids.txt"):
        run("encode", "-t", tokenizer, "in", "-o", out, cwd=folder)
        run("decode", "-t", tokenizer, out, "-o", "back", cwd=folder)
        assert (folder / "back").read_text(encoding="utf-8") == text
    stdin = (folder / "ids.npy").read_bytes()
    assert run("decode", "-t", tokenizer, stdin=stdin, cwd=folder).stdout.decode() == text
    stdin = (folder / "ids.bin").read_bytes()
    assert run("decode", "-t", tokenizer, "--format", "bin", stdin=stdin, cwd=folder).stdout.decode() == text


@pytest.mark.parametrize("dtype", ["<u2", "<u4", ">u4", "<i8", "u1"])
def test_arrays_of_any_whole_numbers(dtype: str, folder: Path) -> None:
    np.save(folder / "ids.npy", np.array([97, 98, 99] * 700_000, dtype))
    assert run("decode", "-t", "t.json", "ids.npy", cwd=folder).stdout == b"abc" * 700_000


@pytest.mark.parametrize(
    ("name", "content", "options", "expected", "status"),
    [
        ("a.npy", b"text", (), "a.npy: not a NumPy file", 1),
        ("a.npy", b"", (), "a.npy: not a NumPy file", 1),
        ("a.npy", np.zeros((2, 2), np.int32), (), "one-dimensional array of integers", 1),
        ("a.npy", np.zeros(2), (), "one-dimensional array of integers", 1),
        ("a.npy", np.array([97, 999], np.uint16), (), "a.npy: number 2 is 999: no token has this id", 1),
        ("a.npy", np.array([97, -1], np.int64), (), "a.npy: number 2 is", 1),
        ("cut.npy", np.arange(99, dtype=np.uint32), (), "its header says 99", 1),
        ("a.bin", b"a\0b", (), "the file ends inside a number of 16 bits", 1),
        ("a.bin", b"\xff\xff", (), "a.bin: number 1 is 65535", 1),
    ],
)
def test_wrong_binary_files(
    name: str, content: Any, options: tuple[str, ...], expected: str, status: int, folder: Path
) -> None:
    if isinstance(content, bytes):
        (folder / name).write_bytes(content)
    else:
        np.save(folder / name, content)
    if name.startswith("cut"):
        (folder / name).write_bytes((folder / name).read_bytes()[:-4])
    done = run("decode", "-t", "t.json", name, *options, cwd=folder, status=status)
    assert expected in done.stderr.decode()
