"""Ids against tiktoken's and Hugging Face's, on the corpora, through every way that cuts a text or uses threads."""

import itertools
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import INSTRUCTION_SETS
from published_data import (
    VOCABULARIES,
    assert_ids,
    cut,
    documents_of,
    of_huggingface,
    of_tiktoken,
    on,
)

from toksmith import Tokenizer

Truth = Callable[[str, list[str]], list[Any]]

CORPORA = ("en", "code", "multi")
SLICE = 120_000


def cases(*grid: Sequence[Any]) -> list[Any]:
    """All combinations of instruction sets, perhaps corpora, and vocabularies: all but some are for `make test-long`.

    The short tests have each vocabulary and each corpus with what a tokenizer runs with by itself, and each other
    instruction set once with each vocabulary, or with one if there are no corpora.
    """
    found = []
    for case in itertools.product(*grid):
        places = [values.index(value) for values, value in zip(grid, case, strict=True)]
        is_short = case[0] is None or sum(places) % len(grid[1]) == 0
        found.append(pytest.param(*case, marks=[] if is_short else pytest.mark.long))
    return found


@pytest.fixture(scope="module")
def tokenizers(published: Callable[[str, str], Tokenizer]) -> Callable[[str], Tokenizer]:
    """A published vocabulary by the name of its pattern."""
    return lambda pattern: published(VOCABULARIES[pattern], pattern)


@pytest.fixture(scope="module")
def truth(data: Path) -> Truth:
    """The ids of documents: tiktoken's, for Qwen's pattern those of Hugging Face's tokenizers."""
    peers: dict[str, Any] = {}
    known: dict[tuple[str, int], list[Any]] = {}  # the same documents come again for each instruction set

    def encode(pattern: str, documents: list[str]) -> list[Any]:
        key = (pattern, hash(tuple(documents)))
        return known[key] if key in known else known.setdefault(key, ask(pattern, documents))

    def ask(pattern: str, documents: list[str]) -> list[Any]:
        make = of_huggingface if pattern == "qwen2" else of_tiktoken
        peer = peers[pattern] if pattern in peers else peers.setdefault(pattern, make(data, pattern))
        if pattern == "qwen2":
            encodings = peer.encode_batch_fast(documents, add_special_tokens=False)
            return [np.array(encoding.ids, np.uint32) for encoding in encodings]
        return [peer.encode_to_numpy(document, allowed_special="all") for document in documents]

    return encode


def check_every_way(
    tokenizer: Tokenizer, documents: list[str], expected: list[Any], workers: tuple[int, ...], sizes: tuple[int, ...]
) -> None:
    """One text, batches to lists and arrays, and streams cut anywhere: all have the ids of the documents."""
    text, flat = "".join(documents), np.concatenate([np.asarray(ids, np.uint32) for ids in expected])
    assert_ids(tokenizer.encode_to_numpy(text), flat, tokenizer, "one text")
    assert tokenizer.count(text) == len(flat)
    assert tokenizer.decode(flat) == text
    lengths = [len(ids) for ids in expected]
    for number in workers:
        lists = tokenizer.encode_batch(documents, workers=number)
        assert [len(ids) for ids in lists] == lengths, number
        assert_ids(list(itertools.chain.from_iterable(lists)), flat, tokenizer, f"lists, {number} workers")
        ids, starts = tokenizer.encode_batch_to_numpy(documents, workers=number)
        assert_ids(ids, flat, tokenizer, f"arrays, {number} workers")
        assert np.diff(starts).tolist() == lengths, number
    for size in sizes:
        stream = np.fromiter(tokenizer.encode_iterable(cut(text, size)), np.uint32)
        assert_ids(stream, flat, tokenizer, f"a stream of {size} characters a piece")


@pytest.mark.parametrize(("isa", "corpus", "pattern"), cases(INSTRUCTION_SETS, CORPORA, [*VOCABULARIES]))
def test_slices(
    corpora: dict[str, str],
    tokenizers: Callable[[str], Tokenizer],
    truth: Truth,
    isa: str | None,
    corpus: str,
    pattern: str,
) -> None:
    rng = random.Random(f"{corpus} {pattern}")
    documents: list[str] = []
    while len(documents) < 4:
        start = rng.randrange(len(corpora[corpus]) - SLICE)
        documents = documents_of(corpora[corpus][start : start + SLICE])
    tokenizer = on(tokenizers(pattern), pattern, isa)
    check_every_way(tokenizer, documents, truth(pattern, documents), (1, 3), (rng.randrange(500, 5000),))


