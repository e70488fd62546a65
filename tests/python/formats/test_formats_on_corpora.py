"""Ids of each format on real text and on random strings: those of the library of the format."""

import base64
import io
import json
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import tiktoken

import toksmith
from toksmith import Tokenizer, patterns
from toksmith._core import spell

gguf = pytest.importorskip("gguf")
spm = pytest.importorskip("sentencepiece")
tekken = pytest.importorskip("mistral_common.tokens.tokenizers.tekken")
tokenizers = pytest.importorskip("tokenizers")

Encode = Callable[[str], list[int]]


class Sizes(NamedTuple):
    """How much is compared: characters of each corpus, for most options and for all; random strings; tokens."""

    some: int
    all: int
    strings: int
    vocab: int


SHORT = Sizes(20_000, 20_000, 200, 700)
LONG = Sizes(1_000_000, 1 << 30, 100_000, 8000)
SIZES = [pytest.param(SHORT, id="short"), pytest.param(LONG, id="long", marks=pytest.mark.long)]
ALPHABETS = (
    "abcdefgh etaoin  ",
    "aAbB'sLLre tT ",
    "0123456789 ٣½ⅷ²",
    " \t\n\r\u00a0\u2003\u3000\u200b\ufeff\u0085",
    "héllöß ẞſKΣςİı ",
    "日本語テスト한국어ｶﾞ ﬁ㍿ ",
    "कि\u094dषあ\u0301\u0308ก็ ",
    '.,!?…$+<=>^~|`"()[]{}#@\\/-_ ',
    "\u2581 a▁b<s></s><unk><0x0A>[INST]<|a|>",
    "\U0001f600\U0001f469\u200d\U0001f4bb\x00\x7f\x01\u0378\ue000\U0010ffff ",
    "abcabcdbcdab cab ",
)


def random_texts(count: int) -> Iterator[str]:
    draw = random.Random(count)
    for _ in range(count):
        letters = "".join(draw.sample(ALPHABETS, draw.randint(1, 3)))
        yield "".join(draw.choices(letters, k=draw.randint(0, 40)))


def passages(corpora: dict[str, str], characters: int) -> Iterator[str]:
    for text in corpora.values():
        yield from text[:characters].split("\n\n")


def compare(ours: Encode, theirs: Encode, corpora: dict[str, str], sizes: Sizes, characters: int) -> None:
    count = size = 0
    for texts in (passages(corpora, characters), random_texts(sizes.strings)):
        for text in texts:
            assert ours(text) == theirs(text), text
            count, size = count + 1, size + len(text)
    print(f"{count:,} texts, {size:,} characters")


def sample(corpora: dict[str, str], sizes: Sizes) -> list[str]:
    size = 30_000 if sizes is SHORT else 1_000_000
    return [text[-size:] for text in corpora.values()]


# Formats of bytes


def trained(corpora: dict[str, str], sizes: Sizes, pattern: str) -> Tokenizer:
    return toksmith.train(iter(sample(corpora, sizes)), sizes.vocab, pattern=pattern)


def of_tekken(corpora: dict[str, str], sizes: Sizes, folder: Path) -> tuple[Tokenizer, Encode]:
    tokens = [token for _, token in sorted(trained(corpora, sizes, "tekken").vocab.items())]
    rows = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for rank, token in enumerate(tokens)
    ]
    config = {
        "pattern": patterns.NAMED["tekken"],
        "num_vocab_tokens": len(rows),
        "default_vocab_size": len(rows) + 10,
        "default_num_special_tokens": 10,
        "version": "v11",
    }
    names = ["<unk>", "<s>", "</s>", "[INST]"]
    specials = [{"rank": rank, "token_str": name, "is_control": True} for rank, name in enumerate(names)]
    path = folder / "tekken.json"
    path.write_text(json.dumps({"config": config, "vocab": rows, "special_tokens": specials}))
    theirs = tekken.Tekkenizer.from_file(path)
    return Tokenizer.from_pretrained(path), lambda text: theirs.encode(text, False, False)


def of_tiktoken(corpora: dict[str, str], sizes: Sizes, folder: Path) -> tuple[Tokenizer, Encode]:
    ranks = {token: id for id, token in trained(corpora, sizes, "cl100k").vocab.items()}
    theirs = tiktoken.Encoding(
        "test", pat_str=patterns.NAMED["cl100k"], mergeable_ranks=ranks, special_tokens={"<|a|>": len(ranks)}
    )
    return Tokenizer.from_pretrained(theirs), theirs.encode_ordinary


def of_tokenizers(corpora: dict[str, str], sizes: Sizes, folder: Path) -> tuple[Tokenizer, Encode]:
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE())
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=sizes.vocab, initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    theirs.train_from_iterator(sample(corpora, sizes), trainer)
    return Tokenizer.from_pretrained(theirs), lambda text: theirs.encode(text).ids


