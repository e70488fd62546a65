"""Files whose names are not UTF-8: every command and function that takes a file, with its output and its errors."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from command import run_command

import toksmith
import toksmith.data

pa = pytest.importorskip("pyarrow")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="names of files are Unicode here")

NAME = os.fsdecode(b"\xe9\xff")
TEXT = "hello world, hello there\n" * 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of sources and a tokenizer, all with such names."""
    made = tmp_path_factory.mktemp("names") / NAME
    made.mkdir()
    (made / f"{NAME}.txt").write_text(TEXT)
    (made / f"{NAME}.jsonl").write_text('{"text": "hello"}\n' * 20)
    with (made / f"{NAME}.parquet").open("wb") as file:
        from pyarrow import parquet

        parquet.write_table(pa.table({"text": ["hello world"] * 20}), file)
    (made / f"bad{NAME}.txt").write_bytes(b"abc \xff\n")
    (made / f"bad{NAME}.jsonl").write_bytes(b'{"text": 1}\n')
    (made / f"bad{NAME}.txt.gz").write_bytes(b"\x1f\x8b\x08\0")
    (made / f"bad{NAME}.parquet").write_bytes(b"PAR1")
    toksmith.train(made / f"{NAME}.txt", 264).save(made / f"{NAME}.toksmith")
    return made


def good(folder: Path) -> list[str]:
    return [str(folder / f"{NAME}{suffix}") for suffix in (".txt", ".jsonl", ".parquet")]


def bad(folder: Path) -> list[str]:
    return sorted(map(str, folder.glob("bad*")))


@pytest.mark.parametrize("form", ["bin", "llm.c", "megatron", "npy", "parquet"])
def test_shards_and_their_manifest(folder: Path, tmp_path: Path, form: str) -> None:
    tokenizer = folder / f"{NAME}.toksmith"
    out = tmp_path / NAME
    sources = good(folder)
    manifest = toksmith.tokenize(sources, tokenizer, out, format=form)
    read = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert read == manifest
    assert [os.fsencode(one["name"]) for one in read["sources"]] == [*map(os.fsencode, sources)]
    assert toksmith.tokenize(sources, tokenizer, out, format=form) == manifest, "a finished run is left alone"
    assert toksmith.data.open(out).documents[0].tolist() == toksmith.Tokenizer.load(tokenizer).encode(TEXT)
    assert _run(["data", str(out), "--check"]).returncode == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "GOOD", "-o", "OUT.json", "--vocab-size", "260", "--progress", "json", "--log", "OUT.csv"],
        ["tokenize", "GOOD", "-t", "TOKENIZER", "-o", "OUT", "--progress", "json"],
        ["encode", "TEXT", "-t", "TOKENIZER", "-o", "OUT.npy"],
        ["count", "GOOD", "-t", "TOKENIZER"],
        ["count", "GOOD", "-t", "TOKENIZER", "--json"],
        ["view", "TEXT", "-t", "TOKENIZER"],
        ["view", "--html", "OUT.html", "-t", "TOKENIZER"],
        ["inspect", "TOKENIZER", "--on", "GOOD"],
        ["inspect", "TOKENIZER", "--on", "GOOD", "--json"],
        ["compare", "TOKENIZER", "b=TOKENIZER", "--on", "GOOD"],
        ["compare", "TOKENIZER", "b=TOKENIZER", "--on", "GOOD", "--json"],
        ["compare", "TOKENIZER", "b=TOKENIZER", "--on", "GOOD", "-o", "OUT.txt"],
        ["compare", "TOKENIZER", "b=TOKENIZER", "--on", "GOOD", "-o", "OUT.html", "--plots", "OUT"],
        ["compare", f"{NAME}=TOKENIZER", "b=TOKENIZER", "--language", f"{NAME}=TEXT"],
        ["convert", "TOKENIZER", "OUT", "--to", "huggingface"],
    ],
    ids=lambda arguments: "-".join(word.strip("-") for word in arguments if word.isascii() and word.islower()),
)
def test_commands(folder: Path, tmp_path: Path, arguments: list[str]) -> None:
    places = {"TEXT": good(folder)[0], "TOKENIZER": str(folder / f"{NAME}.toksmith"), "OUT": str(tmp_path / NAME)}

    def filled(argument: str) -> list[str]:
        if argument == "GOOD":
            return good(folder)
        for name, path in places.items():
            argument = argument.replace(name, path)
        return [argument]

    done = _run([word for argument in arguments for word in filled(argument)])
    assert done.returncode == 0, done.stderr


def test_verify_names_the_tokenizer(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    out = tmp_path / NAME
    toksmith.Tokenizer.load(folder / f"{NAME}.toksmith").save_huggingface(out)
    done = _run(["verify", str(out), good(folder)[0], "--against", "huggingface"])
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("command", ["train", "count", "tokenize", "inspect", "compare"])
def test_errors_name_the_file(folder: Path, tmp_path: Path, command: str) -> None:
    tokenizer = str(folder / f"{NAME}.toksmith")
    for path in (*bad(folder), str(folder / f"missing{NAME}.txt")):
        arguments = {
            "train": ["train", path, "-o", str(tmp_path / "new.json"), "--vocab-size", "260"],
            "count": ["count", path, "-t", tokenizer],
            "tokenize": ["tokenize", path, "-t", tokenizer, "-o", str(tmp_path / Path(path).name)],
            "inspect": ["inspect", tokenizer, "--on", path],
            "compare": ["compare", tokenizer, f"b={tokenizer}", "--on", path],
        }
        done = _run(arguments[command])
        shown = path.encode("utf-8", "backslashreplace")
        assert done.returncode == 1 and shown in done.stderr, done.stderr


def test_messages_hold_the_name_itself(folder: Path) -> None:
    for path in bad(folder):
        for call in (lambda path: toksmith.train(path, 260), lambda path: toksmith.count_pretokens(path)):
            with pytest.raises((ValueError, OSError)) as caught:
                call(path)
            assert str(caught.value).startswith(f"{path}: ")


def _run(arguments: list[str]) -> Any:
    # Standard output of most locales takes no lone surrogate; that of C and POSIX would.
    return run_command(*arguments, env={**os.environ, "PYTHONIOENCODING": "utf-8:strict"})
