"""Published encodings as objects of `Encoding`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...formats.published import encodings
from .encoding import Encoding

if TYPE_CHECKING:
    from typing import Any


def make(name: str) -> Encoding:
    """Return an encoding. Its file is looked for on this machine, else downloaded.

    Raises:
        FileNotFoundError, ValueError: As `rank_cache.obtain`.
    """
    file, pat_str, special_tokens, explicit_n_vocab = encodings.ENCODINGS[name]
    return Encoding._of_ranks(
        encodings.rank_file(file),
        name,
        pat_str=pat_str,
        special_tokens=dict(special_tokens),
        explicit_n_vocab=explicit_n_vocab,
    )


def arguments(name: str) -> dict[str, Any]:
    """Return the arguments of `Encoding` for an encoding, as a constructor of a tiktoken plug-in does."""
    encoding = make(name)
    given: dict[str, Any] = {
        "name": name,
        "pat_str": encoding._pat_str,
        "mergeable_ranks": encoding._mergeable_ranks,
        "special_tokens": encoding._special_tokens,
    }
    count = encodings.ENCODINGS[name].explicit_n_vocab
    return given if count is None else {**given, "explicit_n_vocab": count}
