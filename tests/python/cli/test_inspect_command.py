"""`toksmith inspect`: what the library finds, as text and as JSON; its options and errors."""

import gzip
import json
from pathlib import Path

import pytest
from command import run_command

import toksmith
from toksmith import Tokenizer

SPECIAL = "<|endoftext|>"
TEXTS = ["the lowest of the low", f"žluťoučký{SPECIAL} 日本\r\n", "low\u2028 lower\n\n new \x1b[31m"]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return toksmith.train(iter(TEXTS * 3), 290, special_tokens=[SPECIAL])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, tokenizer: Tokenizer) -> Path:
    folder = tmp_path_factory.mktemp("inspect")
    tokenizer.save(folder / "t.json")
    (folder / "in").mkdir()
    for number, text in enumerate(TEXTS):
        (folder / f"in/{number}.txt").write_bytes(text.encode())
    (folder / "more.txt.gz").write_bytes(gzip.compress(TEXTS[0].encode()))
    (folder / "lines.jsonl").write_text("".join(json.dumps({"body": text}) + "\n" for text in TEXTS))
    return folder


def run(*arguments: object, cwd: Path, status: int = 0, stdin: bytes = b"") -> str:
    done = run_command("inspect", *arguments, cwd=cwd, stdin=stdin)
    assert done.returncode == status, done.stderr.decode()
    assert (done.stdout == b"") is (status != 0)
    return (done.stderr if status else done.stdout).decode()


def test_the_vocabulary_alone(folder: Path, tokenizer: Tokenizer) -> None:
    assert run("t.json", cwd=folder) == f"{toksmith.lab.inspect(tokenizer)}\n"
    assert (
        json.loads(run("t.json", "--json", "--top", "3", cwd=folder))
        == toksmith.lab.inspect(tokenizer, top=3).to_dict()
    )


def test_on_files(folder: Path, tokenizer: Tokenizer) -> None:
    expected = toksmith.lab.inspect(tokenizer, [folder / "in", folder / "more.txt.gz"])
    for arguments in (("--on", "in", "--on", "more.txt.gz"), ("--on", "in", "more.txt.gz")):
        assert run("t.json", *arguments, cwd=folder) == f"{expected}\n"
    found = json.loads(run("t.json", "--on", "lines.jsonl", "--field", "body", "--no-special", "--json", cwd=folder))
    assert found == toksmith.lab.inspect(tokenizer, iter(TEXTS), special=False).to_dict()
    assert "\x1b" not in run("t.json", "--on", "in", "--top", "400", cwd=folder)


def test_standard_input(folder: Path, tokenizer: Tokenizer) -> None:
    found = json.loads(run("t.json", "--on", "-", "--json", cwd=folder, stdin=TEXTS[1].encode()))
    assert found == toksmith.lab.inspect(tokenizer, iter(TEXTS[1:2])).to_dict()


@pytest.mark.parametrize(
    ("arguments", "status", "expected"),
    [
        (("t.json", "in/0.txt"), 2, "Got unexpected extra argument"),
        (("t.json", "--field", "body"), 2, "--field is for texts: give --on"),
        (("t.json", "--on", "nope.txt"), 1, "nope.txt: No such file"),
        (("t.json", "--on", "in", "--field", "body"), 1, "is for files of records"),
        (("t.json", "--on", "in", "--workers", "0"), 1, "--workers is at least 1"),
        (("t.json", "--top", "-1"), 1, "--top is at least 0"),
        (("nope.json",), 1, "nope.json"),
        ((), 2, "Missing argument 'TOKENIZER'"),
    ],
)
def test_errors(arguments: tuple[str, ...], status: int, expected: str, folder: Path) -> None:
    message = run(*arguments, cwd=folder, status=status)
    assert expected in message
    assert len(message.splitlines()) == 1
