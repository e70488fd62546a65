"""Each format is read by the rules of the program that it is for, written here anew from those rules."""

import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shards_oracle
from blake3 import blake3
from conftest import Soup

import toksmith
from toksmith import Tokenizer, _core
from toksmith.data import tokenize as module

END = "<|endoftext|>"
DTYPES: dict[str, Any] = {"uint16": np.uint16, "uint32": np.uint32}


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return toksmith.train(iter(["low lower newest the quick brown"] * 9), 270, special_tokens=[END])


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNK_BYTES", 700)


@pytest.fixture(scope="module")
def documents(soup: Soup) -> list[str]:
    rng = random.Random(8)
    return [soup(rng, rng.choice([0, 1, 5, 30, 120])) for _ in range(150)]


Shards = list[list[list[int]]]


@pytest.fixture(params=list(DTYPES))
def written(request: pytest.FixtureRequest, tokenizer: Tokenizer, documents: list[str], tmp_path: Path) -> Any:
    """Write a format; return the paths of its shards, their documents, and the type of the ids."""

    def write(name: Any) -> tuple[list[Path], Shards, str]:
        out = tmp_path / "out"
        told = toksmith.tokenize(
            iter(documents), tokenizer, out, format=name, dtype=request.param, shard_size=2000, append=END, workers=2
        )
        assert (told["file_format"], told["dtype"]) == (name, request.param)
        append = [tokenizer.special_tokens[END]]
        expected = shards_oracle.expected(tokenizer, documents, append=append, shard_size=2000)["train"]
        paths = [out / shard["file"] for shard in told["splits"]["train"]["shards"]]
        assert len(paths) == len(expected) > 2
        for shard, documents_of_it in zip(told["splits"]["train"]["shards"], expected, strict=True):
            starts = np.load(out / shard["index"])
            assert starts.tolist() == np.cumsum([0, *map(len, documents_of_it)]).tolist()
        return paths, expected, request.param

    return write


def joined(shard: list[list[int]]) -> list[int]:
    return [id for document in shard for id in document]


def test_bin(written: Any) -> None:
    paths, shards, dtype = written("bin")
    for path, shard in zip(paths, shards, strict=True):
        data = np.memmap(path, dtype=DTYPES[dtype], mode="r")
        assert data.tolist() == joined(shard)
        at = len(data) // 3
        assert data[at : at + 16].astype(np.int64).tolist() == joined(shard)[at : at + 16]


@pytest.mark.parametrize("shuffle", [None, 3])
def test_nanogpt(shuffle: int | None, tokenizer: Tokenizer, documents: list[str], tmp_path: Path) -> None:
    """nanoGPT maps data/NAME/train.bin and val.bin as bare uint16, and takes windows at random places."""
    out, split = tmp_path / "data", {"val": 0.3}
    told = toksmith.tokenize(
        iter(documents), tokenizer, out, format="nanogpt", split=split, append=END, workers=2, shuffle=shuffle
    )
    expected = shards_oracle.expected(
        tokenizer, documents, append=[tokenizer.special_tokens[END]], split=split, shuffle=shuffle
    )
    for name in ("train", "val"):
        [shard] = expected[name]
        data = np.memmap(out / f"{name}.bin", dtype=np.uint16, mode="r")
        at = len(data) // 3
        assert data[at : at + 16].astype(np.int64).tolist() == joined(shard)[at : at + 16]
        assert data.tolist() == joined(shard)
        opened = toksmith.data.open(out, name)
        assert [document.tolist() for document in opened.documents] == shard
        assert opened.documents.text(0) == tokenizer.decode(shard[0])
    assert {path.name for path in out.iterdir()} == {
        "train.bin", "train.index.npy", "val.bin", "val.index.npy", "tokenizer.toksmith", "manifest.json",
    }  # fmt: skip
    assert list(toksmith.data.differences(out)) == []
    assert (told["file_format"], told["dtype"], told["options"]["shard_size"]) == ("nanogpt", "uint16", None)


@pytest.mark.usefixtures("shared_data")
def test_what_nanogpt_cannot_read(tokenizer: Tokenizer, cl100k: Tokenizer, tmp_path: Path) -> None:
    def refused(chosen: Tokenizer, **options: Any) -> str:
        with pytest.raises(ValueError) as error:
            toksmith.tokenize(iter(["low"]), chosen, tmp_path / "out", format="nanogpt", append="none", **options)
        return str(error.value)

    for dtype in (None, "uint16"):
        assert "uint16, up to 65,535, and the tokenizer has ids up to 100,276" in refused(cl100k, dtype=dtype)
    assert refused(tokenizer, dtype="uint32") == "dtype must be uint16 in the format nanogpt, not uint32"
    assert "one file for each split" in refused(tokenizer, shard_size=1000)
    assert not (tmp_path / "out").exists()


