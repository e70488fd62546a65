"""What must hold of every tokenizer that a loader lets through."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path

from toksmith import Tokenizer, patterns, reference

TEXT = "ab lower  low\n é中😀e\u0301 1's<|end|> x\t12345 \u3000\n"
FOLDER = Path(tempfile.mkdtemp(prefix="toksmith-fuzz-"))


def written(name: str, data: bytes) -> Path:
    """Return a file of these bytes."""
    path = FOLDER / name
    path.write_bytes(data)
    return path


_checked: dict[bytes, list[int]] = {}
"""The ids of `TEXT` by pickles of tokenizers that were checked: many changes of a file lead to the same tokenizer."""


def works(tokenizer: Tokenizer) -> None:
    """Encode as the reference does, decode, save, load and pickle to the same."""
    pickled = pickle.dumps(tokenizer)
    ids = tokenizer.encode(TEXT)
    if pickled in _checked:
        assert _checked[pickled] == ids
        return
    _check(tokenizer, pickled, ids)
    if len(_checked) >= 2000:
        _checked.clear()
    _checked[pickled] = ids


def _check(tokenizer: Tokenizer, pickled: bytes, ids: list[int]) -> None:
    text = TEXT
    assert tokenizer.count(text) == len(ids)
    assert tokenizer.encode_with_offsets(text)[0] == ids
    assert tokenizer.encode_batch([text, text]) == [ids, ids]
    if tokenizer.pipeline is None and not tokenizer._core.is_spelled():
        pattern = patterns.of_core(tokenizer._core)
        merges = tokenizer.merges if tokenizer._core.has_merges() else None
        assert ids == reference.encode(
            text,
            tokenizer.vocab,
            merges,
            tokenizer.special_tokens,
            pattern=pattern.compiled(),
            unmatched=pattern.unmatched,
            ignore_merges=tokenizer._core.ignores_merges(),
        )
        if pattern.unmatched == "keep":
            assert tokenizer.decode_bytes(ids) == text.encode()
    tokenizer.decode(ids)
    path = FOLDER / "saved"
    tokenizer.save(path, verify=False)
    for again in (Tokenizer.load(path), pickle.loads(pickled)):
        assert again == tokenizer
        assert again.encode(text) == ids
