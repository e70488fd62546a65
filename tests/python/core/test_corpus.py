"""`Corpus`: one way to say where texts come from."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import toksmith
from toksmith import Corpus

TEXTS = ["low lower", "newest žluťoučký"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text(TEXTS[0], encoding="utf-8")
    lines = [json.dumps({"body": text, "language": name}) for text, name in zip(TEXTS, ("en", "cs"), strict=True)]
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    return tmp_path


def texts(corpus: Corpus) -> list[str]:
    return ["".join(document.pieces) for document in corpus.documents()]


def test_files_and_their_records(folder: Path) -> None:
    corpus = Corpus(folder, field="body")
    assert texts(corpus) == [TEXTS[0], *TEXTS]
    assert [Path(path).name for path in corpus.paths] == ["a.txt", "b.jsonl.gz"]
    read: list[int] = []
    assert len(list(corpus.documents(read.append))) == 3
    assert 0 < sum(read) <= corpus.total_bytes == sum(path.stat().st_size for path in folder.iterdir())
    [*_, last] = Corpus(folder / "b.jsonl.gz", field="body").documents(label="language")
    assert (last.label, Path(last.source).name) == ("cs", "b.jsonl.gz")


def test_texts() -> None:
    assert texts(Corpus(iter([*TEXTS, b"raw\xff"]), errors="replace")) == [*TEXTS, "raw\ufffd"]
    assert texts(Corpus({"a|b|": 1, "c": 2}, document_separator="|")) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="text number 2: not UTF-8 at byte 0"):
        texts(Corpus(iter(["a", b"\xff"])))
    with pytest.raises(TypeError, match="text number 1 is int"):
        texts(Corpus(range(3)))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["text", "iterable", "jsonl", "parquet"])
def test_a_separator_cuts_texts_and_no_records(kind: str, tmp_path: Path) -> None:
    given: list[str | bytes] = ["one|two||", b"three"]
    path = tmp_path / f"a.{kind}"
    if kind == "text":
        path.write_text("one|two||three")
    elif kind == "jsonl":
        path.write_text('{"text": "one|two||"}\n{"text": "three"}\n')
    elif kind == "parquet":
        pa = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(pa.table({"text": ["one|two||", "three"]}), path)
    expected = ["one", "two", "three"] if kind in ("text", "iterable") else ["one|two||", "three"]

    def corpus() -> Corpus:
        return Corpus(iter(given) if kind == "iterable" else path, document_separator="|")

    assert texts(corpus()) == expected
    counts = toksmith.count_pretokens(corpus(), pattern=None)
    assert [pretoken.decode() for pretoken, _ in counts.items()] == expected
    assert toksmith.train(corpus(), 257, pattern=None) == toksmith.train(counts, 257)
    toksmith.tokenize(corpus(), toksmith.Tokenizer(), tmp_path / "out")
    documents = toksmith.data.open(tmp_path / "out").documents
    assert [documents.text(at) for at in range(len(documents))] == expected


def test_functions_take_a_corpus(folder: Path) -> None:
    corpus = Corpus(folder, field="body")
    counts = toksmith.count_pretokens(corpus)
    assert counts.items() == toksmith.count_pretokens(iter([TEXTS[0], *TEXTS])).items()
    assert toksmith.train(corpus, 258) == toksmith.train(counts, 258)


@pytest.mark.parametrize(
    ("sources", "options", "error", "message"),
    [
        ("none", {}, FileNotFoundError, "texts are given as an iterator"),
        ([], {}, ValueError, "no source is given"),
        (5, {}, TypeError, "sources are paths, or an iterable of texts, not int"),
        ([5], {}, TypeError, "a source is a path, not int"),
        (["-", "-"], {}, ValueError, "standard input is given twice"),
        (iter(["x"]), {"field": "a"}, ValueError, "field, column and input_format are for files"),
        ("-", {"column": "a"}, ValueError, "column='a' is for files of records"),
        ("-", {"errors": "ignore"}, ValueError, "errors is one of"),
        ("-", {"document_separator": ""}, ValueError, "document_separator is empty"),
    ],
)
def test_wrong_arguments(sources: Any, options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Corpus(sources, **options)


def test_a_folder_that_is_written_is_left_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [Path(path).name for path in Corpus(folder).without(folder / "out").paths] == ["a.txt", "b.jsonl.gz"]
    (folder / "out").mkdir()
    (folder / "out" / "c.txt").touch()
    assert len(Corpus(folder).paths) == 3 and len(Corpus(folder).without(folder / "out").paths) == 2
    with pytest.raises(ValueError, match="no source is given"):
        Corpus(folder).without(folder)
    monkeypatch.chdir(folder / "out")
    assert len(Corpus("../a.txt").without(Path()).paths) == 1
    assert len(Corpus([folder / "a.txt", "../out/c.txt", "../out/../a.txt"]).without(folder / "out").paths) == 2
    (folder / "link").symlink_to(folder / "out")
    assert len(Corpus(folder).without(folder / "link").paths) == 2
