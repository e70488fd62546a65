"""Training that balances languages: against its definition, against `tokenizers`, and what it refuses."""

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from balance_oracle import balanced_merges
from tokenizers import Tokenizer as HuggingFace
from tokenizers import models, pre_tokenizers, trainers
from training_data import (
    ALPHABETS,
    BYTE_ORDERS,
    END,
    TIES,
    assert_equal,
    pairs_of,
    quietly,
    random_text,
    train_as_asked,
)

from toksmith import Parity, PretokenCounts, Tokenizer, _core, count_pretokens, reference, train
from toksmith._core import unspell
from toksmith.training.parity import WINDOW

Counts = dict[bytes, int]


def random_counts(rng: random.Random, alphabet: str, scale: int) -> Counts:
    words = random_text(rng, alphabet, (), rng.choice((3, 12, 40))).encode() + b"ab ba"
    return {
        word: rng.choice((1, 1, 2, 5)) * scale for word in words.split() + [b" " + word for word in words.split()]
    }


def random_languages(rng: random.Random) -> dict[str, Counts]:
    """Return one to five languages, of which some have letters in common, and very different amounts of text."""
    return {
        f"language {number}": random_counts(rng, rng.choice(ALPHABETS), rng.choice((1, 1, 3, 2**33)))
        for number in range(rng.randint(1, 5))
    }


def random_measure(rng: random.Random, languages: dict[str, Counts]) -> dict[str, Any]:
    if rng.random() < 0.5:
        return {"ratio": {name: rng.choice((1, 1.0, 0.3, 2.5)) for name in languages}}
    return {"dev": {name: rng.choice((counts, random_counts(rng, "abcd ", 1))) for name, counts in languages.items()}}


def core_merges(
    languages: Mapping[str, Counts], num_merges: int, *, dev: Any = None, ratio: Any = None, **options: Any
) -> list[tuple[bytes, bytes, int]]:
    """Return the merges of the core with their counts; it takes any window."""
    measure: Any = [float(ratio[name]) if ratio else PretokenCounts(dev[name])._core for name in languages]
    texts = ([PretokenCounts(counts)._core for counts in languages.values()], measure, options.pop("window"))
    ties = "spelling" if options["ties"] == "huggingface" else options["ties"]
    learned = _core.learn(texts, {**options, "max_merges": num_merges, "ties": ties})
    tokens = [bytes([byte]) for byte in range(256)]
    merges = []
    for left, right, _, count in learned.merges():
        merges.append((tokens[left], tokens[right], count))
        tokens.append(tokens[left] + tokens[right])
    return merges


def check_random(rng: random.Random) -> int:
    """Compare with the definition; return how many merges there are."""
    languages = random_languages(rng)
    options: dict[str, Any] = {
        "ties": rng.choice(TIES),
        "min_frequency": rng.choice((0, 1, 1, 2, 4)),
        "window": rng.choice((None, None, (100, 2.0), (1, 1.0), (3, 1.0), (5, 0.5), (4, 2.0))),
        **random_measure(rng, languages),
    }
    num_merges = rng.choice((0, 5, 30, 200))
    expected = balanced_merges(languages, num_merges, **options)
    expected = [(merge.left, merge.right, merge.count) for merge in expected]
    assert_equal(core_merges(languages, num_merges, **options), expected, (languages, options))
    return len(expected)


