"""Superwords: training and encoding against the definition, through every way in."""

import gzip
import itertools
import json
import random
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import regex
import tokenizers
from cases import few
from small_sizes import encode_file, sizes
from training_data import BYTE_ORDERS, END, SPECIAL_IDS, TIES, assert_equal, quietly, train_as_asked

import toksmith
from toksmith import Document, PrefixCache, PretokenCounts, Superwords, Tokenizer, patterns, reference, train

PUBLISHED = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"
"""The pattern of SuperBPE's second stage. All text between two matches is one piece."""
ALPHABET = "ab1 23.,!/\n\r\t  '’é日\u0301\u00a0"
re_letters = regex.compile(r"\s?[\p{L}\p{M}']*( [\p{L}\p{M}']*)+")
SAMPLES = sorted((Path(toksmith.__file__).parent / "samples").glob("*.txt.gz"))


def samples() -> list[str]:
    return [gzip.decompress(path.read_bytes()).decode() for path in SAMPLES]


def noise(rng: random.Random) -> str:
    return "".join(rng.choices(ALPHABET, k=rng.randint(0, 30)))


def documents(rng: random.Random, count: int = 12) -> list[str]:
    """Return texts of few words, with what merges of the first stage could join across two of them."""
    words = ["don't", "the", "of", "a", "à", "été", "of the", "same", "'tis", "\u00a0 \u00a0", "ii", "日本 語"]
    joints = [" ", " ", " ", " ", "  ", ", ", "\n", "\n    ", ".\n", " 12 ", "''", END, "\u00a0"]
    size = rng.randint(5, 60)
    return ["".join(rng.choice(words) + rng.choice(joints) for _ in range(size)) + noise(rng) for _ in range(count)]


def expected(tokenizer: Tokenizer, text: str | bytes) -> list[int]:
    specials, pattern = tokenizer.special_tokens, patterns.of_core(tokenizer._core)
    return reference.encode(text, tokenizer.vocab, tokenizer.merges, specials, pattern=pattern.text)


@pytest.fixture(scope="module", params=["words", "spaces"])
def trained(request: pytest.FixtureRequest) -> Tokenizer:
    texts = [text[:60_000] for text in samples()]
    return train(deque(texts), 1200, superwords=Superwords(0.6, request.param), special_tokens=[END])


@pytest.fixture(scope="module")
def texts() -> list[str]:
    rng, whole = random.Random(5), samples()
    starts = [(text, rng.randrange(len(text))) for text in rng.choices(whole, k=40)]
    parts = [text[at : at + rng.randint(0, 300)] for text, at in starts]
    return [part + rng.choice((noise(rng), documents(rng, 1)[0])) for part in parts]


def test_cuts_are_those_of_the_definition() -> None:
    rng = random.Random(1)
    spaces = Superwords(rule="spaces").cuts(patterns.resolve("gpt2"))
    words = [Superwords().cuts(patterns.resolve(name)) for name in patterns.NAMED]
    assert {pattern.engine().engine for pattern in [spaces, *words]} == {"compiled"}
    for _ in range(1000):
        text = noise(rng)
        for pattern, source in [(spaces, PUBLISHED), *((pattern, pattern.text) for pattern in words)]:
            pieces = [piece.decode() for piece in pattern.core().split(text.encode())]
            assert pieces == reference.pretokenize(text, source), (source, text)


def with_any_merges(rng: random.Random, tokenizer: Tokenizer, text: str) -> Tokenizer:
    """Return a tokenizer without a pattern, with merges of any neighbours in a text; the last ones join words."""
    tokenizer = Tokenizer(tokenizer.vocab, tokenizer.merges, pattern=None)
    for number in range(80):
        at = rng.randrange(len(text))
        ids = tokenizer.encode(text[at : at + 20])[1:3]
        token = tokenizer.decode_bytes(ids)
        if len(ids) == 2 and tokenizer.encode(token) == ids and (number > 20 or b" " not in token):
            pair = (tokenizer.vocab[ids[0]], tokenizer.vocab[ids[1]])
            vocab = {**tokenizer.vocab, tokenizer.vocab_size: token}
            tokenizer = Tokenizer(vocab, [*tokenizer.merges, pair], pattern=None)
    return tokenizer


