"""The log of a training: one row for each merge."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator

from ..files import whole_files
from ..formats.native import escape
from ..tokenizer import Tokenizer

_FIELDS = ("merge", "id", "left", "right", "token", "count", "bytes")


def check(path: str | os.PathLike[str]) -> None:
    """Check that the format of the log is known."""
    name = os.fspath(path)
    if not name.endswith((".csv", ".jsonl")):
        raise ValueError(f"{name}: a training log is a .csv or a .jsonl file")


def write(path: str | os.PathLike[str], tokenizer: Tokenizer) -> None:
    r"""Write a row for each merge of a trained tokenizer, in order.

    Columns: the number of the merge from 1 on, the id of the token that it makes, left part, right part and token as
    text (`\xNN` for a byte that is not UTF-8, `\\` for a backslash), how often the pair occurred when it was chosen
    (empty, or null, where it was not chosen by its count), and the bytes of the token.
    """
    rows = _csv(tokenizer) if os.fspath(path).endswith(".csv") else _json_lines(tokenizer)
    whole_files.write(path, rows)


def _rows(tokenizer: Tokenizer) -> Iterator[tuple[int | str | None, ...]]:
    counts = tokenizer.merge_counts or [None] * len(tokenizer.merges)
    for number, ((left, right), count) in enumerate(zip(tokenizer.merges, counts, strict=True), 1):
        token = left + right
        yield number, tokenizer.token_id(token), escape(left), escape(right), escape(token), count, len(token)


def _csv(tokenizer: Tokenizer) -> Iterator[bytes]:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(_FIELDS)
    writer.writerows(_rows(tokenizer))
    yield buffer.getvalue().encode()


def _json_lines(tokenizer: Tokenizer) -> Iterator[bytes]:
    dump = json.JSONEncoder(ensure_ascii=False).encode
    for row in _rows(tokenizer):
        yield dump(dict(zip(_FIELDS, row, strict=True))).encode() + b"\n"
