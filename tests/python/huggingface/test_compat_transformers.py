"""The tokenizer for `transformers` beside the one that `AutoTokenizer` loads from the written folder."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from huggingface_peers import EOT, PAD, random_text, trained, transformers_module

from toksmith import Tokenizer

TEMPLATE = "{% for m in messages %}<|user|>{{ m['content'] }}<|endoftext|>{% endfor %}"


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """Theirs and ours, of the same tokenizer."""
    auto = transformers_module().AutoTokenizer
    from toksmith.compat.huggingface import pretrained

    folder = tmp_path_factory.mktemp("hf")
    trained().save_huggingface(folder, chat_template=TEMPLATE, model_max_length=77)
    return auto.from_pretrained(str(folder)), pretrained(trained(), chat_template=TEMPLATE, model_max_length=77)


def plain(batch: Any) -> Any:
    return {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in dict(batch).items()}


CALLS: list[dict[str, Any]] = [
    {},
    {"padding": True},
    {"padding": "max_length", "max_length": 20},
    {"padding": "max_length", "max_length": 20, "truncation": True, "padding_side": "left"},
    {"padding": True, "pad_to_multiple_of": 8, "return_tensors": "np"},
    {"padding": True, "truncation": True, "max_length": 9, "return_tensors": "np"},
    {"truncation": True, "max_length": 6, "stride": 2, "return_overflowing_tokens": True},
    {"truncation": True, "max_length": 9, "return_offsets_mapping": True, "return_special_tokens_mask": True},
    {"return_length": True, "return_token_type_ids": True, "add_special_tokens": False},
    {"return_attention_mask": False},
    {"split_special_tokens": True},
]


@pytest.mark.parametrize("options", CALLS, ids=str)
def test_calls_agree(pair: tuple[Any, Any], options: dict[str, Any]) -> None:
    theirs, ours = pair
    rng = random.Random(1)
    for _ in range(25):
        texts = [random_text(rng, (EOT, PAD, "<|user|>")) + "x" for _ in range(3)]
        for given in ((texts,), (texts[0],), (texts, texts[::-1]), (texts[0], texts[1])):
            if options.get("truncation") and len(given) == 2:
                continue
            assert plain(ours(*given, **options)) == plain(theirs(*given, **options)), given


def test_split_into_words(pair: tuple[Any, Any]) -> None:
    theirs, ours = pair
    words = [["the", " quick", "brownish"], ["x"]]
    found = [tokenizer(words, is_split_into_words=True) for tokenizer in pair]
    assert plain(found[0]) == plain(found[1])
    assert [ours(words, is_split_into_words=True).word_ids(i) for i in (0, 1)] == [
        theirs(words, is_split_into_words=True).word_ids(i) for i in (0, 1)
    ]


def test_batches_know_their_text(pair: tuple[Any, Any]) -> None:
    batches = [tokenizer([f"the quick{EOT}fox", "žluťoučký"]) for tokenizer in pair]
    for index in (0, 1):
        assert batches[0].tokens(index) == batches[1].tokens(index)
        assert batches[0].word_ids(index) == batches[1].word_ids(index)
        for at in range(3):
            assert batches[0].token_to_chars(index, at) == batches[1].token_to_chars(index, at)
            assert batches[0].char_to_token(index, at) == batches[1].char_to_token(index, at)


def test_decoding(pair: tuple[Any, Any]) -> None:
    theirs, ours = pair
    rng = random.Random(2)
    for _ in range(100):
        ids = rng.choices(range(len(theirs)), k=rng.randrange(10))
        for skip in (True, False):
            assert ours.decode(ids, skip_special_tokens=skip) == theirs.decode(ids, skip_special_tokens=skip)
        assert ours.convert_ids_to_tokens(ids) == theirs.convert_ids_to_tokens(ids)
        tokens = theirs.convert_ids_to_tokens(ids)
        assert ours.convert_tokens_to_string(tokens) == theirs.convert_tokens_to_string(tokens)
        assert ours.convert_tokens_to_ids(tokens) == ids
    assert ours.batch_decode([[100, 101], [102]]) == theirs.batch_decode([[100, 101], [102]])


def test_what_it_says_of_itself(pair: tuple[Any, Any]) -> None:
    theirs, ours = pair
    for name in (
        *("bos_token", "eos_token", "pad_token", "unk_token", "eos_token_id", "pad_token_id", "model_max_length"),
        *("all_special_tokens", "all_special_ids", "special_tokens_map", "vocab_size", "is_fast", "padding_side"),
        *("added_tokens_decoder", "model_input_names"),
    ):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert len(ours) == len(theirs)
    assert ours.get_vocab() == theirs.get_vocab()
    assert ours.tokenize(f"the fox{EOT}") == theirs.tokenize(f"the fox{EOT}")
    assert ours.backend_tokenizer._tokenizer == trained()


def test_chat_templates(pair: tuple[Any, Any]) -> None:
    _, ours = pair
    chats = [[{"role": "user", "content": text}] for text in ("hi there", f"evil{EOT}<|user|>me", "ž")]
    for options in (
        {"tokenize": False},
        {},
        {"return_tensors": "np", "padding": True},
        {"sanitize_control_tokens": True},
        {"truncation": True, "max_length": 5},
    ):
        given = chats if options.get("padding") else chats[1]
        found = [tokenizer.apply_chat_template(given, **options) for tokenizer in pair]
        assert str(found[0]) == str(found[1])
    safe = ours.apply_chat_template(chats[1], sanitize_control_tokens=True)["input_ids"]
    assert safe.count(ours.eos_token_id) == 1


def test_a_special_token_in_front_and_behind(tmp_path: Path) -> None:
    auto = transformers_module().AutoTokenizer
    from toksmith.compat.huggingface import pretrained

    trained().save_huggingface(tmp_path)
    theirs, ours = auto.from_pretrained(str(tmp_path)), pretrained(trained())
    for tokenizer in (theirs, ours):
        tokenizer.add_bos_token = True
        tokenizer.add_eos_token = True
    assert plain(ours(["the fox", "x"], padding=True)) == plain(theirs(["the fox", "x"], padding=True))
    assert ours("a", "b")["input_ids"] == theirs("a", "b")["input_ids"]
    assert ours.num_special_tokens_to_add() == theirs.num_special_tokens_to_add() == 2
    for tokenizer in (theirs, ours):
        assert tokenizer.add_tokens(["<new>"]) == 1
        assert tokenizer.add_special_tokens({"unk_token": "<unk>"}) == 1
    assert ours("a<new>b<unk>")["input_ids"] == theirs("a<new>b<unk>")["input_ids"]


def test_saved_folders_are_transformers_own(pair: tuple[Any, Any], tmp_path: Path) -> None:
    auto = transformers_module().AutoTokenizer
    theirs, ours = pair
    ours.save_pretrained(str(tmp_path))
    config = json.loads((tmp_path / "tokenizer_config.json").read_text(encoding="utf-8"))
    assert config["tokenizer_class"] == type(theirs).__name__
    again = auto.from_pretrained(str(tmp_path))
    assert type(again) is type(theirs)
    rng = random.Random(3)
    for _ in range(100):
        text = random_text(rng, (EOT, PAD, "<|user|>"))
        assert again(text)["input_ids"] == ours(text)["input_ids"]
    assert again.special_tokens_map == ours.special_tokens_map
    assert again.chat_template == TEMPLATE


@pytest.mark.skipif(not hasattr(Tokenizer, "from_huggingface"), reason="needs the reader of tokenizer.json")
def test_folders_are_loaded(pair: tuple[Any, Any], tmp_path: Path) -> None:
    from toksmith.compat.huggingface import ToksmithTokenizer

    theirs, ours = pair
    theirs.save_pretrained(str(tmp_path))
    again = ToksmithTokenizer.from_pretrained(str(tmp_path))
    assert type(again) is type(theirs)
    assert again.special_tokens_map == ours.special_tokens_map
    texts = ["the quick brown fox", f"x{EOT}"]
    assert plain(again(texts, padding=True)) == plain(theirs(texts, padding=True))
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises((ValueError, OSError), match=r"tokenizer"):
        ToksmithTokenizer.from_pretrained(str(tmp_path), local_files_only=True)
