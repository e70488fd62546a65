"""The values of options that are one of a few names: each set is written only here.

Each is a type for annotations, and a tuple for checks, messages and the command line, without an import of `typing`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Ties = Literal["bytes", "ids", "smallest_ids", "first", "huggingface"]
    SpecialIds = Literal["first", "after_bytes", "last"]
    ByteOrder = Literal["value", "gpt2"]
    Unmatched = Literal["keep", "drop"]
    Errors = Literal["strict", "replace"]
    OnError = Literal["stop", "skip"]
    PlotFormat = Literal["svg", "png"]
    GroupKind = Literal["language", "script", "file"]
    ShardFormat = Literal["bin", "nanogpt", "llm.c", "megatron", "npy", "parquet"]

TIES: tuple[Ties, ...] = ("bytes", "ids", "smallest_ids", "first", "huggingface")
"""Which of several pairs of equal count merges first."""
SPECIAL_IDS: tuple[SpecialIds, ...] = ("first", "after_bytes", "last")
"""Where the ids of special tokens are, relative to those of the bytes and the merges."""
BYTE_ORDERS: tuple[ByteOrder, ...] = ("value", "gpt2")
"""The order of the ids of the single bytes."""
UNMATCHED: tuple[Unmatched, ...] = ("keep", "drop")
"""What becomes of text that a pattern does not match."""
ERRORS: tuple[Errors, ...] = ("strict", "replace")
"""What becomes of bytes that are not UTF-8."""
ON_ERROR: tuple[OnError, ...] = ("stop", "skip")
"""What becomes of a run when a document cannot be read."""
SHARD_FORMATS: tuple[ShardFormat, ...] = ("bin", "nanogpt", "llm.c", "megatron", "npy", "parquet")
"""The formats of shards of ids."""
PLOT_FORMATS: tuple[PlotFormat, ...] = ("svg", "png")
"""The formats of plots as files."""
GROUP_KINDS: tuple[GroupKind, ...] = ("language", "script", "file")
"""By what documents are grouped when tokenizers are compared."""