def test_llm_c(written: Any) -> None:
    """llm.c checks magic number, version and size: 256 int32, the third the number of ids, then the ids."""
    paths, shards, dtype = written("llm.c")
    kinds = {"uint16": (20240520, 1), "uint32": (20240801, 7)}
    for path, shard in zip(paths, shards, strict=True):
        data = path.read_bytes()
        head = struct.unpack("<256i", data[:1024])
        assert head[:2] == kinds[dtype]
        assert len(data) == 1024 + head[2] * np.dtype(dtype).itemsize
        assert not any(head[3:])
        assert np.frombuffer(data[1024:], DTYPES[dtype]).tolist() == joined(shard)


def read_megatron(path: Path) -> tuple[list[list[int]], list[int]]:
    """Return the sequences, and the document indices, as Megatron's `IndexedDataset` finds them."""
    index = path.with_suffix(".idx").read_bytes()
    assert index[:9] == b"MMIDIDX\x00\x00"
    version, code, sequences, documents = struct.unpack_from("<QBQQ", index, 9)
    assert version == 1
    dtype = {8: np.uint16, 4: np.int32}[code]
    at = 34
    lengths = np.frombuffer(index, np.int32, sequences, at)
    at += lengths.nbytes
    pointers = np.frombuffer(index, np.int64, sequences, at)
    at += pointers.nbytes
    ends = np.frombuffer(index, np.int64, documents, at)
    assert at + ends.nbytes == len(index)
    data = path.read_bytes()
    found = [
        np.frombuffer(data, dtype, length, pointer).tolist()
        for length, pointer in zip(lengths, pointers, strict=True)
    ]
    return found, ends.tolist()


def test_megatron(written: Any) -> None:
    paths, shards, _ = written("megatron")
    for path, shard in zip(paths, shards, strict=True):
        sequences, ends = read_megatron(path)
        assert sequences == shard
        assert ends == list(range(len(shard) + 1))


def test_numpy(written: Any) -> None:
    paths, shards, dtype = written("npy")
    for path, shard in zip(paths, shards, strict=True):
        ids = np.load(path, mmap_mode="r")
        assert (ids.dtype, ids.ndim, ids.tolist()) == (np.dtype(dtype), 1, joined(shard))


def test_parquet(written: Any) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    paths, shards, dtype = written("parquet")
    for path, shard in zip(paths, shards, strict=True):
        table = parquet.read_table(path)
        assert table.column_names == ["ids"]
        assert table.schema.field("ids").type.value_type == getattr(pa, dtype)()
        assert table["ids"].to_pylist() == shard


@pytest.mark.parametrize("name", ["bin", "llm.c", "megatron", "npy"])
def test_checksums_of_shards_of_many_parts(
    name: Any, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Parts of 64 KB are hashed while they are written; the rest of a file, with its head, is read."""
    monkeypatch.setattr(module, "CHUNK_BYTES", 300_000)
    rng = random.Random(5)
    words = ["low", "lower", "newest", "the", "quick", "brown", "é", "\n"]
    (tmp_path / "a.txt").write_text(" ".join(rng.choices(words, k=400_000)), encoding="utf-8")
    out = tmp_path / "out"
    told = toksmith.tokenize(
        toksmith.Corpus(tmp_path / "a.txt", document_separator="\n"),
        tokenizer,
        out,
        format=name,
        shard_size=500_000,
        workers=2,
    )
    shards = told["splits"]["train"]["shards"]
    assert len(shards) > 2
    assert max(shard["bytes"] for shard in shards) > 10 * 65536
    assert [shard["blake3"] for shard in shards] == [
        blake3((out / shard["file"]).read_bytes()).hexdigest() for shard in shards
    ]


def test_formats_that_are_refused(tokenizer: Tokenizer, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(ValueError, match=r"format is one of 'bin', 'nanogpt', 'llm\.c', .*, not 'bun'"):
        toksmith.tokenize(iter([]), tokenizer, out, format="bun")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"shard_size is at most 2,147,483,647 in the format llm\.c"):
        toksmith.tokenize(iter([]), tokenizer, out, format="llm.c", shard_size=2**31)
    assert not out.exists()


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (0, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"),
        (1, "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213"),
        (1025, "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444"),
        (102_400, "bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085"),
    ],
)
def test_a_checksum_is_that_of_the_published_vectors(size: int, expected: str, tmp_path: Path) -> None:
    """The test vectors of BLAKE3: the byte at place n is n modulo 251."""
    path = tmp_path / "bytes"
    path.write_bytes(bytes(at % 251 for at in range(size)))
    assert _core.checksum(path) == (size, expected)