def test_random_languages_are_learned_by_the_definition() -> None:
    rng = random.Random(1)
    assert sum(check_random(rng) for _ in range(250)) > 5000


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 104))
def test_more_random_languages_are_learned_by_the_definition(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(3000):
        check_random(rng)


TEXTS = {
    "English": "All human beings are born free and equal in dignity and rights. They are endowed with reason and "
    "conscience and should act towards one another in a spirit of brotherhood. 1948, 1948; 100000 times! ",
    "Deutsch": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen "
    "begabt und sollen einander im Geist der Brüderlichkeit begegnen. ",
    "Русский": "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и "
    "совестью и должны поступать в отношении друг друга в духе братства. ",
    "日本語": "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は、理性と"
    "良心とを授けられており、互いに同胞の精神をもって行動しなければならない。",
}
"""The first article of the Universal Declaration of Human Rights."""
AMOUNTS = dict(zip(TEXTS, (50, 20, 3, 1), strict=True))


def huggingface_merges(num_merges: int, variant: str, dev: bool, ratio: list[float] | None) -> list[Any]:
    """Return the merges of `tokenizers` on `TEXTS`."""
    tokenizer = HuggingFace(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.ParityBpeTrainer(
        num_merges=num_merges, variant=variant, initial_alphabet=alphabet, show_progress=False
    )
    texts = [iter([text] * AMOUNTS[name]) for name, text in TEXTS.items()]
    trainer.train_from_iterator(tokenizer, texts, [iter([text]) for text in TEXTS.values()] if dev else None, ratio)
    return [tuple(map(unspell, merge)) for merge in json.loads(tokenizer.to_str())["model"]["merges"]]


def our_tokenizer(num_merges: int, variant: str, dev: bool, ratio: list[float] | None, **options: Any) -> Tokenizer:
    sources = {name: iter([text] * AMOUNTS[name]) for name, text in TEXTS.items()}
    measure: dict[str, Any] = {"dev": {name: iter([text]) for name, text in TEXTS.items()}} if dev else {}
    if ratio:
        measure = {"ratio": dict(zip(TEXTS, ratio, strict=True))}
    parity = Parity(rule=variant, **measure)  # type: ignore[arg-type]
    return quietly(train_as_asked, sources, 256 + num_merges, parity=parity, **options)


@pytest.mark.parametrize("variant", ["base", "window"])
@pytest.mark.parametrize("ratio", [None, [1.0, 1.0, 1.8, 2.5]])
def test_merges_are_those_of_tokenizers(variant: str, ratio: list[float] | None) -> None:
    expected = huggingface_merges(350, variant, ratio is None, ratio)
    tokenizer = our_tokenizer(350, variant, ratio is None, ratio, ties="huggingface")
    assert_equal(tokenizer.merges, expected)
    assert len(expected) == 350


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("variant", ["base", "window"])
def test_real_text_is_learned_by_the_definition_with_any_workers(variant: str, ties: reference.Ties) -> None:
    counts = {name: reference.count_pretokens([text] * AMOUNTS[name]) for name, text in TEXTS.items()}
    dev = {name: reference.count_pretokens([text]) for name, text in TEXTS.items()}
    window = WINDOW if variant == "window" else None
    for workers, order in zip((1, 2, 3, 8), 2 * BYTE_ORDERS, strict=True):
        merges = list(balanced_merges(counts, 150, ties, dev=dev, window=window, byte_order=order))
        tokenizer = our_tokenizer(150, variant, True, None, ties=ties, byte_order=order, workers=workers)
        assert_equal(tokenizer.merges, pairs_of(merges))
        assert tokenizer.merge_counts == [merge.count for merge in merges]


def test_balance_brings_the_languages_together() -> None:
    def spread(tokenizer: Tokenizer) -> float:
        tokens = [len(tokenizer.encode(text)) for text in TEXTS.values()]
        return max(tokens) / min(tokens)

    ordinary = train(iter([text for name, text in TEXTS.items() for _ in range(AMOUNTS[name])]), 400)
    assert spread(ordinary) > 2
    assert spread(our_tokenizer(144, "base", True, None)) < 1.1


def test_a_base_and_forced_tokens_come_first() -> None:
    # The token "ab" of the base is the letter "x" of the definition.
    rng = random.Random(2)
    for _ in range(100):
        letters = {
            name: {bytes(rng.choices(b"xcd", k=rng.randint(1, 9))): rng.randint(1, 9) for _ in range(6)}
            for name in "ab"
        }
        merges = list(balanced_merges(letters, 12, "first", dev=letters))
        expected = [(merge.left.replace(b"x", b"ab"), merge.right.replace(b"x", b"ab")) for merge in merges]
        counts = {
            name: PretokenCounts({word.replace(b"x", b"ab"): count for word, count in words.items()})
            for name, words in letters.items()
        }
        base = train(PretokenCounts({b"ab": 1}), 257, ties="first")
        for options in ({"base": base}, {"forced_tokens": ["ab"], "ties": "first"}):
            tokenizer = quietly(train, counts, 269, parity=Parity(dev=counts), **options)
            assert_equal(tokenizer.merges, [(b"a", b"b"), *expected], letters)


def test_no_token_is_longer_than_asked() -> None:
    options: dict[str, Any] = {"parity": Parity(ratio={"a": 1, "b": 1}), "max_token_length": 3}
    tokenizer = quietly(
        train, {"a": PretokenCounts({b"abcdef": 3}), "b": PretokenCounts({b"ghij": 1})}, 300, **options
    )
    assert max(map(len, tokenizer.vocab.values())) == 3


def test_rare_pretokens_of_dev_are_kept(tmp_path: Path) -> None:
    counts = {"a": PretokenCounts({b"abab": 3}), "b": PretokenCounts({b"cdcd": 3, b"rare": 1})}
    options: dict[str, Any] = {"parity": Parity(dev=counts), "min_pretoken_count": 2}
    tokenizer = quietly(train_as_asked, counts, 262, log=tmp_path / "log.csv", **options)
    # The four pieces of "rare" make "b" the longer one, and they never merge.
    assert list(tokenizer.merges) == [(b"c", b"d"), (b"a", b"b"), (b"cd", b"cd"), (b"ab", b"ab")]
    assert (tmp_path / "log.csv").read_text().startswith("merge,")


def test_counts_and_memory_limits_give_the_same(tmp_path: Path) -> None:
    files = {}
    for name, text in TEXTS.items():
        files[name] = tmp_path / name
        files[name].write_text(text * AMOUNTS[name] + END, encoding="utf-8")
    options: dict[str, Any] = {"parity": Parity(ratio=AMOUNTS, rule="window"), "special_tokens": [END]}
    expected = train(files, 400, **options)
    assert train(files, 400, memory_limit="64MB", **options) == expected
    counts = {name: count_pretokens(file, special_tokens=[END]) for name, file in files.items()}
    assert train(counts, 400, parity=Parity(ratio=AMOUNTS, rule="window")) == expected
    assert all(len(text) for text in counts.values())
    assert train({**files, "English": counts["English"]}, 400, **options) == expected


def test_what_cannot_be_balanced_is_refused(tmp_path: Path) -> None:
    counts = PretokenCounts({b"ab": 1})
    languages, ratio = {"a": counts, "b": counts}, {"a": 1, "b": 1}
    empty = {"a": counts, "b": PretokenCounts({})}
    odd = Tokenizer({**{byte: bytes([byte]) for byte in range(256)}, 256: b"abc"}, [], pattern="gpt2")
    parity = Parity(ratio=ratio)
    cases: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
        (languages, {}, ValueError, "a dict of languages"),
        (counts, {"parity": parity}, TypeError, "sources is a dict"),
        ({}, {"parity": Parity(ratio={})}, TypeError, "sources is a dict"),
        (languages, {"parity": "base"}, TypeError, "parity is a toksmith.Parity"),
        (languages, {"parity": Parity(ratio={"a": 1})}, ValueError, r"ratio is for \['a'\], and sources for"),
        (languages, {"parity": Parity(dev={"a": counts, "c": counts})}, ValueError, "dev is for"),
        (languages, {"parity": parity, "checkpoint": tmp_path / "c"}, ValueError, "checkpoint cannot"),
        (languages, {"parity": parity, "base": odd}, ValueError, "base that has tokens"),
        (empty, {"parity": parity}, ValueError, r"sources\['b'\] has no text"),
        (languages, {"parity": Parity(dev=empty)}, ValueError, r"dev\['b'\] has no text"),
    ]
    for sources, options, kind, message in cases:
        with pytest.raises(kind, match=message):
            train(sources, 300, **options)
    for wrong, message in (
        ({"rule": "bas", "ratio": ratio}, "rule is one of"),
        ({}, "either dev"),
        ({"ratio": ratio, "dev": languages}, "either dev"),
        ({"ratio": {"a": 1, "b": 0}}, r"ratio\['b'\] is 0"),
        ({"ratio": {"a": 1, "b": float("nan")}}, r"ratio\['b'\] is nan"),
    ):
        with pytest.raises(ValueError, match=message):
            Parity(**wrong)  # type: ignore[arg-type]
