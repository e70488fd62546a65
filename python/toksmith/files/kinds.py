"""The kind of a file, by its first bytes and by its name: whether it can be read as plain text.

Other data that is read as text becomes garbage, and `errors="replace"` would let it pass.
"""

from __future__ import annotations

import os
import stat

HEAD_BYTES = 1 << 12
"""How many first bytes of a file are looked at to find its kind."""

_COMPRESSED = "decompress it first"
_RECORDS = "take the texts out of its records first"
_DOCUMENT = "take the text out of it first"

# First bytes that no UTF-8 text has.
_MAGIC = (
    (b"\x1f\x8b\x08", "gzip", "gzip-compressed", _COMPRESSED),
    (b"\x28\xb5\x2f\xfd", "zstd", "zstd-compressed", _COMPRESSED),
    (b"\xfd7zXZ\0", "xz", "xz-compressed", _COMPRESSED),
    (b"\x93NUMPY", None, "a NumPy file", "it is an array, not a text"),
    (b"\x89PNG\r\n\x1a\n", None, "a PNG image", "it is an image, not a text"),
    (b"\xd0\xcf\x11\xe0", None, "an Office document", _DOCUMENT),
)
# First bytes that a text could have as well. They count only if the head also has bytes that no text has.
_WEAK_MAGIC = (
    (b"PAR1", "parquet", "a Parquet file", _RECORDS),
    (b"ARROW1", None, "an Arrow file", _RECORDS),
    (b"BZh", None, "bzip2-compressed", _COMPRESSED),
    (b"PK\x03\x04", None, "a ZIP archive", _COMPRESSED),
    (b"SQLite format 3\0", None, "an SQLite database", _RECORDS),
    (b"%PDF-", None, "a PDF document", _DOCUMENT),
    (b"\xff\xfe", None, "UTF-16 text", "convert it to UTF-8 first"),
    (b"\xfe\xff", None, "UTF-16 text", "convert it to UTF-8 first"),
)
_SUFFIXES = {
    **dict.fromkeys((".gz", ".gzip", ".tgz"), ("gzip-compressed", _COMPRESSED)),
    **dict.fromkeys((".zst", ".zstd"), ("zstd-compressed", _COMPRESSED)),
    ".xz": ("xz-compressed", _COMPRESSED),
    ".bz2": ("bzip2-compressed", _COMPRESSED),
    ".zip": ("a ZIP archive", _COMPRESSED),
    **dict.fromkeys((".jsonl", ".ndjson"), ("a file of JSON lines", _RECORDS)),
    **dict.fromkeys((".parquet", ".pq"), ("a Parquet file", _RECORDS)),
    **dict.fromkeys((".arrow", ".feather"), ("an Arrow file", _RECORDS)),
    **dict.fromkeys((".npy", ".npz"), ("a NumPy file", "it is an array, not a text")),
}
_TRAINING_SUFFIXES = {"gzip": ".gz", "zstd": ".zst", "xz": ".xz", "parquet": ".parquet"}


def check_head(name: str, head: bytes) -> None:
    """Refuse text whose first bytes are those of another kind of file; `name` is the name for the message.

    Raises:
        ValueError: The text is of another kind; names the kind, and says what to do.
    """
    found = _by_head(head)
    if found is not None:
        raise _refused(name, *found[1:])


def check_name(path: str) -> None:
    """Refuse a file whose name says that it is no plain text.

    Raises:
        ValueError: The name says so; names the kind, and says what to do.
    """
    kind = _SUFFIXES.get(os.path.splitext(path)[1].lower())  # noqa: PTH122
    if kind is not None:
        raise _refused(path, *kind)


def check_file(path: str | os.PathLike[str]) -> None:
    """Refuse a file that is no plain text, by its name and by its first bytes. A pipe is not read.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is no plain text.
    """
    name = os.fspath(path)
    check_name(name)
    check_head(name, head_of(name))


def check_for_training(path: str) -> None:
    """Refuse a file that training would take for plain text by its name, but that is of another kind.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is of another kind; says how to read it, if that is possible.
    """
    found = _by_head(head_of(path))
    if found is None:
        return
    kind, what, advice = found
    suffix = _TRAINING_SUFFIXES.get(kind or "")
    raise _refused(path, what, advice if suffix is None else f"give it a name that ends in {suffix}")


def head_of(path: str) -> bytes:
    """Return the first bytes of a regular file; no bytes of any other file, which can be read only once."""
    if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116
        return b""
    with open(path, "rb") as file:  # noqa: PTH123
        return file.read(HEAD_BYTES)


def _by_head(head: bytes) -> tuple[str | None, str, str] | None:
    for magic, kind, what, advice in _MAGIC:
        if head.startswith(magic):
            return kind, what, advice
    for magic, kind, what, advice in _WEAK_MAGIC:
        if head.startswith(magic) and _has_no_text(head[:HEAD_BYTES]):
            return kind, what, advice
    return None


def _has_no_text(head: bytes) -> bool:
    """Return whether the first bytes hold a null, or are no UTF-8 whatever bytes follow."""
    try:
        head[:-3].decode()
    except UnicodeDecodeError as error:
        return error.end < len(head) - 3
    return b"\0" in head


def _refused(name: str, what: str, advice: str) -> ValueError:
    return ValueError(f"{name}: this is {what}, and plain text is read here: {advice}")
