"""The values of options that are one of a few names, each as a type."""

from __future__ import annotations

from typing import Literal

Ties = Literal["bytes", "ids", "smallest_ids", "first", "huggingface"]
"""Which of several pairs of equal count merges first."""

TieRule = Literal["bytes", "ids", "smallest_ids", "first", "huggingface", "printable_ids", "spelling"]
"""The same for the core, whose bytes have their values as ids."""

ParityRule = Literal["base", "window"]
"""How training chooses the language that the next merge serves."""

SuperwordRule = Literal["words", "spaces"]
"""What a token of several words may cross."""

SpecialIds = Literal["first", "after_bytes", "last"]
"""Where the ids of special tokens are, relative to those of the bytes and the merges."""

ByteOrder = Literal["value", "gpt2"]
"""The order of the ids of the single bytes."""

Unmatched = Literal["keep", "drop"]
"""What becomes of text that a pattern does not match."""

Errors = Literal["strict", "replace"]
"""What becomes of bytes that are not UTF-8."""

InputFormat = Literal["text", "jsonl", "json", "csv", "tsv", "tar", "warc", "parquet", "arrow"]
"""The formats of files of text."""

OnError = Literal["stop", "skip"]
"""What becomes of a run when a document cannot be read."""

FileFormat = Literal["toksmith", "gpt2", "tiktoken", "tekken", "sentencepiece", "gguf"]
"""The formats of a tokenizer's file that `Tokenizer.save` writes."""

ShardFormat = Literal["bin", "nanogpt", "llm.c", "megatron", "npy", "parquet"]
"""The formats of shards of ids."""
