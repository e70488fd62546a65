"""The adapter beside `tokenizers` over many pipelines: every method of every encoding, and every part by itself."""

import functools
import json
import random
from typing import Any

import pytest
import tokenizers
from huggingface_cases import ADDED, DEEPSEEK, NORMALIZERS, PIECES, byte_level, make, sequence, split, text_of
from test_compat_huggingface import assert_equal, attempt
from tokenizers import AddedToken, Regex, decoders, normalizers, pre_tokenizers, processors

from toksmith import Tokenizer as Core
from toksmith.compat.huggingface import Tokenizer

PRE_TOKENIZERS = {
    "gpt2": byte_level(),
    "prefix": byte_level(add_prefix_space=True),
    "whole": byte_level(use_regex=False),
    "whole with prefix": byte_level(use_regex=False, add_prefix_space=True),
    "split": sequence(split(r"\w+|[^\w\s]+"), byte_level(use_regex=False)),
    "removed": sequence(split(r"\s", "removed"), byte_level()),
    "removed, prefix": sequence(split(r" ", "removed"), byte_level(add_prefix_space=True)),
    "inverted": sequence(split(r"\w+", "removed", invert=True), byte_level(use_regex=False)),
    "stages": sequence(pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.Punctuation(), byte_level()),
    "stages, prefix": sequence(
        pre_tokenizers.Digits(individual_digits=False),
        split("[aeiou]", "merged_with_next"),
        byte_level(add_prefix_space=True),
    ),
    "words": sequence(pre_tokenizers.WhitespaceSplit(), byte_level(add_prefix_space=True, use_regex=False)),
    "scripts": sequence(pre_tokenizers.UnicodeScripts(), byte_level(add_prefix_space=True)),
    "metaspace": sequence(pre_tokenizers.Metaspace(), byte_level(use_regex=False)),
    "metaspaces": sequence(
        pre_tokenizers.Digits(),
        pre_tokenizers.Metaspace("a", "first", split=False),
        split("[aeiou]"),
        pre_tokenizers.Metaspace("é", "always"),
        byte_level(add_prefix_space=True),
    ),
    "delimiter": sequence(pre_tokenizers.CharDelimiterSplit("e"), byte_level()),
    "deepseek": sequence(split(r"\p{N}{1,3}"), split("[一-龥]+"), split(DEEPSEEK), byte_level(use_regex=False)),
}

MORE_NORMALIZERS: dict[str, Any] = {
    "none": None,
    **NORMALIZERS,
    "bert": normalizers.BertNormalizer(),
    "cased bert": normalizers.BertNormalizer(lowercase=False, strip_accents=True, clean_text=False),
    "bytes": normalizers.Sequence([normalizers.NFC(), normalizers.ByteLevel()]),
    "strip": normalizers.Strip(),
    "prepend": normalizers.Prepend("_"),
    "replace": normalizers.Replace(Regex(r"\d+"), "0"),
    "delete": normalizers.Replace("a", ""),
    "several": normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()]),
}

ADDED_TO = {
    "none": (),
    "flags": ADDED,
    "normalized": (AddedToken("HeLLo"), AddedToken("King", normalized=True), AddedToken("É x", lstrip=True)),
    "in the model": (AddedToken("the"), AddedToken("ing", single_word=True), AddedToken("ab", special=True)),
}


def post_processors(made: Any) -> list[Any]:
    first, second = (("<s>", made.token_to_id("<s>")), ("<|end|>", made.token_to_id("<|end|>")))
    template = processors.TemplateProcessing(
        single="<s> $A <|end|>", pair="<s> $A <|end|>:1 $B:1", special_tokens=[first, second]
    )
    return [
        None,
        template,
        processors.ByteLevel(trim_offsets=True, add_prefix_space=False),
        processors.RobertaProcessing(second, first, trim_offsets=True, add_prefix_space=True),
        processors.Sequence([processors.ByteLevel(trim_offsets=True), template]),
    ]


def pair_of(
    pre_tokenizer: Any, normalizer: Any = None, added: Any = (), seed: int = 0, **options: Any
) -> tuple[Any, Tokenizer]:
    theirs = make(pre_tokenizer, normalizer, added, seed, **options)
    return theirs, Tokenizer.from_str(theirs.to_str())


def with_hello(rng: random.Random, pieces: int = 12) -> str:
    return "".join(rng.choice(["hello", "HELLO", "HeLLo", " É x", *PIECES]) for _ in range(rng.randrange(pieces)))


