"""Special tokens of published rank files. The files do not hold them, so they are easily left out."""

from __future__ import annotations

import os
import warnings

from ..._internal.messages import shown
from . import encodings, rank_cache

_LLAMA3 = "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55"
"""The SHA-256 of Llama 3's tokenizer.model."""
_BY_RANKS = {128_000: ("cl100k_old", "Llama 3", 256), 151_643: ("qwen2", "Qwen", 3)}
"""From a number of ranks to the pattern, the model, and the fewest special tokens of its versions.

Their ids follow the ranks. Other files of the same tokens have another SHA-256, and versions have other names for
the special tokens of the same ranks.
"""
_MAX_NAMED = 3


def warn_of_missing(path: str | os.PathLike[str], data: bytes, pattern: str | None, *, stacklevel: int) -> None:
    """Warn if a rank file that is loaded without special tokens is a published one that has some."""
    missing = _missing(data, pattern)
    if missing:
        warnings.warn(
            f"{os.fspath(path)} is the rank file of {missing}. Missing ones are read as ordinary text: give them in "
            "special_tokens",
            stacklevel=stacklevel + 1,
        )


def _missing(data: bytes, pattern: str | None) -> str | None:
    """Return the model or encoding of a rank file and its special tokens; None if it is no published one."""
    digest = rank_cache.digest(data)
    known = [name for name in encodings.ENCODINGS if encodings.FILES[encodings.ENCODINGS[name].file].sha256 == digest]
    if known:
        name = min(known, key=lambda name: len(encodings.ENCODINGS[name].special_tokens))
        specials = list(encodings.ENCODINGS[name].special_tokens)
        more = f" and {len(specials) - _MAX_NAMED} more" if len(specials) > _MAX_NAMED else ""
        return f"{name}, and lacks its special tokens {', '.join(map(shown, specials[:_MAX_NAMED]))}{more}"
    ranks = 128_000 if digest == _LLAMA3 else data.count(b"\n") + (not data.endswith(b"\n"))
    of_pattern, model, count = _BY_RANKS.get(ranks, (None, "", 0))
    if not count or (pattern != of_pattern and digest != _LLAMA3):
        return None
    return f"{model}, which has at least {count} special tokens, from id {ranks} on"
