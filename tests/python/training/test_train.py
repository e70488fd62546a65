"""Training against the reference and against other trainers, and what it does at its limits."""

import json
import random
import string
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from small_sizes import count_pretokens
from tokenizers import models, pre_tokenizers, trainers
from training_data import (
    BYTE_ORDERS,
    END,
    SPECIAL_IDS,
    TIES,
    Corpus,
    assert_equal,
    counted,
    pairs_of,
    quietly,
    random_corpus,
    train_as_asked,
)

import toksmith
from toksmith import IdOrder, PretokenCounts, Tokenizer, patterns, reference, train, train_bpe
from toksmith._core import unspell

Published = dict[str, str]


def check(tokenizer: Tokenizer, corpus: Corpus, ties: reference.Ties, expected: list[tuple[bytes, bytes]]) -> None:
    """Compare merges, ids and special tokens with what the reference makes of these merges."""
    what = (ties, corpus)
    assert_equal(tokenizer.merges, expected, what)
    options = corpus.options
    specials = options["special_tokens"]
    vocab = reference.build_vocab(expected, specials, options["special_ids"], options["byte_order"])
    assert_equal(sorted(tokenizer.vocab.items()), sorted(vocab.items()), what)
    assert list(tokenizer.special_tokens) == list(specials), what
    for name, id in tokenizer.special_tokens.items():
        assert vocab[id] == name.encode(), what


def written(documents: Sequence[str], folder: Path) -> list[Path]:
    files = [folder / f"{number:03}.txt" for number in range(len(documents))]
    for file, document in zip(files, documents, strict=True):
        file.write_bytes(document.encode())
    return files


def train_in_all_ways(corpus: Corpus, ties: reference.Ties, files: Sequence[Path]) -> list[Tokenizer]:
    """Train from an iterator, from files, and from counts of both kinds."""
    options = {**corpus.options, "ties": ties}
    of_counts = {name: corpus.options[name] for name in ("pattern", "unmatched", "special_tokens")}
    given = PretokenCounts(counted(corpus), **of_counts)
    plan = {name: options[name] for name in ("ties", "special_ids", "byte_order", "min_frequency")}
    merges = corpus.vocab_size - 256 - len(corpus.options["special_tokens"])
    as_bytes = (document.encode() for document in corpus.documents)
    return [
        quietly(train_as_asked, iter(corpus.documents), corpus.vocab_size, merges=merges, **options),
        quietly(train_as_asked, iter(as_bytes), corpus.vocab_size, merges=merges, **options),
        quietly(train_as_asked, files, corpus.vocab_size, workers=3, merges=merges, **options),
        quietly(train_as_asked, given, corpus.vocab_size, merges=merges, **plan),
        quietly(train_as_asked, given, corpus.vocab_size, merges=merges, **options),
    ]


def random_corpora_equal_the_definition(seed: int, times: int, folder: Path) -> None:
    rng = random.Random(seed)
    for _ in range(times):
        corpus = random_corpus(rng)
        counts = counted(corpus)
        merges = corpus.vocab_size - 256 - len(corpus.options["special_tokens"])
        options = {**corpus.options}
        files = written(corpus.documents, folder) if rng.random() < 0.2 else None
        for ties in TIES:
            expected = pairs_of(
                reference.naive_merges(
                    counts, merges, ties, options["min_frequency"], byte_order=options["byte_order"]
                )
            )
            if files:
                for tokenizer in train_in_all_ways(corpus, ties, files):
                    check(tokenizer, corpus, ties, expected)
            else:
                tokenizer = quietly(
                    train_as_asked, iter(corpus.documents), corpus.vocab_size, merges=merges, ties=ties, **options
                )
                check(tokenizer, corpus, ties, expected)


@pytest.mark.parametrize("seed", range(4))
def test_random_corpora_equal_the_naive_oracle(seed: int, tmp_path: Path) -> None:
    random_corpora_equal_the_definition(seed, 50, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 110))
def test_more_random_corpora_equal_the_naive_oracle(seed: int, tmp_path: Path) -> None:
    random_corpora_equal_the_definition(seed, 4000, tmp_path)


