"""The values of options that are one of a few names, each as a type."""

from typing import Literal

FileFormat = Literal["toksmith", "gpt2", "tiktoken", "tekken", "sentencepiece", "gguf"]
"""The formats of a tokenizer's file that `Tokenizer.save` writes. Hugging Face's and minbpe's have functions."""

LongDocument = Literal["split", "truncate", "drop"]
"""What becomes of a document that is longer than a row."""

SpecialIds = Literal["first", "after_bytes", "last"]
"""Where the ids of special tokens are, relative to those of the bytes and the merges."""

Ties = Literal["bytes", "ids", "smallest_ids", "first", "huggingface"]
"""Which of several pairs of equal count merges first."""

Unmatched = Literal["keep", "drop"]
"""What becomes of text that a pattern does not match."""

TieRule = Literal["bytes", "ids", "smallest_ids", "first", "huggingface", "printable_ids", "spelling"]
"""The same for the core, whose bytes have their values as ids."""

ParityRule = Literal["base", "window"]
"""How training chooses the language that the next merge serves."""

SuperwordRule = Literal["words", "spaces"]
"""What a token of several words may cross."""

ByteOrder = Literal["value", "gpt2"]
"""The order of the ids of the single bytes."""

Side = Literal["left", "right"]
"""The side of a text or of ids."""

Boundary = Literal["joint", "split", "heal"]
"""Where the ids of a prompt end."""

Errors = Literal["strict", "replace"]
"""What becomes of bytes that are not UTF-8."""

InputFormat = Literal["text", "jsonl", "json", "csv", "tsv", "tar", "warc", "parquet", "arrow"]
"""The formats of files of text."""

TrainOn = Literal["assistant", "completion", "last", "all"]
"""Whose ids of a conversation a model is trained on."""

Untrained = Literal["thinking", "tool_calls"]
"""What a model is not trained on although the assistant writes it."""

OnError = Literal["stop", "skip"]
"""What becomes of a run when a document cannot be read."""

ShardFormat = Literal["bin", "nanogpt", "llm.c", "megatron", "npy", "parquet"]
"""The formats of shards of ids."""