@pytest.mark.parametrize("seed", few(range(10), 2))
@pytest.mark.parametrize("name", patterns.NAMED)
def test_runs_of_words_are_found_by_any_spelling_of_their_pattern(name: str, seed: int) -> None:
    rng = random.Random(f"{name} {seed}")
    words = [
        "aB",
        "Ab",
        "b'll",
        "c's",
        "ſ",
        "don't",
        "of",
        "the",
        "日本",
        "été",
        "e\u0301",
        "'tis",
        "❤\ufe0f",
        "(a",
        "1234",
    ]
    joints = [" ", " ", " ", " ", "", "  ", "\n", "\n\n\n", "\t", ".", "’", "'", "\u00a0", "((", "/"]
    texts = ["".join(rng.choice(words) + rng.choice(joints) for _ in range(300)) for _ in range(20)]
    pattern = Superwords().cuts(patterns.resolve(name)).text
    first = quietly(train, iter(texts), 300, pattern=name)
    merged = with_any_merges(rng, first, texts[0])
    known, other = (Tokenizer(merged.vocab, merged.merges, pattern=text) for text in (pattern, f"(?:{pattern})"))
    for text in texts:
        assert_equal(known.encode(text), other.encode(text), (name, seed))
        assert known.count(text) == other.count(text)
    assert_equal(known.encode(texts[1]), expected(known, texts[1]), (name, seed))


