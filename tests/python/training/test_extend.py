"""Extending against the definition, and shrinking against training with fewer tokens."""

import itertools
import pickle
import random
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from extending_oracle import extend, random_base, random_words
from published_data import VOCABULARIES, read_ranks
from training_data import BYTE_ORDERS, END, SPECIAL_IDS, TIES, assert_equal, quietly, random_corpus, train_as_asked

import toksmith
from toksmith import IdOrder, PretokenCounts, Tokenizer, count_pretokens, patterns, train
from toksmith._core import spell

Published = dict[str, str]


def counts_for(base: Tokenizer, words: dict[bytes, int]) -> PretokenCounts:
    return PretokenCounts(words, pattern=patterns.of_core(base._core), special_tokens=list(base.special_tokens))


def check_against_the_definition(rng: random.Random, base: Tokenizer, alphabet: str) -> bool:
    """Return whether a token was made that the base has, and never makes."""
    words = random_words(rng, alphabet)
    size = base.vocab_size + rng.choice((0, 1, 3, 8, 20))
    record = base._core.record()
    ties = record[0] if record else rng.choice(TIES)
    options: dict[str, Any] = {
        "ties": ties,
        "min_frequency": rng.choice((0, 1, 1, 2, 5)),
        "max_token_length": rng.choice((None, None, None, 1, 3, 4)),
    }
    expected, counts = extend(base, words, size, ties, options["min_frequency"], options["max_token_length"])
    found = quietly(train, counts_for(base, words), size, base=base, **options)
    what = (base.vocab, base.merges, words, options)
    assert_equal(list(found.vocab.items()), list(expected.vocab.items()), what)
    assert_equal(found.merges, expected.merges, what)
    assert found.special_tokens == base.special_tokens
    # The core takes it as proven that training makes no token which merges do not make; here it is looked up.
    assert found._core.unmade() == expected._core.unmade(), what
    assert found.merge_counts is not None
    assert_equal(found.merge_counts[len(found.merges) - len(counts) :], counts, what)
    for word in words:
        assert found.encode(word) == expected.encode(word), what
    for id, token in base.vocab.items():
        assert found.vocab[id] == token
    if not base._core.has_merges():
        return found._core.unmade()[:1] != base._core.unmade()[:1]
    assert_equal(found.merges[: len(base.merges)], base.merges, what)
    return any(left + right in base.vocab.values() for left, right in found.merges[len(base.merges) :])


@pytest.mark.parametrize("kind", ["ranks", "merges", "whole"])
@pytest.mark.parametrize("seed", range(3))
def test_random_bases_extend_by_the_definition(kind: str, seed: int) -> None:
    rng = random.Random(f"{kind} {seed}")
    made_old_tokens = 0
    for _ in range(150):
        alphabet = rng.choice(("a", "ab", "ab", "abc", "abcd"))
        made_old_tokens += check_against_the_definition(rng, random_base(rng, alphabet, kind), alphabet)
    assert made_old_tokens > 5


@pytest.mark.long
@pytest.mark.parametrize("kind", ["ranks", "merges", "whole"])
@pytest.mark.parametrize("seed", range(100, 104))
def test_more_random_bases_extend_by_the_definition(kind: str, seed: int) -> None:
    rng = random.Random(f"{kind} {seed}")
    for _ in range(2500):
        alphabet = rng.choice(("a", "ab", "ab", "abc", "abcd", "abcdefg"))
        check_against_the_definition(rng, random_base(rng, alphabet, kind), alphabet)


def test_random_trained_bases_extend_by_the_definition() -> None:
    rng = random.Random(7)
    for _ in range(150):
        alphabet = rng.choice(("ab", "abc", "abcd"))
        base = quietly(
            train,
            PretokenCounts(random_words(rng, alphabet), pattern=None, special_tokens=rng.choice(([], [END]))),
            rng.randint(257, 275),
            ties=rng.choice(TIES),
            ids=IdOrder(rng.choice(SPECIAL_IDS), rng.choice(BYTE_ORDERS)),
        )
        check_against_the_definition(rng, base, alphabet)


