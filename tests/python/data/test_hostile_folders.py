"""Folders of training data that somebody spoiled: an error that names the file, whatever is in it."""

import json
import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from training_folder import FORMATS, write_folder

import toksmith

VALUES: list[Any] = [
    None, True, -1, 0, 1, 2**62, 2**63, 10**40, 1.5, float("nan"), "", "x", "../x", "/etc/passwd", "a\0b", ".", [],
    {}, [1], {"a": 1}, "\x1b[2J", "train-00000.bin", "manifest.json",
]  # fmt: skip
EXPECTED = (ValueError, FileNotFoundError, LookupError)


def read_all(folder: Path) -> None:
    """Do everything that a reader does with a folder."""
    data = toksmith.data.open(folder)
    assert len(data[:]) == len(data)
    for number in range(len(data.documents)):
        data.documents[number]
    data.documents.at(3)
    data.windows(3, seed=1)[0]
    list(toksmith.data.differences(folder))
    data.documents.text(0)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return where each value stands in a JSON document."""
    found = [path]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in items:
        found += places(one, (*path, key))
    return found


def test_any_value_of_a_manifest(tmp_path: Path) -> None:
    write_folder(tmp_path, {"train": [[1, 2, 3], [4, 5]], "val": [[6]]})
    path = tmp_path / "manifest.json"
    whole = json.loads(path.read_text())
    read_all(tmp_path)
    rng = random.Random(1)
    for place in places(whole)[1:]:
        for value in rng.sample(VALUES, 4):
            changed = json.loads(json.dumps(whole))
            at = changed
            for key in place[:-1]:
                at = at[key]
            at[place[-1]] = value
            path.write_text(json.dumps(changed))
            try:
                read_all(tmp_path)
            except EXPECTED as error:
                assert "\x1b" not in str(error)
                assert len(str(error)) < 1000


@pytest.mark.parametrize("file_format", FORMATS)
def test_bytes_of_any_file(file_format: str, tmp_path: Path) -> None:
    if file_format == "parquet":
        pytest.importorskip("pyarrow")
    write_folder(tmp_path, {"train": [[1, 2, 3], [4, 5], []]}, file_format=file_format)
    rng = random.Random(2)
    for path in sorted(tmp_path.iterdir()):
        if path.name == "tokenizer.toksmith":
            continue
        whole = path.read_bytes()
        for _ in range(40):
            data = bytearray(whole)
            for _ in range(rng.randrange(1, 4)):
                data[rng.randrange(len(data))] = rng.randrange(256)
            path.write_bytes(data)
            try:
                read_all(tmp_path)
            except EXPECTED as error:
                assert str(tmp_path) in str(error) or isinstance(error, LookupError), error
        path.write_bytes(whole)


def test_indices_that_lead_nowhere(tmp_path: Path) -> None:
    write_folder(tmp_path, {"train": [[1, 2, 3], [4, 5], [6]]})
    index = tmp_path / "train-00000.index.npy"
    for starts in ([0, 9, 5, 6], [0, -4, 5, 6], [0, 5, 3, 6], [0, 2**62, 1, 6]):
        np.save(index, np.array(starts))
        data = toksmith.data.open(tmp_path)
        with pytest.raises(ValueError, match=r"train-00000\.index\.npy: document \d of the shard is from .* damaged"):
            list(data.documents)
        assert any("index" in line for line in toksmith.data.differences(tmp_path))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_and_folders_in_place_of_files(tmp_path: Path) -> None:
    for name in ("train-00000.bin", "train-00000.index.npy", "manifest.json"):
        folder = tmp_path / name
        write_folder(folder, {"train": [[1, 2, 3]]})
        (folder / name).unlink()
        os.mkfifo(folder / name)
        with pytest.raises(FileNotFoundError):
            toksmith.data.open(folder)
        (folder / name).unlink()
        (folder / name).mkdir()
        with pytest.raises(FileNotFoundError):
            toksmith.data.open(folder)
