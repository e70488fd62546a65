"""Curves of compression: each size is what `shrink` makes, though nothing is encoded for it."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import toksmith
from toksmith import Tokenizer
from toksmith.lab.comparison import curves

ROOT = Path(__file__).resolve().parents[4]
SPECIAL = "<|endoftext|>"
PROSE = (ROOT / "docs/training.md").read_text(encoding="utf-8")
MANY_SCRIPTS = (
    "Žluťoučký kůň úpěl. 我能吞下玻璃。私はガラスを食べられます。 நான் கண்ணாடி சாப்பிடுவேன். 👍🏽 aaaaaaaaaaaa " * 3
)
TEXT = f"{PROSE}{MANY_SCRIPTS}{'a' * 37} {'ab' * 20} {'xyx' * 9}{SPECIAL}"


def counts_of(tokenizer: Tokenizer, text: str) -> Any:
    return np.bincount(tokenizer.encode(text, special=False))


def check(tokenizer: Tokenizer, text: str, sizes: list[int]) -> None:
    """Compare a curve with what each smaller tokenizer makes of the text."""
    found = curves.curve(tokenizer, counts_of(tokenizer, text))
    assert found.sizes.tolist() == list(range(int(found.sizes[0]), tokenizer.vocab_size + 1))
    for size in sizes:
        expected = len(toksmith.shrink(tokenizer, size).encode(text, special=False))
        assert curves.at(found, [size]) == [(size, expected)], size


@pytest.mark.parametrize("ties", ["bytes", "first"])
@pytest.mark.parametrize("special_ids", ["first", "after_bytes", "last"])
def test_trained(special_ids: Any, ties: Any) -> None:
    corpus = PROSE + "aaaa ababab xyxyx " * 30
    tokenizer = toksmith.train_from_iterator(
        [corpus], 700, special_tokens=[SPECIAL, "<a>"], special_ids=special_ids, ties=ties
    )
    check(tokenizer, TEXT, [*range(258, 700, 23), 699, 700])


@pytest.mark.parametrize("pattern", ["o200k", r"\w+|\W", None])
def test_other_patterns(pattern: str | None) -> None:
    tokenizer = toksmith.train_from_iterator([PROSE, MANY_SCRIPTS], 600, pattern=pattern)
    check(tokenizer, TEXT, [256, 257, 300, 444, 600])


def test_dropped_text() -> None:
    tokenizer = toksmith.train_from_iterator([PROSE], 400, pattern=r"\w+", unmatched="drop")
    check(tokenizer, TEXT, [256, 300, 400])


def test_an_extended_tokenizer_has_no_sizes_below_its_base() -> None:
    base = toksmith.train_from_iterator([PROSE], 300)
    tokenizer = toksmith.train_from_iterator([PROSE], 400, base=base, special_tokens=[SPECIAL])
    found = curves.curve(tokenizer, counts_of(tokenizer, TEXT))
    with pytest.raises(ValueError, match="cannot shrink"):
        toksmith.shrink(tokenizer, int(found.sizes[0]) - 1)
    check(tokenizer, TEXT, [int(found.sizes[0]), 350, 400])


def test_published(gpt2: Tokenizer, gpt2_ranks: Tokenizer) -> None:
    for tokenizer in (gpt2, gpt2_ranks):
        check(tokenizer, TEXT, [1000, tokenizer.vocab_size])


@pytest.mark.long
def test_published_on_corpora(
    corpora: dict[str, str], gpt2_ranks: Tokenizer, cl100k: Tokenizer, o200k: Tokenizer
) -> None:
    for tokenizer in (gpt2_ranks, cl100k, o200k):
        for text in corpora.values():
            check(tokenizer, text[:3_000_000], [300, 1000, 10_000, 40_000, tokenizer.vocab_size])


def with_all_pairs(tokenizer: Tokenizer, **options: Any) -> Tokenizer:
    """Return the tokenizer with a list of all pairs that make each token, as converters of rank files write it."""
    vocab = {id: token for id, token in tokenizer.vocab.items() if id not in tokenizer.special_tokens.values()}
    tokens = set(vocab.values())
    merges = [
        (token[:cut], token[cut:])
        for _, token in sorted(vocab.items())
        for cut in range(1, len(token))
        if token[:cut] in tokens and token[cut:] in tokens
    ]
    assert len(merges) > len(vocab) - 256
    return Tokenizer(vocab, merges, **options)


@pytest.mark.parametrize("ignore_merges", [False, True])
def test_lists_of_all_pairs(ignore_merges: bool) -> None:
    trained = toksmith.train_from_iterator([PROSE + "aaaa ababab xyxyx " * 30], 700)
    check(with_all_pairs(trained, ignore_merges=ignore_merges), TEXT, [*range(256, 700, 37), 699, 700])


@pytest.mark.long
def test_published_as_lists_of_all_pairs(corpora: dict[str, str], gpt2_ranks: Tokenizer) -> None:
    tokenizer = with_all_pairs(gpt2_ranks, ignore_merges=True)
    for text in corpora.values():
        check(tokenizer, text[:1_000_000], [300, 5000, 30_000, tokenizer.vocab_size])


VOCAB = {byte: bytes([byte]) for byte in range(256)}


@pytest.mark.parametrize(
    ("tokens", "merges", "message"),
    [
        # abc is made of ab, which is made later.
        ([b"abc", b"ab"], [(b"ab", b"c"), (b"a", b"b")], "before both are made"),
        (
            [b"ab", b"bc", b"abc"],
            [(b"a", b"b"), (b"ab", b"c"), (b"b", b"c"), (b"a", b"bc")],
            "two merges make b'abc'",
        ),
        ([b"ab", b"xyz"], [(b"a", b"b")], "no merge makes b'xyz'"),
    ],
)
def test_merges_out_of_order(tokens: list[bytes], merges: list[tuple[bytes, bytes]], message: str) -> None:
    tokenizer = Tokenizer(VOCAB | dict(enumerate(tokens, 256)), merges)
    with pytest.raises(ValueError, match=message):
        curves.curve(tokenizer, counts_of(tokenizer, "abc"))


def test_ranks_that_no_lower_pair_reaches() -> None:
    # abc has a lower rank than ab: text reaches it, and yet the merges are not in the order of the ranks.
    tokenizer = Tokenizer(VOCAB | {256: b"abc", 257: b"ab"}, None)
    with pytest.raises(ValueError, match="no merge makes b'abc'"):
        curves.curve(tokenizer, counts_of(tokenizer, "abc"))


def test_a_whole_pretoken_that_merging_does_not_make() -> None:
    tokens = {256: b"ab", 257: b"bc", 258: b"abc"}
    merges = [(b"b", b"c"), (b"a", b"b"), (b"ab", b"c")]  # abc is merged to a and bc
    tokenizer = Tokenizer(VOCAB | tokens, merges, ignore_merges=True)
    assert tokenizer.encode("abc") == [258]
    with pytest.raises(ValueError, match="merging its bytes does not make b'abc'"):
        curves.curve(tokenizer, counts_of(tokenizer, "abc"))
    check(Tokenizer(VOCAB | tokens, merges), "abc ab bc abcabc", [256, 257, 258, 259])


BEFORE_MERGES: dict[str, dict[str, Any]] = {
    "NFD and lower case": {
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "Lowercase"}]}
    },
    "a space in front": {
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    },
    "stages": {
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                {"type": "Digits", "individual_digits": True},
                {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
            ],
        }
    },
    "nothing else": {},
}


@pytest.mark.parametrize("case", BEFORE_MERGES)
def test_what_stands_before_the_merges_stays(case: str, tmp_path: Path) -> None:
    """Held against files with fewer merges, since `shrink` refuses such a tokenizer."""
    trained = toksmith.train_from_iterator([PROSE + "aaaa ababab xyxyx " * 30], 700, special_tokens=[SPECIAL])
    trained.save_huggingface(tmp_path)
    content = json.loads((tmp_path / "tokenizer.json").read_text()) | BEFORE_MERGES[case]
    flags = {"single_word": False, "rstrip": False, "normalized": True, "special": False}
    content["added_tokens"].append({"id": 700, "content": "<m>", "lstrip": True, **flags})

    def with_merges(count: int) -> Tokenizer:
        model = content["model"] | {"merges": content["model"]["merges"][:count]}
        made = {bytes([byte]) for byte in range(256)} | {left + right for left, right in trained.merges[:count]}
        names = {row["content"] for row in content["added_tokens"]}
        vocab = trained.vocab
        model["vocab"] = {
            name: id for name, id in content["model"]["vocab"].items() if vocab[id] in made or name in names
        }
        (tmp_path / "smaller.json").write_text(json.dumps(content | {"model": model}))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the ids of added tokens move
            return Tokenizer.from_huggingface(tmp_path / "smaller.json")

    merges = len(trained.merges)
    tokenizer = with_merges(merges)
    text = f"ÉÀ 2026 <m> {TEXT} \t<m>{SPECIAL}12<m>"
    found = curves.curve(tokenizer, counts_of(tokenizer, text))
    for count in (*range(0, merges, 61), merges - 1, merges):
        size = tokenizer.vocab_size - merges + count
        assert curves.at(found, [size]) == [(size, len(with_merges(count).encode(text, special=False)))], count


def test_an_added_token_that_merges_make_too(tmp_path: Path) -> None:
    trained = toksmith.train_from_iterator(["low lower lowest"], 260)
    trained.save_huggingface(tmp_path)
    content = json.loads((tmp_path / "tokenizer.json").read_text())
    id = trained.token_id(b"ow")
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": True, "special": False}
    content["added_tokens"].append({"id": id, "content": "ow", **flags})
    (tmp_path / "tokenizer.json").write_text(json.dumps(content))
    tokenizer = Tokenizer.from_huggingface(tmp_path)
    with pytest.raises(ValueError, match=r"is an added token and one that merges make"):
        curves.curve(tokenizer, counts_of(tokenizer, "low"))


def test_curves_of_a_comparison() -> None:
    trained = toksmith.train_from_iterator([PROSE], 1100)
    odd = Tokenizer(VOCAB | {256: b"xyz"}, [])
    texts = [PROSE[:2000], "", TEXT]
    found = toksmith.compare({"trained": trained, "odd": odd}, iter(texts), resamples=0)
    trained_curve, odd_curve = found.curves
    assert [point.vocab_size for point in trained_curve.points] == [512, 1024, 1100]
    size = sum(len(text.encode()) for text in texts)
    for point in trained_curve.points:
        shrunk = toksmith.shrink(trained, point.vocab_size)
        assert point.tokens == sum(len(shrunk.encode(text, special=False)) for text in texts)
        assert point.bytes_per_token == pytest.approx(size / point.tokens)
    assert (odd_curve.points, odd_curve.reason) == ((), "no merge makes b'xyz'")
    chosen = toksmith.compare(trained, iter(texts), sizes=[300, 5000, 256, 300], resamples=0)
    assert [point.vocab_size for point in chosen.curves[0].points] == [256, 300]
