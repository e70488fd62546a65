"""The regular expressions of a `tokenizer.json`: which engine runs each."""

from __future__ import annotations

from typing import Any

from .. import patterns
from ..oniguruma import NAMED
from ..regex_dialects import from_oniguruma, size_limit

SPELLINGS: dict[str, str] = {
    # The pattern that ByteLevel has built in; Granite and SmolLM have it in a Split.
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
    # Llama 3, Phi-4, OLMo 2.
    patterns.CL100K_OLD: "cl100k_old",
    # Qwen 2, 2.5 and 3.
    patterns.QWEN2: "qwen2",
    # gpt-oss, GPT-4o.
    patterns.O200K: "o200k",
    # Qwen 3.5.
    patterns.QWEN35: "qwen3.5",
    # Mistral's models with the Tekken tokenizer: Nemo and later.
    patterns.TEKKEN: "tekken",
    # The spellings that `save_huggingface` writes for tiktoken's own patterns, and nanochat's.
    NAMED["cl100k"]: "cl100k",
    NAMED["nanochat"]: "nanochat",
}
"""Spellings in files, with the scanner that is proven equal to Oniguruma's reading of each
(tests/python/huggingface/test_huggingface.py). tiktoken's newer spellings are not here: `{1,3}+` is a repeated
repetition in this dialect."""


class Compiler:
    """Compiles the regular expressions of one file, which together may be as large as one pattern may be."""

    __slots__ = ("_total",)

    def __init__(self) -> None:
        self._total = 0

    def __call__(self, pattern: str) -> tuple[str, bool, Any]:
        """Return a pattern in the dialect of `regex`, whether it may match nothing, and what runs it.

        That is the name of a scanner, an automaton of the core, or a compiled pattern of `regex`.

        Raises:
            ValueError: The pattern is malformed, too large, or has a part without an exact equal; names it.
        """
        if name := SPELLINGS.get(pattern):
            return patterns.NAMED[name], False, name
        translation = from_oniguruma.analyse(pattern)
        source = translation.pattern
        self._add(size_limit.parts(source))
        # Only `regex` finds empty matches.
        compiled = patterns.of_source(source, 0, "keep").compiled()
        return source, translation.nullable, compiled if translation.nullable else patterns.runner(source, 0)

    def _add(self, parts: int) -> None:
        # A pattern that is too large by itself is refused with the limit for one.
        self._total += parts if parts <= size_limit.MAX_PARTS else 0
        if self._total > size_limit.MAX_PARTS:
            raise ValueError(f"all patterns together come to {self._total} parts, more than {size_limit.MAX_PARTS}")


def steps_of(**parts: Any) -> Any:
    """Return the core's steps of a normalizer, a pre-tokenizer or a decoder, given as JSON has them.

    Raises:
        ValueError: A part is malformed, or cannot be reproduced exactly; names the place.
    """
    import json

    from .. import _core

    return _core.Pipeline({name: json.dumps(part) for name, part in parts.items()}, Compiler())
