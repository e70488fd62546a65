"""Runs a program of `examples/` that makes shards on an engine, and compares with one machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from parts_engine import check_equal

from toksmith import Tokenizer, tokenize, train

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
END = "<|endoftext|>"


def check(program: str, folder: Path, texts: list[str | None], variables: dict[str, str]) -> None:
    """Check what a program makes of texts in three files."""
    (folder / "texts").mkdir()
    for number in range(3):
        part = pa.table({"body": pa.array(texts[number::3], pa.string()), "n": range(len(texts))[number::3]})
        pq.write_table(part, folder / "texts" / f"{number}.parquet")
    paths = [str(folder / each) for each in ("texts", "tokenizer.json", "shards")]
    options = ["--column", "body", "--order", "n", "--vocab-size", "400"]
    warned = [f"-Wdefault::DeprecationWarning:toksmith.engines.{name}" for name in ("ray", "spark")]
    command = [sys.executable, *warned, str(EXAMPLES / program), *paths, *options]
    done = subprocess.run(command, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "DeprecationWarning" not in done.stderr  # of the program itself: these are shown by default
    tokenizer = Tokenizer.load(folder / "tokenizer.json")
    given = [text for text in texts if text is not None]
    assert tokenizer == train(iter(given), 400, special_tokens=[END], pattern="o200k")
    told = tokenize(iter(given), tokenizer, folder / "one", append=END, split={"val": 0.01})
    assert done.stdout.splitlines()[-1] == f"{len(given)} documents, {told['totals']['tokens']} ids"
    check_equal(folder / "shards", folder / "one")