@pytest.mark.parametrize("seed", few(range(40), 10))
def test_merges_and_ids_are_those_of_the_definition(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    superwords = Superwords(rng.choice((0.85, 0.9, 0.95)), rng.choice(("words", "spaces")), rng.randint(2, 4))
    texts, size, pattern = documents(rng), rng.randint(310, 360), rng.choice(("gpt2", "cl100k", "o200k", r"\S+|\s+"))
    ties, least = rng.choice(TIES), rng.choice((1, 1, 2, 5))
    options: dict[str, Any] = {
        "pattern": pattern,
        "ties": ties,
        "min_frequency": least,
        "special_tokens": [END],
        "special_ids": rng.choice(SPECIAL_IDS[:2]),  # "last" is refused
        "byte_order": rng.choice(BYTE_ORDERS),
    }
    first = quietly(train_as_asked, iter(texts), superwords.first_size(size), **options)
    options["superwords"] = superwords
    tokenizer = quietly(train_as_asked, deque(texts), size, workers=rng.randint(1, 8), **options)
    counts = reference.count_pretokens(texts, [END], superwords.cuts(patterns.resolve(pattern)).text)
    merges = reference.naive_merges(
        counts,
        size - first.vocab_size,
        ties,
        least,
        base=first.merges,
        max_words=superwords.max_words,
        byte_order=options["byte_order"],
    )
    assert_equal(list(tokenizer.merges), [*first.merges, *(merge.pair for merge in merges)], (seed, options))
    files = [tmp_path / f"{number:02}.txt" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_bytes(text.encode())
    with sizes(rng.choice((16, 200)), 1 << 16):
        limited = quietly(train_as_asked, files, size, memory_limit="40MB", **options)
        of_base = quietly(train, files, size, superwords=superwords, base=first)
    assert_equal(list(limited.vocab.items()), list(tokenizer.vocab.items()), seed)
    assert least > 1 or list(of_base.vocab.items()) == list(tokenizer.vocab.items()), seed
    for text in documents(rng, 3):
        assert_equal(tokenizer.encode(text), expected(tokenizer, text), (seed, text))


def test_too_few_frequent_pairs_are_counted_again() -> None:
    # The frequent neighbours are all too long for a token, and two letters that meet rarely are not.
    words = [f"{letter}{letter.upper() * 5}" for letter in "bcdefghijklmnopq"]
    base = quietly(train, iter(["  ".join(["", *words]) * 9]), 400)
    assert all(len(base.encode(f" {word}")) == 1 for word in words)
    texts = deque([" ".join(words)] * 500 + [" x y"] * 9)
    tokenizer = train(texts, base.vocab_size + 1, base=base, superwords=Superwords(), max_token_length=4)
    assert tokenizer.merges[-1] == (b"x", b" ")


def test_tokens_cross_what_the_rule_says(trained: Tokenizer) -> None:
    tokens = [token.decode("utf-8", "replace") for token in trained.vocab.values() if len(token.split()) > 1]
    assert len(tokens) > 20 and max(len(token.split()) for token in tokens) <= 4
    is_words = all(re_letters.fullmatch(token) for token in tokens)
    assert is_words == (
        patterns.of_core(trained._core).text != Superwords(rule="spaces").cuts(patterns.resolve("gpt2")).text
    )


def test_ids_are_those_of_the_definition_through_every_door(
    trained: Tokenizer, texts: list[str], tmp_path: Path
) -> None:
    ids = [expected(trained, text) for text in texts]
    assert_equal([trained.encode(text) for text in texts], ids, "encode")
    assert trained.encode_batch(texts) == ids
    flat, starts = trained.encode_batch_to_numpy(texts)
    assert flat.tolist() == list(itertools.chain.from_iterable(ids)) and (starts[1:] - starts[:-1]).tolist() == list(
        map(len, ids)
    )
    assert [trained.count(text) for text in texts] == list(map(len, ids))
    for text, own in zip(texts, ids, strict=True):
        own_ids, spans = trained.encode_with_offsets(text, unit="bytes")
        ends = list(itertools.accumulate(len(trained.vocab[id]) for id in own))
        assert own_ids == own and spans[:, 1].tolist() == ends
        assert trained.encode_parts([(text, True)]) == own
    whole = END.join(texts)
    joined = expected(trained, whole)
    rng, document, pieces = random.Random(2), Document(trained, ""), []
    while sum(map(len, pieces)) < len(whole):
        start = sum(map(len, pieces))
        pieces.append(whole[start : start + rng.choice((1, 7, 300))])
        document.append(pieces[-1])
    assert document.ids.tolist() == list(trained.encode_iterable(pieces)) == joined
    assert [id for part in trained.encode_iterable(pieces, arrays=True) for id in part.tolist()] == joined
    cache = PrefixCache(trained, 1 << 20)
    assert cache.encode(whole[: len(whole) // 2]) and cache.encode(whole) == joined
    path = tmp_path / "text.txt"
    path.write_bytes(whole.encode())
    assert encode_file(trained, path, window_bytes=64, workers=2).tolist() == joined
    rows = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    (tmp_path / "texts.jsonl").write_text(rows)
    toksmith.tokenize(tmp_path / "texts.jsonl", trained, tmp_path / "shards", append="none", workers=2)
    [shard] = (tmp_path / "shards").glob("*.bin")
    assert np.fromfile(shard, np.uint16).tolist() == flat.tolist()
    longer = whole * 40
    assert trained.encode(longer, workers=2) == trained.encode(longer, workers=1)
    data = b"of the \xff\xa0 the same \xe3\x81 of the"
    assert trained._core.encode_bytes(data, False) == expected(trained, data)


def test_files_hold_superwords(trained: Tokenizer, texts: list[str], tmp_path: Path) -> None:
    ids = trained.encode_batch(texts)
    trained.save(tmp_path / "own.json")
    assert Tokenizer.load(tmp_path / "own.json").encode_batch(texts) == ids
    trained.save_huggingface(tmp_path / "hub")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "hub/tokenizer.json"))
    assert [encoding.ids for encoding in theirs.encode_batch(texts)] == ids
    trained.save(tmp_path / "ranks.tiktoken", format="tiktoken")
    pattern = patterns.of_core(trained._core).text
    ranks = Tokenizer.from_tiktoken(tmp_path / "ranks.tiktoken", pattern=pattern, special_tokens={END: 0})
    assert ranks.encode_batch(texts) == ids
    for kind, reason in [
        ("tekken", "not known to mean the same"),
        ("sentencepiece", "merges characters"),
        ("gguf", "no pre-"),
    ]:
        with pytest.raises(ValueError, match=reason):
            trained.save(tmp_path / kind, format=kind)  # type: ignore[arg-type]
    long = "of the same end of " * 3000
    assert trained.encode(long) == theirs.encode(long).ids
    again = Tokenizer.from_huggingface(tmp_path / "hub")
    assert again.encode_batch(texts) == ids
    content = json.loads((tmp_path / "hub/tokenizer.json").read_text())
    split = content["pre_tokenizer"]["pretokenizers"][0]["pattern"]
    if "{2,}" in split["Regex"]:  # the published spelling of "spaces"
        split["Regex"] = PUBLISHED
        (tmp_path / "tokenizer.json").write_text(json.dumps(content))
        assert Tokenizer.from_huggingface(tmp_path).encode_batch(texts) == ids


@pytest.mark.parametrize(
    ("sources", "options", "message"),
    [
        (iter(["a b"]), {}, "several times, and sources is an iterator"),
        (PretokenCounts({b"a": 1}), {}, "learned from texts"),
        ({"en": ["x.txt"]}, {}, "a dict of languages"),
        (["x.txt"], {"log": "x.txt"}, "a .csv or a .jsonl file"),
        (["x.txt"], {"pattern": patterns.of_source("low", 2, "keep")}, "without flags"),
        (["x.txt"], {"base": Tokenizer(), "forced_tokens": ["low"]}, "which the base replaces"),
        (["x.txt"], {"base": Tokenizer(), "min_pretoken_count": 2}, "which the base replaces"),
        (["x.txt"], {"vocab_size": 280}, "transition 0.9 leaves 252 of 280 tokens"),
    ],
)
def test_what_superwords_cannot_be_learned_from(
    sources: Any, options: Any, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.txt").write_text("low lower")
    with pytest.raises(ValueError, match=message):
        train_as_asked(sources, **{"vocab_size": 300, "superwords": Superwords(), **options})


def test_options_are_checked() -> None:
    for wrong, message in [
        ({"transition": 1.0}, "transition is 1.0"),
        ({"rule": "all"}, "rule"),
        ({"max_words": 1}, "max_words"),
    ]:
        with pytest.raises(ValueError, match=message):
            Superwords(**wrong)  # type: ignore[arg-type]
    ranks = Tokenizer({id: bytes([id]) for id in range(256)} | {256: b"ab"})
    with pytest.raises(ValueError, match="need a list of merges"):
        train(deque(["a b"]), 300, base=ranks, superwords=Superwords())
