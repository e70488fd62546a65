"""BPE-dropout: the ids of the definition for each seed, and its distribution."""

import itertools
import random
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
import tokenizers
from character_cases import make, text_of
from training_data import END

import toksmith
from toksmith import Tokenizer, reference

RATES = (0.1, 0.5, 0.9, 1.0)
PROSE = "the lower the newest widest lowest, 1234 low-lying! " * 3 + END + "über 日本語 low\n\n\tlow"


@pytest.fixture(scope="module")
def trained() -> Tokenizer:
    return toksmith.train(iter([PROSE * 3]), 298, special_tokens=[END])


def by_definition(tokenizer: Tokenizer, text: str, rate: float, seed: int, number: int = 0) -> list[int]:
    merges = list(tokenizer.merges) if tokenizer._core.has_merges() else None
    pattern, specials = tokenizer.pattern, dict(tokenizer.special_tokens)
    return reference.encode(
        text, tokenizer.vocab, merges, specials, pattern=pattern, dropout=rate, seed=seed, number=number
    )


@pytest.mark.parametrize("kind", ["merges", "ranks"])
def test_ids_are_those_of_the_definition(trained: Tokenizer, kind: str) -> None:
    rng = random.Random(kind)
    tokenizer = trained if kind == "merges" else Tokenizer(trained.vocab, None, trained.special_tokens)
    for _ in range(150):
        cuts = sorted(rng.choices(range(len(PROSE) + 1), k=2))
        text, rate, seed = PROSE[slice(*cuts)], rng.choice(RATES), rng.randrange(2**64)
        expected = by_definition(tokenizer, text, rate, seed)
        assert tokenizer.encode(text, dropout=rate, seed=seed) == expected, (text, rate, seed)
        assert tokenizer.encode_to_numpy(text, dropout=rate, seed=seed).tolist() == expected
        assert tokenizer.decode(expected) == text


def test_a_batch_depends_on_the_seed_alone(trained: Tokenizer) -> None:
    texts = [*(PROSE[at : at + 40] for at in range(0, len(PROSE), 7)), "", PROSE * 8000, END]
    first = trained.encode_batch(texts, dropout=0.3, seed=5, workers=1)
    for number, text in enumerate(texts):
        if len(text) < 1000:
            assert first[number] == by_definition(trained, text, 0.3, 5, number)
        assert trained.decode(first[number]) == text
    for workers in (2, 8, None):
        assert trained.encode_batch(texts, dropout=0.3, seed=5, workers=workers) == first
    ids, starts = trained.encode_batch_to_numpy(texts, dropout=0.3, seed=5, workers=2)
    assert ids.dtype == np.uint32
    assert [ids[a:b].tolist() for a, b in itertools.pairwise(starts)] == first
    assert trained.encode(texts[0], dropout=0.3, seed=5) == first[0]
    assert trained.encode_batch(texts, dropout=0.3, seed=6, workers=1) != first
    assert trained.encode(PROSE * 9, dropout=0.3) != trained.encode(PROSE * 9, dropout=0.3)
    assert trained.encode_batch([], dropout=0.3) == []


def test_the_ends_of_the_range(trained: Tokenizer) -> None:
    assert trained.encode(PROSE, dropout=0, seed=3) == trained.encode(PROSE)
    assert trained.encode(PROSE, dropout=1e-300, seed=3) == trained.encode(PROSE)
    bytes_of = {token[0]: id for id, token in trained.vocab.items() if len(token) == 1}
    single = [bytes_of[byte] for byte in PROSE.encode()]
    assert trained.encode(PROSE, special=False, dropout=1, seed=3) == single
    assert trained.encode(PROSE, dropout=1, seed=3).count(trained.special_tokens[END]) == 1


