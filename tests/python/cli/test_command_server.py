"""`run_command`, by which other tests run the command line, gives what a new interpreter gives."""

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from command import TOKSMITH, run_command

from toksmith import Tokenizer

COMMANDS: dict[str, tuple[list[str], bytes]] = {
    "help": (["--help"], b""),
    "help of a command": (["encode", "--help"], b""),
    "version": (["--version"], b""),
    "no argument": ([], b""),
    "encode": (["encode", "-t", "t.json"], "the žluťoučký 日本\r\n\0".encode()),
    "encode to a file": (["encode", "-t", "t.json", "text", "-o", "ids.npy"], b""),
    "decode": (["decode", "-t", "t.json", "array.npy"], b""),
    "explain": (["explain", "-t", "t.json", "--text", "the lowest"], b""),
    "progress": (["encode", "-t", "t.json", "text", "-o", "ids", "--progress", "json"], b""),
    "a warning": (["train", "text", "--vocab-size", "400", "-o", "out.json"], b""),
    "an error": (["encode", "-t", "t.json"], b"\xff"),
    "a usage error": (["encode", "--frobnicate"], b""),
    "input that is not read": (["encode", "-t", "missing.json"], b"x" * 1_000_000),
    "a long output": (["decode", "-t", "t.json"], b"97 " * 300_000),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_gives_the_same_as_in_a_new_interpreter(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments, stdin = COMMANDS[name]
    monkeypatch.setenv("COLUMNS", "70")
    found = []
    for way in ("forked", "new"):
        folder = tmp_path / way
        folder.mkdir()
        Tokenizer().save(folder / "t.json")
        (folder / "text").write_bytes(b"the low, the lowest\n" * 20)
        np.save(folder / "array.npy", np.array([97, 98], np.uint16))
        if way == "forked":
            done = run_command(*arguments, stdin=stdin, cwd=folder)
        else:
            done = subprocess.run([*TOKSMITH, *arguments], input=stdin, capture_output=True, cwd=folder, check=False)
        written = {path.name: path.read_bytes() for path in folder.iterdir()}
        stderr = done.stderr if name != "progress" else re.sub(rb'"seconds": [0-9.]+', b"", done.stderr)
        found.append((done.returncode, done.stdout, stderr, written))
    assert found[0] == found[1]


def test_every_command_is_a_process_of_its_own_environment(tmp_path: Path) -> None:
    show = ["encode", "-t", "cl100k_base"]
    said = [
        run_command(*show, cwd=tmp_path, env={**os.environ, "TOKSMITH_CACHE_DIR": folder}).stderr
        for folder in ("/nowhere/first", "/nowhere/second", "/nowhere/first")
    ]
    assert said[0] == said[2]
    assert [b"/nowhere/first" in line for line in said] == [True, False, True]
