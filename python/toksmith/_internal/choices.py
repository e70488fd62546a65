"""The values of options that are one of a few names, each as a type and as a tuple."""

from __future__ import annotations

from typing import Literal, get_args

Ties = Literal["bytes", "ids", "smallest_ids", "first", "huggingface"]
TIES: tuple[Ties, ...] = get_args(Ties)
"""Which of several pairs of equal count merges first."""

TieRule = Literal["bytes", "ids", "smallest_ids", "first", "huggingface", "printable_ids", "spelling"]
"""The same for the core, whose bytes have their values as ids."""

Parity = Literal["base", "window"]
PARITIES: tuple[Parity, ...] = get_args(Parity)
"""How training chooses the language that the next merge serves."""

SuperwordRule = Literal["words", "spaces"]
SUPERWORD_RULES: tuple[SuperwordRule, ...] = get_args(SuperwordRule)
"""What a token of several words may cross."""

SpecialIds = Literal["first", "after_bytes", "last"]
SPECIAL_IDS: tuple[SpecialIds, ...] = get_args(SpecialIds)
"""Where the ids of special tokens are, relative to those of the bytes and the merges."""

ByteOrder = Literal["value", "gpt2"]
BYTE_ORDERS: tuple[ByteOrder, ...] = get_args(ByteOrder)
"""The order of the ids of the single bytes."""

Unmatched = Literal["keep", "drop"]
UNMATCHED: tuple[Unmatched, ...] = get_args(Unmatched)
"""What becomes of text that a pattern does not match."""

Errors = Literal["strict", "replace"]
ERRORS: tuple[Errors, ...] = get_args(Errors)
"""What becomes of bytes that are not UTF-8."""

InputFormat = Literal["text", "jsonl", "json", "csv", "tsv", "tar", "warc", "parquet", "arrow"]
INPUT_FORMATS: tuple[InputFormat, ...] = get_args(InputFormat)
"""The formats of files of text."""

OnError = Literal["stop", "skip"]
ON_ERROR: tuple[OnError, ...] = get_args(OnError)
"""What becomes of a run when a document cannot be read."""

FileFormat = Literal["toksmith", "gpt2", "tiktoken", "tekken", "sentencepiece", "gguf"]
FILE_FORMATS: tuple[FileFormat, ...] = get_args(FileFormat)
"""The formats of a tokenizer's file that `Tokenizer.save` writes."""

ShardFormat = Literal["bin", "nanogpt", "llm.c", "megatron", "npy", "parquet"]
SHARD_FORMATS: tuple[ShardFormat, ...] = get_args(ShardFormat)
"""The formats of shards of ids."""