def test_wrong_options_are_refused(trained: Tokenizer) -> None:
    for rate in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="dropout is a probability from 0 to 1"):
            trained.encode("low", dropout=rate)
    for seed in (-1, 2**64):
        with pytest.raises(ValueError, match="seed is a whole number"):
            trained.encode_batch(["low"], dropout=0.5, seed=seed)
    with pytest.raises(TypeError):
        trained.encode("low", dropout=0.5, seed=1.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a text is a str, not bytes"):
        trained.encode(b"low", dropout=0.5)
    with pytest.raises(TypeError, match="takes a list of texts"):
        trained.encode_batch("low", dropout=0.5)
    with pytest.raises(ValueError, match="merges by the names of its tokens has no dropout"):
        Tokenizer.from_huggingface(make("llama", byte_fallback=False)).encode("low", dropout=0.5)


# Characters


@pytest.mark.parametrize("kind", ["llama", "gemma", "metaspace_first_True"])
def test_characters_are_merged_by_the_definition(kind: str) -> None:
    """The text is cut wherever no merge joins the two characters, as it always is; each piece is merged."""
    tokenizer, rng = Tokenizer.from_huggingface(make(kind)), random.Random(kind)
    for text in (text_of(rng, 9) for _ in range(60)):
        plain = tokenizer.encode(text)
        assert tokenizer.encode(text, dropout=1e-300, seed=1) == plain
        some = tokenizer.encode(text, dropout=0.4, seed=rng.randrange(99))
        assert tokenizer.decode(some) == tokenizer.decode(plain)
        assert len(some) >= len(plain) - 2
        finest = tokenizer.encode(text, dropout=1, seed=1)
        ordinary = [tokenizer.vocab[id].decode(errors="replace") for id in finest if id > 258]
        assert all(len(token) == 1 for token in ordinary if token not in tokenizer.special_tokens) or kind == "gemma"


# The distribution


def distribution(
    word: bytes, rank_of: Callable[[bytes, bytes], int | None], rate: float
) -> dict[tuple[bytes, ...], float]:
    """The probability of each result by the paper: all subsets of merges left out, step by step."""
    ends: Counter[tuple[bytes, ...]] = Counter()
    waiting = {tuple(word[i : i + 1] for i in range(len(word))): 1.0}
    while waiting:
        pieces, probability = waiting.popitem()
        ranks = [(rank_of(*pair), at) for at, pair in enumerate(itertools.pairwise(pieces))]
        merges = [(rank, at) for rank, at in ranks if rank is not None]
        for dropped in itertools.product((True, False), repeat=len(merges)):
            chance = probability * np.prod([rate if is_dropped else 1 - rate for is_dropped in dropped])
            left = [merge for merge, is_dropped in zip(merges, dropped, strict=True) if not is_dropped]
            if not left:
                ends[pieces] += chance
                continue
            at = min(left)[1]
            merged = (*pieces[:at], pieces[at] + pieces[at + 1], *pieces[at + 2 :])
            waiting[merged] = waiting.get(merged, 0.0) + chance
    return ends


def deviation(counts: Counter[tuple[bytes, ...]], expected: dict[tuple[bytes, ...], float]) -> float:
    """Chi-square, less its mean, in standard deviations; results that are expected less than 8 times are one."""
    total = counts.total()
    rare = {pieces for pieces, chance in expected.items() if chance * total < 8}
    assert counts.keys() <= expected.keys()
    cells = [(counts[pieces], expected[pieces] * total) for pieces in expected.keys() - rare]
    if rare:
        cells.append((sum(counts[pieces] for pieces in rare), sum(expected[pieces] for pieces in rare) * total))
    statistic = sum((count - mean) ** 2 / mean for count, mean in cells if mean > 0)
    freedom = len(cells) - 1
    return (statistic - freedom) / (2 * freedom) ** 0.5


MERGES = [(b"l", b"o"), (b"o", b"w"), (b"lo", b"w"), (b"e", b"r"), (b"l", b"ow"), (b"low", b"er"), (b"w", b"er")]


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("word", ["lower", "lowlow", "ower"])
def test_the_distribution_is_that_of_the_paper(word: str, rate: float) -> None:
    vocab = dict(enumerate([*map(bytes, zip(range(256), strict=True)), *dict.fromkeys(a + b for a, b in MERGES)]))
    tokenizer = Tokenizer(vocab, MERGES, pattern=None)
    expected = distribution(word.encode(), reference.rank_function(MERGES), rate)
    assert abs(sum(expected.values()) - 1) < 1e-9
    encoded = tokenizer.encode_batch([word] * 20_000, dropout=rate, seed=11)
    counts = Counter(tuple(vocab[id] for id in ids) for ids in encoded)
    assert abs(deviation(counts, expected)) < 4
    # The choices for the pretokens of one text do not depend on each other either.
    cut = Tokenizer(vocab, MERGES, pattern=f"(?:{word})")
    ends, row = Counter[tuple[bytes, ...]](), list[bytes]()
    for id in cut.encode(word * 20_000, dropout=rate, seed=12):
        row.append(vocab[id])
        if b"".join(row) == word.encode():
            ends[tuple(row)] += 1
            row = []
    assert abs(deviation(ends, expected)) < 4


def test_the_distribution_is_that_of_tokenizers() -> None:
    """Its choices have no seed: the bound is one that a billion runs meet. No merge here makes another impossible,
    since then `tokenizers` draws again for those that it had left out."""
    merges = [("a", "b"), ("c", "d"), ("ab", "cd")]
    names = {name: id for id, name in enumerate(("a", "b", "c", "d", "ab", "cd", "abcd"))}
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE(names, merges, dropout=0.3))
    counts = Counter(tuple(t.encode() for t in theirs.encode("abcd").tokens) for _ in range(5000))
    pairs = [(left.encode(), right.encode()) for left, right in merges]
    assert deviation(counts, distribution(b"abcd", reference.rank_function(pairs), 0.3)) < 20
