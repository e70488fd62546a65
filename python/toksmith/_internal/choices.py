"""The values of options that are one of a few names, each as a type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from .. import _core

if TYPE_CHECKING:
    FileFormat = _core._FileFormat
    LongDocument = _core._LongDocument
    SpecialIds = _core._SpecialIds
    Ties = _core._Ties
    Unmatched = _core._Unmatched
else:
    # Files of Hugging Face and minbpe have functions of their own.
    FileFormat = Literal[tuple(name for name in _core.FORMATS if name not in ("huggingface", "minbpe"))]
    """The formats of a tokenizer's file that `Tokenizer.save` writes."""
    LongDocument = Literal[_core.LONG_DOCUMENTS]
    """What becomes of a document that is longer than a row."""
    SpecialIds = Literal[_core.SPECIAL_IDS]
    """Where the ids of special tokens are, relative to those of the bytes and the merges."""
    Ties = Literal[_core.TIES]
    """Which of several pairs of equal count merges first."""
    Unmatched = Literal[_core.UNMATCHED]
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
