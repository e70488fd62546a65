"""`toksmith compare`: what it prints and writes, what it refuses, and how it ends when it is ended."""

import inspect
import json
import re
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest
from command import TOKSMITH, run_command

import toksmith
from toksmith import Tokenizer
from toksmith._internal import messages
from toksmith.cli.app import OPTIONS
from toksmith.lab.comparison.comparison import sections

TEXT = "the lowest of the low, the newest of the new: žluťoučký 日本\n" * 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compare")
    (folder / "in").mkdir()
    (folder / "in/a.txt").write_text(TEXT, encoding="utf-8")
    (folder / "in/b.txt").write_text("Je größer, desto besser. " * 9, encoding="utf-8")
    (folder / "lines.txt").write_text("one\n--\ntwo words\n--\n" * 6)
    rows = [{"body": TEXT, "lang": "en"}, {"body": "größer", "lang": "de"}, {"body": "", "lang": "de"}]
    (folder / "web.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "en.txt").write_text("one house\ntwo houses\n")
    (folder / "de.txt").write_text("ein Haus\nzwei Häuser\n", encoding="utf-8")
    (folder / "short.txt").write_text("ein Haus\n")
    (folder / "bad.txt").write_bytes(b"ab\xff")
    (folder / "empty.txt").write_bytes(b"")
    small = toksmith.train(iter([TEXT]), 280, special_tokens=["<|end|>"])
    small.save(folder / "small.json")
    Tokenizer().save(folder / "bytes.json")
    toksmith.train(iter([TEXT]), 270).save(folder / "ranks.tiktoken", format="tiktoken")
    return folder


def run(*arguments: object, cwd: Path, status: int = 0, stdin: bytes = b"") -> str:
    done = run_command("compare", *arguments, cwd=cwd, stdin=stdin)
    assert done.returncode == status, done.stderr.decode()
    assert (done.stdout == b"") is (status != 0)
    assert status != 0 or done.stderr == b""
    return (done.stderr if status else done.stdout).decode()


def test_the_tables(folder: Path) -> None:
    shown = run("small.json", "bytes.json", "--on", "in", cwd=folder)
    expected = toksmith.lab.compare(
        {name: folder / name for name in ("small.json", "bytes.json")}, str(folder / "in")
    )
    assert shown.startswith("2 documents, ")
    words = re.sub(r" +", " ", shown)
    for section in sections(expected):
        assert f"\n{section.title}\n" in shown
        for row in section.rows:
            line = " ".join([row.label, *row.cells])
            assert line.replace(f"{folder}/", "") in words, line


def test_json(folder: Path) -> None:
    names = {"a": folder / "small.json", "b": folder / "bytes.json"}
    found = json.loads(run("a=small.json", "b=bytes.json", "--on", "in/a.txt", "in/b.txt", "--json", cwd=folder))
    expected = toksmith.lab.compare(names, [str(folder / "in")]).to_dict()
    assert found["groups"][0] == expected["groups"][0]
    assert [group["name"] for group in found["groups"] if group["by"] == "file"] == ["in/a.txt", "in/b.txt"]


def test_options(folder: Path) -> None:
    options = ["--document-separator", "\n--\n", "--resamples", 10, "--workers", 1]
    found = json.loads(run("small.json", "--on", "lines.txt", "--json", *options, cwd=folder))
    expected = toksmith.lab.compare(
        {"small.json": folder / "small.json"},
        toksmith.Corpus(str(folder / "lines.txt"), document_separator="\n--\n"),
        resamples=10,
    ).to_dict()
    for key in expected:
        if key != "groups":
            assert found[key] == expected[key], key
    assert found["groups"][0] == expected["groups"][0]


def test_languages(folder: Path) -> None:
    by_field = json.loads(
        run("small.json", "--on", "web.jsonl", "--field", "body", "--language-field", "lang", "--json", cwd=folder)
    )
    documents = {group["name"]: group["documents"] for group in by_field["groups"] if group["by"] == "language"}
    assert documents == {"en": 1, "de": 2}
    named = ["--language", "x=in/a.txt", "--language", "y=in/b.txt", "--language", "x=en.txt"]
    by_name = json.loads(run("small.json", *named, "--json", cwd=folder))
    documents = {group["name"]: group["documents"] for group in by_name["groups"] if group["by"] == "language"}
    assert documents == {"x": 2, "y": 1}


def test_parallel(folder: Path) -> None:
    texts = ["--parallel", "en=en.txt", "--parallel", "de=de.txt"]
    shown = run("small.json", "bytes.json", *texts, "--reference", "de", cwd=folder)
    assert "\nParity of languages\n  2 sentences in each language" in shown
    lines = shown.partition("Parity")[2].splitlines()
    assert lines[3].split()[0] == "de" and set(lines[3].split()[1:]) == {"1.00"}
    found = json.loads(run("bytes.json", *texts, "--json", cwd=folder))["parity"]
    assert found[1]["premiums"][0]["premium"]["value"] == pytest.approx(20 / 19)


def test_standard_input(folder: Path) -> None:
    found = json.loads(run("small.json", "--on", "-", "--json", cwd=folder, stdin=TEXT.encode()))
    assert found["groups"][0]["bytes"] == len(TEXT.encode())
    assert found["groups"][-1]["name"] == "standard input"
    lines = (folder / "web.jsonl").read_bytes()
    found = json.loads(run("small.json", "--on", "-", "--field", "body", "--json", cwd=folder, stdin=lines))
    assert found["groups"][0]["documents"] == 3


def test_files_beside(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    page, table, plots = tmp_path / "r.html", tmp_path / "t.txt", tmp_path / "plots"
    arguments = ["small.json", "bytes.json", "--on", "in"]
    beside = ("-o", page, "--output", table, "--plots", plots)
    done = run_command("compare", *arguments, *beside, cwd=folder)
    sizes = [f"{file}: {messages.size(file.stat().st_size)}\n" for file in (page, table)]
    assert (done.returncode, done.stderr.decode()) == (0, f"{''.join(sizes)}{plots}: 1 plot\n")
    assert done.stdout.decode() == run(*arguments, cwd=folder)
    assert run(*arguments, *beside, "--no-progress", cwd=folder) == done.stdout.decode()
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert sorted(path.name for path in plots.iterdir()) == ["compression.svg"]
    assert table.read_text(encoding="utf-8") == done.stdout.decode()


def test_a_pattern_goes_to_files_that_have_none(folder: Path) -> None:
    found = json.loads(run("ranks.tiktoken", "small.json", "--pattern", "gpt2", "--on", "in", "--json", cwd=folder))
    expected = Tokenizer.from_tiktoken(folder / "ranks.tiktoken", pattern="gpt2").count(TEXT)
    [tokens] = [row["figures"][0]["tokens"] for row in found["groups"] if row["name"] == "in/a.txt"]
    assert tokens == expected
    message = run("ranks.tiktoken", "small.json", "--on", "in", cwd=folder, status=2)
    assert "ranks.tiktoken is a rank file, which holds no pattern: give --pattern" in message
    message = run("small.json", "--pattern", "gpt2", "--on", "in", cwd=folder, status=2)
    assert "leave out --pattern" in message


ERRORS: list[tuple[str, int, str]] = [
    ("small.json", 2, "name what to compare on, with --on, --text, --language or --parallel"),
    ("--on in", 2, "Missing argument"),
    ("small.json small.json --on in", 2, "two tokenizers are called small.json: give one another name"),
    ("nowhere.json --on in", 1, "nowhere.json: No such file or directory"),
    ("small.json --on nope.txt", 1, "nope.txt: No such file or directory"),
    (
        "small.json --language de=nope.txt",
        1,
        "nope.txt: No such file or directory: a text is read from standard input",
    ),
    ("small.json --on bad.txt", 1, "bad.txt: not UTF-8 at byte 2: give --errors replace"),
    ("small.json --on empty.txt", 1, "there is no text to compare on"),
    ("small.json --on in -o report.pdf", 2, "--output ends in .html, .json or .txt: report.pdf does not"),
    ("small.json --on in --language de=in", 2, "--on and --language are mutually exclusive"),
    ("small.json --language in", 2, "--language is NAME=FILE, such as de=german.txt, not in"),
    ("small.json --parallel de=a --parallel de=b", 2, "--parallel names a language twice"),
    ("small.json --parallel en=en.txt", 1, "parallel texts need two languages or more"),
    ("small.json --parallel en=en.txt --parallel de=short.txt", 1, "differ in length: de ends after 1 lines"),
    ("small.json --parallel en=en.txt --parallel de=de.txt --reference fr", 1, "--reference is one of the languages"),
    ("small.json --on in --resamples -1", 1, "--resamples is at least 0"),
    ("small.json --on in --language-field lang", 1, "has no records, and so no field 'lang'"),
    ("small.json --on in -o nowhere/r.html", 1, "nowhere: there is no such folder to write into"),
]


@pytest.mark.parametrize(("line", "status", "expected"), ERRORS, ids=[line for line, _, _ in ERRORS])
def test_errors(line: str, status: int, expected: str, folder: Path) -> None:
    message = run(*shlex.split(line), cwd=folder, status=status)
    assert len(message.splitlines()) == 1
    assert expected in message
    assert not list(folder.glob("nowhere*"))


def test_escape_sequences_are_shown(folder: Path, tmp_path: Path) -> None:
    name = "a\x1b[31m.txt"
    (tmp_path / name).write_text("the low \x1b[31m red \x07 \u202e abc " * 9)
    for options in ([], ["--json"]):
        shown = run(folder / "small.json", folder / "bytes.json", "--on", name, *options, cwd=tmp_path)
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", shown)
    run(folder / "small.json", "--on", name, "-o", "r.html", "-o", "r.txt", "--no-progress", cwd=tmp_path)
    for file in ("r.html", "r.txt"):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", (tmp_path / file).read_text(encoding="utf-8"))


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_end_while_reading(sent: signal.Signals, folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "r.html"
    command = [*TOKSMITH, "compare", str(folder / "small.json"), "--on", "-", "-o", str(page)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdin is not None
        child.stdin.write(b"the low " * 200_000)  # more than a pipe holds: it reads
        time.sleep(0.1)
        child.send_signal(sent)
        output, errors = child.communicate(timeout=60)
    assert (output, errors) == (b"", b"")
    assert child.returncode == (130 if sent is signal.SIGINT else 143)
    assert list(tmp_path.iterdir()) == []


def test_arguments_of_the_library_have_options() -> None:
    names = set(inspect.signature(toksmith.lab.compare).parameters) - {"tokenizers", "on", "parallel", "progress"}
    assert names <= set(OPTIONS)
