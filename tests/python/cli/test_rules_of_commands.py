"""What all commands have in common: exit statuses, one-line errors, pipes that end, colours, completion, examples."""

import gzip
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from command import TOKSMITH, run_command
from training_folder import write_folder

import toksmith
from toksmith.cli.app import COMMANDS, load

ROOT = Path(__file__).resolve().parents[3]
SPECIAL = "<|endoftext|>"
TEXT = f"the lowest of the low, the newest of the new{SPECIAL}žluťoučký 日本\n" * 20

posix_only = pytest.mark.skipif(os.name == "nt", reason="needs POSIX pipes")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one of everything that a command reads."""
    folder = tmp_path_factory.mktemp("rules")
    (folder / "book.txt").write_text(TEXT, encoding="utf-8")
    tokenizer = toksmith.train(folder / "book.txt", 275, special_tokens=[SPECIAL])
    tokenizer.save(folder / "tokenizer.json")
    write_folder(folder / "tokens", {"train": [tokenizer.encode(TEXT)] * 5}, tokenizer=tokenizer)
    return folder


ARGUMENTS: dict[str, tuple[str, ...]] = {
    "train": ("book.txt", "--vocab-size", "270", "-o", "-"),
    "encode": ("-t", "tokenizer.json", "book.txt"),
    "decode": ("-t", "tokenizer.json", "ids"),
    "count": ("-t", "tokenizer.json", "book.txt"),
    "view": ("-t", "tokenizer.json", "--text", "the lowest"),
    "inspect": ("tokenizer.json", "--on", "book.txt"),
    "explain": ("-t", "tokenizer.json", "--text", "the lowest"),
    "compare": ("tokenizer.json", "--on", "book.txt"),
    "data": ("tokens", "--document", "1"),
    "verify": ("tokenizer.json", "--against", "huggingface", "--with", "hf", "book.txt"),
}
"""Commands that write to standard output, with arguments that make them."""


@pytest.fixture(scope="module")
def ready(folder: Path) -> Path:
    """The folder with what `decode` and `verify` read."""
    encoded = run_command("encode", "-t", "tokenizer.json", "book.txt", cwd=folder)
    (folder / "ids").write_bytes(encoded.stdout)
    toksmith.Tokenizer.load(folder / "tokenizer.json").save_huggingface(folder / "hf")
    return folder


# Exit statuses


def test_the_table_of_exit_statuses() -> None:
    """The one in the documentation has those that a command ends with."""
    page = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", page, re.MULTILINE)
    assert [int(status) for status, meaning in rows if meaning] == [0, 1, 2, 130, 141, 143]


def test_the_table_of_commands() -> None:
    """The one in the documentation has the order of `toksmith --help`."""
    page = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    listed = run_command("--help").stdout.decode().partition("Commands:\n")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \| [^|]* \|$", page, re.MULTILINE) == re.findall(
        r"^  (\w+) ", listed, re.MULTILINE
    )


def test_statuses_0_1_2(ready: Path) -> None:
    """The others are in the tests of signals, and below."""
    for command, arguments in ARGUMENTS.items():
        done = run_command(command, *arguments, cwd=ready)
        assert (done.returncode, done.stderr) == (0, b""), command
        assert done.stdout
    for command, option in [*((command, "--frobnicate") for command in COMMANDS), ("convert", "--no-progress")]:
        done = run_command(command, option, cwd=ready)
        assert done.returncode == 2
        message = done.stderr.decode()
        assert re.match(f"toksmith: error: No such option:? '?{option}", message)
        assert message.endswith(f"(see toksmith {command} --help)\n")
    assert run_command("encode", "-t", "nowhere.json").returncode == 1
    assert run_command("verify", "tokenizer.json", "--against", "nothing", cwd=ready).returncode == 2


# Pipes


@posix_only
@pytest.mark.parametrize("command", ["help", *ARGUMENTS])
def test_a_reader_that_has_gone(command: str, ready: Path) -> None:
    """The write end of a pipe that nobody reads: the command ends without a word."""
    arguments = ["--help"] if command == "help" else [command, *ARGUMENTS[command]]
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as pipe:
        done = run_command(*arguments, cwd=ready, stdout=pipe.fileno())
    assert (done.returncode, done.stderr) == (141, b"")


@posix_only
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", ["help", "verify", "data"])
def test_an_output_that_is_full(command: str, ready: Path) -> None:
    arguments = ["--help"] if command == "help" else [command, *ARGUMENTS[command]]
    with Path("/dev/full").open("wb") as full:
        done = run_command(*arguments, cwd=ready, stdout=full.fileno())
    assert done.stderr.decode() == "toksmith: error: standard output: No space left on device\n"
    assert done.returncode == 1


@posix_only
def test_an_output_that_is_closed(ready: Path) -> None:
    command = [*TOKSMITH, "data", "tokens"]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *command], stderr=subprocess.PIPE, cwd=ready, check=False
    )
    assert done.returncode == 1
    assert done.stderr.decode() == "toksmith: error: standard output: Bad file descriptor\n"


# Errors


def test_debug_shows_where(ready: Path) -> None:
    plain = run_command("encode", "-t", "tokenizer.json", "nope.txt", cwd=ready)
    [line] = plain.stderr.decode().splitlines()
    assert line == "toksmith: error: nope.txt: No such file or directory: a text is given by --text"
    for arguments in (
        ("--debug", "encode", "-t", "tokenizer.json", "nope.txt"),
        ("encode", "-t", "tokenizer.json", "nope.txt", "--debug"),
    ):
        done = run_command(*arguments, cwd=ready)
        shown = done.stderr.decode().splitlines()
        assert (done.returncode, shown[0], shown[-1]) == (1, "Traceback (most recent call last):", line)
        assert any("cli/encode.py" in one for one in shown)
    assert run_command("encode", "-t", "tokenizer.json", "--", "--debug", cwd=ready).returncode == 1


@posix_only
def test_links_that_lead_nowhere(ready: Path, tmp_path: Path) -> None:
    """Each of them as the output: of a folder, which is not made through the link, and of a file."""
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "link").symlink_to("missing/out")
    tokenize = ("tokenize", "book.txt", "-t", "tokenizer.json", "--append", SPECIAL)
    for arguments, name, message in (
        (tokenize, "circle", "circle/.toksmith-unfinished: Too many levels of symbolic links"),
        (tokenize, "link", "link: No such file or directory"),
        (("data", "tokens", "--pack", "8"), "circle", "circle: Too many levels of symbolic links"),
        (("data", "tokens", "--pack", "8"), "link", f"out: there is no folder {tmp_path.resolve() / 'missing'}"),
    ):
        done = run_command(*arguments, "-o", tmp_path / name, cwd=ready)
        assert (done.returncode, done.stdout) == (1, b"")
        assert done.stderr.decode().endswith(f"{message}\n")


def test_an_error_that_is_a_bug_names_debug(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    from toksmith.cli import app as module

    def broken(*_: Any, **__: Any) -> int:
        raise TypeError("what nobody expects")

    monkeypatch.setattr(module.signal, "signal", lambda *_: None)
    monkeypatch.setattr(module, "_run", broken)
    assert module.run(["encode"]) == 1
    shown = capsys.readouterr().err
    assert shown == "toksmith: error: TypeError: what nobody expects (--debug shows where)\n"


# Colours


@posix_only
def test_no_color(ready: Path) -> None:
    """That of `data` is in its own tests."""
    import pty

    shown = {}
    for name, variables in (("colours", {}), ("none", {"NO_COLOR": "1"})):
        environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
        main, other = pty.openpty()
        child = subprocess.Popen(
            [*TOKSMITH, "explain", *ARGUMENTS["explain"]],
            stdin=other, stdout=other, stderr=other, cwd=ready,
            env=environment | {"TERM": "xterm-256color"} | variables,
        )  # fmt: skip
        os.close(other)
        output = b""
        try:
            while data := os.read(main, 65536):
                output += data
        except OSError:  # how Linux says that the other side is closed
            pass
        os.close(main)
        assert child.wait(60) == 0
        shown[name] = output
    colour = re.compile(rb"\x1b\[[0-9;]*(3[0-7]|4[0-7]|9[0-7]|10[0-7])[0-9;]*m")
    assert colour.search(shown["colours"])
    assert not colour.search(shown["none"])


# Completion


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_completion(shell: str) -> None:
    environment = {**os.environ, "_TOKSMITH_COMPLETE": f"{shell}_source"}
    done = subprocess.run(TOKSMITH, capture_output=True, env=environment, check=True)
    assert b"_TOKSMITH_COMPLETE" in done.stdout
    if found := shutil.which(shell):
        subprocess.run([found, "-n", "/dev/stdin"], input=done.stdout, check=True)


def test_what_is_completed() -> None:
    for words, expected in (
        ("toksmith co", {"compare", "count", "convert"}),
        ("toksmith encode --format ", {"text", "lines", "json", "npy", "bin"}),
    ):
        count = len(words.split()) - (0 if words.endswith(" ") else 1)
        environment = {
            **os.environ,
            "_TOKSMITH_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(count),
        }
        done = subprocess.run(TOKSMITH, capture_output=True, env=environment, check=True)
        assert set(done.stdout.decode().replace("plain,", "").split()) == expected, words


def test_completion_is_installed_once(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), "SHELL": "/bin/bash"}
    shown = run_command("--show-completion", env=environment).stdout.decode()
    assert "_TOKSMITH_COMPLETE=bash_complete" in shown
    (tmp_path / ".bashrc").write_text("alias l=ls\n")
    for _ in range(2):
        said = run_command("--install-completion", env=environment).stdout.decode()
        assert said.startswith(f"bash completion installed in {tmp_path / '.bashrc'}: ")
        assert (tmp_path / ".bashrc").read_text() == f"alias l=ls\n\n{shown.rstrip()}\n"
    done = run_command("--help")
    assert b"--install-completion" in done.stdout and b"--show-completion" in done.stdout


# Examples


def examples_of(shown: str) -> list[str]:
    """Return the commands below "Examples:", with lines that go on joined."""
    lines = re.sub(r"\\\n\s*", "", shown.partition("Examples:")[2]).splitlines()
    return [line.strip() for line in lines if line.startswith("    ")]


@pytest.fixture(scope="module")
def example_folder(ready: Path) -> Path:
    """What the examples of all commands name."""
    pa = pytest.importorskip("pyarrow")
    tokenizer = toksmith.Tokenizer.load(ready / "tokenizer.json")
    for name in (
        "corpus.txt",
        "stories.txt",
        "new.txt",
        "code.py",
        "books/a.txt",
        "books/b.txt",
        "corpus/a.txt",
        "more/deep/c.md",
    ):
        (ready / name).parent.mkdir(parents=True, exist_ok=True)
        (ready / name).write_text(TEXT, encoding="utf-8")
    (ready / "web").mkdir()
    (ready / "web/a.jsonl.zst").write_bytes(pa.compress(b'{"text": "the low"}\n' * 500, "zstd", asbytes=True))
    (ready / "web.jsonl").write_text('{"text": "the low", "lang": "en"}\n{"text": "das", "lang": "de"}\n')
    for name in ("en.txt", "de.txt"):
        (ready / name).write_text("the low\nthe new\n")
    (ready / "dump.jsonl.gz").write_bytes(gzip.compress(b'{"text": "the low"}\n' * 500))
    (ready / "tables").mkdir()
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"text": ["the low", "the new"]}), ready / "tables/a.parquet")
    (ready / "program.py").write_text("")
    tokenizer.save(ready / "my.tiktoken", format="tiktoken")
    tokenizer.encode_file(ready / "book.txt", ready / "corpus.npy")
    wide = toksmith.Tokenizer.from_pretrained(ready / "my.tiktoken", pattern="cl100k")
    wide.save_huggingface(ready / "hf")
    wide.save_huggingface(ready / "model")
    (ready / "model/chat_template.jinja").write_text("{{ messages[0].content }}")
    (ready / "chats.jsonl").write_text('{"messages": [{"role": "assistant", "content": "the low"}]}')
    wide.save(ready / "trained.json")
    model = toksmith.compat.minbpe.RegexTokenizer()
    model.train("low low lower", 258)
    model.save(ready / "trained")
    documents = [tokenizer.encode(TEXT)] * 5
    write_folder(ready / "tokens", {"train": documents, "val": documents[:1]}, tokenizer=tokenizer)
    return ready


EXAMPLES = [
    (command, example)
    for command in ["", *COMMANDS]
    for example in examples_of(run_command(*filter(None, [command]), "--help").stdout.decode())
]
SLOW = re.compile(r"toksmith (verify|convert gpt-4o)")
"""Other libraries make the same tokenizer: seconds each."""
PUBLISHED = re.compile(r"toksmith fetch|gpt-|_base|(-t|inspect|compare|json) gpt2( |$)")


def shell(line: str, cwd: Path, environment: dict[str, str]) -> tuple[int, bytes]:
    """Run a line of commands with pipes between them; return the status of the first that fails, and the output."""
    data = b""
    for part in line.split(" | "):
        words = shlex.split(part)
        while "=" in words[0]:
            name, _, value = words.pop(0).partition("=")
            environment = environment | {name: value}
        if words[0] == "toksmith":
            done = run_command(*words[1:], stdin=data, cwd=cwd, env=environment)
        else:
            words[0] = {"python": sys.executable}.get(words[0], words[0])
            done = subprocess.run(words, input=data, capture_output=True, cwd=cwd, env=environment, check=False)
        if done.returncode:
            return done.returncode, done.stderr
        data = done.stdout
    return 0, data


@posix_only
@pytest.mark.parametrize(
    ("command", "example"),
    [pytest.param(*one, marks=[pytest.mark.long] if SLOW.search(one[1]) else []) for one in EXAMPLES],
    ids=[example for _, example in EXAMPLES],
)
def test_examples_run(
    command: str, example: str, example_folder: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    cache = request.getfixturevalue("tiktoken_cache") if PUBLISHED.search(example) else tmp_path
    if "--download" in example:
        pytest.skip("downloads from the Hugging Face Hub; tests/python/formats/test_hub.py has a server for it")
    if "--against" in example:
        pytest.importorskip("tiktoken")
        pytest.importorskip("tokenizers")
    shutil.copytree(example_folder, tmp_path, dirs_exist_ok=True)
    environment = {**os.environ, "TIKTOKEN_CACHE_DIR": str(cache), "TOKSMITH_CACHE_DIR": str(tmp_path / "c")}
    if example.startswith("toksmith decode") and (tmp_path / "ids").exists():
        shutil.copy(tmp_path / "ids", tmp_path / "book.ids")
    status, shown = shell(example, tmp_path, environment)
    assert status == 0, shown.decode()


def test_every_command_has_examples() -> None:
    assert {command for command, _ in EXAMPLES} == {"", *COMMANDS}
    assert all("toksmith" in example or example.startswith("TIKTOKEN_CACHE_DIR=") for _, example in EXAMPLES)


# Options


def options_with_one_value() -> list[tuple[str, str]]:
    return [
        (name, param.opts[-1])
        for name in COMMANDS
        for param in load(name).params
        if isinstance(param, click.Option) and not param.multiple and not param.is_flag
    ]


@pytest.mark.parametrize(("command", "option"), options_with_one_value())
def test_an_option_with_one_value_is_given_once(command: str, option: str) -> None:
    done = run_command(command, option, "a", f"{option}=b")
    message = done.stderr.decode()
    assert (done.returncode, done.stdout) == (2, b"")
    assert message.startswith("toksmith: error: ")
    assert message.endswith(f"{option} takes one value, but appears 2 times\n")


def test_options_that_may_be_repeated(ready: Path) -> None:
    again = ("--json", "--json", "--no-special", "--no-special")
    assert run_command("count", *ARGUMENTS["count"], *again, cwd=ready).returncode == 0
    assert run_command("view", *ARGUMENTS["view"], "-t", "tokenizer.json", cwd=ready).returncode == 0
