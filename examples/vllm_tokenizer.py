"""A tokenizer for vLLM that encodes prompts from what earlier ones began with.

from vllm.tokenizers.registry import TokenizerRegistry

TokenizerRegistry.register("toksmith", "vllm_tokenizer", "PrefixTokenizer")  # --tokenizer-mode toksmith
"""

from __future__ import annotations

from typing import Any

from transformers import AutoTokenizer, BatchEncoding

from toksmith import PrefixCache, Tokenizer


class PrefixTokenizer:
    """A `TokenizerLike` of vLLM around a fast tokenizer of `transformers`."""

    def __init__(self, original: Any, max_bytes: int = 1 << 30) -> None:
        self.original = original
        self.cache = PrefixCache(Tokenizer.from_huggingface(original), max_bytes)
        alone, whole = (original.encode("a", add_special_tokens=flag) for flag in (False, True))
        start = next(at for at in range(len(whole)) if whole[at : at + len(alone)] == alone)
        self.front, self.back = whole[:start], whole[start + len(alone) :]
        self.max_token_id = max(original.get_vocab().values())
        self.max_chars_per_token = max(map(len, original.get_vocab()))

    @classmethod
    def from_pretrained(
        cls, path_or_repo_id: Any, *inputs: Any, download_dir: str | None = None, **options: Any
    ) -> PrefixTokenizer:
        """Load the tokenizer of a model."""
        return cls(AutoTokenizer.from_pretrained(path_or_repo_id, *inputs, cache_dir=download_dir, **options))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["original"], name)

    def __len__(self) -> int:
        return len(self.original)

    def encode(self, text: str, *inputs: Any, add_special_tokens: bool = True, **options: Any) -> list[int]:
        """Return the ids of a text."""
        if inputs or any(options.values()):
            return self.original.encode(text, *inputs, add_special_tokens=add_special_tokens, **options)
        ids = self.cache.encode(text)
        return [*self.front, *ids, *self.back] if add_special_tokens else ids

    def __call__(self, text: Any, *inputs: Any, add_special_tokens: bool = True, **options: Any) -> BatchEncoding:
        """Return the ids of texts as `transformers` does."""
        if not isinstance(text, str) or inputs or any(options.values()):
            return self.original(text, *inputs, add_special_tokens=add_special_tokens, **options)
        ids = self.encode(text, add_special_tokens=add_special_tokens)
        return BatchEncoding({"input_ids": ids, "attention_mask": [1] * len(ids)})

    def apply_chat_template(self, messages: Any, tools: Any = None, tokenize: bool = True, **options: Any) -> Any:
        """Return the text of a conversation, or its ids."""
        text = self.original.apply_chat_template(messages, tools=tools, tokenize=False, **options)
        return self.encode(text, add_special_tokens=False) if tokenize else text
