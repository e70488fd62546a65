"""The core's reader of byte-level models beside the one in Python: the same tokenizers from the same files."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from toksmith import Tokenizer
from toksmith.formats.gpt2 import spell
from toksmith.huggingface import model

TEXT = "low lower ab abc <|end|> é日 x y\n  12345 'll"


def content(rng: random.Random) -> dict[str, Any]:
    """Return a file: merges of random pairs in either notation, added tokens of all kinds."""
    tokens = [spell(bytes([byte])) for byte in range(256)]
    merges: list[tuple[str, str]] = []
    for _ in range(rng.randrange(60)):
        letters = [*"abcelowr", "Ġ"] if rng.random() < 0.8 else tokens
        left, right = rng.choice(letters + tokens[256:]), rng.choice(letters + tokens[256:])
        if left + right not in tokens:
            tokens.append(left + right)
        elif rng.random() < 0.9:
            continue
        merges.append((left, right))
    names = [*tokens, *rng.sample(["<|end|>", "x y", "日", "low", "<s>", "é日"], rng.randrange(5))]
    ids = list(range(len(set(names))))
    if rng.random() < 0.5:
        rng.shuffle(ids)
    vocab = dict(zip(dict.fromkeys(names), ids, strict=True))
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "special": True}
    added: list[dict[str, Any]] = []
    for token in rng.sample(["<|end|>", "x y", "日", "low", "<s>", "é日", "a", "new"], rng.randrange(9)):
        id = vocab.get(token, len(vocab) + sum(other["id"] >= len(vocab) for other in added))
        added.append({"id": id, "content": token, **flags, "normalized": rng.random() < 0.5})
    rows: list[Any] = [f"{left} {right}" for left, right in merges]
    if rng.random() < 0.5:
        rows = [[left, right] for left, right in merges]
    elif rng.random() < 0.3:
        rows.insert(0, "#version: 0.2")
    if rows and rng.random() < 0.15:
        rows[rng.randrange(len(rows))] = rng.choice(["a", "a b c", ["a"], ["zz", "z"], ["a", 5], "a  b", None])
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    made = {"type": "BPE", "vocab": vocab, "merges": rows, "ignore_merges": rng.random() < 0.3}
    return {"version": "1.0", "added_tokens": added, "pre_tokenizer": level, "decoder": level, "model": made}


def read(path: Path) -> Any:
    try:
        tokenizer = Tokenizer.from_huggingface(path)
    except ValueError as error:
        return str(error)
    ids = tokenizer.encode(TEXT)
    return tokenizer.fingerprint, dict(tokenizer.vocab), tokenizer.merges, tokenizer.special_tokens, ids


def test_both_readers_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, path, read_quickly = random.Random(4), tmp_path / "tokenizer.json", 0
    original = model._quickly

    def quickly(*given: Any) -> Any:
        nonlocal read_quickly
        found = original(*given)
        read_quickly += found is not None
        return found

    for number in range(400):
        path.write_text(json.dumps(content(rng)))
        results = []
        for reader in (quickly, lambda *_: None):
            with monkeypatch.context() as patched:
                patched.setattr(model, "_quickly", reader)
                results.append(read(path))
        assert results[0] == results[1], number
    assert 100 < read_quickly < 380
