"""A tokenizer for SGLang that encodes prompts from what earlier ones began with.

    engine = sglang.Engine(model_path=name, skip_tokenizer_init=True)
    engine.generate(input_ids=get_tokenizer(name).encode(prompt), sampling_params={"max_new_tokens": 100})

It is the tokenizer of `transformers`, but for plain encoding.
"""

from __future__ import annotations

from typing import Any

from transformers import AutoTokenizer

from toksmith import PrefixCache, Tokenizer


def get_tokenizer(name: str, *inputs: Any, max_bytes: int = 1 << 30, **options: Any) -> PrefixTokenizer:
    """Load the tokenizer of a model."""
    options.pop("tokenizer_mode", None)
    options.pop("tokenizer_revision", None)
    return PrefixTokenizer(AutoTokenizer.from_pretrained(name, *inputs, **options), max_bytes)


class PrefixTokenizer:
    """What SGLang calls on a tokenizer, around a fast tokenizer of `transformers`."""

    def __init__(self, original: Any, max_bytes: int) -> None:
        self.original = original
        self.cache = PrefixCache(Tokenizer.from_huggingface(original), max_bytes)
        alone, whole = (original.encode("a", add_special_tokens=flag) for flag in (False, True))
        start = next(at for at in range(len(whole)) if whole[at : at + len(alone)] == alone)
        self.front, self.back = whole[:start], whole[start + len(alone) :]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["original"], name)

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        """Return the ids of a text."""
        ids = self.cache.encode(text)
        return [*self.front, *ids, *self.back] if add_special_tokens else ids

    def __call__(self, texts: Any, add_special_tokens: bool = True, **options: Any) -> Any:
        """Return the ids of texts as `transformers` does."""
        batch = [texts] if isinstance(texts, str) else texts
        if any(options.values()) or not all(isinstance(text, str) for text in batch):
            return self.original(texts, add_special_tokens=add_special_tokens, **options)
        ids = [self.encode(text, add_special_tokens) for text in batch]
        return {"input_ids": ids[0] if isinstance(texts, str) else ids}

    def apply_chat_template(self, messages: Any, tokenize: bool = True, **options: Any) -> Any:
        """Return the text of a conversation, or its ids."""
        text = self.original.apply_chat_template(messages, tokenize=False, **options)
        return self.encode(text, add_special_tokens=False) if tokenize else text
