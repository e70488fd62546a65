"""Stanford CS336, assignment 1: its two tokenizer adapters, on toksmith.

Put these two functions in the place of those of the same name in the assignment's `tests/adapters.py`.
"""

from __future__ import annotations

import os
from typing import Any

import toksmith


def run_train_bpe(
    input_path: str | os.PathLike[str],
    vocab_size: int,
    special_tokens: list[str],
    **kwargs: Any,
) -> tuple[dict[int, bytes], list[tuple[bytes, bytes]]]:
    """Train a BPE tokenizer on a file; return its vocabulary and its merges, in the order they were made."""
    return toksmith.train_bpe(input_path, vocab_size, special_tokens, **kwargs)


def get_tokenizer(
    vocab: dict[int, bytes],
    merges: list[tuple[bytes, bytes]],
    special_tokens: list[str] | None = None,
) -> toksmith.Tokenizer:
    """Return a tokenizer with this vocabulary, these merges and these special tokens."""
    return toksmith.Tokenizer(vocab, merges, special_tokens)