def test_extending_on_the_same_text_equals_training_at_once() -> None:
    # Under rules that do not look at ids, which differ where special tokens are last.
    rng = random.Random(3)
    for _ in range(200):
        corpus = random_corpus(rng)
        options = {**corpus.options, "special_ids": "first", "ties": rng.choice(("bytes", "first"))}
        once = quietly(train_as_asked, iter(corpus.documents), corpus.vocab_size, **options)
        middle = rng.randint(256 + len(options["special_tokens"]), corpus.vocab_size)
        base = quietly(train_as_asked, iter(corpus.documents), middle, **options)
        least = options["min_frequency"]
        both = quietly(train, iter(corpus.documents), corpus.vocab_size, base=base, min_frequency=least)
        assert both == once
        assert both.merge_counts == once.merge_counts


def test_new_special_tokens_come_first_and_old_text_encodes_the_same() -> None:
    base = train(iter(["the cat sat on the mat " * 5]), 266, special_tokens=[END], ids=IdOrder("last"))
    words = base.vocab_size
    larger = train(iter(["zzz qqq<|new|>zzzz qqqq" * 9]), words + 6, special_tokens=["<|new|>", END], base=base)
    assert larger.special_tokens == {END: base.special_tokens[END], "<|new|>": base.max_id + 1}
    assert larger.vocab_size == words + 6
    assert min(id for id in larger.vocab if id not in base.vocab) == larger.special_tokens["<|new|>"]
    text = f"the cat{END} sat"
    assert larger.encode(text) == base.encode(text)
    assert larger.encode("zzz<|new|>") != base.encode("zzz<|new|>")


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("gpt2", 60_000),
        ("cl100k", 60_000),
        *(pytest.param(name, 300_000, marks=pytest.mark.long) for name in ("gpt2", "cl100k", "o200k", "qwen2")),
    ],
)
def test_published_vocabularies_extend(name: str, size: int, data: Path, corpora: Published) -> None:
    ranks = {rank: token for token, rank in read_ranks(data, VOCABULARIES[name]).items()}
    base = Tokenizer(ranks, None, [END], pattern=name)
    text = corpora["multi"][:size]
    larger = train(iter([text]), base.vocab_size + 200, base=base)
    assert larger.vocab_size == base.vocab_size + 200
    assert dict(list(larger.vocab.items())[: base.vocab_size]) == dict(base.vocab)
    assert len(larger.encode(text)) < len(base.encode(text))
    counts = count_pretokens(iter([text]), pattern=name, special_tokens=[END])
    few = dict(counts.most_common(400))
    expected, _ = extend(base, few, base.vocab_size + 3, "bytes")
    found = train(counts_for(base, few), base.vocab_size + 3, base=base)
    assert list(found.vocab.items()) == list(expected.vocab.items())
    # Text to which no new merge applies.
    new = [token for id, token in larger.vocab.items() if id not in base.vocab]
    for word, _ in counts.most_common(20_000):
        if not any(token in word for token in new):
            assert larger.encode(word) == base.encode(word)


def test_what_does_not_go_with_a_base_is_refused(tmp_path: Path) -> None:
    base = train(iter(["low lower lowest"]), 262, special_tokens=[END], ties="ids")
    for options, message in (
        ({"pattern": "cl100k"}, "the base cuts text by"),
        ({"pattern": None}, "the base cuts text by"),
        ({"unmatched": "drop"}, "the base cuts text by"),
        ({"ties": "bytes"}, "trained with ties='ids'"),
        ({"ids": IdOrder()}, "ids cannot be combined with base"),
        ({"special_tokens": ["<|a|>", "<|b|>"]}, "264 tokens that are always there: the 262 of the base and 2"),
    ):
        with pytest.raises(ValueError, match=message):
            train_as_asked(iter(["text"]), 263, base=base, **options)
    with pytest.raises(TypeError, match=r"base is a Tokenizer, the name or path of one, .* not dict"):
        train(iter(["text"]), 263, base={})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"without the special tokens \['<|endoftext|>'\]"):
        train(PretokenCounts({b"abab": 3}), 263, base=base)
    with pytest.raises(ValueError, match="the base cuts text by"):
        train(PretokenCounts({b"abab": 3}, pattern=None, special_tokens=[END]), 263, base=base)
    same = train_as_asked(iter(["abab"]), 263, base=base, pattern="gpt2", unmatched="keep", ties="ids")
    assert same.vocab[262] == b"ab"
    # The rule is known from the file too.
    base.save(tmp_path / "base.json")
    with pytest.raises(ValueError, match="trained with ties='ids'"):
        train(iter(["text"]), 263, base=Tokenizer.load(tmp_path / "base.json"), ties="first")