def written(path: Path, fields: dict[str, Any]) -> Path:
    writer = gguf.GGUFWriter(path, "llama")
    for name, value in fields.items():
        getattr(writer, f"add_{name}")(value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


def of_gguf(corpora: dict[str, str], sizes: Sizes, folder: Path) -> tuple[Tokenizer, Encode]:
    tokenizer = trained(corpora, sizes, "qwen2")
    fields = {
        "tokenizer_model": "gpt2",
        "tokenizer_pre": "qwen2",
        "token_list": [spell(token) for _, token in sorted(tokenizer.vocab.items())],
        "token_merges": [f"{spell(left)} {spell(right)}" for left, right in tokenizer.merges],
    }
    tokenizer.save_huggingface(folder / "hf")
    theirs = tokenizers.Tokenizer.from_file(str(folder / "hf/tokenizer.json"))
    return Tokenizer.from_pretrained(written(folder / "t.gguf", fields)), lambda text: theirs.encode(text).ids


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("make", [of_tekken, of_tiktoken, of_tokenizers, of_gguf])
def test_byte_level_formats(make: Any, sizes: Sizes, corpora: dict[str, str], tmp_path: Path) -> None:
    ours, theirs = make(corpora, sizes, tmp_path)
    compare(lambda text: ours.encode(text, special=False), theirs, corpora, sizes, sizes.all)


# SentencePiece

LLAMA = {
    "byte_fallback": True,
    "split_digits": True,
    "normalization_rule_name": "identity",
    "remove_extra_whitespaces": False,
    "allow_whitespace_only_pieces": True,
}
SYMBOLS = ["<sym>", "bcd", "ab\u2581c", "\ufb01", "  ", "7", "the"]
OPTIONS: dict[str, dict[str, Any]] = {
    "nmt_nfkc": {"control_symbols": ["<ctl>", "[INST]"]},
    "llama": LLAMA,
    "nfkc": {"normalization_rule_name": "nfkc", "byte_fallback": True, "split_by_number": False},
    "nmt_nfkc_cf": {"normalization_rule_name": "nmt_nfkc_cf", "split_by_unicode_script": False},
    "nfkc_cf": {"normalization_rule_name": "nfkc_cf", "character_coverage": 0.98},
    "symbols": {"user_defined_symbols": SYMBOLS, "byte_fallback": True},
    "symbols as they are": {**LLAMA, "user_defined_symbols": SYMBOLS, "byte_fallback": False},
    "no prefix": {**LLAMA, "add_dummy_prefix": False},
    "no prefix, few spaces": {"add_dummy_prefix": False, "split_digits": True},
    "across words": {"split_by_whitespace": False, "max_sentencepiece_length": 24},
    "suffix": {"treat_whitespace_as_suffix": True},
    "suffix, all spaces": {**LLAMA, "treat_whitespace_as_suffix": True},
    "other names": {"unk_piece": "[UNK]", "pad_id": 3, "pad_piece": "[PAD]", "bos_id": -1, "eos_id": 1, "unk_id": 0},
    "nothing required": {"required_chars": "ſKǅ", "hard_vocab_limit": False, "split_by_unicode_script": False},
}


def model_of(corpora: dict[str, str], sizes: Sizes, options: dict[str, Any]) -> bytes:
    model = io.BytesIO()
    lines = (line for text in sample(corpora, sizes) for line in text.splitlines())
    spm.SentencePieceTrainer.train(
        sentence_iterator=lines,
        model_writer=model,
        model_type="bpe",
        num_threads=1,
        minloglevel=2,
        max_sentence_length=100_000,
        **{"vocab_size": 2 * sizes.vocab + 2500, "hard_vocab_limit": False, "character_coverage": 0.995, **options},
    )
    return model.getvalue()


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_sentencepiece(options: dict[str, Any], sizes: Sizes, corpora: dict[str, str], tmp_path: Path) -> None:
    model = model_of(corpora, sizes, options)
    (tmp_path / "t.model").write_bytes(model)
    ours, theirs = Tokenizer.from_pretrained(tmp_path / "t.model"), spm.SentencePieceProcessor(model_proto=model)
    characters = sizes.all if options is LLAMA else sizes.some
    compare(lambda text: ours.encode(text, special=False), theirs.encode, corpora, sizes, characters)
    ours.save(tmp_path / "saved.model", format="sentencepiece")
    assert Tokenizer.from_pretrained(tmp_path / "saved.model") == ours


@pytest.mark.parametrize("sizes", SIZES)
def test_gguf_of_a_sentencepiece_model(sizes: Sizes, corpora: dict[str, str], tmp_path: Path) -> None:
    theirs = spm.SentencePieceProcessor(model_proto=model_of(corpora, sizes, LLAMA))
    ids = range(theirs.vocab_size())
    kind = lambda id: 2 if theirs.is_unknown(id) else 3 if theirs.is_control(id) else 6 if theirs.is_byte(id) else 1  # noqa: E731
    fields = {
        "tokenizer_model": "llama",
        "token_list": [theirs.id_to_piece(id) for id in ids],
        "token_scores": [theirs.get_score(id) for id in ids],
        "token_types": [kind(id) for id in ids],
    }
    ours = Tokenizer.from_pretrained(written(tmp_path / "t.gguf", fields))
    compare(lambda text: ours.encode(text, special=False), theirs.encode, corpora, sizes, sizes.some)


@pytest.mark.long
@pytest.mark.alone
def test_a_model_of_32000_tokens_loads_in_100_ms(corpora: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "t.model").write_bytes(model_of(corpora, LONG, {**LLAMA, "vocab_size": 32_000}))
    seconds = []
    for _ in range(10):
        start = time.process_time()
        vocab_size = Tokenizer.from_pretrained(tmp_path / "t.model").vocab_size
        seconds.append(time.process_time() - start)
    print(f"{vocab_size:,} tokens in {1000 * min(seconds):.1f} ms")
    assert vocab_size == 32_000
    assert min(seconds) < 0.1
