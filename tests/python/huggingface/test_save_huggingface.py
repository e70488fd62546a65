"""Folders for Hugging Face: `tokenizers` and `transformers` load them, and agree; the rest is refused by name."""

import json
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from huggingface_peers import (
    EOT,
    PAD,
    assert_agree,
    known_to,
    loaded,
    random_text,
    tokenizers_module,
    trained,
    transformers_module,
)

from toksmith import Tokenizer, patterns

BYTES = {byte: bytes([byte]) for byte in range(256)}
Published = Callable[[str, str], Tokenizer]
FILES = ["special_tokens_map.json", "tokenizer.json", "tokenizer_config.json"]


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("special_ids", ["first", "after_bytes", "last"])
@pytest.mark.parametrize("byte_order", ["value", "gpt2"])
def test_trained_tokenizers_agree(special_ids: str, byte_order: str, tmp_path: Path) -> None:
    tokenizer = trained(special_ids, byte_order)
    other = loaded(tokenizer, tmp_path / "made" / "folder")
    assert names_in(tmp_path / "made" / "folder") == ["merges.txt", *FILES[:1], *FILES[1:], "vocab.json"]
    rng = random.Random(1)
    assert_agree(tokenizer, other, [random_text(rng, (EOT, PAD, "<|user|>")) for _ in range(400)])
    for id, token in tokenizer.vocab.items():
        assert other.decode([id], skip_special_tokens=False) == token.decode("utf-8", "replace")
    for name, id in tokenizer.special_tokens.items():
        assert other.token_to_id(name) == id
    # The two files beside it are GPT-2's.
    again = Tokenizer.from_files(tmp_path / "made/folder/vocab.json", tmp_path / "made/folder/merges.txt", [EOT, PAD])
    assert again.merges == tokenizer.merges
    assert again.vocab == tokenizer.vocab


PATTERNS: list[Any] = [*patterns.NAMED, None, r"\w+|[^\w\s]+|\s+", r"\p{L}+(?='s)|\p{N}{1,3}+|\S|\s+$|\s"]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("unmatched", ["keep", "drop"])
@pytest.mark.parametrize("merges", [True, False], ids=["merges", "ranks"])
def test_patterns_agree(pattern: Any, unmatched: Any, merges: bool, tmp_path: Path) -> None:
    base = trained("last")
    ordinary = {id: token for id, token in base.vocab.items() if id not in base.special_tokens.values()}
    listed = base.merges if merges else None
    tokenizer = Tokenizer(ordinary, listed, {EOT: base.max_id + 7}, pattern=pattern, unmatched=unmatched)
    other, rng = loaded(tokenizer, tmp_path), random.Random(2)
    texts = [random_text(rng) for _ in range(150)]
    if unmatched == "drop" and patterns.resolve(pattern).name is None and pattern is not None:
        for text in texts:  # what is dropped has no place
            assert other.encode(text).ids == tokenizer.encode(text)
    else:
        assert_agree(tokenizer, other, texts)


def test_text_that_is_dropped(tmp_path: Path) -> None:
    tokenizer = Tokenizer(pattern=r"[a-z]+", unmatched="drop")
    other = loaded(tokenizer, tmp_path)
    assert other.encode("ab CD ef!").ids == tokenizer.encode("ab CD ef!") == [*b"abef"]


def test_a_published_vocabulary_agrees(gpt2_ranks: Tokenizer, corpora: dict[str, str], tmp_path: Path) -> None:
    check_published(gpt2_ranks, corpora, tmp_path, 15_000)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "pattern"), [("gpt2", "gpt2"), ("cl100k_base", "cl100k"), ("o200k_base", "o200k"), ("qwen3", "qwen2")]
)
def test_published_vocabularies_agree(
    name: str, pattern: str, published: Published, corpora: dict[str, str], tmp_path: Path
) -> None:
    check_published(published(name, pattern), corpora, tmp_path, 3_000_000)


def check_published(tokenizer: Tokenizer, corpora: dict[str, str], folder: Path, size: int) -> None:
    module, other = tokenizers_module(), loaded(tokenizer, folder)
    texts = [known_to(module, text[:size]) for text in corpora.values()]
    rng = random.Random(3)
    assert_agree(tokenizer, other, [*texts, *(random_text(rng) for _ in range(100))])
    content = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    assert content["model"]["ignore_merges"] is False  # each token is what its bytes merge to


