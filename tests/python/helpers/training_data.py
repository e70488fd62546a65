"""What the tests of training share: random corpora, and comparisons that name the first divergence."""

import random
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from toksmith import IdOrder, Tokenizer, reference
from toksmith.training.plan import Plan, Request

TIES: tuple[reference.Ties, ...] = ("bytes", "ids", "smallest_ids", "first", "huggingface")
SPECIAL_IDS: tuple[reference.SpecialIds, ...] = ("first", "after_bytes", "last")
BYTE_ORDERS: tuple[reference.ByteOrder, ...] = ("value", "gpt2")
END = "<|endoftext|>"

# Few letters, so that pairs overlap, repeat and tie. Among them characters of several bytes, bytes whose rank
# in GPT-2's order is not their value, and what the pattern treats in its own way.
ALPHABETS = [
    "a",
    "ab",
    "ab ",
    "aabc ",
    "abcd",
    " \n",
    "\0\x01a",
    "é日 a",
    "!\xad\x7fa",
    "'s ll",
    "aA1 \u0301",
    "<|a>",
]

# Specials that overlap, are prefixes of each other, hold regex syntax, spaces, other scripts, and single letters.
SPECIALS = [
    [],
    [END],
    ["ab", "abab", "b"],
    ["a", "aa"],
    [" ", "a "],
    ["\n"],
    [".*", "(", "[^a]", "|"],
    ["日", "é日"],
    ["<|a|>", "<|a|><|a|>", "<|"],
    ["ba", "abb", "bab"],
]
PATTERNS: list[str | None] = ["gpt2", "gpt2", None, r"\p{L}+", r"\S+|\s+", r"[ab]{1,3}", "cl100k", "o200k"]


@dataclass
class Corpus:
    """Documents, and the options to train on them with."""

    documents: list[str]
    vocab_size: int
    options: dict[str, Any] = field(default_factory=dict)


def random_text(rng: random.Random, alphabet: str, specials: Sequence[str], pieces: int) -> str:
    """Return letters, long runs of one, repeats of two or three, and special tokens, one after the other."""
    text = []
    for _ in range(rng.randint(0, pieces)):
        kind = rng.random()
        if kind < 0.12 and specials:
            text.append(rng.choice(specials))
        elif kind < 0.3:
            text.append(rng.choice(alphabet) * rng.randint(2, 12))
        elif kind < 0.5:
            text.append("".join(rng.choices(alphabet, k=rng.randint(2, 3))) * rng.randint(2, 5))
        else:
            text.append("".join(rng.choices(alphabet, k=rng.randint(1, 6))))
    return "".join(text)


def random_corpus(rng: random.Random) -> Corpus:
    """Return a small corpus with options of all kinds, `ties` excepted."""
    alphabet, specials = rng.choice(ALPHABETS), rng.choice(SPECIALS)
    documents = [random_text(rng, alphabet, specials, rng.choice((2, 4, 9))) for _ in range(rng.randint(1, 4))]
    merges = rng.choice((0, 1, 3, 6, 12, 24))
    return Corpus(
        documents,
        256 + len(specials) + merges,
        {
            "special_tokens": specials,
            "pattern": rng.choice(PATTERNS),
            "unmatched": rng.choice(("keep", "drop")),
            "special_ids": rng.choice(SPECIAL_IDS),
            "byte_order": rng.choice(BYTE_ORDERS),
            "min_frequency": rng.choice((0, 1, 1, 1, 2, 3, 7)),
        },
    )


def counted(corpus: Corpus) -> dict[bytes, int]:
    """Return the corpus's pretoken counts by the reference."""
    options = corpus.options
    source = pattern_source(options["pattern"])
    return reference.count_pretokens(
        corpus.documents, options["special_tokens"], source, unmatched=options["unmatched"]
    )


def pattern_source(pattern: str | None) -> str | None:
    """Return the regular expression behind a name."""
    from toksmith import patterns

    return patterns.NAMED.get(pattern, pattern) if pattern is not None else None


def quietly(train: Callable[..., Tokenizer], *args: Any, merges: int | None = None, **options: Any) -> Tokenizer:
    """Return what `train` makes of the rest. It must warn exactly if it makes fewer than `merges` merges."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tokenizer = train(*args, **options)
    said = [str(warning.message) for warning in caught]
    if merges is not None:
        early = len(tokenizer.merges) < merges
        assert bool(said) == early, (said, len(tokenizer.merges), merges)
    assert all("no pair is left" in message for message in said), said
    return tokenizer


def train_as_asked(
    sources: Any,
    vocab_size: int,
    *,
    special_ids: reference.SpecialIds = "first",
    byte_order: reference.ByteOrder = "value",
    **options: Any,
) -> Tokenizer:
    """Train with the options of the command line, some of which `train` leaves to `count_pretokens`."""
    if (special_ids, byte_order) != ("first", "value"):
        options["ids"] = IdOrder(special_ids, byte_order)
    return Plan(Request(sources=sources, vocab_size=vocab_size, **options)).run()


def assert_equal(found: Sequence[Any], expected: Sequence[Any], what: Any = "") -> None:
    """Compare whole lists; name the first item that differs."""
    if list(found) == list(expected):
        return
    pairs = enumerate(zip(found, expected, strict=False))
    at = next((i for i, (one, other) in pairs if one != other), min(len(found), len(expected)))
    raise AssertionError(
        f"item {at} is {list(found[at : at + 1])}, should be {list(expected[at : at + 1])} "
        f"({len(found)} items, should be {len(expected)}) {what}"
    )


def pairs_of(merges: Iterable[reference.Merge]) -> list[tuple[bytes, bytes]]:
    """Return the pairs of the reference's merges."""
    return [merge.pair for merge in merges]
