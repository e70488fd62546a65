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

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ... import _core

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from ...formats.huggingface.pipeline import Pipeline
    from ...tokenizer import Tokenizer


class TokensBySize(NamedTuple):
    """How many tokens a text has under vocabularies of rising sizes.

    Attributes:
        sizes: The sizes, each one more than the last: `int64`, shape (sizes,).
        tokens: The tokens of the text under each: `int64`, shape (sizes,).
    """

    sizes: NDArray[np.int64]
    tokens: NDArray[np.int64]


def curve(tokenizer: Tokenizer, counts: NDArray[np.int64]) -> TokensBySize:
    """Return how many tokens a text has under `tokenizer.shrink(n)`, for every n that it takes.

    A tokenizer with a normalizer, added tokens or other parts before its merges, which `shrink` refuses, keeps them.

    Args:
        tokenizer: The tokenizer.
        counts: How often each id occurs among the ids of the text: `int64`, by id.

    Raises:
        ValueError: The tokenizer merges characters, or merges out of order; says why.
    """
    joined = _joined(tokenizer)
    size = tokenizer.vocab_size
    least = max(256 + len(tokenizer.special_tokens), tokenizer._record.least if tokenizer._record else 0)
    applied = np.zeros(len(joined), np.int64)
    uses = np.zeros(tokenizer.max_id + 1, np.int64)
    uses[: len(counts)] = counts
    found: list[int] = uses.tolist()
    for number in range(len(joined) - 1, -1, -1):
        token, left, right = joined[number]
        applied[number] = found[token]
        found[left] += found[token]
        found[right] += found[token]
    # The stages before the core change a text, and find added tokens, whatever the merges are.
    ordinary = tokenizer._parts.ordinary
    added = sum(number for id, number in enumerate(counts.tolist()) if id not in ordinary)
    total = added + sum(found[id] for id, token in ordinary.items() if len(token) == 1)
    tokens = total - np.concatenate([[0], applied.cumsum()])
    # The last size has all merges, and each one before has one less.
    sizes = np.arange(size - len(joined), size + 1)
    return TokensBySize(sizes[sizes >= least], tokens[sizes >= least])


def powers(sizes: NDArray[np.int64]) -> list[int]:
    """Return the powers of two among sizes, from 512 on, and the last size.

    If there is no such power, return the first size and the last one.
    """
    first, last = int(sizes[0]), int(sizes[-1])
    found = [2**power for power in range(9, 32) if first <= 2**power < last]
    return [*(found or [first][: last - first]), last]


def at(curve: TokensBySize, wanted: Iterable[int]) -> list[tuple[int, int]]:
    """Return those of the wanted sizes that the curve has, with their tokens."""
    first, last = int(curve.sizes[0]), int(curve.sizes[-1])
    return [(size, int(curve.tokens[size - first])) for size in wanted if first <= size <= last]


def _joined(tokenizer: Tokenizer) -> list[tuple[int, int, int]]:
    """Return the merges in order, each with the id that it makes and the two that it joins."""
    core, parts = tokenizer._core, tokenizer._parts
    if parts.pipeline is not None:
        _check_pipeline(parts.pipeline, parts.ordinary)
    vocab = parts.vocab
    merges = [(parts.core.token_id(vocab[left] + vocab[right]), left, right) for left, right in core.merges()]
    joined = _reached(tokenizer, merges) if core.has_merges() else sorted(merges)
    made = {id for id, token in parts.ordinary.items() if len(token) == 1}
    for token, left, right in joined:
        if left not in made or right not in made:
            raise ValueError(f"a merge joins {vocab[left]!r} and {vocab[right]!r} before both are made")
        if token in made:
            raise ValueError(f"two merges make {vocab[token]!r}")
        made.add(token)
    if len(made) < len(parts.ordinary):
        missing = next(token for id, token in parts.ordinary.items() if id not in made)
        raise ValueError(f"no merge makes {missing!r}")
    if core.has_merges() and core.ignores_merges() and (bad := core.first_unmergeable()) is not None:
        raise ValueError(f"merging its bytes does not make {vocab[bad]!r}")
    return joined


def _check_pipeline(pipeline: Pipeline, ordinary: Mapping[int, bytes]) -> None:
    """Check that each id of an ordinary token in a text was merged from bytes."""
    if pipeline.merges_characters:
        raise ValueError("it merges characters instead of bytes")
    for token in pipeline.added_tokens:
        if token.id in ordinary:
            raise ValueError(f"{token.content!r} is an added token and one that merges make")


def _reached(tokenizer: Tokenizer, merges: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Return, of the merges that make one token, the one that its bytes reach."""
    if len({token for token, _, _ in merges}) == len(merges):
        return merges
    ids = [token for token, _, _ in merges]
    if ids != sorted(ids):
        return merges  # two merges that make one token are apart, or tokens are in another order than their ids
    # Under ranks any pair that makes a token merges: if all reached pairs are listed, both rules do the same.
    bare = _core.Tokenizer(tokenizer._parts.ordinary, None, [], _core.Pretokenizer(None))
    vocab = tokenizer._parts.vocab
    reached = sorted((bare.token_id(vocab[left] + vocab[right]), left, right) for left, right in bare.merges())
    return reached if set(reached) <= set(merges) else merges