def test_gpt2s_files_agree(gpt2: Tokenizer, corpora: dict[str, str], tmp_path: Path) -> None:
    check_published(gpt2, corpora, tmp_path, 20_000)


# Rank vocabularies


def test_tokens_that_only_whole_pretokens_reach(tmp_path: Path) -> None:
    # "abc" and "xyz" come to nothing by merging: `ignore_merges` says what ranks mean.
    vocab = BYTES | {256: b"abc", 257: b"xy", 258: b" xyzw", 259: b"xyz", 260: b"\xe4\xb8"}
    tokenizer = Tokenizer(vocab, None, [EOT], pattern="gpt2")
    other = loaded(tokenizer, tmp_path)
    content = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))
    assert content["model"]["ignore_merges"] is True
    assert names_in(tmp_path) == FILES
    texts = ["abc", "abcd", " abc", "xyz xyzw xyzwv", "中", "abcabc", f"abc{EOT}xyz"]
    assert_agree(tokenizer, other, texts)
    assert tokenizer.encode("abc") == [256]


@pytest.mark.parametrize("seed", range(40))
def test_random_rank_vocabularies(seed: int, tmp_path: Path) -> None:
    # Tokens whose parts have higher ids, that nothing makes, or that merge to something else.
    rng = random.Random(seed)
    found = {bytes(rng.choices(b"abc", k=rng.randrange(2, 6))) for _ in range(rng.randrange(3, 25))}
    ids = rng.sample(range(256, 300), len(found))
    tokenizer = Tokenizer(BYTES | dict(zip(ids, found, strict=True)), None, [EOT], pattern=rng.choice(["gpt2", None]))
    other = loaded(tokenizer, tmp_path)
    for _ in range(300):
        text = "".join(rng.choices("abc ", weights=(5, 5, 5, 1), k=rng.randrange(14)))
        assert other.encode(text).ids == tokenizer.encode(text), (tokenizer.vocab, text)


def test_a_long_token_made_with_higher_ids(tmp_path: Path) -> None:
    tokenizer = Tokenizer(BYTES | {300: b"ab" * 3000, 400: b"ab", 401: b"abab"}, None, pattern=None)
    other = loaded(tokenizer, tmp_path)
    for text in ("ab" * 3000, "ab" * 3001, "ab" * 2999):
        assert other.encode(text).ids == tokenizer.encode(text)


# What cannot be written


@pytest.mark.parametrize(
    ("special", "message"),
    [
        ("ab", "special token 'ab', id 257: tokenizer.json would take it for the ordinary token of id 256"),
        ("a", "special token 'a', id 257"),
        ("Ġ", "special token 'Ġ', id 257: .* ordinary token of id 32"),
        ("ĠĠ", "special token 'ĠĠ': in tokenizer.json this spells the bytes b\"  \""),
        ("é", r"special token 'é', id 257"),
        ("éé", r"special token 'éé': in tokenizer.json this spells the bytes b\"\\xe9\\xe9\""),
    ],
)
def test_special_tokens_that_spell_another(special: str, message: str, tmp_path: Path) -> None:
    tokenizer = Tokenizer(BYTES | {256: b"ab"}, [(b"a", b"b")], {special: 257})
    with pytest.raises(ValueError, match=message):
        tokenizer.save_huggingface(tmp_path / "new")
    assert names_in(tmp_path) == []


def test_special_tokens_that_are_hard_to_write(tmp_path: Path) -> None:
    names = [
        "<|a|>",
        "<|b c|>",
        " ",
        "\n",
        "\u2028",
        "👍🏽",
        "<｜end▁of▁sentence｜>",
        '"',
        "\\",
        "日",
        "\x00",
        EOT,
        EOT * 2,
    ]
    names.remove('"')
    names.remove("\\")  # both are ordinary tokens of one byte, spelled as they are
    tokenizer = Tokenizer(BYTES | {256: "日".encode()}, None, names, pattern="cl100k")
    other = loaded(tokenizer, tmp_path)
    rng = random.Random(4)
    assert_agree(tokenizer, other, ["".join(rng.choices([*names, "a", "b ", "日本"], k=8)) for _ in range(200)])