@pytest.mark.parametrize("pattern", VOCABULARIES)
def test_a_stream_of_single_characters(
    corpora: dict[str, str], tokenizers: Callable[[str], Tokenizer], truth: Truth, pattern: str
) -> None:
    tokenizer = tokenizers(pattern)
    for corpus in CORPORA:
        documents = documents_of(corpora[corpus][5_000_000:5_030_000])
        (flat,) = [list(itertools.chain.from_iterable(truth(pattern, documents)))]
        for size in (1, 2, 63, 64, 65):
            stream = list(tokenizer.encode_iterable(cut("".join(documents), size)))
            assert_ids(stream, flat, tokenizer, f"{corpus}, {size} characters a piece")


@pytest.mark.parametrize(("isa", "pattern"), cases(INSTRUCTION_SETS, [*VOCABULARIES]))
def test_one_long_text(
    corpora: dict[str, str], tokenizers: Callable[[str], Tokenizer], truth: Truth, isa: str | None, pattern: str
) -> None:
    check_long_text(corpora, tokenizers(pattern), truth, isa, pattern, 60_000)


@pytest.mark.long
@pytest.mark.parametrize("pattern", VOCABULARIES)
def test_one_longer_text(
    corpora: dict[str, str], tokenizers: Callable[[str], Tokenizer], truth: Truth, isa: str | None, pattern: str
) -> None:
    check_long_text(corpora, tokenizers(pattern), truth, isa, pattern, 400_000)


def check_long_text(
    corpora: dict[str, str], tokenizer: Tokenizer, truth: Truth, isa: str | None, pattern: str, size: int
) -> None:
    # Cut and encoded on several threads: English, code and many scripts, and stretches without a place to cut.
    hard = [part * (size // len(part)) for part in ("日本語の文", "x", " ", "a1", "\r\n", "'ll")]
    parts = [corpora[corpus][6_000_000 : 6_000_000 + size] for corpus in CORPORA] + hard
    random.Random(pattern).shuffle(parts)
    tokenizer = on(tokenizer, pattern, isa)
    documents = documents_of("\nand ".join(parts))
    expected = np.concatenate([np.asarray(tokenizer.encode(document), np.uint32) for document in documents])
    assert_ids(tokenizer.encode_to_numpy("".join(documents)), expected, tokenizer)
    assert tokenizer.count("".join(documents)) == len(expected)
    if isa is None and pattern != "o200k":  # on long runs of spaces tiktoken has no result for it
        assert_ids(expected, np.concatenate(truth(pattern, documents)), tokenizer)


@pytest.mark.parametrize("pattern", VOCABULARIES)
def test_the_order_of_texts_does_not_matter(
    corpora: dict[str, str], tokenizers: Callable[[str], Tokenizer], truth: Truth, pattern: str
) -> None:
    # What one text leaves in a cache must not show in another: the same texts in other orders, and one by one.
    tokenizer = tokenizers(pattern)
    texts = [line for corpus in CORPORA for line in corpora[corpus][9_000_000:9_100_000].splitlines() if line]
    expected = [ids.tolist() for ids in truth(pattern, texts)]
    rng = random.Random(pattern)
    for number in range(3):
        order = rng.sample(range(len(texts)), len(texts))
        batch = tokenizer.encode_batch([texts[i] for i in order], workers=1 + number)
        assert batch == [expected[i] for i in order]
    assert [tokenizer.encode(text) for text in reversed(texts)] == expected[::-1]


@pytest.mark.long
@pytest.mark.parametrize("pattern", VOCABULARIES)
@pytest.mark.parametrize("corpus", CORPORA)
def test_whole_corpora(
    corpora: dict[str, str],
    tokenizers: Callable[[str], Tokenizer],
    truth: Truth,
    isa: str | None,
    corpus: str,
    pattern: str,
) -> None:
    documents = documents_of(corpora[corpus])
    tokenizer = on(tokenizers(pattern), pattern, isa)
    expected = truth(pattern, documents)
    check_every_way(tokenizer, documents, expected, (1, 2, 3, 4, 5, 6, 7, 8), (37, 4096, 1_000_003))