@pytest.mark.parametrize("times", [100, pytest.param(1000, marks=pytest.mark.long)])
def test_random_counts_equal_the_naive_oracle(times: int) -> None:
    # Weights that no text of a test could have: beside each other, and around the powers of two.
    rng = random.Random(5)
    for _ in range(times):
        words = ["".join(rng.choices("ab\0", k=rng.randint(1, 9))).encode() for _ in range(rng.randint(1, 8))]
        power = rng.choice((0, 3, 8, 22, 23, 24, 25, 31, 32, 33, 50))
        counts = {word: max(0, 2**power + rng.randint(-2, 2)) for word in words}
        least = rng.choice((1, 2**power, 2**power + 1, 2 * 2**power))
        for ties in TIES:
            plan = {"ties": ties, "min_frequency": least, "byte_order": rng.choice(BYTE_ORDERS)}
            expected = pairs_of(reference.naive_merges(counts, 12, **plan))
            tokenizer = quietly(train_as_asked, PretokenCounts(counts), 268, merges=12, **plan)
            assert_equal(tokenizer.merges, expected, (plan, counts))


@pytest.mark.parametrize("special_ids", SPECIAL_IDS)
def test_ties_go_by_the_ids_of_the_result(special_ids: reference.SpecialIds) -> None:
    options: dict[str, Any] = {"byte_order": "gpt2", "special_ids": special_ids, "special_tokens": ["<s>"]}
    counts = PretokenCounts({b"\0a": 1, b"!a": 1}, special_tokens=["<s>"])
    for ties, expected in (("ids", b"\0a"), ("smallest_ids", b"!a")):
        tokenizer = train_as_asked(counts, 258, ties=ties, **options)
        others = {b"\0a", b"!a"} - {expected}
        ids = {token: id for id, token in tokenizer.vocab.items()}
        pairs = {token: (ids[token[:1]], ids[token[1:]]) for token in (expected, *others)}
        assert (max if ties == "ids" else min)(pairs, key=pairs.__getitem__) == expected
        assert tokenizer.merges == [(expected[:1], expected[1:])]


# Real text


def prefix(text: str, size: int) -> str:
    """Return about the first `size` bytes of a corpus."""
    return text.encode()[:size].decode(errors="ignore")


def equals_the_incremental_oracle(text: str, tmp_path: Path) -> None:
    counts = reference.count_pretokens(text, [END])
    expected = {ties: pairs_of(reference.incremental_merges(counts, 1000, ties)) for ties in TIES}
    file = tmp_path / "corpus.txt"
    file.write_bytes(text.encode())
    for workers, chunk in ((1, None), (2, 1), (7, 1 << 12), (1, 100_003), (7, 65_537), (2, None)):
        found = count_pretokens(file, special_tokens=[END], workers=workers, chunk_bytes=chunk)
        what = f"(workers {workers}, chunks of {chunk})"
        assert_equal(found.items(), list(counts.items()), what)
        for ties in TIES:
            assert_equal(train(found, 1257, ties=ties).merges, expected[ties], (ties, what))
    for ties in TIES:
        for workers in (1, 2, 7):
            tokenizer = train_as_asked(file, 1257, special_tokens=[END], ties=ties, workers=workers)
            assert_equal(tokenizer.merges, expected[ties], (ties, workers))


