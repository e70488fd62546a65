"""From a path, a folder or an object to the JSON of a `tokenizer.json`; files from strangers take bounded memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..files import reading, text_files

MAX_BYTES = 100 << 20
"""Most bytes of a `tokenizer.json`. The largest published ones have 35 MB."""
MAX_CONTAINERS = 4_000_000
"""Most lists and objects in a file. Each merge may be a list."""


def load(source: Any) -> tuple[dict[str, Any], str]:
    """Return the content of a `tokenizer.json` and its name.

    `source` is its path, or the path of a folder with one; a `tokenizers.Tokenizer`; or a `transformers` fast
    tokenizer.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is no `tokenizer.json`, or too large.
        TypeError: `source` is something else.
    """
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        if path.is_dir():
            path /= "tokenizer.json"
        return _parsed(_read(path), os.fspath(path)), os.fspath(path)
    kind = type(source).__name__
    inner = getattr(source, "backend_tokenizer", source)
    if not callable(getattr(inner, "to_str", None)):
        raise TypeError(
            "expected the path of a tokenizer.json, a tokenizers.Tokenizer or a fast tokenizer of transformers, "
            f"not {kind}"
        )
    if getattr(inner, "encode_special_tokens", False):
        raise ValueError(f"{kind}: encode_special_tokens is set: unset it, and give special=False when encoding")
    return _parsed(inner.to_str().encode(), kind), kind


def _read(path: Path) -> bytes:
    return reading.read(path, MAX_BYTES)


def _parsed(data: bytes, name: str) -> dict[str, Any]:
    if data.count(b"[") + data.count(b"{") > MAX_CONTAINERS:
        raise ValueError(f"{name}: more than {MAX_CONTAINERS} lists and objects: no tokenizer.json has that many")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{name}: not UTF-8 at byte {error.start}") from None
    return text_files.parse_object(text, name, "tokenizer.json")
