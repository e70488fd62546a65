"""The regular expressions of a `tokenizer.json`: which engine runs each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from ... import _core, patterns
from ...regex_dialects import from_oniguruma
from .oniguruma import NAMED

SPELLINGS: dict[str, str] = {
    # The pattern that ByteLevel has built in; Granite and SmolLM have it in a Split.
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
    patterns.CL100K_OLD: "cl100k_old",  # Llama 3, Phi-4, OLMo 2
    patterns.QWEN2: "qwen2",  # Qwen 2, 2.5 and 3
    patterns.O200K: "o200k",  # gpt-oss, GPT-4o
    patterns.QWEN35: "qwen3.5",  # Qwen 3.5
    patterns.TEKKEN: "tekken",  # Mistral's models with the Tekken tokenizer: Nemo and later
    # The spellings that `save_huggingface` writes for tiktoken's own patterns, and nanochat's.
    NAMED["cl100k"]: "cl100k",
    NAMED["nanochat"]: "nanochat",
}
"""Spellings in files, with the scanner that is proven equal to Oniguruma's reading of each
(tests/python/huggingface/test_huggingface.py). tiktoken's newer spellings are not here: `{1,3}+` is a repeated
repetition in this dialect."""


def compiled(pattern: str) -> tuple[str, bool, str | _core.CompiledPattern | patterns.Regex]:
    """Return a pattern in the dialect of `regex`, whether it may match nothing, and what runs it.

    That is the name of a scanner, an automaton of the core, or a compiled pattern of `regex`.
    """
    if name := SPELLINGS.get(pattern):
        return patterns.NAMED[name], False, name
    source, is_nullable = from_oniguruma.translate(pattern)
    # Only `regex` finds empty matches.
    searched = patterns.of_source(source, 0, "keep").compiled()
    return source, is_nullable, searched if is_nullable else patterns.runner(source, 0)


_Row = tuple[int, str, bool, bool, bool, bool, bool]


def steps_of(tokens: Sequence[_Row] = (), kept: Iterable[int] = (), **parts: object) -> _core.Pipeline:
    """Return the core's steps of `normalizer`, `pre_tokenizer` and `decoder`, as JSON has them.

    `kept` are the ids of the added tokens that ordinary text can be encoded to as well.
    """
    from_oniguruma.check_total(parts.values())
    texts = {name: json.dumps(part) for name, part in parts.items() if part is not None}
    return _core.Pipeline(texts, compiled, tokens, set(kept))
