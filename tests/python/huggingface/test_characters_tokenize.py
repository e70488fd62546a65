"""Folders of training data of tokenizers that merge characters: each document has the ids of the original."""

import json
import random
from pathlib import Path

import pytest
from character_cases import PIECES, make

import toksmith
from toksmith import Tokenizer
from toksmith.data import tokenize as module


@pytest.mark.parametrize("kind", ["llama", "gemma", "metaspace_first_False", "nfkc"])
def test_documents_have_the_ids_of_the_original(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNK_BYTES", 3000)
    rng = random.Random(5)
    documents = ["".join(rng.choices(PIECES, k=rng.randrange(40))) for _ in range(150)]
    documents.append("".join(rng.choices(PIECES, k=20_000)))  # cut into chunks
    theirs = make(kind)
    (tmp_path / "tokenizer.json").write_text(theirs.to_str())
    source = tmp_path / "a.jsonl"
    source.write_text("".join(json.dumps({"text": document}) + "\n" for document in documents))
    tokenizer = Tokenizer.from_huggingface(tmp_path / "tokenizer.json")
    expected = [theirs.encode(document, add_special_tokens=False).ids for document in documents]
    for name, given in {"files": source, "texts": iter(documents)}.items():
        toksmith.tokenize(given, tokenizer, tmp_path / name, workers=2)
        data = toksmith.data.open(tmp_path / name)
        assert [data.documents[at].tolist() for at in range(len(data.documents))] == expected
