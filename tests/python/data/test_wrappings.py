"""The same documents in every wrapping: counts, tokenizers and shards are the same, byte for byte."""

import bz2
import csv
import gzip
import io
import itertools
import json
import lzma
import random
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from cases import few
from command import run_command
from conftest import Soup
from failing_sources import failing, until_stopped

import toksmith
from toksmith import Corpus, Tokenizer
from toksmith._core import file_format

END = "<|endoftext|>"
SPECIAL = [
    "",
    " ",
    "a,b",
    'say "it"',
    "\t tab",
    "two\nlines",
    "a\r\nb",
    "{} a",
    "[1]",
    "\u2028",
    "WARC/1.0",
    "\0",
    "\\n",
]
"""Texts that need quotes, or begin like another format."""
Bytes = dict[str, bytes]
Paths = dict[str, Path]


def _zstd(data: bytes) -> bytes:
    """Return the data as a Zstandard frame of raw blocks (RFC 8878)."""
    blocks = [data[at : at + (1 << 16)] for at in range(0, len(data), 1 << 16)] or [b""]
    heads = [
        (len(block) << 3 | (number == len(blocks) - 1)).to_bytes(3, "little") for number, block in enumerate(blocks)
    ]
    frame = b"\x28\xb5\x2f\xfd\xa0" + len(data).to_bytes(4, "little")
    return frame + b"".join(itertools.chain.from_iterable(zip(heads, blocks, strict=True)))


COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": _zstd,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
}


def _lines(documents: Sequence[str]) -> bytes:
    return "".join(json.dumps({"id": 1, "text": text}) + "\n" for text in documents).encode()


def _array(documents: Sequence[str]) -> bytes:
    records = [{"meta": {"tags": ["a]", '"}', "\\"]}, "text": text} for text in documents]
    return json.dumps(records, indent=2, ensure_ascii=False).encode()


def _table(documents: Sequence[str], delimiter: str) -> bytes:
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerows([["id", "text"], *([number, text] for number, text in enumerate(documents))])
    return file.getvalue().encode()


def tar(members: Sequence[tuple[str, bytes]], form: int = tarfile.PAX_FORMAT) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=form) as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for name, kind in (("folder", tarfile.DIRTYPE), ("link", tarfile.SYMTYPE), ("hard", tarfile.LNKTYPE)):
            info = tarfile.TarInfo(name)
            info.type = kind
            info.linkname = members[0][0] if members else ""
            archive.addfile(info)
        hidden = tarfile.TarInfo("folder/.hidden.txt")
        hidden.size = 3
        archive.addfile(hidden, io.BytesIO(b"\xff\0\xfe"))
    return file.getvalue()


def _texts_in_tar(documents: Sequence[str]) -> bytes:
    return tar([(f"{'folder/' * (number % 40)}{number}.txt", text.encode()) for number, text in enumerate(documents)])


def _files_in_tar(documents: Sequence[str]) -> bytes:
    inner = tar([("c.json", _array(documents[500:600])), ("d.csv", _table(documents[600:800], ","))])
    members = [
        ("a.jsonl", _lines(documents[:300])),
        ("b.jl.gz", gzip.compress(_lines(documents[300:500]))),
        ("inner.tar.xz", lzma.compress(inner)),
        ("e.tsv.bz2", bz2.compress(_table(documents[800:], "\t"))),
    ]
    return tar(members, tarfile.GNU_FORMAT)


def record(kind: str, block: bytes, content: str = "text/plain") -> bytes:
    head = f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://a/\r\nContent-Type: {content}\r\n"
    return f"{head}Content-Length: {len(block)}\r\n\r\n".encode() + block + b"\r\n\r\n"


def _records(documents: Sequence[str]) -> list[bytes]:
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n"
    records = [record("warcinfo", b"software: a\r\n", "application/warc-fields")]
    for number, text in enumerate(documents):
        data = text.encode()
        match number % 4:
            case 0 | 1:
                records.append(record("conversion", data))
            case 2:
                records.append(record("resource", data))
            case _:
                records.append(record("request", b"GET / HTTP/1.1\r\n\r\n", "application/http; msgtype=request"))
                records.append(record("response", http + data, "application/http; msgtype=response"))
                image = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n\x89PNG\0\xff"
                records.append(record("response", image, "application/http; msgtype=response"))
    return records


def _arrow(documents: Sequence[str], *, stream: bool, kind: str = "string") -> bytes:
    pa = pytest.importorskip("pyarrow")
    sink = io.BytesIO()
    table = pa.table({"id": range(len(documents)), "text": pa.array(documents).cast(kind)})
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=170)
    return sink.getvalue()


def _parquet(documents: Sequence[str]) -> bytes:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    sink = io.BytesIO()
    parquet.write_table(pa.table({"id": range(len(documents)), "text": documents}), sink, row_group_size=90)
    return sink.getvalue()


CONTAINERS: dict[str, Callable[[Sequence[str]], bytes]] = {
    "jsonl": _lines,
    "json": _array,
    "csv": lambda documents: _table(documents, ","),
    "tsv": lambda documents: _table(documents, "\t"),
    "texts.tar": _texts_in_tar,
    "files.tar": _files_in_tar,
    "warc": lambda documents: b"".join(_records(documents)),
    "stream.arrow": lambda documents: _arrow(documents, stream=True),
    "file.arrow": lambda documents: _arrow(documents, stream=False, kind="large_string"),
    "parquet": _parquet,
}
WRAPPINGS = list(itertools.product(CONTAINERS, COMPRESSIONS))


