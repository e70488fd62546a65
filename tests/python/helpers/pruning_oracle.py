"""Vocabularies with fewer tokens, by their definition, in plain Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from toksmith.reference import (
    Pair,
    RankFunction,
    _single_bytes,
    _special_ids,
    encode_steps,
    encode_word,
    rank_function,
)


def tokens_inside(token: bytes, merges_or_ranks: Sequence[Pair] | Mapping[bytes, int] | RankFunction) -> set[bytes]:
    """Give the tokens that merging the bytes of `token` makes, itself included; none if it makes something else.

    >>> sorted(tokens_inside(b"lower", [(b"o", b"w"), (b"l", b"ow"), (b"e", b"r"), (b"low", b"er")]))
    [b'er', b'low', b'lower', b'ow']
    """
    steps = list(encode_steps(token, merges_or_ranks))
    return {step.left + step.right for step in steps} if steps and steps[-1].pieces == (token,) else set()


def prune(
    vocab: Mapping[int, bytes],
    keep: Iterable[int],
    merges: Sequence[Pair] | None = None,
    special_tokens: Iterable[str] | Mapping[str, int] = (),
    *,
    ignore_merges: bool = False,
) -> tuple[dict[int, bytes], list[Pair] | None, list[int]]:
    """Keep the tokens of the ids `keep`, what they need, all bytes and the special tokens.

    Return the vocabulary, whose ids are 0, 1, 2, …, the merges, and the old id of each new one. A token that merging
    never makes is left out, unless whole pretokens are looked up.

    >>> from toksmith import reference
    >>> merges = [(b"o", b"w"), (b"l", b"ow"), (b"e", b"r")]
    >>> vocab, merges, old_ids = prune(reference.build_vocab(merges), [257], merges)
    >>> vocab[257], merges, old_ids[-2:]
    (b'low', [(b'o', b'w'), (b'l', b'ow')], [256, 257])
    """
    specials = set(_special_ids(vocab, special_tokens).values())
    token_ids = {token: id_ for id_, token in vocab.items() if id_ not in specials}
    rank_of = rank_function(token_ids if merges is None else merges)
    kept = {vocab[id_] for id_ in keep if id_ not in specials and vocab[id_]}
    kept = kept.union(_single_bytes(bytes(range(256))), *(tokens_inside(token, rank_of) for token in kept))
    if merges is not None:
        merges = _merges_among(kept, merges)
        if not ignore_merges:
            rank_of = rank_function(merges)
            kept = {token for token in kept if encode_word(token, rank_of) == (token,)}
            merges = _merges_among(kept, merges)
    old_ids = sorted(specials | {token_ids[token] for token in kept})
    return {new: vocab[old] for new, old in enumerate(old_ids)}, merges, old_ids


def _merges_among(tokens: set[bytes], merges: Sequence[Pair]) -> list[Pair]:
    return [(left, right) for left, right in merges if {left, right, left + right} <= tokens]
