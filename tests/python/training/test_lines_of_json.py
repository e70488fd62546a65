"""Lines of JSON that Python writes and reads, but which are no strict JSON, at each door that reads such files."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import shards_oracle

import toksmith
from toksmith import Corpus, Tokenizer

# As `json.dumps` writes them; the last one stands in another field alone.
TEXTS = ["low \ud83d lower", "\ude00\ud83d\ude00\ud83d", 'a "b" \\ud83d \x07', "low newest"]
LINES = [*({"loss": float("nan"), "text": text} for text in TEXTS), {"title": "\ud83d", "text": "last"}]
READ = ["low \ufffd lower", "\ufffd😀\ufffd", 'a "b" \\ud83d \x07', "low newest", "last"]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return toksmith.train(iter(["low lower newest"] * 9), 262, special_tokens=["<|endoftext|>"])


@pytest.fixture(params=["a.jsonl", "a.jsonl.gz"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path: Path = tmp_path / request.param
    data = "\n".join(map(json.dumps, LINES)).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def tokenized(file: Path, tokenizer: Tokenizer, **options: Any) -> object:
    out = file.parent / f"out{len(list(file.parent.iterdir()))}"
    told = toksmith.tokenize(Corpus(file, **options), tokenizer, out)
    if options:
        shards_oracle.check(out, shards_oracle.expected(tokenizer, READ))
    return told


DOORS: dict[str, Callable[..., object]] = {
    "train": lambda file, _, **options: toksmith.train(Corpus(file, **options), 260).merges,
    "count": lambda file, _, **options: toksmith.count_pretokens(Corpus(file, **options)).items(),
    "tokenize": tokenized,
    "inspect": lambda file, tokenizer, **options: (
        toksmith.lab.inspect(tokenizer, on=Corpus(file, **options)).usage.bytes
    ),
    "compare": lambda file, tokenizer, **options: (
        toksmith.lab.compare(tokenizer, Corpus(file, **options)).all.characters
    ),
}
EXPECTED: dict[str, Callable[[Tokenizer], object]] = {
    "train": lambda _: toksmith.train(iter(READ), 260).merges,
    "count": lambda _: toksmith.count_pretokens(iter(READ)).items(),
    "inspect": lambda _: len("".join(READ).encode()),
    "compare": lambda _: len("".join(READ)),
}


@pytest.mark.parametrize("door", DOORS)
def test_lone_surrogates_are_refused_or_replaced(door: str, file: Path, tokenizer: Tokenizer) -> None:
    with pytest.raises(ValueError, match=r'a\.jsonl.*line 1.*half of a character: give errors="replace"'):
        DOORS[door](file, tokenizer)
    found = DOORS[door](file, tokenizer, errors="replace")
    if door in EXPECTED:
        assert found == EXPECTED[door](tokenizer)


def test_documents_replace_them(file: Path) -> None:
    assert ["".join(document.pieces) for document in Corpus(file, errors="replace").documents()] == READ


def test_lines_with_them_can_be_left_out(file: Path, tokenizer: Tokenizer) -> None:
    with pytest.warns(UserWarning, match="2 documents were left out"):
        told = toksmith.tokenize(file, tokenizer, file.parent / "out", on_error="skip")
    shards_oracle.check(file.parent / "out", shards_oracle.expected(tokenizer, READ[2:]))
    assert [one["place"].partition(" (")[0] for one in told["skipped"]] == ["line 1", "line 2"]


PIECES = [
    *("\\ud83d", "\\ude00", "\\uDFFF", "\\u00e9", "\\ufffd", "\\u12", "\\u", "\\\\", '\\"', "\\n", "\\/", "ud83d"),
    *("a", "é", "😀", ":NaN", ",NaN", "[NaN]", "{}", "\t", '"', '","', '","b":', '","text":"', "NaN", "-Infinity"),
]


def test_lines_are_read_as_python_reads_them(tmp_path: Path, one_in: int) -> None:
    def read_text(line: str, replace: bool) -> str:
        (tmp_path / "a.jsonl").write_bytes(line.encode())
        [document] = Corpus(tmp_path / "a.jsonl", errors="replace" if replace else "strict").documents()
        return "".join(document.pieces)

    rng = random.Random(0)
    read = refused = 0
    for _ in range(20_000 // one_in):
        string = "".join(rng.choices(PIECES, k=rng.randint(0, 6)))
        other = "".join(
            rng.choices(["NaN", "[", "]", ",", '"\\ud83d"', " ", "1", "-Infinity", '""'], k=rng.randint(0, 4))
        )
        line = f'{{"a":{other or 1}, "text":"{string}" }}'
        try:
            values = [value for key, value in json.loads(line, object_pairs_hook=list) if key == "text"]
            text = values[0] if len(values) == 1 else None
        except ValueError:
            text = None
        if not isinstance(text, str):
            refused += 1
            for replace in (False, True):
                with pytest.raises(ValueError, match=r"of the line|there is no field|is there twice"):
                    read_text(line, replace)
            continue
        read += 1
        assert read_text(line, True) == re.sub("[\ud800-\udfff]", "\ufffd", text), line
        if re.search("[\ud800-\udfff]", text):
            with pytest.raises(ValueError, match="half of a character"):
                read_text(line, False)
    assert min(read, refused) > 3000 // one_in