def test_files_of_gpt2_extend(gpt2: Tokenizer, corpora: Published) -> None:
    text = corpora["code"][:200_000]
    larger = train(iter([text]), gpt2.vocab_size + 100, base=gpt2)
    assert larger.special_tokens == gpt2.special_tokens
    assert_equal(larger.merges[: len(gpt2.merges)], gpt2.merges)
    assert min(id for id in larger.vocab if id not in gpt2.vocab) == gpt2.max_id + 1
    assert larger.merge_counts is not None
    assert larger.merge_counts[:-100] == [None] * len(gpt2.merges)
    counts = [count or 0 for count in larger.merge_counts[-100:]]
    assert counts == sorted(counts, reverse=True)
    assert toksmith.surgery.shrink(larger, gpt2.vocab_size) == gpt2
    # By hand: the most frequent pair of what GPT-2 makes of the text.
    pairs: dict[tuple[int, int], int] = {}
    for word, count in count_pretokens(iter([text]), special_tokens=[END]).items():
        ids = gpt2.encode(word, special=False)
        for pair in itertools.pairwise(ids):
            pairs[pair] = pairs.get(pair, 0) + count
    best = max(pairs, key=lambda pair: (pairs[pair], gpt2.vocab[pair[0]], gpt2.vocab[pair[1]]))
    assert larger.merges[-100] == (gpt2.vocab[best[0]], gpt2.vocab[best[1]])
    assert counts[0] == pairs[best]


# Shrinking


def test_shrunk_equals_trained_with_fewer() -> None:
    rng = random.Random(11)
    for _ in range(300):
        corpus = random_corpus(rng)
        options = {**corpus.options, "ties": rng.choice(TIES)}
        whole = quietly(train_as_asked, iter(corpus.documents), corpus.vocab_size, **options)
        n = rng.randint(256 + len(options["special_tokens"]), whole.vocab_size)
        less = train_as_asked(iter(corpus.documents), n, **options)
        shrunk = toksmith.surgery.shrink(whole, n)
        assert shrunk == less, (corpus, n)
        assert shrunk.special_tokens == less.special_tokens
        assert shrunk.merge_counts == less.merge_counts
        assert toksmith.surgery.shrink(shrunk, n) is shrunk


def test_a_shrunk_extension_equals_a_smaller_extension() -> None:
    base = train(iter(["low lower lowest " * 3]), 262, special_tokens=[END], ids=IdOrder("last"))
    text = ["newer newest wider widest " * 4]
    whole = train(iter(text), 276, base=base, special_tokens=["<|new|>"])
    for n in range(263, 277):
        assert toksmith.surgery.shrink(whole, n) == train(iter(text), n, base=base, special_tokens=["<|new|>"])
    with pytest.raises(ValueError, match="263 stay, those of the tokenizer that was extended"):
        toksmith.surgery.shrink(whole, 262)


def test_shrinking_a_rank_vocabulary_takes_the_last_ranks(data: Path) -> None:
    ranks = {rank: token for token, rank in read_ranks(data, "cl100k_base").items()}
    specials = {END: 100257, "<|fim_prefix|>": 100258, "<|endofprompt|>": 100276}
    whole = Tokenizer(ranks, None, specials, pattern="cl100k")
    shrunk = toksmith.surgery.shrink(whole, 1003)
    least = {id: token for id, token in ranks.items() if id < 1000}
    assert shrunk == Tokenizer(
        least, None, {END: 1000, "<|fim_prefix|>": 1001, "<|endofprompt|>": 1002}, pattern="cl100k"
    )


def test_what_cannot_be_shrunk_is_refused() -> None:
    tokenizer = train(iter(["low lower lowest"]), 262, special_tokens=[END])
    with pytest.raises(ValueError, match="there are 262"):
        toksmith.surgery.shrink(tokenizer, 263)
    with pytest.raises(ValueError, match="257 stay, 256 bytes and special tokens"):
        toksmith.surgery.shrink(tokenizer, 256)
    assert toksmith.surgery.shrink(tokenizer, 257).merges == []
    with pytest.raises(TypeError):
        toksmith.surgery.shrink(tokenizer, 2.5)  # type: ignore[arg-type]
    # Three tokens that no merge makes, and one that two make.
    vocab = {byte: bytes([byte]) for byte in range(256)} | {256: b"ab", 257: b"abc", 258: b"xyz", 259: b"bc"}
    odd = Tokenizer(vocab, [(b"a", b"b"), (b"b", b"c"), (b"ab", b"c"), (b"a", b"bc")], pattern=None)
    assert toksmith.surgery.shrink(odd, 259).merges == [(b"a", b"b"), (b"b", b"c")]
    with pytest.raises(ValueError, match="without any merge there are still 257"):
        toksmith.surgery.shrink(odd, 256)


