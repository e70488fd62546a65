"""`toksmith.data.open`: ids by place, documents, of every format, compared with lists."""

import json
import pickle
import random
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from training_folder import FORMATS, write_folder

import toksmith
from toksmith import Tokenizer

RNG = random.Random(3)
LENGTHS = [5, 0, 1, 30, 12, 0, 0, 99, 7, 40, 1, 64, 3, 25, 25, 25, 8, 0]


def documents(largest: int) -> list[list[int]]:
    return [[RNG.randrange(largest) for _ in range(length)] for length in LENGTHS]


@pytest.fixture(scope="module", params=[(name, dtype) for name in FORMATS for dtype in ("uint16", "uint32")], ids=str)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[list[int]]]:
    """A folder of one format and type, with what is in it."""
    file_format, dtype = request.param
    if file_format == "parquet":
        pytest.importorskip("pyarrow")
    folder = tmp_path_factory.mktemp("data") / "out"
    found = documents(2**16 if dtype == "uint16" else 2**31)
    write_folder(folder, {"train": found, "val": found[:4]}, file_format=file_format, dtype=dtype, shard_size=60)
    return folder, found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of bytes, of which a few files will be spoiled."""
    write_folder(tmp_path / "out", {"train": [[1, 2, 3], [4, 5], [6] * 10]}, shard_size=4)
    return tmp_path / "out"


def flat(documents: list[list[int]]) -> list[int]:
    return [id for document in documents for id in document]


# Ids and documents


def test_ids_by_place_and_slice(made: tuple[Path, list[list[int]]]) -> None:
    folder, found = made
    data, ids = toksmith.data.open(folder), flat(found)
    assert len(data) == len(ids) > 300
    assert [data[i] for i in range(-len(ids), len(ids))] == ids + ids
    assert type(data[0]) is int
    places = [None, 0, 1, 59, 60, 61, 137, len(ids) - 1, len(ids), len(ids) + 5, -1, -60]
    for start in places:
        for stop in places:
            for step in (None, 2, -1, -7):
                part = data[start:stop:step]
                assert part.dtype == data.dtype
                assert part.tolist() == ids[start:stop:step]
    for wrong in (len(ids), -len(ids) - 1):
        with pytest.raises(IndexError, match="numbered from 0"):
            data[wrong]
    for start, stop in ((-1, 5), (0, len(ids) + 1)):
        with pytest.raises(IndexError, match=r"is not within the .* ids of the split"):
            data.read(start, stop)


def test_documents(made: tuple[Path, list[list[int]]]) -> None:
    folder, found = made
    data = toksmith.data.open(folder)
    assert len(data.documents) == len(found)
    assert [document.tolist() for document in data.documents] == found
    assert data.documents[-2].tolist() == found[-2]
    assert [data.documents.bounds(i)[1] - data.documents.bounds(i)[0] for i in range(len(found))] == LENGTHS
    owners = [number for number, length in enumerate(LENGTHS) for _ in range(length)]
    assert [data.documents.at(place) for place in range(len(data))] == owners
    with pytest.raises(IndexError, match="no document 18: there are 18, numbered from 0"):
        data.documents[18]


def test_other_splits(made: tuple[Path, list[list[int]]]) -> None:
    folder, found = made
    data = toksmith.data.open(folder, "val")
    assert data.splits == ["train", "val"]
    assert data[:].tolist() == flat(found[:4])
    with pytest.raises(ValueError, match="no split 'test': the folder has 'train', 'val'"):
        toksmith.data.open(folder, "test")


def test_a_written_folder_differs_in_nothing(made: tuple[Path, list[list[int]]]) -> None:
    assert list(toksmith.data.differences(made[0])) == []


def test_it_pickles(made: tuple[Path, list[list[int]]]) -> None:
    data = toksmith.data.open(made[0])
    again = pickle.loads(pickle.dumps(data))
    assert again[:].tolist() == data[:].tolist()
    assert again.split == "train"
    windows = pickle.loads(pickle.dumps(data.windows(8, targets=True, seed=5, rank=1, ranks=2, dtype="uint32")))
    assert [window.tolist() for window in windows] == [
        window.tolist() for window in data.windows(8, targets=True, seed=5, rank=1, ranks=2)
    ]
    assert windows[0].dtype == np.uint32


def test_nanogpt_reads_the_shards(folder: Path) -> None:
    shard = json.loads((folder / "manifest.json").read_text())["splits"]["train"]["shards"][0]
    ids = np.memmap(folder / shard["file"], dtype=np.uint16, mode="r")
    assert ids.tolist() == toksmith.data.open(folder)[: len(ids)].tolist()


def test_text_of_documents(tmp_path: Path) -> None:
    tokenizer = toksmith.train(iter(["the lowest of the low"]), 262, special_tokens=["<|endoftext|>"])
    texts = ["the low", "", "žluťoučký 日本"]
    write_folder(tmp_path, {"train": [[*tokenizer.encode(text), 0] for text in texts]}, tokenizer=tokenizer)
    data = toksmith.data.open(str(tmp_path))
    assert [data.documents.text(i) for i in range(3)] == [f"{text}<|endoftext|>" for text in texts]
    assert data.tokenizer == tokenizer
    assert data.manifest["totals"]["documents"] == 3


def test_an_empty_split(tmp_path: Path) -> None:
    for number, found in enumerate(([], [[]], [[], []])):
        for file_format in ("bin", "llm.c", "npy"):
            folder = tmp_path / f"{number}{file_format}"
            write_folder(folder, {"train": found}, file_format=file_format)
            data = toksmith.data.open(folder)
            assert (len(data), len(data.documents), data[:].tolist()) == (0, len(found), [])
            assert [document.tolist() for document in data.documents] == found
            assert list(toksmith.data.differences(folder)) == []
            with pytest.raises(IndexError):
                data[0]


def test_views_of_the_file_and_no_more_open_files_than_needed(tmp_path: Path) -> None:
    write_folder(tmp_path, {"train": [[i, i] for i in range(300)]}, shard_size=2)
    data = toksmith.data.open(tmp_path)
    assert data[::2].tolist() == list(range(300))
    assert data._ids.cache_info().currsize <= 128
    view = data[10:12]
    assert view.base is not None
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1


# Folders that are not whole


def spoiled(folder: Path, **changes: Any) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_folder_that_is_not_finished(folder: Path, tmp_path: Path) -> None:
    (folder / "manifest.json").unlink()
    with pytest.raises(FileNotFoundError, match="has not finished: run the same toksmith tokenize again"):
        toksmith.data.open(folder)
    with pytest.raises(FileNotFoundError, match="pass a folder that toksmith tokenize wrote"):
        toksmith.data.open(tmp_path)
    with pytest.raises(FileNotFoundError, match="no such folder"):
        toksmith.data.open(tmp_path / "nowhere")
    with pytest.raises(NotADirectoryError, match="not a folder"):
        toksmith.data.open(folder / "tokenizer.toksmith")


def test_shards_that_are_missing_or_short(folder: Path) -> None:
    shard = folder / "train-00001.bin"
    data = shard.read_bytes()
    shard.write_bytes(data[:-2])
    with pytest.raises(ValueError, match=r"train-00001\.bin: the file has 18 bytes, and manifest\.json says 20"):
        toksmith.data.open(folder)
    shard.unlink()
    with pytest.raises(FileNotFoundError, match=r"train-00001\.bin: the file is missing"):
        toksmith.data.open(folder)
    shard.write_bytes(data)
    (folder / "train-00000.index.npy").unlink()
    with pytest.raises(FileNotFoundError, match=r"train-00000\.index\.npy: the file is missing"):
        toksmith.data.open(folder)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"version": 3}, "version 3 of the format, and this toksmith reads 2: install a newer one"),
        ({"version": "1"}, "the version is '1'"),
        ({"format": "other"}, "not a manifest of training data"),
        ({"dtype": "int64"}, "the field 'dtype' is 'int64', and this toksmith reads uint16, uint32"),
        ({"dtype": "uint32"}, "ids of uint32 take"),
        ({"file_format": "arrow"}, "the field 'file_format' is 'arrow'"),
        ({"file_format": "llm.c"}, "ids of uint16 take"),
        ({"splits": []}, "the field 'splits' is list, not dict"),
        ({"splits": {"train": 1}}, "the split 'train' is int"),
        (
            {"splits": {"train": {"documents": 1, "tokens": 0, "shards": []}}},
            "1 documents, and its shards together 0",
        ),
        ({"splits": {"train": {"documents": 0, "tokens": -1, "shards": []}}}, "not a count"),
        ({"tokenizer": {"file": "../x", "fingerprint": "", "vocab_size": 1}}, "not the name of a file in the folder"),
        ({"tokenizer": {"fingerprint": "", "vocab_size": 1}}, "the field 'file' is missing"),
    ],
)
def test_manifests_that_are_wrong(changes: dict[str, Any], expected: str, folder: Path) -> None:
    spoiled(folder, **changes)
    with pytest.raises(ValueError, match=expected):
        toksmith.data.open(folder)


def test_a_manifest_that_is_no_json(folder: Path) -> None:
    (folder / "manifest.json").write_text('{"format":')
    with pytest.raises(ValueError, match=r"manifest\.json, line 1: not JSON"):
        toksmith.data.open(folder)


def test_another_tokenizer(folder: Path) -> None:
    Tokenizer(special_tokens=["<|other|>"]).save(folder / "tokenizer.toksmith")
    with pytest.raises(ValueError, match="not the tokenizer that manifest"):
        toksmith.data.open(folder).documents.text(0)
    assert "not the tokenizer" in next(toksmith.data.differences(folder))


def test_files_of_another_type(tmp_path: Path) -> None:
    write_folder(tmp_path, {"train": [[1, 2, 3]]}, file_format="npy")
    np.save(tmp_path / "train-00000.npy", np.array([1, 2, 3], ">u2"))
    with pytest.raises(ValueError, match=r"not the NumPy file that manifest\.json describes, of 3 numbers of uint16"):
        toksmith.data.open(tmp_path)[0]
    np.save(tmp_path / "train-00000.index.npy", np.array([0, 2]))
    with pytest.raises(ValueError, match="the documents are from 0 to 2, and"):
        toksmith.data.open(tmp_path).documents[0]


def test_a_header_of_another_kind(tmp_path: Path) -> None:
    write_folder(tmp_path, {"train": [[1, 2, 3]]}, file_format="llm.c")
    path = tmp_path / "train-00000.bin"
    path.write_bytes(struct.pack("<3i", 20240520, 1, 4) + path.read_bytes()[12:])
    with pytest.raises(ValueError, match=r"the header of llm\.c is not that of 3 ids of uint16"):
        toksmith.data.open(tmp_path)[0]


@pytest.mark.parametrize("file_format", FORMATS)
def test_one_changed_byte_is_found(file_format: str, tmp_path: Path) -> None:
    if file_format == "parquet":
        pytest.importorskip("pyarrow")
    write_folder(tmp_path / "whole", {"train": [[1, 2, 3], [4, 5]]}, file_format=file_format)
    names = [path.name for path in (tmp_path / "whole").iterdir() if path.name.startswith("train")]
    assert len(names) == (3 if file_format == "megatron" else 2)
    for name in names:
        shutil.copytree(tmp_path / "whole", tmp_path / "spoiled", dirs_exist_ok=True)
        data = bytearray((tmp_path / "spoiled" / name).read_bytes())
        data[-8] ^= 1
        (tmp_path / "spoiled" / name).write_bytes(data)
        found = list(toksmith.data.differences(tmp_path / "spoiled"))
        assert found and all(name.partition(".")[0] in line for line in found), found
        assert any(name in line for line in found)


def test_a_folder_that_changed_after_pickling(folder: Path) -> None:
    pickled = pickle.dumps(toksmith.data.open(folder))
    spoiled(folder, more=1)
    with pytest.raises(ValueError, match="has changed since this was pickled"):
        pickle.loads(pickled)


def test_the_import_is_light() -> None:
    code = "import sys, toksmith; toksmith.data.open; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout.decode().split()
    assert "toksmith.data" in loaded
    assert not {"numpy", "pyarrow", "regex", "torch", "jax"} & set(loaded)