def check_encodings(theirs: Any, ours: Tokenizer, rng: random.Random, texts: int) -> None:
    kinds = post_processors(theirs)
    for _ in range(texts):
        processor = rng.choice(kinds)
        words, raw = rng.random() < 0.2, rng.random() < 0.2
        for tokenizer in (theirs, ours):
            tokenizer.post_processor = processor
            tokenizer.encode_special_tokens = raw
            tokenizer.no_truncation()
            tokenizer.no_padding()
        if rng.random() < 0.4:
            room = {
                "max_length": rng.randrange(12),
                "stride": rng.randrange(3),
                "direction": rng.choice(["left", "right"]),
            }
            set_up = [attempt(functools.partial(t.enable_truncation, **room)) for t in (theirs, ours)]
            assert set_up[0] == set_up[1], room
        if rng.random() < 0.3:
            length = rng.choice([None, 9])
            for tokenizer in (theirs, ours):
                tokenizer.enable_padding(length=length, pad_id=3, pad_token="#")
        one = [with_hello(rng, 5) for _ in range(3)] if words else with_hello(rng)
        two = rng.choice([None, with_hello(rng, 4)]) if not words else None
        arguments = (one, two, words, rng.random() < 0.7)
        found = [attempt(tokenizer.encode, *arguments) for tokenizer in (theirs, ours)]
        assert_equal(*found)


@pytest.mark.parametrize("name", PRE_TOKENIZERS)
def test_encodings_of_all_pre_tokenizers(name: str) -> None:
    rng = random.Random(name)
    for added in ADDED_TO.values():
        for normalizer in (None, rng.choice([*MORE_NORMALIZERS.values()])):
            check_encodings(*pair_of(PRE_TOKENIZERS[name], normalizer, added), rng, 8)


@pytest.mark.parametrize("name", MORE_NORMALIZERS)
def test_encodings_of_all_normalizers(name: str) -> None:
    rng = random.Random(name)
    for added in ADDED_TO.values():
        for pre_tokenizer in (byte_level(), rng.choice([*PRE_TOKENIZERS.values()])):
            check_encodings(*pair_of(pre_tokenizer, MORE_NORMALIZERS[name], added), rng, 8)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(60))
def test_encodings_of_more_pipelines(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(20):
        parts = [rng.choice([*kinds.values()]) for kinds in (PRE_TOKENIZERS, MORE_NORMALIZERS, ADDED_TO)]
        check_encodings(*pair_of(*parts, seed=seed), rng, 60)


@pytest.mark.parametrize("name", PRE_TOKENIZERS)
def test_pre_tokenizers_alone(name: str) -> None:
    theirs, ours = pair_of(PRE_TOKENIZERS[name])
    rng = random.Random(1)
    for text in ["", " ", *(text_of(rng, 12) for _ in range(150))]:
        assert ours.pre_tokenizer is not None
        assert ours.pre_tokenizer.pre_tokenize_str(text) == theirs.pre_tokenizer.pre_tokenize_str(text), text
    assert json.loads(ours.pre_tokenizer.__getstate__()) == json.loads(theirs.pre_tokenizer.__getstate__())


@pytest.mark.parametrize("name", MORE_NORMALIZERS)
def test_normalizers_alone(name: str) -> None:
    theirs, ours = pair_of(byte_level(), MORE_NORMALIZERS[name])
    assert (theirs.normalizer is None) == (ours.normalizer is None)
    rng = random.Random(2)
    for text in ["", *(text_of(rng, 12) for _ in range(150))] if ours.normalizer is not None else []:
        assert ours.normalizer.normalize_str(text) == theirs.normalizer.normalize_str(text), text


@pytest.mark.parametrize("ignore_merges", [True, False])
def test_models_alone(ignore_merges: bool) -> None:
    theirs, ours = pair_of(byte_level(), None, ADDED_TO["in the model"], ignore_merges=ignore_merges)
    rng = random.Random(3)
    spelled = [text for _ in range(100) for text, _ in theirs.pre_tokenizer.pre_tokenize_str(text_of(rng, 9))]
    for text in [*spelled, "", "the thing", "<s>", "a\u4e2db"]:
        tokens = [(token.id, token.value, token.offsets) for token in theirs.model.tokenize(text)]
        assert [(token.id, token.value, token.offsets) for token in ours.model.tokenize(text)] == tokens, text
    for token in [*theirs.get_vocab(), "zzz", ""]:
        assert ours.model.token_to_id(token) == theirs.model.token_to_id(token), token
    for id in range(theirs.get_vocab_size() + 2):
        assert ours.model.id_to_token(id) == theirs.model.id_to_token(id)
    for option in ("unk_token", "dropout", "fuse_unk", "byte_fallback", "ignore_merges"):
        assert getattr(ours.model, option) == getattr(theirs.model, option), option
    assert type(ours.model).__name__ == type(theirs.model).__name__


CONTENTS = ("the", "ing", "King", "new", "<x>", "x y", "a", "<s>", "<|end|>", "Å", "hello", "", " b")


def random_tokens(rng: random.Random, contents: list[str], again: bool) -> list[Any]:
    def one() -> Any:
        flags = {flag: rng.random() < 0.3 for flag in ("lstrip", "rstrip", "single_word", "special")}
        if rng.random() < 0.4:
            flags["normalized"] = rng.random() < 0.5
        content = rng.choice(contents)
        if not again:
            contents.remove(content)
        return rng.choice([content, AddedToken(content, **flags)])

    return [one() for _ in range(rng.randrange(1, 4)) if contents]


@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(8, 60))])
def test_tokens_that_are_added(seed: int) -> None:
    rng = random.Random(seed)
    normalizer = rng.choice([None, normalizers.Lowercase(), normalizers.NFKC()])
    theirs, ours = pair_of(rng.choice([*PRE_TOKENIZERS.values()]), normalizer)
    contents = [token for token in CONTENTS if normalizer is None or token not in ("<s>", "<|end|>")]
    for _ in range(6):
        add, tokens = (
            rng.choice(["add_tokens", "add_special_tokens"]),
            random_tokens(rng, contents, again=normalizer is None),
        )
        counts = [getattr(tokenizer, add)(tokens) for tokenizer in (theirs, ours)]
        assert counts[0] == counts[1], (add, tokens)
        assert ours.get_added_tokens_decoder() == theirs.get_added_tokens_decoder()
        for with_added in (True, False):
            assert ours.get_vocab(with_added) == theirs.get_vocab(with_added)
            assert ours.get_vocab_size(with_added) == theirs.get_vocab_size(with_added)
        for token in CONTENTS:
            assert ours.token_to_id(token) == theirs.token_to_id(token), token
        for raw in (True, False):
            for tokenizer in (theirs, ours):
                tokenizer.encode_special_tokens = raw
            for _ in range(12):
                text = "".join(rng.choice([*CONTENTS, " ", " the ", "thes", "x"]) for _ in range(rng.randrange(10)))
                assert_equal(theirs.encode(text), ours.encode(text))
                ids = theirs.encode(text).ids
                for skip in (True, False):
                    assert ours.decode(ids, skip) == theirs.decode(ids, skip_special_tokens=skip), text