def test_counts_are_kept_saved_and_pickled(tmp_path: Path) -> None:
    counts = PretokenCounts({b"low": 5, b"lower": 2, b"widest": 2**40})
    tokenizer = train(counts, 264)
    assert tokenizer.merge_counts == [2**40] * 5 + [7, 7, 2]
    bare = Tokenizer(tokenizer.vocab, tokenizer.merges)
    assert bare.merge_counts is None
    assert bare == tokenizer
    assert bare.fingerprint == tokenizer.fingerprint
    for some in (tokenizer, toksmith.surgery.shrink(tokenizer, 263)):
        some.save(tmp_path / "saved.json")
        loaded = Tokenizer.load(tmp_path / "saved.json")
        assert loaded == some
        assert loaded.merge_counts == some.merge_counts
    more = train(PretokenCounts({b"zzzz": 3}), 265, base=bare)
    assert more.merge_counts == [None] * 8 + [9]
    more.save(tmp_path / "more.json")
    assert Tokenizer.load(tmp_path / "more.json").merge_counts == more.merge_counts
    fresh = train(PretokenCounts({b"pickled": 3}), 258)
    state = pickle.dumps(fresh)
    found, counts_before = fresh.fingerprint, list(fresh.merge_counts or ())
    del fresh
    again = pickle.loads(state)
    assert (again.fingerprint, again.merge_counts) == (found, counts_before)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (('"merge_counts": [7, 7]', '"merge_counts": [7]'), "1 counts for 2 merges"),
        (('"merge_counts": [7, 7]', '"merge_counts": [7, -1]'), "the count of a merge is -1"),
        (('"merge_counts": [7, 7]', '"merge_counts": 7'), "not a list"),
        (('"ties": "bytes"', '"ties": "best"'), r'\$\.training\.ties: "best" is not one of'),
        (('"least": 256', '"least": "x"'), 'began with "x" tokens'),
        (('"training": {', '"training": [], "other": {'), "training: .*expected a map"),
    ],
)
def test_a_damaged_record_is_refused(damage: tuple[str, str], message: str, tmp_path: Path) -> None:
    path = tmp_path / "saved.json"
    train(PretokenCounts({b"low": 5, b"lower": 2}), 258).save(path)
    text = path.read_text()
    assert damage[0] in text
    path.write_text(text.replace(*damage))
    with pytest.raises(ValueError, match=f"saved.json: .*{message}"):
        Tokenizer.load(path)


def test_shrinking_keeps_the_merge_rule_and_refuses_a_pipeline() -> None:
    trained = train(iter(["low lower lowest newer newest wider"]), 270)
    whole = Tokenizer(trained.vocab, trained.merges, ignore_merges=True)
    assert toksmith.surgery.shrink(whole, 266)._core.ignores_merges()
    assert not toksmith.surgery.shrink(trained, 266)._core.ignores_merges()
    vocab = {spell(token): id for id, token in trained.vocab.items()}
    merges = [(spell(left), spell(right)) for left, right in trained.merges]
    hf = tokenizers.Tokenizer(tokenizers.models.BPE(vocab, merges))
    hf.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    hf.normalizer = tokenizers.normalizers.Lowercase()
    with pytest.raises(ValueError, match="cannot shrink a tokenizer that does more"):
        toksmith.surgery.shrink(Tokenizer.from_huggingface(hf), 266)


def test_a_model_with_dropout_is_not_changed() -> None:
    vocab = {spell(bytes([byte])): byte for byte in range(256)} | {"ab": 256}
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE(vocab, [("a", "b")], dropout=0.5))
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.decoder = tokenizers.decoders.ByteLevel()
    base = Tokenizer.from_huggingface(theirs, dropout_seed=1)
    with pytest.raises(ValueError, match="leaves merges out at random, or merges by the names of its tokens, which"):
        train(iter(["abab"]), 259, base=base)
    with pytest.raises(ValueError, match="with dropout or one that merges by the names of its tokens cannot be"):
        toksmith.surgery.shrink(base, 256)
