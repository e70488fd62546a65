"""An argument is a file, --text is a text: in every command. And what a command says of what it has written."""

import json
import os
import select
import subprocess
import sys
from pathlib import Path

import pytest
from command import TOKSMITH, run_command

import toksmith

TEXT = "the lowest of the low"
posix_only = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX terminal")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    tokenizer = toksmith.train(iter([TEXT]), 262, special_tokens=["<|end|>"], ids=toksmith.IdOrder("last"))
    tokenizer.save(folder / "t.json")
    tokenizer.save_huggingface(folder / "hf")
    tokenizer.save(folder / "ranks.tiktoken", format="tiktoken")
    (folder / "in.txt").write_text(TEXT)
    (folder / "ids").write_text(" ".join(map(str, tokenizer.encode(TEXT))))
    return folder


def run(*arguments: object, cwd: Path, status: int = 0) -> tuple[str, str]:
    done = run_command(*arguments, cwd=cwd)
    assert done.returncode == status, done.stderr.decode()
    return done.stdout.decode(), done.stderr.decode()


# Files and texts

COMMANDS: dict[str, tuple[list[str], str]] = {
    "encode": (["-t", "t.json"], ""),
    "count": (["-t", "t.json"], ""),
    "view": (["-t", "t.json"], ""),
    "explain": (["-t", "t.json"], ""),
    "verify": (["hf", "--against", "huggingface"], ""),
    "inspect": (["t.json"], "--on"),
    "compare": (["t.json", "hf"], "--on"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_text_is_a_file_of_it(command: str, folder: Path) -> None:
    if command == "verify":
        pytest.importorskip("tokenizers")
    options, files = COMMANDS[command]
    of_file = run(command, *options, *filter(None, [files]), "in.txt", cwd=folder)
    of_text = run(command, *options, "--text", TEXT, cwd=folder)
    words = [output.replace("in.txt", "--text").split() for output, _ in (of_file, of_text)]
    if command == "compare":  # a text has no name of a file
        words = [[word for word in one if word[0].isdigit()] for one in words]
    assert words[0] == words[1]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", [TEXT, "what is it?", "low", "x" * 5000])
def test_a_text_in_place_of_a_file(command: str, name: str, folder: Path) -> None:
    options, files = COMMANDS[command]
    output, errors = run(command, *options, *filter(None, [files]), name, cwd=folder, status=1)
    assert output == ""
    assert errors.endswith(": a text is given by --text\n")
    assert len(errors.splitlines()) == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_and_a_text(command: str, folder: Path) -> None:
    options, files = COMMANDS[command]
    given = [*filter(None, [files]), "in.txt", "--text", "a"]
    assert "and --text are mutually exclusive" in run(command, *options, *given, cwd=folder, status=2)[1]


def test_ids(folder: Path) -> None:
    ids = (folder / "ids").read_text()
    assert run("decode", "-t", "t.json", "--ids", ids, cwd=folder) == (TEXT, "")
    assert run("decode", "-t", "t.json", "--ids", f"[{ids.replace(' ', ', ')}]", cwd=folder) == (TEXT, "")
    for given, status, expected in (
        ([ids], 1, f"{ids}: No such file or directory: ids are given by --ids"),
        (["--ids", "1 x"], 1, "--ids: number 2 is 'x', not an id"),
        (["--ids", "1", "ids"], 2, "FILE and --ids are mutually exclusive"),
        (["--ids", "1", "--format", "bin"], 2, "--format bin is for a file, and --ids are text"),
    ):
        assert expected in run("decode", "-t", "t.json", *given, cwd=folder, status=status)[1]


@posix_only
@pytest.mark.parametrize(
    "arguments",
    [
        ["view", "-t", "t.json"], ["encode", "-t", "t.json"], ["decode", "-t", "t.json"], ["count", "-t", "t.json"],
        ["explain", "-t", "t.json"], ["inspect", "t.json", "--on", "-"],
        ["compare", "t.json", "--on", "-"], ["tokenize", "-", "-t", "t.json", "-o", "data"],
        ["train", "-", "--vocab-size", "256", "-o", "x"], ["verify", "t.json", "--against", "tiktoken", "-"],
    ],
    ids=lambda arguments: arguments[0],
)  # fmt: skip
def test_a_terminal_is_told_that_input_is_read(arguments: list[str], folder: Path) -> None:
    import pty

    main, other = pty.openpty()
    child = subprocess.Popen(
        [*TOKSMITH, *arguments], stdin=other, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder
    )
    os.close(other)
    try:
        assert child.stderr is not None
        assert select.select([child.stderr], [], [], 30)[0], "nothing is said"
        assert child.stderr.readline() == b"toksmith: reading standard input, which Ctrl-D ends\n"
    finally:
        os.close(main)  # the input ends
        child.communicate(timeout=60)


# What was written


def test_what_was_written(folder: Path, tmp_path: Path) -> None:
    ids = len((folder / "ids").read_text().split())
    t, text = folder / "t.json", folder / "in.txt"
    for arguments, expected in (
        (("encode", "-t", t, text, "-o", "a.ids"), f"a.ids: {ids} ids"),
        (("encode", "-t", t, text, "-o", "a.npy"), f"a.npy: {ids} ids"),
        (("decode", "-t", t, "a.npy", "-o", "back"), f"back: {len(TEXT)} bytes"),
        (("convert", t, "hf", "--to", "huggingface"), "hf: huggingface, 262 tokens, 1 of them special"),
        (("train", text, "--vocab-size", 258, "-o", "new.json"), "new.json: 258 tokens, 2 of them merged"),
        (("view", "-t", t, "--html", "page.html"), "page.html: "),
        (("compare", t, "--on", text, "-o", "report.html"), "report.html: "),
    ):
        output, errors = run(*arguments, cwd=tmp_path)
        assert len(errors.splitlines()) == 1, arguments
        assert errors.startswith(expected)
        assert (output == "") is (arguments[0] != "compare")
    assert run("encode", "-t", t, text, "-o", "a.ids", "--no-progress", cwd=tmp_path) == ("", "")
    lines = run("encode", "-t", t, text, "-o", "a.ids", "--progress", "json", cwd=tmp_path)[1].splitlines()
    assert all(json.loads(line) for line in lines)


@posix_only
def test_a_closed_standard_error(folder: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "toksmith", "encode", "-t", folder / "t.json", folder / "in.txt", "-o", "ids"]
    done = subprocess.run(["sh", "-c", 'exec "$@" 2>&-', "sh", *command], capture_output=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, b"")
    assert (tmp_path / "ids").exists()


# Special tokens in a file


def test_a_file_of_special_tokens(folder: Path, tmp_path: Path) -> None:
    tokenizer = toksmith.Tokenizer.load(folder / "t.json")
    (tmp_path / "object.json").write_text(json.dumps({"<|end|>": 261, "é": 300}))
    (tmp_path / "list.json").write_text(json.dumps(["é", "<|new|>"]))
    ranks = ("-t", folder / "ranks.tiktoken", "--pattern", "gpt2")
    given = ("--special-tokens", tmp_path / "object.json")
    assert run("encode", *ranks, *given, "--text", "é<|end|>", cwd=folder)[0] == "300 261\n"
    for command in ("count", "view", "explain"):
        run(command, *ranks, *given, "--text", "é<|end|>", cwd=folder)
    for arguments in (("inspect", ranks[1]), ("compare", ranks[1], "hf"), ("convert", ranks[1], tmp_path / "o.json")):
        options = ("--to", "toksmith") if arguments[0] == "convert" else ("--text", "é")
        run(*arguments, *ranks[2:], *given, *options, cwd=folder)
    assert toksmith.Tokenizer.load(tmp_path / "o.json").special_tokens == {"<|end|>": 261, "é": 300}
    run("tokenize", "in.txt", *ranks, *given, "-o", tmp_path / "data", cwd=folder)
    assert run("decode", *ranks, *given, "--ids", "300 261", cwd=folder)[0] == "é<|end|>"
    names = ("--special-tokens", tmp_path / "list.json")
    assert run("encode", *ranks, *names, "--text", "é<|new|>", cwd=folder)[0] == "261 262\n"
    out = tmp_path / "trained.json"
    run("train", "in.txt", "--vocab-size", 263, *names, "-o", out, cwd=folder)
    assert toksmith.Tokenizer.load(out) == toksmith.train(folder / "in.txt", 263, special_tokens=["é", "<|new|>"])
    assert tokenizer.special_tokens == {"<|end|>": 261}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("[1]", "not a file of special tokens: expected an object of names and ids, or a list of names"),
        ('{"a": "1"}', "not a file of special tokens: expected an object of names and ids, or a list of names"),
        ('{"a": true}', "not a file of special tokens: expected an object of names and ids, or a list of names"),
        ('{"a": -1}', "the id of special token 'a' is -1"),
        ('{"a": 300, "a": 301}', "'a' is there twice"),
        ('"a"', "not a file of special tokens"),
        ("a", "line 1: not JSON"),
    ],
)
def test_files_that_hold_no_special_tokens(content: str, expected: str, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(content)
    arguments = ("-t", "ranks.tiktoken", "--pattern", "gpt2", "--special-tokens", tmp_path / "s.json", "--text", "a")
    errors = run("encode", *arguments, cwd=folder, status=1)[1]
    assert "s.json" in errors
    assert expected in errors


def test_special_tokens_that_do_not_fit(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('{"a": 300}')
    given = ("--special-tokens", tmp_path / "s.json")
    for arguments, expected in (
        (("encode", "-t", "t.json", *given, "--text", "a"), "t.json has its own pattern and special tokens"),
        (("encode", "-t", "ranks.tiktoken", "--pattern", "gpt2", *given, "--special-token", "b", "--text", "a"),
         "--special-token and --special-tokens are mutually exclusive"),
        (("train", "in.txt", "--vocab-size", 260, *given, "-o", "-"), "holds ids, and training gives ids itself"),
    ):  # fmt: skip
        assert expected in run(*arguments, cwd=folder, status=2)[1]
