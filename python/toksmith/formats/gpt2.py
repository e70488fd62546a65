"""GPT-2's two files: `vocab.json` (token → id) and `merges.txt` (one merge a line).

Tokens are written with a character for each byte: printable bytes as themselves, the others as the
characters from U+0100 on, so that no token holds a space (GPT-2's release, src/encoder.py).
"""

from __future__ import annotations

import functools
import itertools
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from .._internal.messages import shown
from ..files import text_files, whole_files

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

PRINTABLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
"""The bytes that are written as themselves."""

BYTE_ORDER = (*PRINTABLE, *(byte for byte in range(256) if byte not in PRINTABLE))
"""The 256 byte values in GPT-2's order: that of the ids in its vocabulary."""


@functools.lru_cache(maxsize=1)
def _characters() -> dict[int, str]:
    others = BYTE_ORDER[len(PRINTABLE) :]
    return {byte: chr(byte) for byte in PRINTABLE} | {byte: chr(256 + i) for i, byte in enumerate(others)}


@functools.lru_cache(maxsize=1)
def _translation() -> dict[int, int]:
    """Return the table of `str.translate` from spellings to characters with the numbers of the bytes.

    A character below U+0100 that spells no byte becomes one that Latin-1 does not have.
    """
    bytes_of = {ord(character): byte for byte, character in _characters().items()}
    return {number: bytes_of.get(number, 0x100) for number in range(0x100)} | bytes_of


def spell(token: bytes) -> str:
    """Return the spelling of a token's bytes.

    >>> spell(b" the")
    'Ġthe'
    """
    characters = _characters()
    return "".join([characters[byte] for byte in token])


def tokens_of_merges(text: str) -> list[bytes]:
    """Return the tokens of a merges file in the order of GPT-2's ids: its 256 bytes, then the token of each line.

    Raises:
        ValueError: A line is not two spelled tokens; names it.
    """
    tokens = [bytes([byte]) for byte in BYTE_ORDER]
    for number, line in enumerate(text.split("\n")[1:-1], 2):
        parts = [unspell(part) for part in line.split()]
        if len(parts) != 2 or None in parts:
            raise ValueError(f"line {number} is not a merge of two tokens: {shown(line)}")
        tokens.append(b"".join(part for part in parts if part))
    return tokens


def unspell(text: str) -> bytes | None:
    """Return the bytes of a spelling; None if it holds a character that stands for no byte.

    >>> unspell("Ġthe"), unspell("a b")
    (b' the', None)
    """
    try:
        return text.translate(_translation()).encode("latin-1")
    except UnicodeEncodeError:
        return None


def read_vocab(
    path: str | os.PathLike[str], special_tokens: Iterable[str] = (), merged: Container[bytes] = ()
) -> dict[int, bytes]:
    """Return the vocabulary of a `vocab.json`.

    Some writers leave special tokens unspelled: a key that is one of `special_tokens` is taken literally if its
    spelling is no key as well, and if it does not spell one of `merged`, the tokens of merges.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is no JSON object of token → id, a key is no spelling, or two tokens share an id.
    """
    name = os.fspath(path)
    content = text_files.read_object(path, "vocabulary")
    specials = {special for special in special_tokens if len(special) > 1 and special in content}
    unspelled = {
        special for special in specials if spell(special.encode()) not in content and unspell(special) not in merged
    }
    vocab: dict[int, bytes] = {}
    for key, id in content.items():
        if type(id) is not int or not 0 <= id < 2**32:
            raise ValueError(f"{name}: the id of token {shown(key)} is {shown(id)}, not a whole number below 2^32")
        token = key.encode() if key in unspelled else unspell(key)
        if token is None:
            raise ValueError(
                f"{name}: token {shown(key)} holds a character that stands for no byte in GPT-2's table; "
                "if it is a special token, list it in special_tokens"
            )
        if id in vocab:
            raise ValueError(f"{name}: id {id} is given to both {shown(vocab[id])} and {shown(token)}")
        vocab[id] = token
    return vocab


def read_merges(path: str | os.PathLike[str]) -> dict[tuple[bytes, bytes], int]:
    """Return the merges of a `merges.txt` in order, each with its line.

    A first line that begins `#version` is no merge; `# #` is one.

    Raises:
        OSError: The file cannot be read.
        ValueError: A line is not two spellings with one space between, or occurs twice; names file and line.
    """
    name = os.fspath(path)
    merges: dict[tuple[bytes, bytes], int] = {}
    for number, line in enumerate(text_files.lines(text_files.read_text(path)), 1):
        if line == "" or (number == 1 and line.startswith("#version")):
            continue
        parts = [unspell(part) if part else None for part in line.split(" ")]
        if len(parts) != 2 or parts[0] is None or parts[1] is None:
            raise ValueError(f"{name}, line {number}: expected two tokens with one space between, got {shown(line)}")
        first = merges.setdefault((parts[0], parts[1]), number)
        if first != number:
            raise ValueError(f"{name}, line {number}: the merge {shown(line)} is there already, in line {first}")
    return merges


def write(
    folder: str | os.PathLike[str],
    vocab: Mapping[int, bytes],
    merges: Sequence[tuple[bytes, bytes]],
    check: whole_files.Check | None = None,
) -> None:
    """Write `vocab.json`, by ascending id, every token spelled, and `merges.txt` with GPT-2's first line.

    The folder is made if need be.
    """
    content = {spell(vocab[id]): id for id in sorted(vocab)}
    spelled = (f"{spell(left)} {spell(right)}\n".encode() for left, right in merges)
    whole_files.write_all(
        [
            (Path(folder, "vocab.json"), [json.dumps(content, ensure_ascii=False).encode()]),
            (Path(folder, "merges.txt"), itertools.chain([b"#version: 0.2\n"], spelled)),
        ],
        check,
        make_folder=True,
    )
