"""A folder means what `AutoTokenizer` of transformers makes of it."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from toksmith import Tokenizer, patterns, train

sys.path.insert(0, str(Path(__file__).parents[3] / "fuzz" / "python"))
import auto_folders
import sentencepiece_models
from splitting import outcomes

transformers = pytest.importorskip("transformers")
Files = dict[str, Any]
IM_START = {"content": "<|im_start|>", "special": True}


def trained(text: str = "the cat sat on the mat", size: int = 268) -> Tokenizer:
    return train(iter([text] * 9), size, special_tokens=["<|endoftext|>", "<tool>"])


def written(folder: Path, tokenizer: Tokenizer, format: str, files: Files) -> Path:
    """Write a folder, and update the files beside the vocabulary."""
    if format == "gpt2":
        tokenizer.save(folder, format="gpt2")
    else:
        tokenizer.save_huggingface(folder)
        (folder / "vocab.json").unlink()
        (folder / "merges.txt").unlink()
    for name, content in files.items():
        path = folder / name
        old = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps({**old, **content}))
    return folder


def ids_of_both(folder: Path, text: str) -> list[int]:
    """Return the ids of a text, which are the same here, by transformers, and of its object."""
    auto = transformers.AutoTokenizer.from_pretrained(folder)
    ours = Tokenizer.from_pretrained(folder).encode(text)
    assert ours == auto(text, add_special_tokens=False)["input_ids"]
    return ours


GPT2 = {"tokenizer_class": "GPT2Tokenizer", "eos_token": "<|endoftext|>"}


@pytest.mark.parametrize(
    ("format", "files", "text", "ids"),
    [
        ("gpt2", {"added_tokens.json": {"<|im_start|>": 268}, "tokenizer_config.json": GPT2},
         "<|im_start|>the<|endoftext|>", [268, 260, 0]),
        ("gpt2", {"tokenizer_config.json": {**GPT2, "add_prefix_space": True}}, "the", [265]),
        ("huggingface", {"tokenizer_config.json": {"added_tokens_decoder": {"268": IM_START}}},
         "<|im_start|>the", [268, 260]),
        ("huggingface",
         {"tokenizer_config.json": {"added_tokens_decoder": {
             "1": {"content": "<tool>", "special": True, "lstrip": True, "rstrip": True}}}},
         "the <tool> cat", [260, 1, 264]),
        ("huggingface", {"tokenizer_config.json": {"pad_token": "<pad>"}}, "the<pad>", [260, 268]),
        ("huggingface", {"tokenizer_config.json": {"additional_special_tokens": ["<pad>"]}}, "the<pad>", [260, 268]),
        ("huggingface", {"tokenizer_config.json": {"split_special_tokens": True}},
         "<tool>the", [62, 118, 113, 113, 110, 64, 260]),
        ("huggingface", {"tokenizer_config.json": {"tokenizer_class": "GPT2TokenizerFast", "add_prefix_space": True}},
         "the", [265]),
    ],
)  # fmt: skip
def test_files_beside_the_vocabulary(tmp_path: Path, format: str, files: Files, text: str, ids: list[int]) -> None:
    assert ids_of_both(written(tmp_path, trained(), format, files), text) == ids


def test_the_pattern_belongs_to_the_class(tmp_path: Path) -> None:
    tokenizer = train(iter(["the cat sat on the mat 1234"] * 9), 270, special_tokens=["<|endoftext|>", "<tool>"])
    files = {"tokenizer_config.json": {**GPT2, "tokenizer_class": "Qwen2Tokenizer"}}
    ids = ids_of_both(written(tmp_path, tokenizer, "gpt2", files), "1234 the")
    assert len(ids) == 5
    assert tokenizer.encode("1234 the") != ids


def test_sentencepiece_with_files_beside_it(tmp_path: Path) -> None:
    spm = pytest.importorskip("sentencepiece")
    pytest.importorskip("google.protobuf")  # transformers reads the file by it
    (tmp_path / "text").write_text("the cat sat on the mat\n" * 99)
    spm.SentencePieceTrainer.train(
        input=str(tmp_path / "text"), model_prefix=str(tmp_path / "tokenizer"), vocab_size=280, model_type="bpe",
        byte_fallback=True, hard_vocab_limit=False, minloglevel=2, normalization_rule_name="identity",
        remove_extra_whitespaces=False,
    )  # fmt: skip
    config = {"tokenizer_class": "LlamaTokenizer", "add_bos_token": True}
    size = Tokenizer.from_pretrained(tmp_path / "tokenizer.model").vocab_size
    (tmp_path / "added_tokens.json").write_text(json.dumps({"<|im_start|>": size}))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    ours, auto = Tokenizer.from_pretrained(tmp_path), transformers.AutoTokenizer.from_pretrained(tmp_path)
    for text in ("<|im_start|>the", "the cat  sat", "the <|im_start|> x", ""):
        assert ours.encode(text) == auto(text, add_special_tokens=False)["input_ids"]
    assert ours.encode("<|im_start|>the")[0] == size
    assert ours.pipeline is not None and ours.pipeline.template is not None
    assert auto("the")["input_ids"][0] == 1


MODEL = sentencepiece_models.model_of(
    [
        ("<unk>", 0, 2), ("<s>", 0, 3), ("</s>", 0, 3), ("<sep>", 0, 4), ("\u2581", -9, 1), ("a", -9, 1),
        ("b", -9, 1), ("ab", -5, 1), ("ba", -5, 1), ("\u2581a", -3, 1),
    ],
    add_dummy_prefix=True, remove_extra_whitespaces=True, escape_whitespaces=True,
)  # fmt: skip


def model_folder(folder: Path, files: Files) -> Path:
    folder.mkdir()
    (folder / "tokenizer.model").write_bytes(MODEL)
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))
    return folder


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"extra_special_tokens": []},
        {"additional_special_tokens": ["<pad>"]},
        {"additional_special_tokens": ["ab"], "extra_special_tokens": {"image": "<x>"}},
    ],
)
def test_pieces_of_a_model_as_the_class_takes_them(tmp_path: Path, config: Files) -> None:
    pytest.importorskip("google.protobuf")
    specials = {"additional_special_tokens": ["<x>"], "pad_token": "<pad>"}
    config = {"tokenizer_class": "LlamaTokenizer", **config}
    folder = model_folder(tmp_path / "a", {"tokenizer_config.json": config, "special_tokens_map.json": specials})
    expected = ids_of_both(folder, "<s>ab<sep>  a<pad>bba<x>aba")
    Tokenizer.from_pretrained(folder).save_huggingface(tmp_path / "b", verify=False)
    assert ids_of_both(tmp_path / "b", "<s>ab<sep>  a<pad>bba<x>aba") == expected


@pytest.mark.parametrize("config", [{}, {"tokenizer_class": "PreTrainedTokenizerFast"}])
def test_a_class_without_the_steps_of_sentencepiece(tmp_path: Path, config: Files) -> None:
    folder = model_folder(tmp_path / "a", {"tokenizer_config.json": config})
    with pytest.warns(UserWarning) as warned:
        Tokenizer.from_pretrained(folder)
    assert any("tokenizer_class" in str(one.message) for one in warned)


def test_an_unknown_class_is_named(tmp_path: Path) -> None:
    folder = written(tmp_path, trained(), "gpt2", {"tokenizer_config.json": {"tokenizer_class": "CodeTokenizer"}})
    with pytest.warns(UserWarning, match="tokenizer_config.json: tokenizer_class"):
        Tokenizer.from_pretrained(folder)


def test_rank_files_of_models(tmp_path: Path) -> None:
    tokenizer = train(iter(["the cat 1234 的中"] * 9), 264, pattern="qwen2")
    tokenizer.save(tmp_path / "qwen.tiktoken", format="tiktoken")
    made = Tokenizer.from_pretrained(tmp_path)
    assert made.encode("<|im_start|>the e\u0301<|extra_0|>") == [
        265, *tokenizer.encode("the \u00e9"), 267,
    ]  # fmt: skip
    (tmp_path / "qwen.tiktoken").rename(tmp_path / "tiktoken.model")
    config = {
        "tokenizer_class": "TikTokenTokenizer",
        "added_tokens_decoder": {"265": {"content": "[EOS]", "special": True}},
    }
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    kimi = Tokenizer.from_pretrained(tmp_path)
    assert kimi.encode("[EOS]<|reserved_token_266|>") == [265, 266]
    assert kimi.encode("的中the") == [*kimi.encode("的中"), *kimi.encode("the")]
    path, names = tmp_path / "tiktoken.model", dict(kimi.special_tokens)
    assert Tokenizer.from_tiktoken(path, pattern="kimi", special_tokens=names) == kimi
    assert patterns.explain("kimi").engine == "compiled"
    assert patterns.of_core(train(iter(["的中the"]), 257, pattern="kimi")._core) == patterns.of_core(kimi._core)


def test_saved_again(tmp_path: Path) -> None:
    files = {"added_tokens.json": {"<|im_start|>": 268}, "tokenizer_config.json": GPT2}
    made = Tokenizer.from_pretrained(written(tmp_path / "a", trained(), "gpt2", files))
    made.save_huggingface(tmp_path / "b")
    assert ids_of_both(tmp_path / "b", "<|im_start|>the<|endoftext|>") == [268, 260, 0]


def test_one_token_under_two_ids(tmp_path: Path) -> None:
    tool = {"content": "<tool>", "special": True, "normalized": False}
    files = {"tokenizer_config.json": {"added_tokens_decoder": {"268": {**tool, "single_word": True}, "269": tool}}}
    folder = written(tmp_path, trained(), "huggingface", files)
    assert ids_of_both(folder, "the<tool>the") == [260, 1, 260]  # the flags of the last one


def test_lists_of_special_tokens_make_no_added_token_special(tmp_path: Path) -> None:
    folder = written(tmp_path, trained(), "gpt2", {"added_tokens.json": {"<x>": 268}, "tokenizer_config.json": GPT2})
    (folder / "special_tokens_map.json").write_text(json.dumps({"additional_special_tokens": ["<x>"]}))
    config = {**GPT2, "split_special_tokens": True}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    assert ids_of_both(folder, "the<x>the") == [260, 268, 260]


def test_split_special_tokens_that_overlap_others(tmp_path: Path) -> None:
    added = {"268": {"content": " cat", "special": True}, "269": {"content": "at"}}
    config = {"added_tokens_decoder": added, "split_special_tokens": True}
    with pytest.warns(UserWarning, match="overlap special ones, such as 'at' and ' cat'"):
        Tokenizer.from_pretrained(written(tmp_path, trained(), "huggingface", {"tokenizer_config.json": config}))


def test_one_token_in_two_roles(tmp_path: Path) -> None:
    token = {"__type": "AddedToken", "content": "<x>"}
    roles = {"unk_token": {**token, "single_word": True}, "pad_token": {**token, "rstrip": True}}
    folder = written(tmp_path, trained(), "gpt2", {"tokenizer_config.json": {**GPT2, **roles}})
    assert ids_of_both(folder, "the<x> the") == [260, 268, 260]  # the flags of the last one


@pytest.mark.parametrize(
    ("added", "config"),
    [
        ({"at": 268, "<tool>": 269}, {}),
        ({"<tool>": 268}, {"tokenizer_class": "Qwen2Tokenizer"}),
        ({}, {"added_tokens_decoder": {"268": {"content": "at"}, "269": {"content": "<tool>"}}}),
    ],
)
def test_split_special_tokens_saved_again(tmp_path: Path, added: Files, config: Files) -> None:
    folder = written(tmp_path / "a", trained(), "huggingface", {"added_tokens.json": added})
    (folder / "special_tokens_map.json").unlink()
    config = {"sep_token": "<|endoftext|>", "split_special_tokens": True, **config}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    text = "<tool>the cat<|endoftext|>at"
    expected = ids_of_both(folder, text)
    Tokenizer.from_pretrained(folder).save_huggingface(tmp_path / "b")
    assert ids_of_both(tmp_path / "b", text) == expected


def test_random_folders() -> None:
    """The short form of `fuzz/python/campaign.py auto_folders`."""
    outcomes.clear()
    for seed in range(100):
        auto_folders.auto_folders(random.Random(seed).randbytes(320))
    assert sum(count for outcome, count in outcomes.items() if outcome.startswith("compared")) > 40


def test_a_panic_of_an_object_is_an_error() -> None:
    class PanicException(BaseException):  # as PyO3 names it
        pass

    class Broken:
        def to_str(self) -> str:
            raise PanicException("no")

    with pytest.raises(ValueError, match="Broken: the other library panics: no"):
        Tokenizer.from_huggingface(Broken())


def test_a_panic_of_the_peer_is_an_error(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    trained().save_huggingface(tmp_path / "a")
    other = tokenizers.Tokenizer.from_file(str(tmp_path / "a" / "tokenizer.json"))
    other.add_tokens([tokenizers.AddedToken(" ", lstrip=True), tokenizers.AddedToken("<x>", rstrip=True)])
    with pytest.raises(ValueError, match="panics"):
        Tokenizer.from_pretrained(other).save_huggingface(tmp_path / "b")
    assert not (tmp_path / "b" / "tokenizer.json").exists()
