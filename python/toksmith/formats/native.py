r"""toksmith's own file: one JSON object with all parts of a tokenizer, one token a line.

Tokens are written as text where they are UTF-8; a byte that is not UTF-8 is `\xNN`, a backslash is `\\`.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

from .. import _core
from .._internal.messages import shown
from ..files import text_files, whole_files

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION = 4
"""The version of the form of the file. A reader refuses a later version."""

_OPTIONAL: dict[str, tuple[int, type]] = {
    "ignore_merges": (2, bool),
    "pipeline": (2, dict),
    "huggingface": (2, dict),
    "characters": (3, dict),
    "model": (4, str),
}
"""Fields that came after version 1: the version that has them first, and their type. A file is written as the lowest
version that has its fields."""

_FIELDS = {
    "pattern": (str, type(None)),
    "pattern_flags": (int,),
    "unmatched": (str,),
    "unicode": (str, type(None)),
    "special_tokens": (dict,),
    "tokens": (list,),
    "merges": (list, type(None)),
}


def escape(token: bytes) -> str:
    r"""Return the text that stands for a token.

    >>> escape(b" the"), escape(b"\xe6\x97"), escape(b"\\")
    (' the', '\\xe6\\x97', '\\\\')
    """
    return token.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")


_ESCAPE = re.compile(r"\\(\\|x[0-9a-f]{2})|\\")


def unescape(text: str) -> bytes:
    r"""Return the token that a text stands for.

    >>> unescape("\\xe6\\x97\\\\")
    b'\xe6\x97\\'

    Raises:
        ValueError: A backslash is followed by neither `\` nor `xNN`.
    """
    if "\\" not in text:
        return text.encode()
    token = bytearray()
    at = 0
    for found in _ESCAPE.finditer(text):
        token += text[at : found.start()].encode()
        escaped = found[1]
        if escaped is None:
            raise ValueError(f"a backslash in {shown(text)} is followed by neither a backslash nor xNN")
        token += b"\\" if escaped == "\\" else bytes.fromhex(escaped[1:])
        at = found.end()
    return bytes(token + text[at:].encode())


def write(
    path: str | os.PathLike[str],
    head: dict[str, Any],
    rows: tuple[bytes, bytes | None],
    training: dict[str, Any] | None = None,
    check: whole_files.Check | None = None,
) -> None:
    """Write a tokenizer.

    Args:
        path: The file.
        head: The fields that are neither tokens nor merges.
        rows: What the core's `rows` returns: a row of JSON for each token and each merge, as `escape` spells them.
        training: The training record.
        check: Called with the paths that are written, before they take their names.
    """
    whole_files.write(path, _parts(head, rows, training), check)


def _parts(
    head: dict[str, Any], rows: tuple[bytes, bytes | None], training: dict[str, Any] | None
) -> Iterator[bytes]:
    dump = json.JSONEncoder(ensure_ascii=False).encode
    version = max((since for field, (since, _) in _OPTIONAL.items() if field in head), default=1)
    yield b'{\n "format": "toksmith",\n "version": %d' % version
    for key, value in head.items():
        # A pattern may hold lone surrogates, which are no UTF-8: JSON writes them as backslashreplace does.
        yield f",\n {dump(key)}: {dump(value)}".encode(errors="backslashreplace")
    tokens, merges = rows
    yield b',\n "tokens": [\n  ' + tokens + b"\n ]"
    yield b',\n "merges": ' + (b"null" if merges is None else b"[\n  " + merges + b"\n ]")
    if training is not None:
        yield b',\n "training": ' + dump(training).encode()
    yield b"\n}\n"


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the fields of a file, with `tokens` as id → bytes and `merges` as pairs of bytes or None.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is no toksmith file, or of a later version, or a field or row is malformed.
    """
    name = os.fspath(path)
    content = text_files.read_object(path, "toksmith file")
    if content.get("format") != "toksmith":
        raise ValueError(f'{name}: not a toksmith file: it has no "format": "toksmith"')
    version = content.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise ValueError(
            f"{name}: version {shown(version)} of the format; this toksmith reads versions 1 to {VERSION}"
        )
    for field, (since, kind) in _OPTIONAL.items():
        if field in content and (version < since or type(content[field]) is not kind):
            raise ValueError(
                f"{name}: the field {shown(field)} is {type(content[field]).__name__}, in version {version}"
            )
    for field, kinds in _FIELDS.items():
        if field not in content:
            raise ValueError(f"{name}: the field {shown(field)} is missing")
        if not isinstance(content[field], kinds) or isinstance(content[field], bool):
            raise ValueError(f"{name}: the field {shown(field)} is {type(content[field]).__name__}")
    # Where the core finds a row that is wrong, the slower reader below says which.
    tokens = _core.tokens_of_rows(content["tokens"])
    content["tokens"] = _tokens(content["tokens"], name) if tokens is None else tokens
    if content["merges"] is not None:
        merges = _core.merges_of_rows(content["merges"])
        content["merges"] = _merges(content["merges"], name) if merges is None else merges
    for special, id in content["special_tokens"].items():
        if not _is_id(id):
            raise _no_id(id, f"{name}: special token {shown(special)}")
    return content


def character_ids(content: dict[str, Any]) -> tuple[list[int], int | None, list[int]]:
    """Return the field `characters`: ids of the 256 bytes or none, of the unknown token, of those outside merging.

    Raises:
        ValueError: The field is malformed.
    """
    in_bytes, unknown, outside = (content.get(name) for name in ("bytes", "unknown", "outside"))
    is_whole = isinstance(in_bytes, list) and len(in_bytes) in (0, 256) and isinstance(outside, list)
    if not is_whole or not all(map(_is_id, [*(in_bytes or ()), *(outside or ())])):
        raise ValueError(f"the field 'characters' is {shown(content)}, not what save() writes")
    if unknown is not None and not _is_id(unknown):
        raise _no_id(unknown, "the unknown token")
    return in_bytes or [], unknown, outside or []


def _tokens(rows: list[Any], name: str) -> dict[int, bytes]:
    vocab: dict[int, bytes] = {}
    for i, row in enumerate(rows):
        if not (isinstance(row, list) and len(row) == 2 and isinstance(row[1], str)):
            raise ValueError(f"{name}: token number {i} is {shown(row)}, not [id, text]")
        id = row[0]
        if not _is_id(id):
            raise _no_id(id, f"{name}: token number {i}, {shown(row[1])}")
        if id in vocab:
            raise ValueError(f"{name}: id {id} is given to both {shown(vocab[id])} and {shown(row[1])}")
        vocab[id] = _unescaped(row[1], name, "token", i)
    return vocab


def _merges(rows: list[Any], name: str) -> list[tuple[bytes, bytes]]:
    return [_merge(row, i, name) for i, row in enumerate(rows)]


def _merge(row: Any, i: int, name: str) -> tuple[bytes, bytes]:
    if not (isinstance(row, list) and len(row) == 2 and all(isinstance(part, str) for part in row)):
        raise ValueError(f"{name}: merge number {i} is {shown(row)}, not [left, right]")
    return _unescaped(row[0], name, "merge", i), _unescaped(row[1], name, "merge", i)


def _unescaped(text: str, name: str, kind: str, i: int) -> bytes:
    try:
        return unescape(text)
    except ValueError as error:  # also a lone surrogate, written as \ud800 in the JSON
        raise ValueError(f"{name}: {kind} number {i}: {error}") from None


def _is_id(id: Any) -> bool:
    return type(id) is int and 0 <= id < 2**32


def _no_id(id: Any, place: str) -> ValueError:
    return ValueError(f"{place}: the id is {shown(id)}, not a whole number below 2^32")
