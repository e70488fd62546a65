"""What a Hugging Face folder says besides ids stays with a changed tokenizer, as far as its tokens are there."""

import json
import pickle
import random
from pathlib import Path
from typing import Any

import pytest
import tokenizers

import toksmith
from toksmith import Tokenizer
from toksmith.surgery import extend, prune, replace_tokens, shrink

NAMES = ["<|user|>", "<|end|>", "<|pad|>"]
TEMPLATE = "{% for m in messages %}<|user|>{{ m.content }}<|end|>{% endfor %}"
CHAT = [{"role": "user", "content": "low"}]
DIGITS = {"type": "Digits", "individual_digits": True}
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}


def write(folder: Path, content: Any) -> None:
    folder.write_text(json.dumps(content), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model with a template, roles, a generation configuration and a BOS token."""
    tokenizer = toksmith.train(iter(["low lower newest? 123 1234 45 "] * 9), 276, special_tokens=NAMES)
    folder = tmp_path / "model"
    options = {"eos_token": "<|end|>", "pad_token": "<|pad|>", "model_max_length": 4096, "chat_template": TEMPLATE}
    tokenizer.save_huggingface(folder, **options)
    generation = {"eos_token_id": [1, 0], "pad_token_id": 2, "temperature": 0.6, "max_new_tokens": 7}
    write(folder / "generation_config.json", generation)
    return folder


def staged(folder: Path) -> Tokenizer:
    """The model, splitting digits before words, as SmolLM's does."""
    content = json.loads((folder / "tokenizer.json").read_text())
    content["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [DIGITS, BYTES]}
    start = {"SpecialToken": {"id": "<|user|>", "type_id": 0}}
    text = {"Sequence": {"id": "A", "type_id": 0}}
    content["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [start, text],
        "pair": [start, text, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<|user|>": {"id": "<|user|>", "ids": [0], "tokens": ["<|user|>"]}},
    }
    write(folder / "tokenizer.json", content)
    return Tokenizer.from_pretrained(folder)


def test_a_base_that_splits_in_stages_keeps_its_steps(folder: Path, tmp_path: Path) -> None:
    base = staged(folder)
    texts = ["777 ab 77 abab ab1ab"] * 9
    larger, change = extend(base, iter(texts), 4, special_tokens=["<|new|>"])
    assert toksmith.train(iter(texts), base.vocab_size + 4, base=base, special_tokens=["<|new|>"]) == larger
    assert not any(token[:1].isdigit() and len(token) > 1 for token in map(larger.vocab.get, change.added.tolist()))
    larger.save(tmp_path / "larger.json")
    larger.save_huggingface(tmp_path / "larger")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "larger/tokenizer.json"))
    read = [Tokenizer.load(tmp_path / "larger.json"), Tokenizer.from_pretrained(tmp_path / "larger")]
    rng = random.Random(3)
    for _ in range(300):
        text = "".join(rng.choices(["ab", " ab", "777", "low", " ", "\n", "é", "<|new|>", "<|end|>", "1"], k=8))
        for tokenizer in (*read, pickle.loads(pickle.dumps(larger))):
            assert tokenizer.encode(text) == larger.encode(text) == theirs.encode(text, add_special_tokens=False).ids
        assert theirs.encode(text).ids == [0, *larger.encode(text)]
    assert all(tokenizer == larger for tokenizer in read)
    assert larger.pipeline is not None and larger.pipeline.template is not None
    assert larger.pipeline.template.around() == ([0], [])
    assert extend(base, iter(texts), 0)[0] == base
    with pytest.raises(ValueError, match="steps of a Hugging Face file, which hold its pattern alone"):
        toksmith.train(iter(texts), base.vocab_size + 6, base=base, superwords="words")


def test_roles_template_and_settings_stay(folder: Path, tmp_path: Path) -> None:
    base = Tokenizer.from_pretrained(folder)
    changed = {
        "extend": extend(base, iter(["abab"] * 3), 1)[0],
        "prune": prune(base, drop=[base.max_id])[0],
        "shrink": shrink(base, base.vocab_size - 1),
        "replace": replace_tokens(base, [400], ["<|x|>"])[0],
        "special": base.with_special_tokens({"<|x|>": 400}),
    }
    for name, tokenizer in changed.items():
        assert tokenizer.apply_chat_template(CHAT) == "<|user|>low<|end|>"
        tokenizer.save_huggingface(tmp_path / name)
        config = json.loads((tmp_path / name / "tokenizer_config.json").read_text())
        assert [config["eos_token"], config["pad_token"], config["model_max_length"]] == ["<|end|>", "<|pad|>", 4096]
        generation = (tmp_path / name / "generation_config.json").read_text()
        assert json.loads(generation) == json.loads((folder / "generation_config.json").read_text())


@pytest.mark.parametrize("way", ["prune", "replace"])
def test_a_role_goes_with_its_token(way: str, folder: Path, tmp_path: Path) -> None:
    base = Tokenizer.from_pretrained(folder)
    end = base.special_tokens["<|end|>"]
    smaller, _ = prune(base, drop=[end]) if way == "prune" else replace_tokens(base, [end], ["<|END|>"])
    smaller.save_huggingface(tmp_path / "smaller")
    read = Tokenizer.from_pretrained(tmp_path / "smaller")
    assert read == smaller
    assert "<|end|>" not in read.special_tokens
    config = json.loads((tmp_path / "smaller/tokenizer_config.json").read_text())
    assert config["eos_token"] is None
    assert config["pad_token"] == "<|pad|>"
    generation = json.loads((tmp_path / "smaller/generation_config.json").read_text())
    ids = {"eos_token_id": [0], "pad_token_id": 1 if way == "prune" else 2}
    assert generation == ids | {"temperature": 0.6, "max_new_tokens": 7}
    transformers = pytest.importorskip("transformers")
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "smaller")
    assert theirs.eos_token is None
    for text in ("low<|end|>", "low<|pad|>er<|user|>"):
        assert theirs.encode(text) == smaller.encode(text)


def test_lists_and_names_of_ids_are_renumbered(folder: Path, tmp_path: Path) -> None:
    ids = {"suppress_tokens": [260, 5, 1], "lang_to_id": {"<|end|>": 1, "<|pad|>": 2}, "bad_words_ids": [[5]]}
    write(folder / "generation_config.json", ids)
    prune(Tokenizer.from_pretrained(folder), drop=[1])[0].save_huggingface(tmp_path / "smaller")
    generation = json.loads((tmp_path / "smaller/generation_config.json").read_text())
    assert generation == {"suppress_tokens": [259, 4], "lang_to_id": {"<|pad|>": 1}}
