"""`toksmith.compat.rustbpe` against the installed rustbpe, and as nanochat uses it."""

import copy
import pickle
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
import regex
import tiktoken
from pair_oracle import chunks_of, encoded, smallest_of_most_frequent, trained
from tiktoken_pieces import differing
from training_data import ALPHABETS, random_text

import toksmith
from toksmith import patterns
from toksmith.compat import rustbpe as ours

theirs = pytest.importorskip("rustbpe")

# nanochat/tokenizer.py
NANOCHAT = (
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]++[\r\n]*"""
    r"""|\s*[\r\n]|\s+(?!\S)|\s+"""
)
NANOCHAT_SPECIALS = ["<|bos|>", "<|user_start|>", "<|user_end|>", "<|assistant_start|>", "<|assistant_end|>"]
OTHERS = [r"\w+", r"\S+|\s+", r"[ab]{1,3}", r"\p{L}+", r"a|b$", r"[$a]+|\$|\s$", "", r"(?<=a)b|\s+(?!\S)|\w"]
PATTERNS: list[str | None] = [None, None, None, NANOCHAT, NANOCHAT, patterns.GPT2, *OTHERS]


def ranks_of(tokenizer: Any) -> list[tuple[bytes, int]]:
    return [(bytes(token), id) for token, id in tokenizer.get_mergeable_ranks()]


def assert_same(mine: ours.Tokenizer, peer: Any, samples: list[str]) -> None:
    """The same tokens, pattern and ids; the first difference is what pytest shows."""
    assert ranks_of(mine) == ranks_of(peer)
    assert mine.get_pattern() == peer.get_pattern()
    assert mine.vocab_size == peer.vocab_size
    expected = [peer.encode(sample) for sample in samples]
    assert [mine.encode(sample) for sample in samples] == expected
    assert mine.batch_encode(samples) == peer.batch_encode(samples) == expected
    # Where a token ends inside a character, text that the pattern drops can leave half of one.
    for ids in expected:
        assert mine.decode(ids) == peer.decode(ids)


# Against the original


@pytest.mark.parametrize("seed", range(200))
def test_random_texts(seed: int) -> None:
    rng = random.Random(seed)
    alphabet = rng.choice(ALPHABETS)
    texts = [random_text(rng, alphabet, [], rng.randint(0, 30)) for _ in range(rng.randint(0, 4))]
    pattern, vocab_size = rng.choice(PATTERNS), 256 + rng.randint(0, 60)
    mine, peer = ours.Tokenizer(), theirs.Tokenizer()
    mine.train_from_iterator(iter(texts), vocab_size, pattern=pattern)
    peer.train_from_iterator(iter(texts), vocab_size, pattern=pattern)
    samples = [*texts, *(random_text(rng, alphabet, [], 20) for _ in range(3)), "", "hello world 123!\n "]
    assert_same(mine, peer, samples)


@pytest.mark.parametrize("seed", range(60))
def test_the_definition(seed: int) -> None:
    # The same by the plain oracle: without the original, this is what the merges are.
    rng = random.Random(seed)
    texts = [random_text(rng, rng.choice(ALPHABETS), [], 30) for _ in range(3)]
    mine = ours.Tokenizer()
    mine.train_from_iterator(texts, 256 + 30)
    merges, _ = trained(chunks_of(texts, ours.GPT4_PATTERN), 256 + 30, smallest_of_most_frequent)
    tokens = [token for token, _ in mine.get_mergeable_ranks()]
    assert [tokens[left] + tokens[right] for left, right in merges] == tokens[256:]
    for text in texts:
        assert mine.encode(text) == encoded(chunks_of([text], ours.GPT4_PATTERN), merges)


# Characters to train on, and to encode.
SIZES = [(150_000, 50_000), pytest.param(1_000_000, 200_000, marks=pytest.mark.long)]


@pytest.mark.parametrize(("train_size", "encode_size"), SIZES)
@pytest.mark.parametrize("corpus", ["en", "code", "multi"])
@pytest.mark.parametrize("pattern", [None, NANOCHAT, patterns.GPT2, r"\w+|[^\w\s]+|\s+"])
def test_real_text(
    corpus: str, pattern: str | None, train_size: int, encode_size: int, corpora: dict[str, str]
) -> None:
    documents = corpora[corpus][5_000_000 : 5_000_000 + train_size].split("\n\n")
    mine, peer = ours.Tokenizer(), theirs.Tokenizer()
    mine.train_from_iterator(documents, 2000, pattern=pattern)
    peer.train_from_iterator(documents, 2000, pattern=pattern)
    assert_same(mine, peer, corpora[corpus][9_000_000 : 9_000_000 + encode_size].split("\n\n"))


@pytest.mark.long
@pytest.mark.parametrize("corpus", ["en", "code", "multi"])
@pytest.mark.parametrize("pattern", [None, NANOCHAT])
def test_whole_corpora(corpus: str, pattern: str | None, corpora: dict[str, str]) -> None:
    documents = corpora[corpus].split("\n\n")
    mine, peer = ours.Tokenizer(), theirs.Tokenizer()
    mine.train_from_iterator(documents, 32_000, pattern=pattern)
    peer.train_from_iterator(documents, 32_000, pattern=pattern)
    assert ranks_of(mine) == ranks_of(peer)
    assert mine.batch_encode(documents) == peer.batch_encode(documents)


def test_the_defaults_are_those_of_the_original() -> None:
    mine, peer = ours.Tokenizer(), theirs.Tokenizer()
    assert (mine.get_pattern(), mine.vocab_size) == (peer.get_pattern(), peer.vocab_size) == ("", 256)
    assert mine.get_mergeable_ranks() == ranks_of(peer)
    assert mine.encode("hello") == peer.encode("hello") == []
    assert mine.decode([104, 105]) == peer.decode([104, 105]) == "hi"
    mine.train_from_iterator([], 300)
    peer.train_from_iterator([], 300)
    assert mine.get_pattern() == peer.get_pattern() == ours.GPT4_PATTERN
    public = {name for name in dir(theirs.Tokenizer) if not name.startswith("_")}
    assert public <= set(dir(ours.Tokenizer))
    signature = theirs.Tokenizer.train_from_iterator.__text_signature__
    assert signature == "(self, iterator, vocab_size, buffer_size=8192, pattern=None)"
    assert ours.Tokenizer.train_from_iterator.__defaults__ == (8192, None)


@pytest.mark.parametrize("pattern", [None, NANOCHAT, patterns.GPT2])
def test_published_patterns_run_as_scanners(pattern: str | None) -> None:
    mine = ours.Tokenizer()
    mine.train_from_iterator(["low lower"], 260, pattern=pattern)
    assert patterns.of_core(mine.tokenizer._core).name in ("cl100k_old", "nanochat", "gpt2")


@pytest.mark.parametrize("buffer_size", [1, 2, 8192])
def test_buffer_size_changes_nothing(buffer_size: int) -> None:
    texts = [f"low lower {i}" for i in range(20)]
    mine, peer = ours.Tokenizer(), theirs.Tokenizer()
    mine.train_from_iterator((text for text in texts), 280, buffer_size, None)
    peer.train_from_iterator((text for text in texts), 280, buffer_size, None)
    assert_same(mine, peer, texts)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda t: t.train_from_iterator(5, 300), TypeError),
        (lambda t: t.train_from_iterator(["a", 5], 300), TypeError),
        (lambda t: t.train_from_iterator([b"a"], 300), TypeError),
        (lambda t: t.train_from_iterator(["a"], 300.0), TypeError),
        (lambda t: t.train_from_iterator(["a"], 300, pattern="("), ValueError),
        (lambda t: t.train_from_iterator(["a"], 300, pattern=5), TypeError),
        (lambda t: t.train_from_iterator(["a\ud800"], 300), ValueError),
        (lambda t: t.train_from_iterator((1 // 0 for _ in "a"), 300), ZeroDivisionError),
        (lambda t: t.encode(5), TypeError),
        (lambda t: t.encode("\ud800"), ValueError),
        (lambda t: t.batch_encode("ab"), TypeError),
        (lambda t: t.batch_encode(["ab", 5]), TypeError),
        (lambda t: t.decode([97, 999]), ValueError),
        (lambda t: t.decode(5), TypeError),
        (lambda t: setattr(t, "vocab_size", 5), AttributeError),
    ],
)
def test_errors_are_of_the_same_type(call: Any, error: type[Exception]) -> None:
    for tokenizer in (ours.Tokenizer(), theirs.Tokenizer()):
        tokenizer.train_from_iterator(["low low lower"], 258)
        with pytest.raises(error):
            call(tokenizer)


# nanochat


class RustBPETokenizer:
    """What nanochat makes of it: trained by rustbpe, then an Encoding of tiktoken for all else."""

    def __init__(self, library: Any, texts: Iterator[str], vocab_size: int) -> None:
        trainer = library.Tokenizer()
        trainer.train_from_iterator(texts, vocab_size - len(NANOCHAT_SPECIALS), pattern=NANOCHAT)
        ranks = {bytes(token): rank for token, rank in trainer.get_mergeable_ranks()}
        specials = {name: len(ranks) + i for i, name in enumerate(NANOCHAT_SPECIALS)}
        self.encoding = tiktoken.Encoding(
            name="rustbpe", pat_str=trainer.get_pattern(), mergeable_ranks=ranks, special_tokens=specials
        )
        self.trainer = trainer

    def conversation(self, question: str, answer: str) -> list[int]:
        special, text = self.encoding.encode_single_token, self.encoding.encode_ordinary
        return [
            special("<|bos|>"),
            *(special("<|user_start|>"), *text(question), special("<|user_end|>")),
            *(special("<|assistant_start|>"), *text(answer), special("<|assistant_end|>")),
        ]


def test_nanochat(corpora: dict[str, str]) -> None:
    documents = corpora["en"][:500_000].split("\n")
    mine = RustBPETokenizer(ours, iter(documents), 1024)
    peer = RustBPETokenizer(theirs, iter(documents), 1024)
    assert mine.encoding._mergeable_ranks == peer.encoding._mergeable_ranks
    assert mine.encoding.n_vocab == peer.encoding.n_vocab == 1024
    ids = mine.conversation("What is 2 + 1234?", "It's 1236.\n")
    assert ids == peer.conversation("What is 2 + 1234?", "It's 1236.\n")
    assert mine.encoding.decode(ids).startswith("<|bos|><|user_start|>What is 2 + 1234?<|user_end|>")
    # The tokenizer inside gives the ids of that Encoding itself, no tiktoken needed.
    text = corpora["en"][9_000_000:9_100_000]
    assert mine.trainer.encode(text) == peer.encoding.encode_ordinary(text)


# What differs from the original: the rows of docs/rustbpe.md


def test_one_text_is_no_iterator_of_texts() -> None:
    # Of a str the original takes each character for a text, and learns nothing.
    for text in ("low low", b"low low"):
        with pytest.raises(TypeError, match="pass \\[text\\]"):
            ours.Tokenizer().train_from_iterator(text, 300)  # type: ignore[arg-type]


def test_bad_sizes_are_value_errors() -> None:
    # There a panic, which `except Exception` does not catch, and a loop without end.
    tokenizer = ours.Tokenizer()
    for size in (-1, 0, 255, 2**32, 2**80):
        with pytest.raises(ValueError, match="vocab_size"):
            tokenizer.train_from_iterator(["a"], size)
    for size in (0, -1):
        with pytest.raises(ValueError, match="buffer_size"):
            tokenizer.train_from_iterator(["a"], 300, size)


def test_a_failed_training_changes_nothing() -> None:
    tokenizer = ours.Tokenizer()
    tokenizer.train_from_iterator(["low low lower"], 258)
    before = tokenizer.tokenizer
    for texts, size, pattern in [(["a"], 10, None), (["a"], 300, "("), (["a", 5], 300, r"\w+")]:
        with pytest.raises((ValueError, TypeError)):
            tokenizer.train_from_iterator(texts, size, pattern=pattern)  # type: ignore[arg-type]
    assert tokenizer.tokenizer is before
    assert tokenizer.get_pattern() == ours.GPT4_PATTERN


def test_bytes_that_are_no_utf8() -> None:
    # There a TypeError: its UnicodeDecodeError is built with one argument of five.
    with pytest.raises(UnicodeDecodeError) as caught:
        ours.Tokenizer().decode([97, 255])
    assert (caught.value.object, caught.value.start) == (b"a\xff", 1)


def test_counts_beyond_32_bits() -> None:
    # There counts are `i32`, and wrap around; the counts here are those of a long text, not the text itself.
    counts = toksmith.PretokenCounts({b"ab": 2**32 + 5, b"cd": 2**32 + 6, b"ef": 7}, pattern="cl100k_old")
    tokenizer = toksmith.train(counts, 259, ties="smallest_ids")
    assert list(tokenizer.merges) == [(b"c", b"d"), (b"a", b"b"), (b"e", b"f")]


def test_they_pickle_and_copy() -> None:
    tokenizer = ours.Tokenizer()
    tokenizer.train_from_iterator(["low low lower"], 258)
    for again in (pickle.loads(pickle.dumps(tokenizer)), copy.deepcopy(tokenizer)):
        assert again.get_mergeable_ranks() == tokenizer.get_mergeable_ranks()
        assert again.encode("lower") == tokenizer.encode("lower")
    with pytest.raises(TypeError):
        pickle.dumps(theirs.Tokenizer())


def test_a_dollar_is_the_end_of_the_text() -> None:
    # In `regex` it is also the place before a last newline.
    mine, peer = ours.Tokenizer(), theirs.Tokenizer()
    for tokenizer in (mine, peer):
        tokenizer.train_from_iterator(["x"], 256, pattern=r"a$|[$b]|\$|[]$c]|\n")
    for text in ("a\n", "a", "aa", "$b]c$\n", "\\$"):
        assert mine.encode(text) == peer.encode(text), text
    assert re.search("a$", "a\n")


def test_phrases_that_programs_look_for() -> None:
    for kind in (ours.Tokenizer, theirs.Tokenizer):
        with pytest.raises(ValueError, match=r"^Unknown token id: "):
            kind().decode([300])
        with pytest.raises(ValueError, match=r"^Invalid regex pattern: "):
            kind().train_from_iterator(["a"], 300, pattern="(")
    with pytest.raises(ValueError, match="vocab_size must be at least 256"):
        ours.Tokenizer().train_from_iterator(["a"], 255)


def test_a_pattern_that_backtracks_too_often() -> None:
    # There a panic in training, and no ids in encoding. Here this pattern is compiled.
    pattern, text = r"(?:a|aa)+(?=b)|a", "a" * 60
    mine, peer = ours.Tokenizer(), theirs.Tokenizer()
    mine.train_from_iterator([text], 256, pattern=pattern)
    assert mine.encode(text) == [97] * 60
    peer.train_from_iterator(["a"], 256, pattern=pattern)
    assert peer.encode(text) == []
    with pytest.raises(BaseException, match="BacktrackLimitExceeded"):
        peer.train_from_iterator([text], 257, pattern=pattern)


def test_nothing_is_logged(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    caplog.set_level("DEBUG")
    ours.Tokenizer().train_from_iterator(["low lower"], 260)
    assert (caplog.records, tuple(capfd.readouterr())) == ([], ("", ""))


def test_classes_of_code_points() -> None:
    # Each has those of its own Unicode: the original, with the engine that tiktoken has, of that one.
    characters = sorted(differing())
    mine, peer = ours.Tokenizer(), theirs.Tokenizer()
    letters = tiktoken.Encoding(
        "letters",
        pat_str=r"\p{L}",
        mergeable_ranks={bytes([byte]): byte for byte in range(256)},
        special_tokens={},
    )
    for tokenizer in (mine, peer):
        tokenizer.train_from_iterator(["x"], 256, pattern=r"\p{L}")
    assert peer.batch_encode(characters) == letters.encode_ordinary_batch(characters)
    found = ["".join(regex.findall(r"\p{L}", character)) for character in characters]
    assert mine.batch_encode(characters) == [list(letter.encode()) for letter in found]
    assert mine.batch_encode(characters) != peer.batch_encode(characters)
