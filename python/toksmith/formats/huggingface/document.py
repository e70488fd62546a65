"""From a path, a folder or an object to the bytes of a `tokenizer.json`; files from strangers take bounded memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ...files import reading

MAX_BYTES = 100 << 20
"""Most bytes of a `tokenizer.json`. The largest published ones have 35 MB."""


def load(source: Any) -> tuple[bytes, str]:
    """Return the content of a `tokenizer.json` and its name.

    `source` is its path, or the path of a folder with one; a `tokenizers.Tokenizer`; or a `transformers` fast
    tokenizer.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is too large.
        TypeError: `source` is something else.
    """
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        if path.is_dir():
            path /= "tokenizer.json"
        return reading.read(path, MAX_BYTES), os.fspath(path)
    kind = type(source).__name__
    inner = getattr(source, "backend_tokenizer", source)
    if not callable(getattr(inner, "to_str", None)):
        raise TypeError(
            "expected the path of a tokenizer.json, a tokenizers.Tokenizer or a fast tokenizer of transformers, "
            f"not {kind}"
        )
    if getattr(inner, "encode_special_tokens", False):
        raise ValueError(f"{kind}: encode_special_tokens is set: unset it, and give special=False when encoding")
    return inner.to_str().encode(), kind
