"""What `toksmith.tokenize` writes is what the plain writer of these tests writes, byte for byte, and what is read."""

import json
from pathlib import Path

import pytest
from training_folder import FORMATS, write_folder

import toksmith

SPECIAL = "<|endoftext|>"
TEXTS = ["the lowest of the low", "", "žluťoučký 日本\r\n", "low\u2028 lower\n\n new"] * 40

pytestmark = pytest.mark.skipif(not hasattr(toksmith, "tokenize"), reason="needs toksmith.tokenize")


@pytest.mark.parametrize("dtype", ["uint16", "uint32"])
@pytest.mark.parametrize("file_format", FORMATS)
def test_both_write_the_same(file_format: str, dtype: str, tmp_path: Path) -> None:
    if file_format == "parquet":
        pytest.importorskip("pyarrow")
    tokenizer = toksmith.train(iter(TEXTS), 290, special_tokens=[SPECIAL])
    documents = [[*tokenizer.encode(text), 0] for text in TEXTS]
    options = {"shard_size": 100, "dtype": dtype}
    toksmith.tokenize(iter(TEXTS), tokenizer, tmp_path / "ours", format=file_format, append=SPECIAL, **options)
    write_folder(tmp_path / "plain", {"train": documents}, file_format=file_format, tokenizer=tokenizer, **options)
    names = {path.name for path in (tmp_path / "plain").iterdir()}
    assert {path.name for path in (tmp_path / "ours").iterdir()} == names
    for name in names - {"manifest.json"}:
        if not name.endswith(".parquet"):  # other groups of rows, another compression
            assert (tmp_path / "ours" / name).read_bytes() == (tmp_path / "plain" / name).read_bytes(), name
    ours, plain = (
        json.loads((tmp_path / name / "manifest.json").read_text(encoding="utf-8")) for name in ("ours", "plain")
    )
    for field in ("format", "version", "tokenizer", "file_format", "dtype"):
        assert ours[field] == plain[field]
    if file_format != "parquet":
        for shard, other in zip(ours["splits"]["train"]["shards"], plain["splits"]["train"]["shards"], strict=True):
            assert {name: shard[name] for name in other} == other
    data = toksmith.data.open(tmp_path / "ours")
    assert [document.tolist() for document in data.documents] == documents
    assert [data.documents.text(number) for number in range(len(TEXTS))] == [text + SPECIAL for text in TEXTS]
    assert list(toksmith.data.differences(tmp_path / "ours")) == []
