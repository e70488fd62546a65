"""The adapters in `examples/` for servers, beside the tokenizer of `transformers` that they are around."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from examples import example

import toksmith

transformers = pytest.importorskip("transformers", reason="needs transformers")

TEMPLATE = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
VLLM = [
    *("num_special_tokens_to_add", "all_special_tokens", "all_special_ids", "bos_token_id", "eos_token_id"),
    *("pad_token_id", "is_fast", "vocab_size", "max_token_id", "max_chars_per_token", "truncation_side", "get_vocab"),
    *("get_added_vocab", "encode", "get_chat_template", "apply_chat_template", "convert_tokens_to_ids"),
    *("convert_tokens_to_string", "decode", "convert_ids_to_tokens", "from_pretrained"),
]
"""What `vllm.tokenizers.TokenizerLike` asks for, besides calling, hashing and `len`."""
SGLANG = [
    *("bos_token_id", "eos_token_id", "vocab_size", "chat_template", "encode", "decode", "batch_decode"),
    *("apply_chat_template", "num_special_tokens_to_add", "additional_stop_token_ids"),
]
"""What SGLang's own tokenizers have. It sets the last one itself."""
MESSAGES = [{"role": "user", "content": "low, lower"}, {"role": "assistant", "content": "lowest é中"}]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer that puts tokens before and after a text."""
    path = tmp_path_factory.mktemp("server") / "hf"
    names = ["<s>", "</s>", "<|user|>", "<|assistant|>", "<|end|>"]
    trained = toksmith.train(iter(["low lower lowest newer 中中 é"] * 3), 275, special_tokens=names)
    trained.save_huggingface(path, bos_token="<s>", eos_token="</s>", pad_token="</s>", chat_template=TEMPLATE)
    file = path / "tokenizer.json"
    ids = trained.special_tokens
    front, back = ({"SpecialToken": {"id": name, "type_id": 0}} for name in ("<s>", "</s>"))
    processor = {
        "type": "TemplateProcessing",
        "single": [front, {"Sequence": {"id": "A", "type_id": 0}}, back],
        "pair": [front, {"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}, back],
        "special_tokens": {name: {"id": name, "ids": [ids[name]], "tokens": [name]} for name in ("<s>", "</s>")},
    }
    file.write_text(json.dumps(json.loads(file.read_text()) | {"post_processor": processor}))
    return path


def texts() -> list[str]:
    rng = random.Random(1)
    start = "".join(rng.choices(["low", " lower", "\n", "<|end|>", " 中", "é "], k=900))
    return ["", "a", *(start + "".join(rng.choices(["low", " est", "<s>", " x"], k=50)) for _ in range(20))]


def test_vllm(folder: Path) -> None:
    original = transformers.AutoTokenizer.from_pretrained(folder)
    module = example("vllm_tokenizer")
    ours = module.PrefixTokenizer.from_pretrained(folder, revision=None, trust_remote_code=False, download_dir=None)
    assert not [name for name in VLLM if not hasattr(ours, name)]
    assert (len(ours), hash(ours)) == (len(original), hash(ours))
    assert ours.max_token_id == max(original.get_vocab().values())
    for text in texts():
        for flag in (True, False):
            assert ours.encode(text, add_special_tokens=flag) == original.encode(text, add_special_tokens=flag)
            assert dict(ours(text, add_special_tokens=flag)) == {
                name: value
                for name, value in original(text, add_special_tokens=flag).items()
                if name != "token_type_ids"
            }
        assert ours.encode(text, truncation=True, max_length=5) == original.encode(
            text, truncation=True, max_length=5
        )
        assert ours.decode(ours.encode(text)) == original.decode(original.encode(text))
    assert dict(ours(texts())) == dict(original(texts()))
    assert ours.cache.size_bytes > 0
    same_chat(ours, original)


def test_sglang(folder: Path) -> None:
    original = transformers.AutoTokenizer.from_pretrained(folder)
    ours = example("sglang_tokenizer").get_tokenizer(str(folder), tokenizer_mode="auto")
    ours.additional_stop_token_ids = None
    assert not [name for name in SGLANG if not hasattr(ours, name)]
    for flag in (True, False):
        expected = original(texts(), add_special_tokens=flag)["input_ids"]
        assert ours(texts(), add_special_tokens=flag)["input_ids"] == expected
        assert [ours.encode(text, add_special_tokens=flag) for text in texts()] == expected
        assert ours(texts()[3], add_special_tokens=flag)["input_ids"] == expected[3]
    pairs = [("low", "er"), ("a", "b")]
    assert ours(pairs)["input_ids"] == original(pairs)["input_ids"]
    assert ours(["low"], truncation=True, max_length=2)["input_ids"] == [
        original.encode("low")[:1] + original.encode("low")[-1:]
    ]
    assert ours.batch_decode([[5, 6], [7]]) == original.batch_decode([[5, 6], [7]])
    same_chat(ours, original)


def same_chat(ours: Any, original: Any) -> None:
    rendered = original.apply_chat_template(MESSAGES, tokenize=False)
    assert ours.apply_chat_template(MESSAGES, tokenize=False) == rendered
    expected = original.apply_chat_template(MESSAGES, tokenize=True, return_dict=False)
    assert ours.apply_chat_template(MESSAGES) == expected
