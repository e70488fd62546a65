"""`toksmith.tokenize` against a plain loop: whole files, for every kind of source and number of workers."""

import gzip
import itertools
import json
import lzma
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shards_oracle
from conftest import Soup

import toksmith
from toksmith import Tokenizer
from toksmith.data import tokenize as module

END = "<|endoftext|>"
WORKERS = (1, 2, 8)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    text = "low lower newest the quick brown fox, über 日本 12\n" * 9
    return toksmith.train(iter([text]), 290, special_tokens=[END, "<|pad|>"])


@pytest.fixture
def end(tokenizer: Tokenizer) -> int:
    return tokenizer.special_tokens[END]


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Little text has many borders."""
    monkeypatch.setattr(module, "CHUNK_BYTES", 700)


@pytest.fixture(scope="module")
def documents(soup: Soup) -> list[str]:
    rng = random.Random(5)
    return [soup(rng, rng.choice([0, 1, 5, 30, 120])) for _ in range(250)]


def jsonl(documents: list[str], field: str = "text", ascii: bool = False) -> bytes:
    return "".join(json.dumps({"id": 7, field: text}, ensure_ascii=ascii) + "\n" for text in documents).encode()


def zstd(data: bytes) -> bytes:
    return subprocess.run(["zstd", "-c"], input=data, capture_output=True, check=True).stdout


def has_zstd() -> bool:
    return subprocess.run(["sh", "-c", "command -v zstd"], capture_output=True, check=False).returncode == 0


PACKERS: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}
if has_zstd():
    PACKERS[".zst"] = zstd


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("suffix", PACKERS)
def test_json_lines(
    suffix: str, workers: int, tokenizer: Tokenizer, end: int, documents: list[str], tmp_path: Path
) -> None:
    source = tmp_path / f"a.jsonl{suffix}"
    source.write_bytes(PACKERS[suffix](jsonl(documents, ascii=True)))
    out = tmp_path / "out"
    told = toksmith.tokenize(source, tokenizer, out, append=END, shard_size=2000, workers=workers)
    shards = shards_oracle.expected(tokenizer, documents, append=[end], shard_size=2000)
    assert shards_oracle.check(out, shards) == told
    assert told["totals"]["text_bytes"] == sum(len(text.encode()) for text in documents)
    assert [one["documents"] for one in told["sources"]] == [len(documents)]


@pytest.mark.parametrize("options", [{}, {"split": {"val": 0.3}}], ids=["one split", "two splits"])
def test_chunks_of_many_documents(
    options: dict[str, Any],
    tokenizer: Tokenizer,
    documents: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A chunk has more text than is encoded at a time, and a document that alone has more."""
    monkeypatch.setattr(module, "CHUNK_BYTES", 1 << 20)
    source = tmp_path / "a.jsonl"
    many = [*documents * 3, "the quick " * 20_000, *documents * 2]
    source.write_bytes(jsonl(many))
    assert source.stat().st_size > 300_000
    toksmith.tokenize(source, tokenizer, tmp_path / "out", shard_size=20_000, workers=2, **options)
    shards_oracle.check(tmp_path / "out", shards_oracle.expected(tokenizer, many, shard_size=20_000, **options))


