"""tiktoken's rank file: one token a line, base64 of its bytes, a space, its id.

Such a file holds only ordinary tokens: no pattern, no special tokens, no merges (they follow from the ids).

The empty token is written as only padding, `=`: Whisper's multilingual file has one, which no text is encoded to. A
byte order mark before the first line is skipped.
"""

from __future__ import annotations

import base64
import functools
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .. import patterns
from .._core import Tokenizer as CoreTokenizer
from .._core import tokens_of_ranks
from .._internal import arguments, choices
from ..files import reading, text_files, whole_files
from . import verification
from .parts import Parts
from .published.encodings import warn_of_missing, warn_of_pattern


def load(
    path: str | os.PathLike[str],
    pattern: object,
    special_tokens: Iterable[str] | Mapping[str, int] | None,
    unmatched: choices.Unmatched | None,
) -> Parts:
    """Load a rank file; warns of a published one if `special_tokens` is None. See `Tokenizer.from_tiktoken`."""
    resolved = patterns.of_tiktoken(pattern, unmatched)
    specials = arguments.special_list(special_tokens)
    data = reading.read(path)
    with text_files.naming(path):
        core = CoreTokenizer.from_ranks(data, specials, resolved.core())
    warn_of_pattern(path, data, resolved, stacklevel=3)
    if special_tokens is None:
        warn_of_missing(path, data, resolved.name, stacklevel=3)
    return Parts(core, resolved)


def of_encoding(encoding: Any) -> Parts:
    """Return the tokenizer of a `tiktoken.Encoding`."""
    pattern = patterns.of_tiktoken_source(encoding._pat_str)
    vocab = {rank: token for token, rank in encoding._mergeable_ranks.items()}
    specials = one_name_each(encoding._special_tokens)
    return Parts(CoreTokenizer(vocab, None, specials, pattern.core()), pattern)


def one_name_each(special_tokens: Mapping[str, int]) -> list[tuple[str, int | None]]:
    """Return special tokens with their ids; of several with one id the first, as `o200k_harmony` has."""
    first: dict[int, str] = {}
    for token, id in special_tokens.items():
        first.setdefault(id, token)
    return [(token, id) for id, token in first.items()]


def read(path: str | os.PathLike[str]) -> dict[int, bytes]:
    """Return the vocabulary of a rank file."""
    with text_files.naming(path):
        return tokens_of_ranks(reading.read(path))


def save(parts: Parts, path: str | os.PathLike[str], verify: bool = True) -> None:
    """Write a rank file. See `Tokenizer.save`."""
    if parts.pipeline is not None:
        parts.pipeline.check_fits("a rank file")
    check_ranks(parts, "a rank file")
    ordinary = parts.ordinary
    lines = (line_of(ordinary[id], id) for id in sorted(ordinary))
    whole_files.write(path, lines, functools.partial(_verify, parts) if verify else None)


def line_of(token: bytes, id: int) -> bytes:
    """Return the line of a token."""
    return (base64.b64encode(token) or b"=") + b" %d\n" % id


def check_ranks(parts: Parts, kind: str) -> None:
    """Check that the ids as ranks give the same ids for every text as the merges do; `kind` names the format."""
    with verification.refusing(f"{kind} holds ranks, and this tokenizer has a merges list"):
        parts.core.check_as_ranks()


def _verify(parts: Parts, paths: list[Path]) -> None:
    """Verify a rank file: by `tiktoken` where that is installed."""
    kind, module = "the rank file", verification.module("tiktoken")
    if module is None:
        core = verification.reread(kind, lambda: load(paths[0], None, (), None)).core
        verification.compare_pretokens(kind, parts, lambda piece: core.encode_bytes(piece, True))
        return
    # Its own loader would keep a copy of the file in its cache.
    ranks = {token: rank for rank, token in verification.reread(kind, lambda: read(paths[0])).items()}
    other = verification.reread(
        kind, lambda: module.Encoding("export", pat_str=".", mergeable_ranks=ranks, special_tokens={})
    )
    verification.compare_pretokens(kind, parts, other._core_bpe.encode_single_piece)
