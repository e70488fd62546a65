"""Counting and encoding of files with few bytes at a time, so that little text meets every border inside."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import toksmith
from toksmith import PretokenCounts, Tokenizer
from toksmith import tokenizer as tokenizer_module
from toksmith.training import counting


@contextlib.contextmanager
def sizes(chunk_bytes: int | None, table_bytes: int | None) -> Iterator[None]:
    constants = {"CHUNK_BYTES": chunk_bytes, "TABLE_BYTES": table_bytes}
    with mock.patch.multiple(counting, **constants):
        yield


def count_pretokens(
    sources: Any,
    *,
    chunk_bytes: int | None = None,
    table_bytes: int | None = None,
    **options: Any,
) -> PretokenCounts:
    with sizes(chunk_bytes, table_bytes):
        return toksmith.count_pretokens(sources, **options)


def encode_file(
    tokenizer: Tokenizer, path: Path, out: Path | None = None, *, window_bytes: int | None, **options: Any
) -> Any:
    with mock.patch.object(tokenizer_module, "WINDOW_BYTES", window_bytes):
        return tokenizer.encode_file(path, out, **options)
