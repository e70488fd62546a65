"""Mistral's `tekken.json`: pattern, ranks and special tokens; the ids of special tokens come first."""

from __future__ import annotations

import base64
import functools
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from .. import patterns
from .._core import TekkenFile
from .._internal.messages import shown
from ..files import reading, text_files, whole_files
from . import ranks, verification
from .parts import Parts

_KIND = "tekken.json"
_VERSION = "v3"
"""The oldest version of the file: the others say which control tokens a chat has, which a tokenizer does not know."""


def load(path: str | os.PathLike[str]) -> Parts:
    """Load a `tekken.json`. Its special tokens are those that the file lists, and `<SPECIAL_n>` for the others."""
    data = reading.read(path)
    with text_files.naming(path):
        file = TekkenFile(data)
        pattern = patterns.of_tiktoken_source(file.pattern)
        return Parts(file.tokenizer(pattern.core()), pattern)


def save(parts: Parts, path: str | os.PathLike[str], verify: bool = True) -> None:
    """Write a `tekken.json`. See `Tokenizer.save`."""
    if parts.pipeline is not None:
        parts.pipeline.check_fits(_KIND)
    ranks.check_ranks(parts, _KIND)
    _check_layout(parts)
    whole_files.write(path, _lines(parts), functools.partial(_verify, parts) if verify else None)


def _check_layout(parts: Parts) -> None:
    """Check that special tokens come first, then the bytes in order; and that the pattern is one for tiktoken."""
    specials, ordinary = sorted(parts.special_tokens.values()), parts.ordinary
    first = len(specials)
    if specials != list(range(first)) or sorted(ordinary) != list(range(first, first + len(ordinary))):
        raise ValueError(f"{_KIND} gives special tokens the ids from 0 on and all others those behind, without gaps")
    if any(ordinary[first + byte] != bytes([byte]) for byte in range(256)):
        raise ValueError(f"{_KIND} has the 256 bytes, in order, behind its special tokens")
    text = parts.pattern.text
    if text is None or parts.pattern.flags or patterns.of_tiktoken_source(text).text != text:
        raise ValueError(
            f"{_KIND} has a pattern in the dialect of tiktoken's engine, and {shown(text)} is not known to mean the "
            "same there"
        )


def _lines(parts: Parts) -> Iterator[bytes]:
    """Yield the file, a token a line."""
    names = {id: name for name, id in parts.special_tokens.items()}
    config = {
        "pattern": parts.pattern.text,
        "num_vocab_tokens": len(parts.ordinary),
        "default_vocab_size": len(parts.vocab),
        "default_num_special_tokens": len(names),
        "version": _VERSION,
    }
    yield b'{"config": %s,\n"special_tokens": [' % json.dumps(config).encode()
    for id in sorted(names):
        row = {"rank": id, "token_str": names[id], "is_control": True}
        yield b"%s\n%s" % (b"," if id else b"", json.dumps(row).encode())
    yield b'],\n"vocab": ['
    for rank, (_, token) in enumerate(sorted(parts.ordinary.items())):
        encoded = base64.b64encode(token).decode()
        row = {"rank": rank, "token_bytes": encoded, "token_str": verification.text_of(token)}
        yield b"%s\n%s" % (b"," if rank else b"", json.dumps(row).encode())
    yield b"]}\n"


def _verify(parts: Parts, paths: list[Path]) -> None:
    """Verify a file: by `mistral_common` where that is installed, and by toksmith."""
    loaded = verification.reread(_KIND, lambda: load(paths[0]))
    verification.compare_texts(_KIND, parts, loaded.core)
    module = verification.module("mistral_common.tokens.tokenizers.tekken")
    if module is not None:
        other = verification.reread(_KIND, lambda: module.Tekkenizer.from_file(paths[0]))
        ours, theirs = _without_specials(parts), functools.partial(other.encode, bos=False, eos=False)
        verification.compare(_KIND, verification.stress_texts(parts), ours, theirs)


def _without_specials(parts: Parts) -> Callable[[str], list[int]]:
    return lambda text: parts.core.encode(text, False)
