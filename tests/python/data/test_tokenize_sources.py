"""Documents that come through Python: Parquet, files elsewhere, pipes, tokenizers with a pipeline."""

import gzip
import json
import os
import random
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shards_oracle
from conftest import Soup
from failing_sources import Stopped, failing, until_stopped

import toksmith
from toksmith import Corpus, Tokenizer
from toksmith.data import table_texts
from toksmith.data import tokenize as module

END = "<|endoftext|>"


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return toksmith.train(iter(["low lower newest the quick"] * 9), 266, special_tokens=[END])


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNK_BYTES", 700)
    monkeypatch.setattr(table_texts, "_BYTES", 900)
    monkeypatch.setattr(table_texts, "_ROWS", 37)


@pytest.fixture(scope="module")
def documents(soup: Soup) -> list[str]:
    rng = random.Random(2)
    return [soup(rng, rng.choice([0, 1, 5, 30, 120])) for _ in range(200)]


def write_parquet(path: Path, texts: Any, column: str = "text", kind: str = "string", rows: int = 50) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    array = pa.array(texts, None if isinstance(texts[0], bytes) else pa.string())
    array = array.dictionary_encode() if kind == "dictionary" else array.cast(getattr(pa, kind)())
    table = pa.table({"id": list(range(len(texts))), column: array})
    try:
        parquet.write_table(table, path, row_group_size=rows)
    except pa.ArrowNotImplementedError:
        pytest.skip(f"pyarrow {pa.__version__} writes no column of the type {kind}")


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "binary", "large_binary", "dictionary"])
def test_parquet(kind: str, workers: int, tokenizer: Tokenizer, documents: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    write_parquet(folder / "a.parquet", documents[:120], kind=kind)
    (folder / "b.txt").write_bytes(documents[120].encode())
    write_parquet(folder / "c.pq", documents[121:150], kind=kind)
    write_parquet(folder / "d.pq", documents[150:], kind=kind)
    told = toksmith.tokenize(folder, tokenizer, tmp_path / "out", workers=workers, append=END, shard_size=3000)
    append = [tokenizer.special_tokens[END]]
    shards_oracle.check(
        tmp_path / "out", shards_oracle.expected(tokenizer, documents, append=append, shard_size=3000)
    )
    assert [one["documents"] for one in told["sources"]] == [120, 1, 29, 50]


def test_parquet_that_is_broken(tokenizer: Tokenizer, tmp_path: Path) -> None:
    texts = [None if number in (3, 90, 91) else f"low {number}" for number in range(100)]
    source = tmp_path / "a.parquet"
    write_parquet(source, texts, column="body")
    with pytest.raises(ValueError, match=r"a\.parquet: there is no column 'text', only \['id', 'body'\]"):
        toksmith.tokenize(source, tokenizer, tmp_path / "one")
    with pytest.raises(ValueError, match=r"a\.parquet: row 3: the column 'body' holds no text"):
        toksmith.tokenize(toksmith.Corpus(source, column="body"), tokenizer, tmp_path / "two")
    with pytest.raises(ValueError, match="the column 'id' holds int64, not text"):
        toksmith.tokenize(toksmith.Corpus(source, column="id"), tokenizer, tmp_path / "three")
    with pytest.warns(UserWarning, match="3 documents were left out"):
        told = toksmith.tokenize(
            toksmith.Corpus(source, column="body"), tokenizer, tmp_path / "out", on_error="skip", workers=2
        )
    kept = [text for text in texts if text is not None]
    shards_oracle.check(tmp_path / "out", shards_oracle.expected(tokenizer, kept))
    assert [one["place"] for one in told["skipped"]] == ["row 3", "row 90", "row 91"]
    write_parquet(tmp_path / "bytes.parquet", [b"low", b"\xff"], kind="binary")
    with pytest.raises(ValueError, match=r"bytes\.parquet: row 1: not UTF-8 at byte 0"):
        toksmith.tokenize(tmp_path / "bytes.parquet", tokenizer, tmp_path / "three")
    (tmp_path / "b.parquet").write_bytes(source.read_bytes()[:-9])
    with pytest.raises(ValueError, match=r"b\.parquet: not a Parquet file"):
        toksmith.tokenize(toksmith.Corpus(tmp_path / "b.parquet", column="body"), tokenizer, tmp_path / "four")


@pytest.mark.parametrize("options", [{}, {"shuffle": 5, "shuffle_buffer": 700}], ids=["in order", "shuffled"])
@pytest.mark.parametrize("kind", ["texts", "separated", "parquet", "mixed"])
def test_going_on_in_the_middle(
    kind: str,
    options: dict[str, Any],
    tokenizer: Tokenizer,
    documents: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each state is that of a run that ended there: the next run goes on, and ends in the same bytes."""
    monkeypatch.setattr(module, "SNAPSHOT_SECONDS", 0.0)
    monkeypatch.setattr(module, "CHUNK_BYTES", 200)
    texts = tmp_path / "a.parquet", tmp_path / "b.jsonl.gz", tmp_path / "c.jsonl"
    write_parquet(texts[0], documents[:90], rows=15)
    for path, some in zip(texts[1:], (documents[90:150], documents[150:]), strict=True):
        data = "".join(json.dumps({"text": text}) + "\n" for text in some).encode()
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)

    separator = "<&>" if kind == "separated" else None
    joined = [separator.join(documents[at : at + 2]) for at in range(0, 200, 2)] if separator else documents

    def ending(count: int) -> Iterator[str]:
        yield from joined[:count]
        raise Stopped("the sources end here")

    def sources(part: float) -> Any:
        if kind in ("texts", "separated"):
            some = ending(int(part * len(joined))) if part < 1 else iter(joined)
            return Corpus(some, document_separator=separator)
        paths = [texts[0]] if kind == "parquet" else list(texts)
        # A table is read in places.
        size = sum(path.stat().st_size for path in paths) + (20_000 if part < 1 else 10**9)
        return failing(paths, int(part * size)) if part < 1 else Corpus(paths)

    options = {"append": END, "shard_size": 1500, **options}
    out = tmp_path / "out"
    places = set()
    for stopped in range(24):
        with until_stopped():
            # One worker first: a state of more than one may cover any number of chunks.
            workers = 1 if stopped < 12 else 1 + stopped % 3
            toksmith.tokenize(sources(stopped / 24), tokenizer, out, workers=workers, **options)
        state = out / ".toksmith-unfinished/state.json"
        if state.exists():
            snapshot = json.loads(state.read_text())["state"]["snapshot"]
            places.add((snapshot["at"]["source"], snapshot["at"]["offset"], snapshot["passed"]))
    assert len(places) > {"texts": 3, "separated": 3, "parquet": 1, "mixed": 1}[kind]
    toksmith.tokenize(sources(1), tokenizer, out, **options)
    some = documents[:90] if kind == "parquet" else list(filter(None, documents)) if separator else documents
    options["append"] = [tokenizer.special_tokens[END]]
    shards_oracle.check(out, shards_oracle.expected(tokenizer, some, **options))


def test_files_elsewhere(tokenizer: Tokenizer, documents: list[str], tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    some = documents[:60]
    system.pipe("/corpus/a.txt", some[0].encode())
    lines = "".join(json.dumps({"text": text}) + "\n" for text in some[1:30])
    system.pipe("/corpus/b.jsonl.gz", gzip.compress(lines.encode()))
    write_parquet(tmp_path / "c.parquet", some[30:])
    system.pipe("/corpus/c.parquet", (tmp_path / "c.parquet").read_bytes())
    system.pipe("/corpus/.hidden", b"no")
    try:
        for number, given in enumerate(["memory://corpus", "memory://corpus/*.*", "memory:///corpus/a.txt"]):
            out = tmp_path / str(number)
            told = toksmith.tokenize(given, tokenizer, out, workers=2)
            kept = some[:1] if given.endswith("a.txt") else some
            shards_oracle.check(out, shards_oracle.expected(tokenizer, kept))
            assert told["sources"][0]["name"] == "memory:///corpus/a.txt"
            assert told["sources"][0]["bytes"] == len(some[0].encode())
        with pytest.raises(FileNotFoundError):
            toksmith.tokenize("memory://corpus/missing.txt", tokenizer, tmp_path / "missing")
    finally:
        system.rm("/corpus", recursive=True)


def test_a_url_whose_file_changed(tokenizer: Tokenizer, tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    source, out = tmp_path / "a.txt", tmp_path / "out"
    for seconds, text in enumerate(("low", "new"), 1):
        source.write_text(text)
        os.utime(source, (seconds, seconds))
        with nullcontext() if seconds == 1 else pytest.raises(ValueError, match="that has changed since then"):
            toksmith.tokenize(source.as_uri(), tokenizer, out)
    for name in "ab":
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
            archive.writestr("in.txt", name)
    urls = [f"zip://in.txt::{(tmp_path / name).as_uri()}" for name in ("a.zip", "b.zip")]
    assert [source["name"] for source in toksmith.tokenize(urls, tokenizer, tmp_path / "two")["sources"]] == urls


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes as POSIX has them")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_pipe(workers: int, tokenizer: Tokenizer, documents: list[str], tmp_path: Path) -> None:
    pipe = tmp_path / "a.txt"
    os.mkfifo(pipe)
    text = END.join(documents)
    feeder = threading.Thread(target=lambda: pipe.write_bytes(text.encode()))
    feeder.start()
    toksmith.tokenize(toksmith.Corpus(pipe, document_separator=END), tokenizer, tmp_path / "out", workers=workers)
    feeder.join()
    shards_oracle.check(tmp_path / "out", shards_oracle.expected(tokenizer, [part for part in documents if part]))


def test_a_tokenizer_with_a_pipeline(documents: list[str], tmp_path: Path) -> None:
    """A normalizer of Hugging Face runs in Python's part of the package."""
    tokenizers = pytest.importorskip("tokenizers")
    inner = tokenizers.Tokenizer(tokenizers.models.BPE())
    inner.normalizer = tokenizers.normalizers.NFC()
    inner.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet, show_progress=False)
    inner.train_from_iterator(documents, trainer)
    tokenizer = Tokenizer.from_huggingface(inner)
    assert tokenizer.pipeline is not None
    texts = ["e\u0301a" * 5, *documents]
    toksmith.tokenize(iter(texts), tokenizer, tmp_path / "out", workers=2, shard_size=1000)
    shards_oracle.check(tmp_path / "out", shards_oracle.expected(tokenizer, texts, shard_size=1000))
    (tmp_path / "a.txt").write_text("".join(texts))
    toksmith.tokenize(tmp_path / "a.txt", tokenizer, tmp_path / "file", workers=2)
    shards_oracle.check(tmp_path / "file", shards_oracle.expected(tokenizer, ["".join(texts)]))


def test_an_encoding_and_names(cl100k: Tokenizer, tmp_path: Path) -> None:
    tokenizer = Tokenizer()
    tokenizer.save(tmp_path / "t.json")
    for number, given in enumerate([tmp_path / "t.json", str(tmp_path / "t.json")]):
        toksmith.tokenize(iter(["low"]), given, tmp_path / str(number))
        assert np.fromfile(tmp_path / str(number) / "train-00000.bin", np.uint16).tolist() == [*b"low"]
    encoding = toksmith.Encoding(
        "x",
        pat_str=r"\w+|\W",
        mergeable_ranks={bytes([byte]): byte for byte in range(256)},
        special_tokens={"<|e|>": 256},
    )
    toksmith.tokenize(iter(["low"]), encoding, tmp_path / "encoding", append="<|e|>")
    assert np.fromfile(tmp_path / "encoding/train-00000.bin", np.uint16).tolist() == [*b"low", 256]
    assert Tokenizer.load(tmp_path / "encoding/tokenizer.toksmith") == encoding.tokenizer


def test_progress(
    tokenizer: Tokenizer, documents: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in documents))
    seen: list[tuple[str, int, int]] = []
    toksmith.tokenize(source, tokenizer, tmp_path / "one", progress=lambda *now: seen.append(now))
    size = source.stat().st_size
    assert seen[-1] == ("encode", size, size)
    assert all(stage == "encode" and done <= total == size for stage, done, total in seen)
    toksmith.tokenize(source, tokenizer, tmp_path / "two", progress="json")
    last = json.loads(capfd.readouterr().err.splitlines()[-1])
    assert (last["done"], last["total"]) == (size, size)
    toksmith.tokenize(source, tokenizer, tmp_path / "three", progress=True)
    assert "error" not in capfd.readouterr().err  # a bar is drawn on a terminal only
