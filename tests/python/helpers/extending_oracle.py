"""Extending by the definition: encode every word anew before each merge."""

import itertools
import random
from collections.abc import Mapping
from typing import Any

from toksmith import Tokenizer

Pair = tuple[int, int]


def rebuilt(base: Tokenizer, tokens: Mapping[int, bytes], merges: list[tuple[bytes, bytes]] | None) -> Tokenizer:
    """Return the base with more tokens and merges; its words are whole pretokens."""
    ignores_merges = merges is not None and base._core.ignores_merges()
    return Tokenizer(tokens, merges, base.special_tokens, pattern=None, ignore_merges=ignores_merges)


def precedes(one: Pair, other: Pair, tokens: Mapping[int, bytes], ties: str) -> bool:
    """Say whether a pair is merged before another of its count, which comes first in the text."""
    if ties == "bytes":
        return (tokens[one[0]], tokens[one[1]]) > (tokens[other[0]], tokens[other[1]])
    if ties == "first":
        return False
    return one > other if ties == "ids" else one < other


def best_pair(
    base: Tokenizer, words: Mapping[bytes, int], tokens: Mapping[int, bytes], ties: str, longest: int | None
) -> tuple[Pair | None, int]:
    counts: dict[Pair, int] = {}
    for word, count in words.items():
        if not count:
            continue
        ids = base.encode(word, special=False)
        for pair in itertools.pairwise(ids):
            if longest is None or len(tokens[pair[0]]) + len(tokens[pair[1]]) <= longest:
                counts[pair] = counts.get(pair, 0) + count
    best: Pair | None = None
    for pair, count in counts.items():
        if best is None or (count, precedes(pair, best, tokens, ties)) > (counts[best], False):
            best = pair
    return best, counts[best] if best else 0


def extend(
    base: Tokenizer,
    words: Mapping[bytes, int],
    vocab_size: int,
    ties: str,
    min_frequency: int = 1,
    longest: int | None = None,
) -> tuple[Tokenizer, list[int]]:
    """Return the extended tokenizer, and the count of each new merge."""
    tokens = dict(base.vocab)
    ranks = not base._core.has_merges()
    merges = None if ranks else list(base.merges)
    ordinary = {token: id for id, token in tokens.items() if id not in set(base.special_tokens.values())}
    now, counts = rebuilt(base, tokens, merges), []
    while len(tokens) < vocab_size:
        pair, count = best_pair(now, words, tokens, ties, longest)
        if pair is None or count < max(1, min_frequency):
            break
        left, right = tokens[pair[0]], tokens[pair[1]]
        if left + right not in ordinary:
            ordinary[left + right] = max(tokens) + 1
            tokens[max(tokens) + 1] = left + right
        else:
            assert not ranks, "under rank semantics that pair would have merged"
        if merges is not None:
            merges.append((left, right))
        counts.append(count)
        now = rebuilt(base, tokens, merges)
    return now, counts


def random_words(rng: random.Random, alphabet: str, size: int = 12) -> dict[bytes, int]:
    """Return words of few letters with counts."""
    words = {}
    for _ in range(rng.randint(1, size)):
        word = "".join(rng.choices(alphabet, k=rng.randint(1, 10))).encode()
        words[word] = rng.choice((1, 1, 1, 2, 3, 7, 2**33))
    return words


def random_base(rng: random.Random, alphabet: str, kind: str) -> Tokenizer:
    """Return a tokenizer that no training made: with tokens that nothing reaches, merges in any order, odd ids."""
    some = {"".join(rng.choices(alphabet, k=rng.randint(2, 5))).encode() for _ in range(rng.randint(0, 12))}
    tokens = [*(bytes([byte]) for byte in range(256)), *rng.sample(sorted(some), len(some))]
    if rng.random() < 0.3:
        rng.shuffle(tokens)
    step = rng.choice((1, 1, 3))
    vocab: dict[int, bytes] = {5 + step * index: token for index, token in enumerate(tokens)}
    specials: Any = rng.choice(([], ["<|x|>"], ["<|x|>", "<|y|>"]))
    if kind == "ranks":
        return Tokenizer(vocab, None, specials, pattern=None)
    known = set(tokens)
    pairs = [
        (token[:at], token[at:])
        for token in tokens
        for at in range(1, len(token))
        if token[:at] in known and token[at:] in known
    ]
    rng.shuffle(pairs)
    merges = pairs[: rng.randint(0, len(pairs))]
    return Tokenizer(vocab, merges, specials, pattern=None, ignore_merges=kind == "whole")
