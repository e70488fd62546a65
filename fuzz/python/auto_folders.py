"""Random folders of Hugging Face's files, read by toksmith and by `AutoTokenizer` of transformers.

Where toksmith reads a folder without a warning, the ids of random texts are the same.
"""

from __future__ import annotations

import functools
import json
import os
import random
import tempfile
import warnings
from pathlib import Path
from typing import Any

import sentencepiece_models
from splitting import outcomes

from toksmith import Tokenizer, train

NAMES = ["<|endoftext|>", "<tool>", "<|im_start|>", "<pad>", "<x>", "the", " cat", "at", "é", "12", "▁"]
WORDS = ["the", " the", "cat", " cat", " ", "  ", "\n", "12345", "é", "e\u0301", "'ll", "x", "<", ">", *NAMES]
ROLES = ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token", "image_token"]
CLASSES = [
    None, "PreTrainedTokenizerFast", "TokenizersBackend", "GPT2Tokenizer", "GPT2TokenizerFast", "Qwen2Tokenizer",
    "Qwen2TokenizerFast", "LlamaTokenizer", "LlamaTokenizerFast", "GPTNeoXTokenizer", "NoSuchTokenizer",
]  # fmt: skip
FLAGS = ["single_word", "lstrip", "rstrip", "normalized", "special"]


@functools.cache
def bases() -> list[dict[str, bytes]]:
    """Return the vocabularies of folders, as the files by name."""
    made = []
    for pattern in ("gpt2", "qwen2"):
        texts = iter(["the cat sat on the mat 12345 é"] * 9)
        tokenizer = train(texts, 270, special_tokens=["<|endoftext|>", "<tool>"], pattern=pattern)
        with tempfile.TemporaryDirectory() as folder:
            tokenizer.save_huggingface(folder)
            made.append({"tokenizer.json": Path(folder, "tokenizer.json").read_bytes()})
            if pattern == "gpt2":
                made.append({name: Path(folder, name).read_bytes() for name in ("vocab.json", "merges.txt")})
    return made


def random_token(rng: random.Random) -> dict[str, Any]:
    """Return an added token with any flags; some may be missing."""
    return {"content": rng.choice(NAMES), **{flag: rng.random() < 0.4 for flag in FLAGS if rng.random() < 0.7}}


def random_base(rng: random.Random) -> tuple[dict[str, bytes], int]:
    """Return the files of a vocabulary by name, and about how many tokens it has."""
    if rng.random() < 0.4:
        pieces, model = sentencepiece_models.random_model(rng)
        return {"tokenizer.model": model}, len(pieces)
    return rng.choice(bases()), 268


def random_config(rng: random.Random, class_name: str | None, size: int) -> dict[str, Any]:
    """Return what may stand in a `tokenizer_config.json`."""
    config: dict[str, Any] = {} if class_name is None else {"tokenizer_class": class_name}
    if rng.random() < 0.4:
        ids = [*rng.sample(range(size, size + 8), 3), *rng.sample([0, 1], rng.randrange(3))]
        config["added_tokens_decoder"] = {str(id): random_token(rng) for id in ids[: rng.randrange(6)]}
    for role in ROLES:
        if rng.random() < 0.15:
            config[role] = rng.choice([*NAMES, None, {"__type": "AddedToken", **random_token(rng)}])
    for name in ("additional_special_tokens", "extra_special_tokens"):
        if rng.random() < 0.2:
            config[name] = rng.sample(NAMES, rng.randrange(3))
    if rng.random() < 0.1:
        config["extra_special_tokens"] = {"image": rng.choice(NAMES)}
    for name in ("add_prefix_space", "add_bos_token", "add_eos_token", "legacy"):
        if rng.random() < 0.2:
            config[name] = rng.choice([True, False])
    if rng.random() < 0.1:
        config["split_special_tokens"] = True
    return config


def random_folder(rng: random.Random, folder: Path) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Write a folder, and return the files of the vocabulary and those beside it."""
    base, size = random_base(rng)
    names = CLASSES if "tokenizer.json" in base else ["GPT2Tokenizer", "Qwen2Tokenizer"]
    if "tokenizer.model" in base and rng.random() < 0.9:
        names = ["LlamaTokenizer", "LlamaTokenizerFast"]
    files: dict[str, Any] = {"tokenizer_config.json": random_config(rng, rng.choice(names), size)}
    if rng.random() < 0.3:
        ids = rng.sample(range(size - 2, size + 6), rng.randrange(4))
        files["added_tokens.json"] = {rng.choice(NAMES): id for id in ids}
    if rng.random() < 0.3:
        roles = rng.sample(ROLES, rng.randrange(4))
        token = random_token(rng)
        files["special_tokens_map.json"] = {role: rng.choice([rng.choice(NAMES), token]) for role in roles}
        if rng.random() < 0.2:
            files["special_tokens_map.json"]["additional_special_tokens"] = rng.sample(NAMES, 2)
    for name, content in base.items():
        (folder / name).write_bytes(content)
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))
    return base, files


def loaded(source: Any) -> tuple[Tokenizer | None, str]:
    """Return a tokenizer and what became of reading it."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            tokenizer = Tokenizer.from_pretrained(source)
        except ValueError as error:
            return None, f"refused: {str(error).rpartition(':')[2].strip()[:50]}"
    return (None, f"warned: {str(warned[0].message)[:60]}") if warned else (tokenizer, "read")


def auto_tokenizer(folder: Path) -> Any:
    """Return the tokenizer of transformers; None where it refuses the folder."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import transformers

    transformers.logging.set_verbosity_error()
    try:
        return transformers.AutoTokenizer.from_pretrained(folder)
    except Exception:  # whatever its classes raise
        return None


def compare(rng: random.Random, count: int) -> str:
    """Compare the ids of some texts of a random folder; return what became of it."""
    with tempfile.TemporaryDirectory() as name:
        base, files = random_folder(rng, Path(name))
        auto = auto_tokenizer(Path(name))
        tokenizer, outcome = loaded(name)
        if auto is None:
            return "refused by transformers"
        if tokenizer is None:
            return outcome
        words = [*WORDS, *sentencepiece_models.TEXTS, "<s>", "<unk>"] if "tokenizer.model" in base else WORDS
        texts = ["".join(rng.choices(words, k=rng.choice([2, 5, 20]))) for _ in range(count)]
        expected = [auto(text, add_special_tokens=False)["input_ids"] for text in texts]
        for text, ids in zip(texts, expected, strict=True):
            assert tokenizer.encode(text) == ids, (sorted(base), files, text, tokenizer.encode(text), ids)
        if not auto.split_special_tokens and rng.random() < 0.5:
            other, _ = loaded(auto)
            assert other is None or [*map(other.encode, texts)] == expected, ("object", files)
        if rng.random() < 0.3:
            saved = Path(name, "saved")
            tokenizer.save_huggingface(saved, verify=False)
            again = auto_tokenizer(saved)
            assert again is not None, ("saved", sorted(base), files)
            ids_again = [again(text, add_special_tokens=False)["input_ids"] for text in texts]
            assert ids_again == expected, ("saved", sorted(base), files)
    return f"compared folders of {min(base)}"


def auto_folders(data: bytes) -> None:
    """Random folders beside transformers."""
    outcomes[compare(random.Random(data), 8)] += 1