@pytest.fixture(scope="module")
def documents(soup: Soup) -> list[str]:
    rng = random.Random(40)
    texts = [soup(rng, rng.choice([1, 5, 30, 120, 700])) for _ in range(1000 - len(SPECIAL))]
    return SPECIAL[:8] + ["z" + text for text in texts] + SPECIAL[8:]


@pytest.fixture(scope="module")
def files(documents: list[str], tmp_path_factory: pytest.TempPathFactory) -> Paths:
    """All wrappings, in files whose names say nothing where that is enough."""
    folder = tmp_path_factory.mktemp("wrappings")
    files = {}
    for container, make in CONTAINERS.items():
        data = make(documents)
        for suffix, compress in COMPRESSIONS.items():
            kind = container if container in ("csv", "tsv") else "part"
            files[container + suffix] = path = folder / f"{len(files)}.{kind}"
            path.write_bytes(compress(data))
    data = b"".join(map(gzip.compress, _records(documents)))
    files["members.warc.gz"] = folder / "members"
    files["members.warc.gz"].write_bytes(data)
    return files


@pytest.fixture(scope="module")
def tokenizer(documents: list[str]) -> Tokenizer:
    return toksmith.train(iter(documents), 300, special_tokens=[END])


@pytest.fixture(scope="module")
def expected(documents: list[str], tokenizer: Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> Bytes:
    out = tmp_path_factory.mktemp("expected") / "out"
    toksmith.tokenize(iter(documents), tokenizer, out, append=END, shard_size=20_000, split="val=0.1")
    return shards(out)


def shards(folder: Path) -> Bytes:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in (".bin", ".npy")}


# Each container in one or two of the compressions comes first: these run on every change.
ALL = [container + suffix for container, suffix in WRAPPINGS[::6] + WRAPPINGS[3::6]] + ["members.warc.gz"]
ALL += [container + suffix for container, suffix in WRAPPINGS if container + suffix not in ALL]


@pytest.mark.parametrize("name", few(ALL, 18))
def test_in_python(
    name: str,
    files: Paths,
    documents: list[str],
    tokenizer: Tokenizer,
    expected: Bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = files[name]
    assert ["".join(document.pieces) for document in Corpus(path).documents()] == documents
    manifest = toksmith.tokenize(path, tokenizer, tmp_path / "out", append=END, shard_size=20_000, split="val=0.1")
    assert manifest["totals"]["documents"] == len(documents)
    assert shards(tmp_path / "out") == expected
    monkeypatch.setattr("toksmith.data.tokenize.CHUNK_BYTES", 3000)
    toksmith.tokenize(path, tokenizer, tmp_path / "small", append=END, shard_size=20_000, split="val=0.1", workers=2)
    assert shards(tmp_path / "small") == expected
    assert toksmith.train(path, 300, special_tokens=[END]) == tokenizer
    counts = toksmith.count_pretokens(iter(documents))
    for workers in (1, 2):
        assert list(toksmith.count_pretokens(path, workers=workers).items()) == list(counts.items())


@pytest.mark.parametrize("name", few(ALL, 18))
def test_on_the_command_line(
    name: str,
    files: Paths,
    documents: list[str],
    tokenizer: Tokenizer,
    expected: Bytes,
    tmp_path: Path,
) -> None:
    tokenizer.save(tmp_path / "t.json")
    options = ["--append", END, "--shard-size", "20000", "--split", "val=0.1", "--no-progress"]
    done = run_command("tokenize", files[name], "-t", "t.json", "-o", "out", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert shards(tmp_path / "out") == expected
    trained = ["--vocab-size", "300", "--special-token", END, "-o", "new.json", "--no-progress"]
    done = run_command("train", files[name], *trained, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert (tmp_path / "new.json").read_bytes() == (tmp_path / "t.json").read_bytes()
    done = run_command("count", files[name], "-t", "t.json", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout)["files"][0]["tokens"] == sum(map(len, map(tokenizer.encode, documents)))


@pytest.mark.parametrize("name", ["csv", "files.tar.gz", "members.warc.gz", "stream.arrow", "json.xz"])
def test_a_killed_run_goes_on(
    name: str,
    files: Paths,
    tokenizer: Tokenizer,
    expected: Bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from toksmith.data import tokenize as module

    monkeypatch.setattr(module, "SNAPSHOT_SECONDS", 0.0)
    monkeypatch.setattr(module, "CHUNK_BYTES", 3000)
    size = files[name].stat().st_size
    options: dict[str, Any] = {"append": END, "shard_size": 20_000, "split": "val=0.1", "workers": 1}
    resumed = 0
    for max_bytes in range(size // 4, 3 * size, size // 9):
        with until_stopped():
            toksmith.tokenize(failing([files[name]], max_bytes), tokenizer, tmp_path / "out", **options)
            break
        resumed += (tmp_path / "out/.toksmith-unfinished/state.json").exists()
    assert resumed > 1
    assert shards(tmp_path / "out") == expected


def test_formats_are_found(files: Paths) -> None:
    compressions = {"": None, ".gz": "gzip", ".zst": "zstd", ".xz": "xz", ".bz2": "bzip2"}
    for container, suffix in WRAPPINGS:
        form = container.rsplit(".", 1)[-1]
        assert file_format(files[container + suffix]) == (compressions[suffix], form)
