"""`toksmith bench`: ids are compared before anything is timed; no speed is held here."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command import TOKSMITH, run_command

import toksmith
from toksmith import Tokenizer
from toksmith.cli import bench, peers

TEXT = "the lowest of the low, the newest of the new, 1234 don't<|endoftext|>\n" * 2500


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bench")
    toksmith.train_from_iterator([TEXT], 275, special_tokens=["<|endoftext|>"]).save(folder / "t.json")
    (folder / "text").write_text(TEXT)
    return folder


@pytest.mark.parametrize("threads", [1, 2])
def test_it_compares_what_is_installed(threads: int, folder: Path) -> None:
    pytest.importorskip("tiktoken")
    pytest.importorskip("tokenizers")
    options = ("--rounds", 1, "--workers", threads, "--json")
    done = run_command("bench", "-t", "t.json", "text", *options, cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads(done.stdout)
    assert found["bytes"] == len(TEXT)
    assert found["ids"] == len(Tokenizer.load(folder / "t.json").encode(TEXT))
    assert found["texts"] == 3
    libraries = {one["name"].split()[0]: one for one in found["libraries"]}
    assert next(iter(libraries)) == "toksmith"
    assert set(libraries) == {"toksmith", *peers.NAMES}
    for name in ("toksmith", "tiktoken", "tokenizers"):
        assert libraries[name]["MB/s"] == pytest.approx(len(TEXT) / 1e6 / libraries[name]["seconds"])


def test_a_library_that_is_not_installed(folder: Path) -> None:
    """A stand-in for all three that cannot be imported."""
    for name in peers.NAMES:
        (folder / f"{name}.py").write_text("raise ImportError")
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-m", "toksmith", "bench", "-t", "t.json", "--rounds", "1", "text"]
    done = subprocess.run(command, capture_output=True, cwd=folder, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    shown = done.stdout.decode()
    assert shown.startswith(f"text: {len(TEXT):,} bytes in 3 pieces, ")
    assert "threads: 1; the least time of 1 rounds\n\nlibrary" in shown
    assert f"toksmith {toksmith.__version__}" in shown
    for name in peers.NAMES:
        assert f"{name}: not installed: pip install {name}\n" in shown


class Other:
    """A library that puts an id into the third text."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer

    def encode(self, texts: list[str]) -> Any:
        found = self.tokenizer.encode_batch(texts)
        found[2].insert(5, 7)
        return found


class PanicException(BaseException):
    """What a panic of a Rust library is in Python."""


def panics(_: list[str]) -> Any:
    raise PanicException("index out of bounds")


def test_other_ids_are_not_timed(folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    def load(tokenizer: Tokenizer, threads: int) -> Any:
        yield peers.Peer("other 1", Other(tokenizer).encode, lambda found: found)
        yield peers.Missing("third 2", "left out: it needs a pattern")
        yield peers.Peer("fourth 3", panics, lambda found: found)

    monkeypatch.setattr(peers, "load", load)
    from toksmith.cli.app import run

    monkeypatch.setattr(signal, "signal", lambda *_: None)
    assert run(["bench", "-t", str(folder / "t.json"), str(folder / "text"), "--rounds", "1"]) == 1
    shown = capfd.readouterr().out
    assert "other 1: other ids, first at id 5 of piece 2, 7 in place of " in shown
    assert "third 2: left out: it needs a pattern\n" in shown
    assert "fourth 3: failed: PanicException: index out of bounds\n" in shown


def test_pieces_are_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "PIECE_CHARACTERS", 10)
    text = "a\n" * 20 + "b" * 35 + "\n\n" + "c" * 4
    for size in (1, 3, 7, 100):
        windows = [text[start : start + size] for start in range(0, len(text), size)]
        found = list(bench.pieces(windows))
        assert "".join(found) == text
        assert all(len(piece) >= 10 and piece.endswith("\n") for piece in found[:-1])
        assert max(map(len, found)) <= 37
    monkeypatch.setattr(bench, "MAX_CHARACTERS", 33)
    assert "".join(bench.pieces([text[:20], text[20:]])) == text[:33]


@pytest.mark.parametrize(
    ("arguments", "status", "expected"),
    [
        (("nope",), 1, "nope: No such file"),
        (("text", "--rounds", 0), 2, "--rounds is at least 1"),
        (("text", "--workers", 0), 1, "--workers is at least 1"),
        ((os.devnull,), 1, "there is no text to encode"),
        (("t.json", "more"), 2, "unexpected extra argument"),
    ],
)
def test_errors(arguments: tuple[object, ...], status: int, expected: str, folder: Path) -> None:
    done = run_command("bench", "-t", "t.json", *arguments, cwd=folder)
    assert done.returncode == status
    assert expected in done.stderr.decode()
    assert done.stdout == b""
    assert len(done.stderr.splitlines()) == 1


def test_an_end_while_reading(folder: Path) -> None:
    command = [*TOKSMITH, "bench", "-t", str(folder / "t.json")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        child.stdin.write(TEXT.encode() * 10)  # more than a pipe holds: it reads
        child.send_signal(signal.SIGINT)
        assert child.communicate(timeout=60) == (b"", b"")
    assert child.returncode == 130