def test_sizes_of_what_was_read(corpora: Any) -> None:
    theirs = make(byte_level(), None, ADDED_TO["flags"])
    for ours in (Tokenizer.from_str(theirs.to_str()), Tokenizer(Core.from_huggingface(theirs))):
        assert ours.get_vocab(False) == theirs.get_vocab(False)
        assert ours.get_vocab_size(False) == theirs.get_vocab_size(False)
        assert ours.get_added_tokens_decoder() == theirs.get_added_tokens_decoder()
        for start in range(0, 5000, 500):  # some methods of `tokenizers` read all of a text for one index
            text = corpora["en"][start : start + 500]
            assert_equal(theirs.encode(text), ours.encode(text))


@pytest.mark.parametrize("decoder", [decoders.ByteLevel(), None])
def test_decoders(decoder: Any) -> None:
    theirs, _ = pair_of(byte_level(), None, ["é", "ĠĠ", "<x>"])
    if decoder is None:
        theirs = tokenizers.Tokenizer.from_str(json.dumps({**json.loads(theirs.to_str()), "decoder": None}))
    ours = Tokenizer.from_str(theirs.to_str())
    assert (ours.decoder is None) == (theirs.decoder is None)
    rng = random.Random(4)
    for _ in range(200):
        ids = rng.choices(range(theirs.get_vocab_size() + 2), k=rng.randrange(8))
        assert ours.decode(ids, False) == theirs.decode(ids, skip_special_tokens=False)


def test_parts_that_are_set() -> None:
    theirs, ours = pair_of(byte_level(), None, ADDED_TO["flags"])
    rng = random.Random(5)
    for pre_tokenizer in PRE_TOKENIZERS.values():
        normalizer = rng.choice([*MORE_NORMALIZERS.values()])
        for tokenizer in (theirs, ours):
            tokenizer.pre_tokenizer = pre_tokenizer
            tokenizer.normalizer = normalizer
        if normalizer is None:
            assert ours.normalizer is None
        check_encodings(theirs, ours, rng, 10)
        ours.pre_tokenizer = ours.pre_tokenizer  # of its own kind, too
        check_encodings(theirs, ours, rng, 5)
    ours.pre_tokenizer = sequence(byte_level(), pre_tokenizers.Digits())
    with pytest.raises(ValueError, match=r"\$\.pre_tokenizer"):
        ours.encode("a")
    ours.pre_tokenizer = theirs.pre_tokenizer
    check_encodings(theirs, ours, rng, 5)
