"""What the tests of Hugging Face's formats share: written folders, and views of encodings that can be compared."""

import functools
import random
from pathlib import Path
from typing import Any

import pytest
from conftest import SPACES, TEXT, WORDS

from toksmith import IdOrder, Tokenizer, train
from toksmith.formats import verification

EOT, PAD = "<|endoftext|>", "<|pad|>"
ATTRIBUTES = (
    *("ids", "tokens", "offsets", "type_ids", "attention_mask", "special_tokens_mask"),
    *("word_ids", "sequence_ids", "n_sequences"),
)
# Younger than the Unicode of `tokenizers`, or than this Python's.
UNKNOWN_THERE = str.maketrans(dict.fromkeys("🫨\U0010ffff"))


def tokenizers_module() -> Any:
    return pytest.importorskip("tokenizers", reason="needs the package tokenizers")


def transformers_module() -> Any:
    return pytest.importorskip("transformers", reason="needs the package transformers")


def loaded(tokenizer: Tokenizer, folder: Path, **options: Any) -> Any:
    """The tokenizer of `tokenizers` that a written folder holds."""
    tokenizer.save_huggingface(folder, **options)
    return tokenizers_module().Tokenizer.from_file(str(folder / "tokenizer.json"))


@functools.lru_cache(maxsize=4)
def trained(special_ids: Any = "first", byte_order: Any = "value") -> Tokenizer:
    specials = [EOT, PAD, "<|user|>"]
    return train(iter([TEXT * 3]), 450, special_tokens=specials, ids=IdOrder(special_ids, byte_order))


def random_text(rng: random.Random, specials: tuple[str, ...] = (EOT,)) -> str:
    pieces = [*SPACES, *[" "] * 10, *specials]
    parts = (rng.choice(WORDS if rng.random() < 0.6 else pieces) for _ in range(rng.randrange(12)))
    return "".join(parts).translate(UNKNOWN_THERE)


def view(encoding: Any) -> dict[str, Any]:
    """All that an encoding has, and its overflowing ones."""
    found = {name: getattr(encoding, name) for name in ATTRIBUTES}
    return found | {"overflowing": [view(other) for other in encoding.overflowing], "repr": repr(encoding)}


def assert_agree(tokenizer: Tokenizer, other: Any, texts: list[str]) -> None:
    """Compare ids, offsets and decoded text."""
    assert other.get_vocab_size() == tokenizer.vocab_size
    for text in texts:
        theirs = other.encode(text)
        ids, spans = tokenizer.encode_with_offsets(text)
        assert theirs.ids == ids, text
        assert theirs.offsets == [tuple(span) for span in spans.tolist()], text
        assert other.decode(ids, skip_special_tokens=False) == tokenizer.decode(ids), text


def known_to(module: Any, text: str) -> str:
    """A text without the characters that the two Unicode tables class differently."""
    kept = verification._of_one_class(module, set(text))
    return text.translate(str.maketrans(dict.fromkeys(set(text) - kept)))
