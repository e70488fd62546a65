"""Hugging Face `datasets`: `map` with `batch_function`, its cache in another process, and processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from toksmith import Tokenizer
from toksmith.engines import batch_function
from toksmith.surgery import shrink

pytest.importorskip("pyarrow", reason="needs pyarrow")
if os.environ.get("HF_HUB_OFFLINE") != "1":
    os.environ["HF_HUB_OFFLINE"] = "1"  # before the import, which reads it
datasets: Any = pytest.importorskip(
    "datasets", reason="datasets is not installed: `make test-distributed` installs it"
)

TEXTS = ["the theatre, the there", "", "žluťoučký", "a"] * 50

# Maps a folder's dataset, and says what became of it.
PROGRAM = """
import os, sys
os.environ["HF_HUB_OFFLINE"] = "1"
import datasets
from toksmith import Tokenizer
from toksmith.engines import batch_function

folder, form, processes = sys.argv[1], sys.argv[2], int(sys.argv[3]) or None
datasets.disable_progress_bars()
dataset = datasets.Dataset.from_parquet(f"{folder}/texts.parquet", cache_dir=f"{folder}/cache")
if form == "arrow":
    dataset = dataset.with_format("arrow")
tokenizer = Tokenizer.load(f"{folder}/tokenizer.json")
made = dataset.map(batch_function(tokenizer, "text", dtype="uint16"), batched=True, batch_size=30, num_proc=processes)
print(made._fingerprint, sorted(file["filename"] for file in made.cache_files))
"""


@pytest.fixture
def folder(small: Tokenizer, tmp_path: Path) -> Path:
    small.save(tmp_path / "tokenizer.json")
    datasets.Dataset.from_dict({"text": TEXTS, "n": range(len(TEXTS))}).to_parquet(tmp_path / "texts.parquet")
    return tmp_path


def run(folder: Path, form: str, processes: int) -> str:
    arguments = [sys.executable, "-c", PROGRAM, str(folder), form, str(processes)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("form", ["python", "arrow"])
@pytest.mark.parametrize("processes", [0, 2])
def test_a_new_process_finds_the_cache(form: str, processes: int, folder: Path) -> None:
    first = run(folder, form, processes)
    files = {path: path.stat().st_mtime_ns for path in folder.rglob("*.arrow")}
    assert run(folder, form, processes) == first
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.arrow")} == files
    assert len(files) > 1


@pytest.mark.parametrize("form", [None, "arrow"])
def test_ids_of_a_mapped_dataset(form: str | None, small: Tokenizer, folder: Path) -> None:
    dataset = datasets.Dataset.from_parquet(str(folder / "texts.parquet"), cache_dir=str(folder / "cache"))
    for dtype in ("uint16", "uint32"):
        made = dataset.with_format(form).map(batch_function(small, "text", dtype=dtype), batched=True, batch_size=30)
        assert made.column_names == ["text", "n", "input_ids"]
        assert made.features["input_ids"].feature.dtype == dtype
        assert made.with_format(None)["input_ids"][:] == [small.encode(text) for text in TEXTS]
        assert made.with_format(None)["n"][:] == [*range(len(TEXTS))]
    if form is None:
        alone = dataset.map(batch_function(small, "text"), batched=True, remove_columns=dataset.column_names)
    else:
        alone = dataset.with_format(form).map(batch_function(small, "text", keep=False), batched=True)
    assert alone.column_names == ["input_ids"]


def test_the_fingerprint_follows_tokenizer_and_arguments(small: Tokenizer) -> None:
    from datasets.fingerprint import Hasher

    function = batch_function(small, "text")
    before = Hasher.hash(function)
    function({"text": ["the theatre"]})
    assert Hasher.hash(function) == before
    assert Hasher.hash(batch_function(Tokenizer(small.vocab, small.merges), "text")) == before
    others = [
        batch_function(shrink(small, 300), "text"),
        batch_function(small, "n"),
        batch_function(small, dtype="uint16"),
        batch_function(small, out="ids"),
    ]
    assert len({before, *map(Hasher.hash, others)}) == 5