@pytest.mark.parametrize("workers", WORKERS)
def test_a_folder_of_files_of_all_kinds(
    workers: int, tokenizer: Tokenizer, documents: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    expected: list[str] = []
    for number, start in enumerate(range(0, 240, 8)):
        some = documents[start : start + 8]
        suffix = list(PACKERS)[number % len(PACKERS)]
        if number % 3 == 0:
            (folder / f"{number:03}.jsonl{suffix}").write_bytes(PACKERS[suffix](jsonl(some)))
            expected += some
        else:
            for at, text in enumerate(some):
                (folder / f"{number:03}-{at}.txt{suffix}").write_bytes(PACKERS[suffix](text.encode()))
            expected += some
    out = tmp_path / "out"
    toksmith.tokenize(folder, tokenizer, out, workers=workers, shard_size=5000, prepend=["<|pad|>", END])
    prepend = [tokenizer.special_tokens[name] for name in ("<|pad|>", END)]
    shards_oracle.check(out, shards_oracle.expected(tokenizer, expected, shard_size=5000, prepend=prepend))


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("separator", ["<|endoftext|>", "\n\n", "aba", " "])
def test_separated_documents(
    separator: str, suffix: str, workers: int, tokenizer: Tokenizer, documents: list[str], tmp_path: Path
) -> None:
    rng = random.Random(3)
    parts = [rng.choice(["ab", "abab", "a\n", "\n\n\n", separator * 3, text]) for text in documents]
    text = separator.join(parts) + separator * 2
    source = tmp_path / f"a.txt{suffix}"
    source.write_bytes(PACKERS[suffix](text.encode()))
    out = tmp_path / "out"
    toksmith.tokenize(
        toksmith.Corpus(source, document_separator=separator),
        tokenizer,
        out,
        workers=workers,
        append=END,
        shard_size=3000,
    )
    kept = [part for part in text.split(separator) if part]
    append = [tokenizer.special_tokens[END]]
    shards_oracle.check(out, shards_oracle.expected(tokenizer, kept, append=append, shard_size=3000))


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("separator", [None, "\n---\n", "\n\n"])
def test_documents_that_are_longer_than_a_chunk(
    separator: str | None, suffix: str, workers: int, tokenizer: Tokenizer, soup: Soup, tmp_path: Path
) -> None:
    """They are cut inside, and their split is that of their beginning."""
    rng = random.Random(9)
    texts = [soup(rng, size).replace("\n", " ") for size in (60_000, 10, 45_000, 2000, 50_000, 3)]
    sources = [tmp_path / f"{number}.txt{suffix}" for number in range(2)]
    between = separator or ""
    for source, some in zip(sources, (texts[:3], texts[3:]), strict=True):
        source.write_bytes(PACKERS[suffix](between.join(some).encode()))
    documents = texts if separator else ["".join(texts[:3]), "".join(texts[3:])]
    out = tmp_path / "out"
    split = {"val": 0.5}
    toksmith.tokenize(
        toksmith.Corpus(sources, document_separator=separator), tokenizer, out, workers=workers, append=END,
        shard_size=90_000, split=split, seed=4,
    )  # fmt: skip
    append = [tokenizer.special_tokens[END]]
    shards = shards_oracle.expected(tokenizer, documents, append=append, shard_size=90_000, split=split, seed=4)
    shards_oracle.check(out, shards)
    assert separator is None or all(shards.values()), "there are documents in both splits"


@pytest.mark.parametrize("workers", WORKERS)
def test_splits_and_a_shuffle(workers: int, tokenizer: Tokenizer, documents: list[str], tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_bytes(jsonl(documents))
    options = {
        "split": {"val": 0.1, "test": 0.05},
        "seed": 11,
        "shuffle": 8,
        "shuffle_buffer": 1500,
        "shard_size": 900,
    }
    out = tmp_path / "out"
    toksmith.tokenize(source, tokenizer, out, workers=workers, append=END, **options)
    append = [tokenizer.special_tokens[END]]
    shards = shards_oracle.expected(tokenizer, documents, append=append, **options)
    shards_oracle.check(out, shards)
    assert all(shards.values())


@pytest.mark.parametrize("workers", [1, 8])
@pytest.mark.parametrize("long", ["split", "truncate", "drop"])
@pytest.mark.parametrize("shuffle", [None, 8])
@pytest.mark.parametrize(("length", "shard_size"), [(10, 100), (60, 900), (1500, 100_000)])
def test_packed_rows(
    length: int,
    shard_size: int,
    shuffle: int | None,
    long: Any,
    workers: int,
    tokenizer: Tokenizer,
    documents: list[str],
    tmp_path: Path,
) -> None:
    source = tmp_path / "a.jsonl"
    source.write_bytes(jsonl(documents))
    options: dict[str, Any] = {"split": {"val": 0.1}, "shuffle": shuffle, "shuffle_buffer": 1500, "long": long}
    out, pad = tmp_path / "out", tokenizer.special_tokens["<|pad|>"]
    manifest = toksmith.tokenize(
        source,
        tokenizer,
        out,
        workers=workers,
        append=END,
        pad="<|pad|>",
        shard_size=shard_size,
        pack=length,
        **options,
    )
    rounded = max(1, shard_size // length) * length
    append = [tokenizer.special_tokens[END]]
    options |= {"pack": length, "pad": pad, "shard_size": rounded, "append": append}
    shards = shards_oracle.expected(tokenizer, documents, **options)
    shards_oracle.check(out, shards)
    assert all(sum(map(len, shard)) % length == 0 for of_split in shards.values() for shard in of_split)
    ids = [id for of_split in shards.values() for shard in of_split for document in shard for id in document]
    assert manifest["totals"]["padding_tokens"] == ids.count(pad)
    all_ids = sum(len(tokenizer.encode(text, special=True)) + 1 for text in documents)
    assert manifest["totals"]["left_out_tokens"] == all_ids - len(ids) + ids.count(pad)


def test_a_packed_document_may_come_in_many_chunks(tokenizer: Tokenizer, end: int, tmp_path: Path) -> None:
    texts = ["the quick brown " * 900, "low", "newest " * 700]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.txt").write_text(text)
    paths = [tmp_path / f"{number}.txt" for number in range(3)]
    for long in ("split", "truncate", "drop"):
        out = tmp_path / long
        toksmith.tokenize(paths, tokenizer, out, append=END, pack=1000, long=long, shuffle_buffer=1000, workers=2)
        options = {"append": [end], "pack": 1000, "long": long, "pad": end, "shuffle_buffer": 1000}
        shards_oracle.check(out, shards_oracle.expected(tokenizer, texts, **options))


def test_windows_of_packed_data_are_its_rows(tokenizer: Tokenizer, end: int, tmp_path: Path) -> None:
    toksmith.tokenize(
        iter(["low " * number for number in range(30)]), tokenizer, tmp_path / "out", append=END, pack=80
    )
    data = toksmith.data.open(tmp_path / "out")
    starts = {data.documents.bounds(number)[0] for number in range(len(data.documents))}
    windows = data.windows(80)
    assert len(windows) * 80 == len(data)
    assert all(windows.start(number) in starts for number in range(len(windows)))
    assert all(window[-1] == end for window in windows)


def test_a_split_does_not_depend_on_the_order(tokenizer: Tokenizer, documents: list[str], tmp_path: Path) -> None:
    different = list(dict.fromkeys(documents))
    found = []
    for name, some in (("one", different), ("other", different[::-1])):
        told = toksmith.tokenize(iter(some), tokenizer, tmp_path / name, split="val=0.2", append=END)
        ids = np.fromfile(tmp_path / name / "val-00000.bin", np.uint16)
        starts = np.load(tmp_path / name / "val-00000.index.npy")
        found.append({tuple(ids[a:b].tolist()) for a, b in itertools.pairwise(starts)})
        assert told["splits"]["val"]["documents"] == len(starts) - 1
    assert found[0] == found[1]


@pytest.mark.parametrize("workers", WORKERS)
def test_texts(workers: int, tokenizer: Tokenizer, documents: list[str], tmp_path: Path) -> None:
    def texts() -> Iterator[str | bytes]:
        for number, text in enumerate(documents):
            yield text if number % 2 else text.encode()

    toksmith.tokenize(texts(), tokenizer, tmp_path / "out", workers=workers, shard_size=1000)
    shards_oracle.check(tmp_path / "out", shards_oracle.expected(tokenizer, documents, shard_size=1000))


def test_special_tokens_can_be_text(tokenizer: Tokenizer, tmp_path: Path) -> None:
    texts = [f"a{END}b", END]
    for special in (True, False):
        out = tmp_path / str(special)
        toksmith.tokenize(iter(texts), tokenizer, out, special=special)
        shards_oracle.check(out, shards_oracle.expected(tokenizer, texts, special=special))


@pytest.mark.usefixtures("shared_data")
def test_wide_ids(tokenizer: Tokenizer, cl100k: Tokenizer, documents: list[str], tmp_path: Path) -> None:
    for chosen, dtype in ((cl100k, None), (tokenizer, "uint32")):
        out = tmp_path / str(dtype)
        told = toksmith.tokenize(iter(documents), chosen, out, dtype=dtype, shard_size=3000)
        assert told["dtype"] == "uint32"
        shards_oracle.check(out, shards_oracle.expected(chosen, documents, shard_size=3000), "<u4")
    with pytest.raises(ValueError, match='does not fit into uint16: give dtype="uint32"'):
        toksmith.tokenize(iter([cl100k.decode([70_000])]), cl100k, tmp_path / "narrow", dtype="uint16")


def test_a_long_record_is_encoded_by_all_workers(tokenizer: Tokenizer, tmp_path: Path) -> None:
    text = "the quick brown fox, über 日本 " * 300_000
    toksmith.tokenize(iter(["a", text, "b"]), tokenizer, tmp_path / "out", workers=2)
    shards_oracle.check(tmp_path / "out", shards_oracle.expected(tokenizer, ["a", text, "b"]))


@pytest.mark.parametrize("pattern", [None, r"\w+|\W|(?<=x)y"])
def test_patterns_without_places_for_a_cut(pattern: str | None, soup: Soup, tmp_path: Path) -> None:
    tokenizer = toksmith.train(iter(["low lower lowest"] * 3), 262, pattern=pattern)
    texts = [soup(random.Random(1), 900), "low", ""]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.txt").write_bytes(text.encode())
    toksmith.tokenize(sorted(tmp_path.glob("*.txt")), tokenizer, tmp_path / "out", workers=2)
    shards_oracle.check(tmp_path / "out", shards_oracle.expected(tokenizer, texts))


def test_nothing_at_all(tokenizer: Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"\n \n")
    told = toksmith.tokenize(tmp_path / "a.jsonl", tokenizer, tmp_path / "out", split="val=0.5")
    assert shards_oracle.check(tmp_path / "out", {"val": [], "train": []}) == told
    (tmp_path / "a.txt").write_bytes(b"")
    told = toksmith.tokenize(tmp_path / "a.txt", tokenizer, tmp_path / "empty")
    shards_oracle.check(tmp_path / "empty", {"train": [[[]]]})


def test_the_hash_is_the_published_one() -> None:
    assert shards_oracle.xxh64(b"", 0) == 0xEF46DB3751D8E999
    assert shards_oracle.xxh64(b"abc", 0) == 0x44BC2CF5AD770999


def test_the_import_alone_loads_nothing() -> None:
    program = "import sys, toksmith; print([m for m in ('numpy', 'toksmith.data') if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", program]) == b"[]\n"
