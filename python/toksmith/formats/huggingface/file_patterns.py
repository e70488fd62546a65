"""The regular expressions of a `tokenizer.json`: which engine runs each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from ... import _core, patterns

NAMED: dict[str, str] = {
    "gpt2": patterns.GPT2,
    # tiktoken's own pattern without its possessive quantifiers. They change nothing, since no part of an alternative
    # matches the character that ends a run of it.
    "cl100k": (
        r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"""
        r"""|\s+\z|\s*[\r\n]+|\s+(?!\S)|\s+"""
    ),
    "cl100k_old": patterns.CL100K_OLD,
    "nanochat": patterns.CL100K_OLD.replace("{1,3}", "{1,2}"),
    "o200k": patterns.O200K,
    "qwen2": patterns.QWEN2,
    "qwen3.5": patterns.QWEN35,
    "tekken": patterns.TEKKEN,
}
"""Spellings of the named patterns for Oniguruma: the published ones, if Oniguruma reads them as the same pattern."""

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


_SCANNERS = {spelling: (name, patterns.NAMED[name]) for spelling, name in SPELLINGS.items()}


def spelling(pattern: patterns.Pattern) -> str:
    r"""Return the spelling of a pattern for Oniguruma; an error names a construct without a proven equal there.

    >>> print(spelling(patterns.resolve(r"\p{N}{1,3}+|\s+$")))
    (?>\p{N}{1,3})|\s+\Z
    """
    return _core.to_oniguruma(pattern.text or "", pattern.flags) if pattern.name is None else NAMED[pattern.name]


def _engine(pattern: str, is_nullable: bool) -> _core.CompiledPattern | patterns.Regex:
    """Return what runs a pattern of `regex`. Only that package finds empty matches."""
    searched = patterns.of_source(pattern, 0, "keep").compiled()
    return searched if is_nullable else patterns.runner(pattern, 0)


_Row = tuple[int, str, bool, bool, bool, bool, bool]


def steps_of(tokens: Sequence[_Row] = (), kept: Iterable[int] = (), **parts: object) -> _core.Pipeline:
    """Return the core's steps of `normalizer`, `pre_tokenizer` and `decoder`, as JSON has them.

    `kept` are the ids of the added tokens that ordinary text can be encoded to as well.
    """
    texts = {name: json.dumps(part) for name, part in parts.items() if part is not None}
    return _core.Pipeline(texts, _SCANNERS, _engine, tokens, set(kept))
