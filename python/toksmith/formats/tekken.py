"""Mistral's `tekken.json`: pattern, ranks and special tokens; the ids of special tokens come first."""

from __future__ import annotations

import functools
import os
from pathlib import Path

from .. import _core, patterns
from .._internal.messages import shown
from ..files import reading, text_files, whole_files
from . import ranks, verification
from .parts import Parts

_KIND = "tekken.json"


def load(path: str | os.PathLike[str]) -> Parts:
    """Load a `tekken.json`. Its special tokens are those that the file lists, and `<SPECIAL_n>` for the others."""
    data = reading.read(path)
    with text_files.naming(path):
        file = _core.TekkenFile(data)
        pattern = patterns.of_tiktoken_source(file.pattern)
        return Parts(file.tokenizer(pattern.core()), pattern)


def save(parts: Parts, path: str | os.PathLike[str], verify: bool = True) -> None:
    """Write a `tekken.json`. See `Tokenizer.save`."""
    if parts.pipeline is not None:
        parts.pipeline.check_fits(_KIND)
    ranks.check_ranks(parts, _KIND)
    text = parts.pattern.text
    content = _core.tekken_file(parts.core, text or "")
    if text is None or parts.pattern.flags or patterns.of_tiktoken_source(text).text != text:
        raise ValueError(
            f"{_KIND} has a pattern in the dialect of tiktoken's engine, and {shown(text)} is not known to mean the "
            "same there"
        )
    whole_files.write(path, [content], functools.partial(_verify, parts) if verify else None)


def _verify(parts: Parts, paths: list[Path]) -> None:
    """Verify a file: by `mistral_common` where that is installed, and by toksmith."""
    loaded = verification.reread(_KIND, lambda: load(paths[0]))
    verification.compare_texts(_KIND, parts, loaded.core)
    module = verification.module("mistral_common.tokens.tokenizers.tekken")
    if module is not None:
        other = verification.reread(_KIND, lambda: module.Tekkenizer.from_file(paths[0]))
        theirs = functools.partial(other.encode, bos=False, eos=False)
        texts = verification.stress_texts(parts)
        verification.compare(_KIND, texts, lambda text: parts.core.encode(text, False), theirs)
