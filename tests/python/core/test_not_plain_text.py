"""Files that are no plain text are refused by what they are, wherever plain text is read."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from command import run_command

import toksmith
from toksmith import Tokenizer

TEXT = b'{"text": "the lowest of the low"}\n' * 200
ZSTD = b"\x28\xb5\x2f\xfd\x24\x03\x19\x00\x00abc\x30\x61\xd1\x09"
PARQUET = b"PAR1\x15\x04\x15\x0c\x15\x10\x00\x00the text\x00\xff\xfePAR1"


def npy() -> bytes:
    file = io.BytesIO()
    np.save(file, np.arange(9, dtype=np.uint16))
    return file.getvalue()


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.txt", TEXT)
    return file.getvalue()


CONTENTS = {
    "gz": (gzip.compress(TEXT), "gzip-compressed"),
    "zst": (ZSTD, "zstd-compressed"),
    "xz": (lzma.compress(TEXT), "xz-compressed"),
    "bz2": (bz2.compress(TEXT), "bzip2-compressed"),
    "zip": (zipped(), "a ZIP archive"),
    "parquet": (PARQUET, "a Parquet file"),
    "npy": (npy(), "a NumPy file"),
    "utf16": ("the low".encode("utf-16"), "UTF-16 text"),
    "pdf": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj" + bytes(range(256)), "a PDF document"),
}
NAMES = {"jsonl": "JSON lines", "JSONL": "JSON lines", "gz": "gzip", "zst": "zstd", "xz": "xz"}
PLAIN = [b"PAR1 is how a Parquet file begins", b"BZh, PK, %PDF-", b"%PDF-1.7 is text", b"ARROW1", b"PK", b""]


def encode(*arguments: object, stdin: bytes = b"", cwd: Path, status: int = 1, command: str = "encode") -> str:
    done = run_command(command, *arguments, stdin=stdin, cwd=cwd)
    assert done.returncode == status, done.stderr.decode()
    assert status == 0 or done.stdout == b""
    return done.stderr.decode()


@pytest.mark.parametrize("errors", ["strict", "replace"])
@pytest.mark.parametrize("kind", CONTENTS)
def test_by_content(kind: str, errors: str, tmp_path: Path) -> None:
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    data, what = CONTENTS[kind]
    (tmp_path / "file.txt").write_bytes(data)
    (tmp_path / "good.txt").write_text("the low")
    # Others read what is in these.
    is_read = kind in ("gz", "xz", "bz2", "zst", "parquet")
    Tokenizer().save(tmp_path / "t.json")
    for out in (None, tmp_path / "ids.npy"):
        with pytest.raises(ValueError, match=f"file.txt: this is {what}") as caught:
            Tokenizer().encode_file(tmp_path / "file.txt", out, errors=errors)  # type: ignore[call-overload]
        assert "errors" not in str(caught.value)
    with pytest.raises(ValueError, match="file.txt: " if is_read else f"file.txt: this is {what}") as caught:
        toksmith.count_pretokens(toksmith.Corpus([tmp_path / "good.txt", tmp_path / "file.txt"], errors=errors))  # type: ignore[arg-type]
    assert "errors" not in str(caught.value)
    options = ("-t", "t.json", "--errors", errors)
    said = [
        encode(*options, "file.txt", cwd=tmp_path),
        encode(*options, "-", stdin=data, cwd=tmp_path),
        encode(*options, "file.txt", "-o", "ids.npy", cwd=tmp_path),
    ]
    for message in said:
        assert f"this is {what}" in message
        assert "errors" not in message
    assert not (tmp_path / "ids.npy").exists()


@pytest.mark.parametrize("suffix", NAMES)
def test_by_name(suffix: str, tmp_path: Path) -> None:
    Tokenizer().save(tmp_path / "t.json")
    (tmp_path / f"web.{suffix}").write_bytes(TEXT)
    with pytest.raises(ValueError, match=rf"web\.{suffix}: this is .*{NAMES[suffix]}"):
        Tokenizer().encode_file(tmp_path / f"web.{suffix}")
    for options in ((), ("-o", "ids.npy"), ("--errors", "replace")):
        assert NAMES[suffix] in encode("-t", "t.json", f"web.{suffix}", *options, cwd=tmp_path)
    assert NAMES[suffix] in encode("t.json", "--against", "tiktoken", f"web.{suffix}", cwd=tmp_path, command="verify")
    # What is given as standard input is text by that.
    encode("-t", "t.json", "-", stdin=TEXT, cwd=tmp_path, status=0)


def test_archives_are_refused_by_their_content(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.txt", "w") as archive:
        archive.addfile(tarfile.TarInfo("b.txt"))
    (tmp_path / "b.txt").write_bytes(b"WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: 3\r\n\r\nlow\r\n\r\n")
    for name, what in (("a.txt", "a tar archive"), ("b.txt", "a WARC file")):
        with pytest.raises(ValueError, match=f"{name}: this is {what}, and plain text is read here"):
            Tokenizer().encode_file(tmp_path / name)


@pytest.mark.parametrize("text", [*PLAIN, b'{"text": "low"}\n', b'[{"text": "low"}]', b"<!doctype html><p>low"])
def test_text_that_begins_like_something_else_is_text(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_bytes(text)
    assert Tokenizer().encode_file(tmp_path / "file.txt").tolist() == list(text)


def test_training_says_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "broken").write_bytes(b"abc\xff")
    with pytest.raises(ValueError, match=r"not UTF-8 at byte 3.*errors=\"replace\""):
        toksmith.train(tmp_path / "broken", 257)


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 5\n"
PAGE = b"<!doctype HTML>\n<html>404</html>"


@pytest.mark.parametrize(
    "name", ["tokenizer.json", "tekken.json", "a.tiktoken", "a.model", "a.gguf", "a", "vocab.txt"]
)
def test_what_stands_in_place_of_a_tokenizer(name: str, tmp_path: Path) -> None:
    for data, message in ((LFS, "this is a Git LFS pointer.*git lfs pull"), (PAGE, "this is an HTML page")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ValueError, match=f"{name}: {message}"):
            Tokenizer.from_pretrained(tmp_path / name, pattern="gpt2")
    (tmp_path / "tokenizer.json").write_bytes(LFS)
    with pytest.raises(ValueError, match="json: this is a Git LFS pointer"):
        Tokenizer.from_pretrained(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[UNK]\n[CLS]\nthe\n", "WordPiece"),
        ("!\nthe\r\n[PAD]\r\n##s\r\n", "WordPiece"),
        ("<unk>\t0\n<s>\t0\n▁the\t-3.25\n", "a .vocab of SentencePiece"),
        ('{"model": {"type": "WordPiece"}}', "a model of type WordPiece: toksmith reads BPE"),
        ('{"type": "Unigram", "vocab": []}', "a model of type Unigram, .*: toksmith reads BPE"),
        ('{"the": 1, "##s": 2}', "a vocabulary: name the folder"),
    ],
)
def test_tokenizers_of_other_kinds(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        Tokenizer.from_pretrained(tmp_path / "a")
