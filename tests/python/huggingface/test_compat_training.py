"""Training through the interface of `tokenizers`: the same vocabulary and merges as the original gives."""

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from huggingface_cases import NORMALIZERS, byte_level
from test_compat_pipelines import MORE_NORMALIZERS, PRE_TOKENIZERS
from tokenizers import AddedToken, decoders, models, pre_tokenizers, trainers
from tokenizers.models import BPE
from tokenizers.trainers import BpeTrainer

from toksmith.compat.huggingface import ByteLevelBPETokenizer, Tokenizer

ALPHABET = pre_tokenizers.ByteLevel.alphabet()


def pair_of(pre_tokenizer: Any, normalizer: Any = None) -> tuple[Any, Tokenizer]:
    found: list[Any] = [tokenizers.Tokenizer(models.BPE()), Tokenizer(BPE())]
    for tokenizer in found:
        tokenizer.pre_tokenizer = pre_tokenizer
        if normalizer is not None:
            tokenizer.normalizer = normalizer
        tokenizer.decoder = decoders.ByteLevel()
    return found[0], found[1]


def options_of(rng: random.Random) -> dict[str, Any]:
    return {
        "vocab_size": rng.choice([200, 300, 420]),
        "min_frequency": rng.choice([0, 1, 2, 5]),
        "special_tokens": rng.choice(
            [[], ["<s>", "</s>"], ["<s>", AddedToken("[M]", lstrip=True, special=True), "<s>", "<|end of|>"]]
        ),
        "initial_alphabet": ALPHABET,
        "show_progress": False,
    }


def assert_same(theirs: Any, ours: Tokenizer, texts: list[str]) -> None:
    expected, found = json.loads(theirs.to_str()), json.loads(ours.to_str())
    assert found["model"] == {**expected["model"], "merges": [*map(list, expected["model"]["merges"])]}
    assert found["added_tokens"] == expected["added_tokens"]
    assert ours.get_vocab() == theirs.get_vocab()
    for text in texts:
        assert ours.encode(text).ids == theirs.encode(text).ids, text


def texts_of(rng: random.Random, corpora: dict[str, str], count: int = 60) -> list[str]:
    found = []
    for _ in range(count):
        text = corpora[rng.choice(["en", "code", "multi"])]
        start = rng.randrange(len(text) - 400)
        found.append(text[start : start + rng.randrange(400)] + rng.choice(["", "<s", "\n\n", " [M"]))
    return found


@pytest.mark.parametrize("name", PRE_TOKENIZERS)
def test_merges_of_all_pre_tokenizers(name: str, corpora: dict[str, str]) -> None:
    rng = random.Random(name)
    for normalizer in (None, rng.choice([*MORE_NORMALIZERS.values()])):
        theirs, ours = pair_of(PRE_TOKENIZERS[name], normalizer)
        options, texts = options_of(rng), texts_of(rng, corpora)
        theirs.train_from_iterator(texts, trainers.BpeTrainer(**options))
        ours.train_from_iterator(texts, rng.choice([BpeTrainer, trainers.BpeTrainer])(**options))
        assert_same(theirs, ours, texts[:20])


def test_iterators_of_lists_and_of_nothing(corpora: dict[str, str]) -> None:
    texts = texts_of(random.Random(1), corpora, 20)
    for given in ([texts[:5], texts[5:]], [tuple(texts)], [], [[]], [""]):
        theirs, ours = pair_of(byte_level())
        options = {"vocab_size": 300, "initial_alphabet": ALPHABET, "show_progress": False}
        theirs.train_from_iterator(iter(given), trainers.BpeTrainer(**options))
        ours.train_from_iterator(iter(given), BpeTrainer(**options), length=3)
        assert_same(theirs, ours, texts)