def test_patterns_without_an_equal(tmp_path: Path) -> None:
    for pattern, construct in ((r"\bword\b|.", r"\\b"), (r"(a)\1|.", r"\\1")):
        with pytest.raises(ValueError, match=construct):
            Tokenizer(pattern=pattern).save_huggingface(tmp_path / "new")
    assert names_in(tmp_path) == []


# Roles


def test_roles_by_name_and_by_choice(tmp_path: Path) -> None:
    def written(names: list[str], **chosen: Any) -> dict[str, str]:
        Tokenizer(None, None, names).save_huggingface(tmp_path, verify=False, **chosen)
        config = json.loads((tmp_path / "tokenizer_config.json").read_text(encoding="utf-8"))
        roles = json.loads((tmp_path / "special_tokens_map.json").read_text(encoding="utf-8"))
        assert roles.items() <= config.items()
        return {key.removesuffix("_token"): value for key, value in roles.items() if key.endswith("_token")}

    assert written([]) == {}
    assert written([EOT]) == {"bos": EOT, "eos": EOT, "pad": EOT}
    assert written([EOT, PAD]) == {"bos": EOT, "eos": EOT, "pad": PAD}
    llama = ["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"]
    assert written(llama) == {"bos": llama[0], "eos": llama[1], "pad": llama[1]}
    assert written(["<unk>", "<s>", "</s>"]) == {"unk": "<unk>", "bos": "<s>", "eos": "</s>", "pad": "</s>"}
    chosen = written(llama, eos_token="<|eot_id|>", pad_token=None, bos_token=None)
    assert chosen == {"eos": "<|eot_id|>"}
    for role in ("bos_token", "eos_token", "unk_token", "pad_token"):
        with pytest.raises(ValueError, match=f"{role} is '<no>', which is not a special token"):
            written([EOT], **{role: "<no>"})


# transformers


def test_transformers_loads_the_folder(tmp_path: Path) -> None:
    auto = transformers_module().AutoTokenizer
    template = "{% for m in messages %}<|user|>{{ m['content'] }}<|endoftext|>{% endfor %}"
    tokenizer = trained("last")
    tokenizer.save_huggingface(tmp_path, chat_template=template, model_max_length=512)
    other = auto.from_pretrained(str(tmp_path))
    assert (other.bos_token, other.eos_token, other.pad_token, other.unk_token) == (EOT, EOT, PAD, None)
    assert other.eos_token_id == tokenizer.special_tokens[EOT]
    assert other.model_max_length == 512
    assert set(other.all_special_tokens) == set(tokenizer.special_tokens)
    assert len(other) == tokenizer.vocab_size
    rng = random.Random(5)
    for _ in range(300):
        text = random_text(rng, (EOT, PAD, "<|user|>"))
        ids = tokenizer.encode(text)
        assert other(text)["input_ids"] == ids
        assert other.decode(ids) == tokenizer.decode(ids)
    batch = other(["hello there", "hi"], padding=True, return_tensors="np")
    assert (
        batch["input_ids"][1].tolist()
        == [*tokenizer.encode("hi"), *[other.pad_token_id] * 4][: batch["input_ids"].shape[1]]
    )
    chat = [{"role": "user", "content": "hi"}]
    assert other.apply_chat_template(chat, tokenize=False) == f"<|user|>hi{EOT}"
    assert other.apply_chat_template(chat)["input_ids"] == tokenizer.encode(f"<|user|>hi{EOT}")


def test_transformers_loads_a_published_vocabulary(
    published: Published, corpora: dict[str, str], tmp_path: Path
) -> None:
    auto = transformers_module().AutoTokenizer
    tokenizer = published("qwen3", "qwen2")
    tokenizer.save_huggingface(tmp_path, eos_token="<|im_end|>", verify=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = auto.from_pretrained(str(tmp_path))
    assert (other.eos_token, other.pad_token) == ("<|im_end|>", EOT)
    text = known_to(tokenizers_module(), corpora["multi"][:50_000])
    assert other(text)["input_ids"] == tokenizer.encode(text)
