"""How compression grows with the vocabulary: the tokens of a text under every smaller vocabulary, from one encoding.

Merges are applied in order. So a tokenizer without its last merges leaves a text in the state before these merges
were applied. `curve` goes from the last merge to the first and replaces each token that the merge made by the two
tokens that it joined; the number of these tokens says how often the merge was applied. The number of tokens under the
first n merges is the number of bytes of the text less the applications of these n merges. No text is encoded again,
and further sizes cost nothing.

This is right only if merges are applied in order, and `curve` checks that:

- Each token is made by one merge, of tokens that earlier merges make. A list made of ranks may instead have, one
  after another, all pairs that make a token: the bytes of the token then always reach the same one of these pairs.
- If a pretoken that is a token is encoded to that token before any merge, merging its bytes makes the same token.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...tokenizer import Tokenizer
from .. import parts


class TokensBySize(NamedTuple):
    """How many tokens a text has under vocabularies of rising sizes."""

    sizes: NDArray[np.int64]  # the sizes, each one more than the last: `int64`, shape (sizes,)
    tokens: NDArray[np.int64]  # the tokens of the text under each: `int64`, shape (sizes,)


def curve(tokenizer: Tokenizer, counts: NDArray[np.int64]) -> TokensBySize:
    """Return how many tokens a text has under `toksmith.shrink(tokenizer, n)`, for every n that it takes.

    A tokenizer with a normalizer, added tokens or other parts before its merges, which `shrink` refuses, keeps them.

    Raises:
        ValueError: The tokenizer merges characters, or merges out of order; says why.
    """
    joined = _joined(tokenizer)
    applied = np.zeros(len(joined), np.int64)
    counts_by_id = np.zeros(tokenizer.max_id + 1, np.int64)
    counts_by_id[: len(counts)] = counts
    uses: list[int] = counts_by_id.tolist()
    for number in range(len(joined) - 1, -1, -1):
        token, left, right = joined[number]
        applied[number] = uses[token]
        uses[left] += uses[token]
        uses[right] += uses[token]
    # The steps before the merges change a text, and find added tokens, whatever the merges are.
    ordinary = parts.ordinary_tokens(tokenizer)
    added = sum(number for id, number in enumerate(counts.tolist()) if id not in ordinary)
    total = added + sum(uses[id] for id, token in ordinary.items() if len(token) == 1)
    tokens = total - np.concatenate([[0], applied.cumsum()])
    # The last size has all merges, and each one before has one less.
    sizes = np.arange(tokenizer.vocab_size - len(joined), tokenizer.vocab_size + 1)
    is_possible = sizes >= parts.min_size(tokenizer)
    return TokensBySize(sizes[is_possible], tokens[is_possible])


def powers(sizes: NDArray[np.int64]) -> list[int]:
    """Return the powers of two among sizes, from 512 on, and the last size.

    If there is no such power, return the first size and the last one.
    """
    first, last = int(sizes[0]), int(sizes[-1])
    powers = [2**power for power in range(9, 32) if first <= 2**power < last]
    return [*(powers or [first][: last - first]), last]


def at(curve: TokensBySize, sizes: Iterable[int]) -> list[tuple[int, int]]:
    """Return those of some sizes that the curve has, with their tokens."""
    first, last = int(curve.sizes[0]), int(curve.sizes[-1])
    return [(size, int(curve.tokens[size - first])) for size in sizes if first <= size <= last]


def _joined(tokenizer: Tokenizer) -> list[tuple[int, int, int]]:
    """Return the merges in order, each with the id that it makes and the two that it joins."""
    ordinary, has_merges = parts.ordinary_tokens(tokenizer), parts.has_merges(tokenizer)
    _check_pipeline(tokenizer, ordinary)
    merges = _merges_of_ids(tokenizer)
    joined = _reached(ordinary, merges) if has_merges else sorted(merges)
    known = {id for id, token in ordinary.items() if len(token) == 1}
    vocab = tokenizer.vocab
    for token, left, right in joined:
        if left not in known or right not in known:
            raise ValueError(f"a merge joins {vocab[left]!r} and {vocab[right]!r} before both are made")
        if token in known:
            raise ValueError(f"two merges make {vocab[token]!r}")
        known.add(token)
    if len(known) < len(ordinary):
        missing = next(token for id, token in ordinary.items() if id not in known)
        raise ValueError(f"no merge makes {missing!r}")
    if has_merges and parts.ignores_merges(tokenizer):
        for id in parts.merged_differently(tokenizer):
            raise ValueError(f"merging its bytes does not make {vocab[id]!r}")
    return joined


def _merges_of_ids(tokenizer: Tokenizer) -> list[tuple[int, int, int]]:
    id_of = tokenizer.token_id
    return [(id_of(left + right), id_of(left), id_of(right)) for left, right in tokenizer.merges]


def _check_pipeline(tokenizer: Tokenizer, ordinary: Mapping[int, bytes]) -> None:
    """Check that each id of an ordinary token in a text was merged from bytes."""
    if parts.character_tokens(tokenizer) is not None:
        raise ValueError("it merges characters instead of bytes")
    for token in () if tokenizer.pipeline is None else tokenizer.pipeline.added_tokens:
        if token.id in ordinary:
            raise ValueError(f"{token.content!r} is an added token and one that merges make")


def _reached(ordinary: Mapping[int, bytes], merges: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Return, of the merges that make one token, the one that its bytes reach."""
    ids = [token for token, _, _ in merges]
    if len(set(ids)) == len(ids) or ids != sorted(ids):
        return merges  # no two make one token; or these are apart, or tokens are in another order than their ids
    # Under ranks any pair that makes a token merges: if all reached pairs are listed, both rules do the same.
    reached = sorted(_merges_of_ids(Tokenizer(ordinary, None, pattern=None)))
    return reached if set(reached) <= set(merges) else merges
