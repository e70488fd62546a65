"""What `toksmith.lab.compare` takes: kinds of files, languages, other libraries' tokenizers; and what it refuses."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import toksmith
from toksmith import Tokenizer

SPECIAL = "<|endoftext|>"
TEXTS = ["the lowest of the low", "", f"žluťoučký{SPECIAL} 日本\r\n", "low\u2028 lower\n\n new"]
LANGUAGES = ["en", "en", "cs", "de"]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return toksmith.train(iter(TEXTS * 3), 290, special_tokens=[SPECIAL])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    rows = [{"text": text, "lang": language} for text, language in zip(TEXTS, LANGUAGES, strict=True)]
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    (folder / "a.jsonl").write_bytes(lines)
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(lines))
    (folder / "plain").mkdir()
    for number, text in enumerate(TEXTS):
        (folder / f"plain/{number}.txt").write_bytes(text.encode())
    (folder / "joined.txt").write_bytes("\n--\n".join(TEXTS).encode())
    (folder / "bad.txt").write_bytes(b"ab\xff")
    (folder / "number.jsonl").write_text('{"text": "a", "lang": 3}\n')
    return folder


def compare(tokenizers: Any, *arguments: Any, **options: Any) -> Any:
    return toksmith.lab.compare(tokenizers, *arguments, resamples=0, **options)


def sums(tokenizer: Tokenizer, texts: list[str]) -> tuple[int, int, int]:
    tokens = sum(len(tokenizer.encode(text, special=False)) for text in texts)
    return len(texts), sum(len(text.encode()) for text in texts), tokens


def figures(group: Any) -> tuple[int, int, int]:
    return group.documents, group.bytes, group.figures[0].tokens


def test_files_of_all_kinds(folder: Path, tokenizer: Tokenizer) -> None:
    found = compare(tokenizer, toksmith.Corpus([str(folder / "*.jsonl*"), str(folder / "plain")], field="text"))
    assert [figures(group) for group in found.by("file") if "json" not in group.name] == sorted(
        (sums(tokenizer, [text]) for text in TEXTS), key=lambda row: -row[1]
    )
    records = {group.name: figures(group) for group in found.by("file")}
    assert records[str(folder / "a.jsonl")] == records[str(folder / "b.jsonl.gz")] == sums(tokenizer, TEXTS)
    assert figures(found.all)[0] == 13
    split = compare(tokenizer, toksmith.Corpus(folder / "joined.txt", document_separator="\n--\n"))
    assert figures(split.all) == sums(tokenizer, [text for text in TEXTS if text])


def test_languages_of_records(folder: Path, tokenizer: Tokenizer) -> None:
    found = compare(tokenizer, [folder / "a.jsonl", folder / "b.jsonl.gz"], language_field="lang")
    for language in ("en", "cs", "de"):
        texts = [text for text, one in zip(TEXTS, LANGUAGES, strict=True) if one == language] * 2
        [group] = [group for group in found.by("language") if group.name == language]
        assert figures(group) == sums(tokenizer, texts)
    with pytest.raises(ValueError, match=r"a\.jsonl: line 1 \(byte 0\): there is no field \"nope\", only .*\]$"):
        compare(tokenizer, folder / "a.jsonl", language_field="nope")
    with pytest.raises(ValueError, match=r"number\.jsonl: line 1"):
        compare(tokenizer, folder / "number.jsonl", language_field="lang")
    with pytest.raises(ValueError, match=r"0\.txt has no records"):
        compare(tokenizer, [folder / "a.jsonl", folder / "plain/0.txt"], language_field="lang")
    with pytest.raises(ValueError, match="mutually exclusive"):
        compare(tokenizer, {"en": folder / "a.jsonl"}, language_field="lang")


def test_parquet(tmp_path: Path, tokenizer: Tokenizer) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    raw = [text.encode() for text in TEXTS]
    parquet.write_table(pa.table({"body": raw, "lang": LANGUAGES}), tmp_path / "a.parquet")
    found = compare(tokenizer, toksmith.Corpus(tmp_path / "a.parquet", column="body"), language_field="lang")
    assert figures(found.all) == sums(tokenizer, TEXTS)
    assert {group.name: group.documents for group in found.by("language")} == {"en": 2, "cs": 1, "de": 1}


def test_languages_by_files_and_texts(folder: Path, tokenizer: Tokenizer) -> None:
    found = compare(tokenizer, {"x": [folder / "a.jsonl", folder / "plain/0.txt"], "y": iter(TEXTS[2:])})
    assert {group.name: figures(group) for group in found.by("language")} == {
        "x": sums(tokenizer, [*TEXTS, TEXTS[0]]),
        "y": sums(tokenizer, TEXTS[2:]),
    }
    assert compare(tokenizer, iter([text.encode() for text in TEXTS])).all == compare(tokenizer, iter(TEXTS)).all


def test_progress(folder: Path, tokenizer: Tokenizer) -> None:
    told: list[tuple[str, int, int]] = []
    compare(tokenizer, [folder / "a.jsonl", folder / "plain"], progress=lambda *step: told.append(step))
    total = sum(path.stat().st_size for path in [folder / "a.jsonl", *(folder / "plain").iterdir()])
    assert told[-1] == ("encode", total, total)


# Tokenizers


def test_names(tokenizer: Tokenizer, tmp_path: Path) -> None:
    tokenizer.save(tmp_path / "t.json")
    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = toksmith.Encoding("mine", pat_str=r"\w+|\W", mergeable_ranks=ranks, special_tokens={})
    found = compare([tokenizer, str(tmp_path / "t.json"), encoding], iter(TEXTS))
    assert found.tokenizers == ("tokenizer 1", str(tmp_path / "t.json"), "mine")
    assert found.all.figures[0].tokens == found.all.figures[1].tokens
    assert found.all.figures[2].tokens == found.all.bytes
    with pytest.raises(ValueError, match="two tokenizers are called"):
        compare([tmp_path / "t.json", str(tmp_path / "t.json")], iter(TEXTS))
    with pytest.raises(ValueError, match="no tokenizer is given"):
        compare([], iter(TEXTS))
    with pytest.raises(TypeError, match="'tokenizer 1' is no tokenizer: int has no method encode"):
        compare([3], iter(TEXTS))
    with pytest.raises(FileNotFoundError):
        compare("nowhere.json", iter(TEXTS))


def test_tokenizers_of_other_libraries(tokenizer: Tokenizer, tmp_path: Path) -> None:
    tiktoken, tokenizers = pytest.importorskip("tiktoken"), pytest.importorskip("tokenizers")
    ranks = toksmith.train(iter(TEXTS * 3), 280)
    ranks.save(tmp_path / "r.tiktoken", format="tiktoken")
    mergeable = {token: id for id, token in ranks.vocab.items()}
    theirs = tiktoken.Encoding("theirs", pat_str=ranks.pattern.pattern, mergeable_ranks=mergeable, special_tokens={})
    ranks.save_huggingface(tmp_path / "hf")
    fast = tokenizers.Tokenizer.from_file(str(tmp_path / "hf/tokenizer.json"))

    class Bare:
        def encode(self, text: str) -> list[int]:
            return ranks.encode(text, special=False)

    found = compare({"ours": ranks, "tiktoken": theirs, "tokenizers": fast, "bare": Bare()}, iter(TEXTS))
    ours = found.all.figures[0]
    assert [one.tokens for one in found.all.figures] == [ours.tokens] * 4


# Options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"resamples": -1}, "resamples is at least 0"),
        ({"workers": 0}, "workers is at least 1"),
    ],
)
def test_options_are_checked(options: dict[str, Any], message: str, folder: Path, tokenizer: Tokenizer) -> None:
    with pytest.raises(ValueError, match=message):
        toksmith.lab.compare(tokenizer, [folder / "plain"], **options)


def test_what_is_no_text(folder: Path, tokenizer: Tokenizer) -> None:
    with pytest.raises(ValueError, match="nothing to compare on"):
        toksmith.lab.compare(tokenizer)
    for nothing in ([], [""], ["", ""]):
        with pytest.raises(ValueError, match="no text to compare on"):
            compare(tokenizer, iter(nothing))
    with pytest.raises(TypeError, match="text number 2 is int"):
        compare(tokenizer, iter(["a", 3]))
    with pytest.raises(ValueError, match="text number 1: not UTF-8 at byte 1"):
        compare(tokenizer, iter([b"a\xff"]))
    with pytest.raises(ValueError, match="surrogate"):
        compare(tokenizer, iter(["a\ud800"]))
    with pytest.raises(ValueError, match=r"bad\.txt: not UTF-8 at byte 2"):
        compare(tokenizer, folder / "bad.txt")
    assert compare(tokenizer, toksmith.Corpus(folder / "bad.txt", errors="replace")).all.characters == 3
    with pytest.raises(FileNotFoundError):
        compare(tokenizer, folder / "nope.txt")
    with pytest.raises(TypeError, match="a source is a path"):
        compare(tokenizer, [3])
