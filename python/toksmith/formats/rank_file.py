"""tiktoken's rank file: one token a line, base64 of its bytes, a space, its id.

Such a file holds only ordinary tokens: no pattern, no special tokens, no merges (they follow from the ids).

The empty token is written as only padding, `=`: Whisper's multilingual file has one, which no text is encoded to. A
byte order mark before the first line is skipped.
"""

from __future__ import annotations

import base64
import binascii
import os
from typing import TYPE_CHECKING

from .._internal.messages import shown
from ..files import text_files, whole_files

if TYPE_CHECKING:
    from collections.abc import Mapping


def read(path: str | os.PathLike[str]) -> dict[int, bytes]:
    """Return the vocabulary of a rank file.

    Raises:
        OSError: The file cannot be read.
        ValueError: A line is malformed, or gives an id a second time; names file and line.
    """
    return parse(text_files.read_text(path), f"{os.fspath(path)}, ")


def parse(content: str | bytes, place: str = "") -> dict[int, bytes]:
    """Return the vocabulary in the content of a rank file; `place` is put before the line in an error.

    Raises:
        ValueError: As `read`; or the content is not UTF-8.
    """
    vocab: dict[int, bytes] = {}
    text = content if isinstance(content, str) else content.decode()
    for number, line in enumerate(text_files.lines(text.removeprefix("\ufeff")), 1):
        if not line.strip():
            continue
        token, id = _parse(line, f"{place}line {number}")
        if id in vocab:
            raise ValueError(f"{place}line {number}: id {id} is taken by {shown(vocab[id])}: {shown(line)}")
        vocab[id] = token
    return vocab


def _parse(line: str, place: str) -> tuple[bytes, int]:
    fields = line.split()
    if len(fields) != 2:
        raise ValueError(f"{place}: expected a token in base64 and its id, got {shown(line)}")
    padding = not fields[0].strip("=")
    try:
        token = b"" if padding else base64.b64decode(fields[0], validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"{place}: {shown(fields[0])} is not base64 ({error})") from None
    if not (fields[1].isascii() and fields[1].isdigit()) or len(fields[1]) > 10 or int(fields[1]) >= 2**32:
        raise ValueError(f"{place}: the id {shown(fields[1])} is not a whole number below 2^32")
    return token, int(fields[1])


def write(path: str | os.PathLike[str], vocab: Mapping[int, bytes], check: whole_files.Check | None = None) -> None:
    """Write ordinary tokens, by ascending id."""
    whole_files.write(path, (line_of(vocab[id], id) for id in sorted(vocab)), check)


def line_of(token: bytes, id: int) -> bytes:
    """Return the line of a token."""
    return (base64.b64encode(token) or b"=") + b" %d\n" % id
