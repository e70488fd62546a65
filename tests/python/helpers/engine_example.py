"""Runs a program of `examples/` that trains and encodes on an engine, and compares with one machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from toksmith import Tokenizer, train_from_iterator

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
END = "<|endoftext|>"


def check(name: str, folder: Path, texts: list[str | None], variables: dict[str, str]) -> None:
    """Check what a program makes of texts in three files."""
    (folder / "texts").mkdir()
    for number in range(3):
        part = pa.table({"body": pa.array(texts[number::3], pa.string())})
        pq.write_table(part, folder / "texts" / f"{number}.parquet")
    paths = [str(folder / each) for each in ("texts", "tokenizer.json", "ids")]
    command = [sys.executable, str(EXAMPLES / name), *paths, "--column", "body", "--vocab-size", "400"]
    done = subprocess.run(command, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    tokenizer = Tokenizer.load(folder / "tokenizer.json")
    given = [text for text in texts if text is not None]
    assert tokenizer == train_from_iterator(given, 400, special_tokens=[END], pattern="o200k")
    found = pq.read_table(folder / "ids")
    assert found.column_names == ["input_ids"]
    ids = sorted(each for each in found["input_ids"].to_pylist() if each is not None)
    assert ids == sorted(map(tokenizer.encode, given))
    assert found.num_rows == len(texts)