@pytest.mark.parametrize("size", [25_000, pytest.param(1_000_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", ["en", "code", "multi"])
def test_the_start_of_each_corpus_equals_the_incremental_oracle(
    name: str, size: int, corpora: Published, tmp_path: Path
) -> None:
    equals_the_incremental_oracle(prefix(corpora[name], size), tmp_path)


# Other trainers

HF_SPLIT = pre_tokenizers.ByteLevel(add_prefix_space=False)


def of_huggingface(documents: Sequence[str], merges: int) -> list[tuple[bytes, bytes]]:
    """Return the merges of Hugging Face's trainer."""
    hf = tokenizers.Tokenizer(models.BPE())
    hf.pre_tokenizer = HF_SPLIT
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=256 + merges, initial_alphabet=alphabet, show_progress=False)
    hf.train_from_iterator(documents, trainer)
    pairs = json.loads(hf.to_str())["model"]["merges"]
    return [tuple(unspell(part) or b"?" for part in pair) for pair in pairs]  # type: ignore[misc]


def of_rustbpe(documents: Sequence[str], merges: int) -> list[bytes]:
    """Return rustbpe's tokens by id."""
    trainer = pytest.importorskip("rustbpe").Tokenizer()
    trainer.train_from_iterator(iter(documents), vocab_size=256 + merges, pattern=patterns.GPT2)
    ranks = sorted(trainer.get_mergeable_ranks(), key=lambda item: item[1])
    assert [id for _, id in ranks] == list(range(len(ranks)))
    return [bytes(token) for token, _ in ranks]


def ours(documents: Sequence[str], merges: int, ties: reference.Ties) -> Tokenizer:
    return quietly(train, iter(documents), 256 + merges, ties=ties)


def pieces_of_huggingface(text: str) -> list[bytes]:
    return [unspell(piece) or b"" for piece, _ in HF_SPLIT.pre_tokenize_str(text)]


@pytest.fixture(scope="module")
def foreign() -> set[str]:
    """The characters that Hugging Face has in another class. rustbpe shows no pieces: taken for the same."""
    core = patterns.resolve("gpt2").core()
    differ: set[str] = set()
    characters = [chr(point) for point in (*range(0xD800), *range(0xE000, 0x33480), *range(0xE0000, 0xE0200))]
    for start in range(0, len(characters), 512):
        block = characters[start : start + 512]
        text = "".join(f"x{character}1\n" for character in block)
        if core.split(text.encode()) != pieces_of_huggingface(text):
            for character in block:
                alone = f"x{character}1"
                if core.split(alone.encode()) != pieces_of_huggingface(alone):
                    differ.add(character)
    return differ


def without(documents: Sequence[str], characters: set[str]) -> list[str]:
    table = dict.fromkeys(map(ord, characters), "?")
    return [document.translate(table) for document in documents]


def same_merges(
    documents: Sequence[str], merges: int, peer: Any, mine: Any, differing: set[str]
) -> tuple[bool, set[str]]:
    """Compare both trainers. Where they differ, they must not once the `differing` code points are replaced.

    Returns:
        Whether they were equal at once, and the code points that were replaced.
    """
    found, expected = mine(documents), peer(documents)
    if found == expected:
        return True, set()
    used = differing.intersection(*[set().union(*documents)])
    assert used, assert_equal(found, expected, "and no code point has another class there")
    cleaned = without(documents, used)
    assert_equal(mine(cleaned), peer(cleaned), f"also without {sorted(used)}")
    return False, used


def compare_with_huggingface(documents: Sequence[str], merges: int, foreign: set[str]) -> None:
    equal, used = same_merges(
        documents,
        merges,
        lambda texts: of_huggingface(texts, merges),
        lambda texts: list(ours(texts, merges, "huggingface").merges),
        foreign,
    )
    assert equal, f"the merges differ only because of the classes of {sorted(used)}"


def compare_with_rustbpe(documents: Sequence[str], merges: int, foreign: set[str]) -> None:
    equal, used = same_merges(
        documents,
        merges,
        lambda texts: of_rustbpe(texts, merges),
        lambda texts: list(ours(texts, merges, "smallest_ids").vocab.values()),
        foreign,
    )
    assert equal, f"the tokens differ only because of the classes of {sorted(used)}"


PARTS = [500_000, pytest.param(None, marks=pytest.mark.long, id="whole")]


@pytest.mark.parametrize("size", PARTS)
@pytest.mark.parametrize("name", ["en", "code", "multi"])
def test_merges_of_corpora_are_those_of_huggingface(
    name: str, size: int | None, corpora: Published, foreign: set[str]
) -> None:
    compare_with_huggingface(corpora[name][:size].split(END), 4744, foreign)


@pytest.mark.parametrize("size", PARTS)
@pytest.mark.parametrize("name", ["en", "code", "multi"])
def test_tokens_of_corpora_are_those_of_rustbpe(
    name: str, size: int | None, corpora: Published, foreign: set[str]
) -> None:
    compare_with_rustbpe(corpora[name][:size].split(END), 4744, foreign)


def test_a_code_point_of_another_class_is_found_to_be_the_difference(foreign: set[str]) -> None:
    # The proof of the way in which a divergence from the others would be explained.
    assert foreign, "Hugging Face's tables are ours: these tests could be simpler"
    strange = sorted(foreign)[:3]
    documents = [f"b{character}c" * 20 + " same words here" for character in strange]
    equal, used = same_merges(
        documents,
        20,
        lambda texts: of_huggingface(texts, 20),
        lambda texts: list(ours(texts, 20, "huggingface").merges),
        foreign,
    )
    assert not equal
    assert used == set(strange)


# Where training ends


def test_min_frequency_is_weighted_by_pretoken_counts() -> None:
    counts = PretokenCounts({b"ab": 5, b"cd": 4, b"abcd": 1})
    for least, expected in [(0, 3), (1, 3), (2, 2), (5, 2), (6, 1), (7, 0), (2**63, 0)]:
        often = f"at least {least} times" if least > 1 else "at all"
        with pytest.warns(UserWarning, match=f"occurs {often}: {expected} merges? (?:was|were) made, not 50"):
            tokenizer = train(counts, 306, min_frequency=least)
        assert tokenizer.merges == [(b"a", b"b"), (b"c", b"d"), (b"ab", b"cd")][:expected], least
        assert tokenizer.vocab_size == 256 + expected


def test_an_end_before_time_is_a_warning_that_says_so(tmp_path: Path) -> None:
    file = tmp_path / "ab"
    file.write_bytes(b"ab")
    with pytest.warns(UserWarning, match="1 merge was made, not 744, so the vocabulary has 257 tokens") as caught:
        tokenizer = train(file, 1000)
    assert len(caught) == 1
    assert Path(caught[0].filename) == Path(__file__)  # it points at the caller
    assert tokenizer.vocab_size == 257
    assert tokenizer.merges == [(b"a", b"b")]
    assert tokenizer.encode("ab") == [256]


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("pattern", ["gpt2", None, r"\p{L}+"])
def test_an_empty_file_has_no_merges(ties: reference.Ties, pattern: str | None, tmp_path: Path) -> None:
    file = tmp_path / "empty"
    file.touch()
    with pytest.warns(UserWarning, match="0 merges were made, not 10"):
        tokenizer = train(file, 267, special_tokens=[END], ties=ties, pattern=pattern)
    assert tokenizer.merges == []
    assert tokenizer.vocab_size == 257
    assert tokenizer.encode(f"a{END}") == [98, 0]


def test_texts_without_a_pair_have_no_merges() -> None:
    for texts in ([], [""], ["a"], ["a", "b"], [END], [END * 3], ["a" + END + "b"], b"", ""):
        with pytest.warns(UserWarning, match="0 merges were made, not 3"):
            tokenizer = train(iter(texts), 260, special_tokens=[END])
        assert tokenizer.merges == [], texts


def test_a_vocabulary_of_bytes_and_specials_alone() -> None:
    tokenizer = train(iter(["ab" * 50]), 258, special_tokens=["<a>", "<b>"])  # and no warning
    assert tokenizer.vocab_size == 258
    assert tokenizer.merges == []
    assert tokenizer.encode("<a>ab<b>") == [0, 2 + 97, 2 + 98, 1]


@pytest.mark.parametrize("vocab_size", [2**31, 2**32 - 1])
def test_a_vocabulary_larger_than_any_text_costs_nothing(vocab_size: int) -> None:
    with pytest.warns(UserWarning, match="2 merges were made"):
        assert train(iter(["abc"]), vocab_size).vocab_size == 258


# Counts


def test_counts_above_32_bits_decide() -> None:
    # Hugging Face's trainer wraps at 2^32 (issue 2058): then (x, y) would be first.
    assert train(PretokenCounts({b"  ": 3_000_000_000, b"xy": 5}), 257).merges == [(b" ", b" ")]
    assert train(PretokenCounts({b"xy": 5, b"    ": 3_000_000_000}), 257).merges == [(b" ", b" ")]
    counts = {b"ab": 2**32 + 1, b"cd": 2**32 + 2, b"ef": 3}
    assert train(PretokenCounts(counts), 259).merges == [(b"c", b"d"), (b"a", b"b"), (b"e", b"f")]


@pytest.mark.parametrize("ties", TIES)
def test_counts_up_to_2_to_the_63_are_exact(ties: reference.Ties) -> None:
    exact = PretokenCounts({b"ab": 2**62 + 1, b"cd": 2**62 - 1})
    assert exact.total == 2**63
    assert train(exact, 258, ties=ties).merges == [(b"a", b"b"), (b"c", b"d")]
    assert train(PretokenCounts({b"ab": 2**63}), 257, ties=ties).merges == [(b"a", b"b")]
    assert train(PretokenCounts({b"aaa": 2**62}), 257, ties=ties).merges == [(b"a", b"a")]


@pytest.mark.parametrize("ties", TIES)
def test_counts_past_2_to_the_63_are_an_error(ties: reference.Ties) -> None:
    with pytest.raises(ValueError, match=r'b"a" followed by b"a" passes 2\^63'):
        train(PretokenCounts({b"aaa": 2**62 + 1}), 257, ties=ties)
    with pytest.raises(ValueError, match=r"passes 2\^63"):
        train(PretokenCounts({b"a" * 100: 2**63}), 257, ties=ties)
    with pytest.raises(ValueError, match=r'^the sum of the counts up to b"b" passes 2\^63'):
        PretokenCounts({b"a": 2**63, b"b": 1})
    with pytest.raises(ValueError, match=r"between 0 and 2\^63"):
        PretokenCounts({b"a": 2**63 + 1})
    with pytest.raises(ValueError, match=r"passes 2\^63"):
        PretokenCounts({b"a": 2**62}) + PretokenCounts({b"a": 2**62 + 1})


def test_counts_add_up_in_order() -> None:
    one = PretokenCounts({b"x": 1, b"b": 2, b"a": 3})
    two = PretokenCounts({b"c": 5, b"b": 4, b"x": 1})
    both = one + two
    assert both.items() == [(b"x", 2), (b"b", 6), (b"a", 3), (b"c", 5)]
    assert (two + one).items() == [(b"c", 5), (b"b", 6), (b"x", 2), (b"a", 3)]
    assert one.items() == [(b"x", 1), (b"b", 2), (b"a", 3)]  # neither has changed
    assert both.most_common() == [(b"b", 6), (b"c", 5), (b"a", 3), (b"x", 2)]
    assert both.most_common(1) == [(b"b", 6)]
    assert both.most_common(0) == []
    assert (both.total, len(both), both[b"b"], both[b"never"]) == (16, 4, 6, 0)
    assert (both + both + PretokenCounts({})).total == 32
    assert "4 pretokens" in repr(both)


def test_equal_counts_come_in_the_order_of_the_text() -> None:
    counts = count_pretokens(iter(["b a c", "a d b"]), pattern=r"\w")
    assert counts.items() == [(b"b", 2), (b" ", 4), (b"a", 2), (b"c", 1), (b"d", 1)]
    assert counts.most_common(3) == [(b" ", 4), (b"b", 2), (b"a", 2)]


def test_pretokens_that_do_not_occur_are_left_out() -> None:
    counts = PretokenCounts({b"": 5, b"ab": 0, b"cd": 1})
    assert counts.items() == [(b"cd", 1)]
    assert train(counts, 257).merges == [(b"c", b"d")]


def test_counts_know_what_they_were_made_under() -> None:
    texts = ["a b<s>c d"]
    counts = count_pretokens(iter(texts), pattern=r"\S+", unmatched="drop", special_tokens=["<s>", "<t>"])
    other = PretokenCounts({b"a": 1})
    for wrong in (
        other,
        PretokenCounts({b"a": 1}, pattern=r"\S+", unmatched="drop"),
        PretokenCounts({b"a": 1}, pattern=r"\S+", special_tokens=["<s>", "<t>"]),
        PretokenCounts({b"a": 1}, pattern=None, unmatched="drop", special_tokens=["<s>", "<t>"]),
    ):
        with pytest.raises(ValueError, match="cannot be added"):
            counts + wrong
    for wrong_options in (
        {"pattern": r"\p{L}+"},
        {"pattern": None},
        {"unmatched": "drop", "pattern": r"\w"},
        {"special_tokens": ["<s>"]},
    ):
        with pytest.raises(ValueError, match="the counts were made"):
            train_as_asked(counts, 300, **wrong_options)
    tokenizer = quietly(train, counts, 300, special_tokens=["<t>", "<s>"])  # in another order
    assert dict(tokenizer.special_tokens) == {"<t>": 0, "<s>": 1}
    assert tokenizer.pattern.pattern == r"\S+"
    assert tokenizer.encode("a b") == [97 + 2, 98 + 2]


def test_counts_of_parts_train_as_the_whole(corpora: Published) -> None:
    documents = prefix(corpora["en"], 400_000).split(END)
    whole = count_pretokens(iter(documents))
    parts = PretokenCounts({})
    for start in range(0, len(documents), 7):
        parts += count_pretokens(iter(documents[start : start + 7]))
    assert_equal(parts.items(), whole.items())
    for ties in TIES:
        assert_equal(train(parts, 600, ties=ties).merges, train(iter(documents), 600, ties=ties).merges)


# What is given


def test_one_text_is_one_text_and_a_mapping_of_options_reaches_train_bpe(tmp_path: Path) -> None:
    assert train(iter(["abab"]), 257).merges == train(iter(["abab"]), 257).merges
    assert train(iter([b"abab"]), 257).merges == [(b"a", b"b")]
    file = tmp_path / "text"
    file.write_bytes(b"abab cdcd")
    for special_ids in SPECIAL_IDS:
        for byte_order in BYTE_ORDERS:
            vocab, merges = train_bpe(file, 260, ["<s>"], ids=IdOrder(special_ids, byte_order), ties="ids")
            assert merges == [(b"c", b"d"), (b"a", b"b"), (b"ab", b"ab")]
            assert vocab == reference.build_vocab(merges, ["<s>"], special_ids, byte_order)
            assert type(vocab) is dict
            assert type(merges) is list


def test_files_by_name_glob_folder_and_list(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    (folder / "deep").mkdir(parents=True)
    (folder / ".git").mkdir()
    contents = {
        "a.txt": b"xx",
        "b.txt": b"yy",
        "c[1].txt": b"zz",
        "deep/d.txt": b"ww",
        ".hidden": b"hh",
        ".git/e": b"ee",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)

    def seen(files: Any) -> list[bytes]:
        return [pretoken for pretoken, _ in count_pretokens(files).items()]

    assert seen(folder) == seen(str(folder)) == [b"xx", b"yy", b"zz", b"ww"]  # nothing hidden, in order
    assert seen(str(folder / "?.txt")) == [b"xx", b"yy"]
    assert seen(str(folder / "**" / "d.txt")) == [b"ww"]
    assert seen(str(folder / "c[1].txt")) == [b"zz"]  # a file of this name goes before a glob
    assert seen(bytes(folder / "a.txt")) == [b"xx"]
    assert seen([folder / "b.txt", str(folder / "a.txt")]) == [b"yy", b"xx"]  # the order of a list counts
    assert seen((str(folder / "deep"), folder / "a.txt")) == [b"ww", b"xx"]
    with pytest.raises(TypeError, match=r"PosixPath|WindowsPath"):
        seen(folder.glob("*.txt"))  # any other iterable is of texts


def test_files_are_documents_read_as_bytes(tmp_path: Path) -> None:
    files = [tmp_path / "1", tmp_path / "2"]
    files[0].write_bytes(b"\xef\xbb\xbfa\r\nlo")
    files[1].write_bytes(b"w\r\n")
    assert count_pretokens(files).items() == [
        ("\ufeff".encode(), 1),
        (b"a", 1),
        (b"\r", 1),
        (b"\n", 1),
        (b"lo", 1),
        (b"w", 1),
        (b"\r\n", 1),
    ]


# Hostile text


def huge(kind: str, size: int) -> str:
    """So many letters, or a third as many of three bytes."""
    rng = random.Random(0)
    if kind == "a":
        return "a" * size
    if kind == "acgt":
        return "".join(rng.choices("acgt", k=size))
    return "".join(map(chr, rng.choices(range(0x4E00, 0xA000), k=size // 3)))


@pytest.mark.parametrize("size", [300_000, pytest.param(2_000_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", ["a", "acgt", "cjk"])
@pytest.mark.parametrize("pattern", ["gpt2", None])
def test_one_giant_pretoken(kind: str, pattern: str | None, size: int) -> None:
    text = huge(kind, size)
    tokenizer = quietly(train, iter([text]), 1256, pattern=pattern)
    assert tokenizer.vocab_size <= 1256
    merges = tokenizer.merges
    if kind == "a":
        # So many doublings, then the pieces that are left, one for each 1 in the binary number, become one.
        assert len(merges) == size.bit_length() - 1 + size.bit_count() - 1
        assert tokenizer.encode(text) == [tokenizer.max_id]
    else:
        assert len(merges) == 1000
        part = text[:400]
        assert tokenizer.encode(part) == reference.encode(part, tokenizer.vocab, merges, pattern=None)
    assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize("size", [400, pytest.param(4000, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", ["a", "acgt", "cjk"])
@pytest.mark.parametrize("ties", TIES)
def test_a_long_pretoken_equals_the_oracle(kind: str, size: int, ties: reference.Ties) -> None:
    text = huge(kind, 12_000)[:size]
    expected = pairs_of(reference.incremental_merges({text.encode(): 1}, 60, ties))
    found = quietly(train, iter([text]), 316, ties=ties, pattern=None)
    assert_equal(found.merges, expected)


def test_many_lines_of_spaces() -> None:
    text = (" " * 80 + "x\n") * 20_000
    tokenizer = quietly(train, iter([text]), 1256)
    counts = reference.count_pretokens(text)
    assert_equal(tokenizer.merges, pairs_of(reference.incremental_merges(counts, 1000)))
    assert tokenizer.vocab_size < 300


@pytest.mark.parametrize("special_ids", SPECIAL_IDS)
def test_special_tokens_never_leak_into_merges(special_ids: reference.SpecialIds) -> None:
    # Hugging Face learns (<, |), (|, >), (endoft, ext) from this text.
    text = f"hello world{END}bye{END}{END} hello<|sep|>world{END}" * 500
    for ties in TIES:
        tokenizer = quietly(
            train, iter([text]), 400, special_tokens=[END, "<|sep|>"], ties=ties, ids=IdOrder(special_ids)
        )
        ordinary = [token for id, token in tokenizer.vocab.items() if id not in tokenizer.special_tokens.values()]
        assert not any(b"<|" in token or b"|>" in token or b"endof" in token for token in ordinary)
        assert {b"hello", b"world", b" hello", b" world", b"bye"}.issuperset(t for t in ordinary if len(t) > 4)
    assert not any(
        b"<" in pretoken for pretoken, _ in count_pretokens(iter([text]), special_tokens=[END, "<|sep|>"]).items()
    )


def test_special_tokens_are_no_patterns() -> None:
    # The typical bug: "|".join(special_tokens) without re.escape, and then `|` splits everywhere.
    text = "a|b.c a|b.c (x)"
    for specials in (["|"], [".", "(x)"], ["a|b"], [".*"], ["\\", "$"], ["|", "||"]):
        expected = reference.count_pretokens(text, specials)
        assert count_pretokens(iter([text]), special_tokens=specials).items() == list(expected.items())


def test_a_special_token_may_equal_a_byte_or_a_merge() -> None:
    tokenizer = quietly(train, PretokenCounts({b"abab": 3}, special_tokens=["ab", "a"]), 400)
    assert tokenizer.merges == [(b"a", b"b"), (b"ab", b"ab")]
    assert tokenizer.vocab == reference.build_vocab(tokenizer.merges, ["ab", "a"])
    assert tokenizer.encode("abab") == [0, 0]
    assert tokenizer.encode("abab", special=False) == [259]
    assert tokenizer.encode("bab a") == [2 + 98, 0, 2 + 32, 1]


def test_many_special_tokens() -> None:
    names = [f"<|{number}|>" for number in range(20_000)]
    texts = ["ab" + names[7] + "ab" + names[19_999]] * 5
    tokenizer = quietly(train, iter(texts), 20_300, special_tokens=names)
    assert tokenizer.encode(f"ab{names[19_999]}") == [20_256, 19_999]
    assert tokenizer.vocab_size == 20_257


# Progress


def test_progress_reaches_a_callback_in_whole_stages(tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_text("the cat sat on the mat " * 20_000)
    seen: list[tuple[str, int, int]] = []
    train(file, 264, progress=lambda *report: seen.append(report))
    assert {stage for stage, _, _ in seen} == {"count", "merge"}
    size = file.stat().st_size
    assert [report for report in seen if report[0] == "count"][-1] == ("count", size, size)
    assert seen[-1] == ("merge", 8, 8)
    for stage in ("count", "merge"):
        done = [done for name, done, _ in seen if name == stage]
        assert done == sorted(done)


@pytest.mark.parametrize("stop_at", ["count", "merge"])
@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, SystemExit, StopIteration])
def test_what_a_callback_raises_ends_the_training(error: type[BaseException], stop_at: str, tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_text("the cat sat on the mat " * 1000)

    def fail(stage: str, *_: int) -> None:
        if stage == stop_at:
            raise error("stop")

    with pytest.raises(error, match="stop"):
        train(file, 300, progress=fail)
    with pytest.raises(error, match="stop"):
        train(iter(["the cat"] * 1000), 300, progress=fail)
    assert train(file, 258).vocab_size == 258  # nothing is broken by it


def test_a_callback_may_train_itself(tmp_path: Path) -> None:
    inner: list[int] = []

    def again(*_: Any) -> None:
        inner.append(train(iter(["abab"]), 257).vocab_size)

    assert train(iter(["cdcd"] * 10), 257, progress=again).merges == [(b"c", b"d")]
    assert set(inner) == {257}


def test_an_iterator_may_fail_or_train_itself() -> None:
    def texts() -> Any:
        yield "abab"
        yield "".join(map(str, train(iter(["x y"]), 256).merges))
        raise ZeroDivisionError("stop")

    with pytest.raises(ZeroDivisionError, match="stop"):
        train(iter(texts()), 300)


def test_the_bar_goes_to_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        train(iter([string.ascii_letters * 100]), 300, progress=True)
    assert capfd.readouterr().out == ""


# How text is read, handed on to counting


def test_training_reads_what_counting_reads(tmp_path: Path) -> None:
    rows = [{"body": f"low lower {'newest ' * i}"} for i in range(5)]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    expected = train(iter([row["body"] for row in rows]), 262)
    assert train(toksmith.Corpus(path, field="body"), 262, memory_limit="100MB") == expected
    counts = count_pretokens(toksmith.Corpus(path, field="body"))
    for least in (1, 5, 8):
        some = train(counts.at_least(least), 258)
        assert train(count_pretokens(toksmith.Corpus(path, field="body"), min_pretoken_count=least), 258) == some
        for asked in (toksmith.Corpus(path, field="body"), counts):
            assert train_as_asked(asked, 258, min_pretoken_count=least) == some
    text = tmp_path / "text.txt"
    text.write_text("ab|ab|ab", encoding="utf-8")
    cut = train(toksmith.Corpus(text, document_separator="|"), 257, pattern=None)
    assert list(cut.merges) == [(b"a", b"b")]
    assert train(toksmith.Corpus(iter(["ab|ab|ab"]), document_separator="|"), 257, pattern=None) == cut
