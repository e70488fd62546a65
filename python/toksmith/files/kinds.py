"""The kind of a file, by its first bytes and by its name: whether it can be read as plain text.

Other data that is read as text becomes garbage, and `errors="replace"` would let it pass.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import NamedTuple

_HEAD_BYTES = 1 << 12
"""How many first bytes of a file are looked at to find its kind."""


class _Kind(NamedTuple):
    """A kind of file, with what to do with it, and the suffix with which training reads it, if it does."""

    name: str
    advice: str
    suffix: str | None = None


_COMPRESSED = "decompress it first"
_RECORDS = "take the texts out of its records first"
_DOCUMENT = "take the text out of it first"

_GZIP = _Kind("gzip-compressed", _COMPRESSED, ".gz")
_ZSTD = _Kind("zstd-compressed", _COMPRESSED, ".zst")
_XZ = _Kind("xz-compressed", _COMPRESSED, ".xz")
_ZIP = _Kind("a ZIP archive", _COMPRESSED)
_NUMPY = _Kind("a NumPy file", "it is an array, not a text")
_PARQUET = _Kind("a Parquet file", _RECORDS, ".parquet")
_ARROW = _Kind("an Arrow file", _RECORDS)
_JSON_LINES = _Kind("a file of JSON lines", _RECORDS)
_UTF16 = _Kind("UTF-16 text", "convert it to UTF-8 first")
_BZIP2 = _Kind("bzip2-compressed", _COMPRESSED)

# First bytes that no UTF-8 text has.
_MAGIC = (
    (b"\x1f\x8b\x08", _GZIP),
    (b"\x28\xb5\x2f\xfd", _ZSTD),
    (b"\xfd7zXZ\0", _XZ),
    (b"\x93NUMPY", _NUMPY),
    (b"\x89PNG\r\n\x1a\n", _Kind("a PNG image", "it is an image, not a text")),
    (b"\xd0\xcf\x11\xe0", _Kind("an Office document", _DOCUMENT)),
)
# First bytes that a text could have as well. They count only if the head also has bytes that no text has.
_WEAK_MAGIC = (
    (b"PAR1", _PARQUET),
    (b"ARROW1", _ARROW),
    (b"BZh", _BZIP2),
    (b"PK\x03\x04", _ZIP),
    (b"SQLite format 3\0", _Kind("an SQLite database", _RECORDS)),
    (b"%PDF-", _Kind("a PDF document", _DOCUMENT)),
    (b"\xff\xfe", _UTF16),
    (b"\xfe\xff", _UTF16),
)
_SUFFIXES = {
    **dict.fromkeys((".gz", ".gzip", ".tgz"), _GZIP),
    **dict.fromkeys((".zst", ".zstd"), _ZSTD),
    ".xz": _XZ,
    ".bz2": _BZIP2,
    ".zip": _ZIP,
    **dict.fromkeys((".jsonl", ".ndjson"), _JSON_LINES),
    **dict.fromkeys((".parquet", ".pq"), _PARQUET),
    **dict.fromkeys((".arrow", ".feather"), _ARROW),
    **dict.fromkeys((".npy", ".npz"), _NUMPY),
}


def check_head(name: str, head: bytes) -> None:
    """Refuse text whose first bytes are those of another kind of file; `name` is the name for the message."""
    if kind := _by_head(head):
        raise _refused(name, kind)


def check_name(path: str) -> None:
    """Refuse a file whose name says that it is no plain text."""
    if kind := _SUFFIXES.get(Path(path).suffix.lower()):
        raise _refused(path, kind)


def check_file(path: str | os.PathLike[str]) -> None:
    """Refuse a file that is no plain text, by its name and by its first bytes. A pipe is not read."""
    name = os.fspath(path)
    check_name(name)
    check_head(name, _head_of(name))


def check_for_training(path: str) -> None:
    """Refuse a file that training would take for plain text by its name; the error says how to read it, if at all."""
    if kind := _by_head(_head_of(path)):
        advice = kind.advice if kind.suffix is None else f"give it a name that ends in {kind.suffix}"
        raise _refused(path, kind._replace(advice=advice))


def _head_of(path: str) -> bytes:
    """Return the first bytes of a regular file; no bytes of any other file, which can be read only once."""
    if not stat.S_ISREG(Path(path).stat().st_mode):
        return b""
    with Path(path).open("rb") as file:
        return file.read(_HEAD_BYTES)


def _by_head(head: bytes) -> _Kind | None:
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    for magic, kind in _WEAK_MAGIC:
        if head.startswith(magic) and _has_no_text(head[:_HEAD_BYTES]):
            return kind
    return None


def _has_no_text(head: bytes) -> bool:
    """Return whether the first bytes hold a null, or are no UTF-8 whatever bytes follow."""
    try:
        head[:-3].decode()
    except UnicodeDecodeError as error:
        return error.end < len(head) - 3
    return b"\0" in head


def _refused(name: str, kind: _Kind) -> ValueError:
    return ValueError(f"{name}: this is {kind.name}, and plain text is read here: {kind.advice}")