def test_files_are_read_by_lines(corpora: dict[str, str], tmp_path: Path) -> None:
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    paths[0].write_bytes(corpora["en"][:20_000].replace("\n", "\r\n").encode())
    paths[1].write_bytes(corpora["code"][:20_000].encode() + b"\n\n  \n  no end")
    for pre_tokenizer in (byte_level(), byte_level(add_prefix_space=True)):
        theirs, ours = pair_of(pre_tokenizer, NORMALIZERS["NFC"])
        options = {"vocab_size": 500, "special_tokens": ["<s>"], "initial_alphabet": ALPHABET, "show_progress": False}
        theirs.train([str(path) for path in paths], trainers.BpeTrainer(**options))
        ours.train([str(path) for path in paths], trainers.BpeTrainer(**options))
        assert_same(theirs, ours, ["the\n\n  quick", " <s>x\r\n"])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"add_prefix_space": True, "trim_offsets": True},
        {"lowercase": True, "unicode_normalizer": "nfkc"},
        {"unicode_normalizer": "nfd"},
    ],
    ids=str,
)
def test_byte_level_bpe_tokenizer(options: dict[str, Any], corpora: dict[str, str], tmp_path: Path) -> None:
    theirs, ours = tokenizers.ByteLevelBPETokenizer(**options), ByteLevelBPETokenizer(**options)
    (tmp_path / "a.txt").write_text(corpora["en"][:30_000], encoding="utf-8")
    texts = texts_of(random.Random(2), corpora)
    for tokenizer in (theirs, ours):
        tokenizer.train_from_iterator(texts, vocab_size=330, show_progress=False, special_tokens=["<s>", "<pad>"])
    assert_same(theirs, ours, texts)
    theirs, ours = tokenizers.ByteLevelBPETokenizer(**options), ByteLevelBPETokenizer(**options)
    for tokenizer in (theirs, ours):
        tokenizer.train(str(tmp_path / "a.txt"), vocab_size=400, min_frequency=3, show_progress=False)
    assert_same(theirs, ours, texts)
    for tokenizer, name in ((theirs, "theirs"), (ours, "ours")):
        (tmp_path / name).mkdir()
        tokenizer.save_model(str(tmp_path / name))
        tokenizer.save_model(str(tmp_path / name), "p")
        tokenizer.enable_truncation(8)
        tokenizer.enable_padding(length=9)
    for file in ("merges.txt", "p-merges.txt"):
        assert (tmp_path / "ours" / file).read_text("utf-8") == (tmp_path / "theirs" / file).read_text("utf-8")
    files = [[str(tmp_path / name / file) for file in ("vocab.json", "merges.txt")] for name in ("theirs", "ours")]
    again = (
        tokenizers.ByteLevelBPETokenizer.from_file(*files[1], **options),
        ByteLevelBPETokenizer.from_file(*files[0], **options),
    )
    for text in texts[:20]:
        assert ours.encode(text).offsets == theirs.encode(text).offsets
        assert ours.encode(text).tokens == theirs.encode(text).tokens
        assert ours.decode(ours.encode(text).ids) == theirs.decode(theirs.encode(text).ids)
        assert again[0].encode(text).ids == again[1].encode(text).ids


def test_what_has_no_equal_is_refused() -> None:
    for options, message in (
        ({}, "initial_alphabet lacks 256 of the 256 characters"),
        ({"initial_alphabet": [*ALPHABET, "日"]}, "characters that stand for no byte"),
        ({"initial_alphabet": ALPHABET, "limit_alphabet": 100}, "limit_alphabet is 100"),
        ({"initial_alphabet": ALPHABET, "max_token_length": 8}, "max_token_length"),
        ({"initial_alphabet": ALPHABET, "end_of_word_suffix": "</w>"}, "end_of_word_suffix"),
        ({"initial_alphabet": ALPHABET, "special_tokens": ["!"]}, "special token '!' is the spelling of a byte"),
        ({"initial_alphabet": ALPHABET, "special_tokens": ["ab"]}, "special token 'ab' is also learned"),
    ):
        _, ours = pair_of(byte_level())
        with pytest.raises(ValueError, match=message):
            ours.train_from_iterator(["ab ab ab"], BpeTrainer(**options))
        with pytest.raises(ValueError, match="no vocabulary yet"):
            ours.encode("a")
    ours = Tokenizer(BPE())
    with pytest.raises(ValueError, match=r"\$\.pre_tokenizer: there is no ByteLevel"):
        ours.train_from_iterator(["ab"], BpeTrainer(initial_alphabet=ALPHABET))
    _, ours = pair_of(byte_level())
    ours.train_from_iterator(["ab ab"], BpeTrainer(initial_alphabet=ALPHABET, special_tokens=["<s>"]))
    with pytest.raises(ValueError, match="the tokenizer has added tokens"):
        ours.train_from_iterator(["ab ab"], BpeTrainer(initial_alphabet=ALPHABET))


def test_training_shows_no_bar(capfd: pytest.CaptureFixture[str]) -> None:
    _, ours = pair_of(byte_level())
    ours.train_from_iterator(["ab ab"], BpeTrainer(initial_alphabet=ALPHABET, show_progress=True))
    assert capfd.readouterr() == ("", "")


def test_a_training_keeps_the_options_of_the_model(tmp_path: Path) -> None:
    tokenizer = Tokenizer(BPE(unk_token="<unk>", dropout=0.5, ignore_merges=True))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = BpeTrainer(vocab_size=300, special_tokens=["<unk>"], initial_alphabet=ALPHABET, show_progress=False)
    tokenizer.train_from_iterator(["low lower"] * 9, trainer)
    assert (tokenizer.model.unk_token, tokenizer.model.dropout, tokenizer.model.ignore_merges) == ("<unk>", 0.5, True)
    tokenizer.model.dropout = None
    tokenizer.save(str(tmp_path / "without a decoder.json"))
    copied = copy.copy(tokenizer)
    copied.add_tokens(["low lo"])
    assert tokenizer.token_to_id("low lo") is None
