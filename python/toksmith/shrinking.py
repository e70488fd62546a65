"""Shrinking a tokenizer: leaving out its last merges."""

from __future__ import annotations

import operator
from collections import Counter

from ._core import Tokenizer as CoreTokenizer
from .formats.parts import Parts
from .tokenizer import Tokenizer


def shrink(tokenizer: Tokenizer, n: int) -> Tokenizer:
    """Return a tokenizer of `n` tokens, special ones included: `tokenizer` without its last merges.

    Special tokens whose ids are above all others move down to follow them; all other ids stay. For a trained
    tokenizer the result is the same as training with `n`. Under rank semantics the last ranks are left out.

    Raises:
        ValueError: `n` is more than the number of tokens, less than the bytes and special tokens, or less than the
            size of the tokenizer that this one was extended from; or a `pipeline` does more than the vocabulary says
            (a normalizer, several stages, added tokens with conditions, a template).

    >>> import toksmith
    >>> counts = toksmith.PretokenCounts({b"low": 5, b"lower": 2})
    >>> toksmith.shrink(toksmith.train(counts, 260), 258) == toksmith.train(counts, 258)
    True
    """
    parts = _shrunk(tokenizer._parts, n)
    return tokenizer if parts is tokenizer._parts else tokenizer._of(parts)


def _shrunk(parts: Parts, n: int) -> Parts:
    size, has = operator.index(n), parts.core.vocab_size()
    specials, record = parts.special_tokens, parts.record
    if size > has:
        raise ValueError(f"cannot shrink to {size} tokens: there are {has}")
    if size < parts.min_size:
        what = "256 bytes and special tokens"
        if record and parts.min_size > 256 + len(specials):
            what = "those of the tokenizer that was extended, and its special tokens"
        raise ValueError(f"cannot shrink to {size} tokens: {parts.min_size} stay, {what}")
    if size == has:
        return parts
    pipeline, template = parts.pipeline, parts.pipeline and parts.pipeline.template
    if pipeline and (not pipeline.is_plain or pipeline.is_staged or (template and template.added())):
        raise ValueError(
            "cannot shrink a tokenizer that does more than its vocabulary says (a normalizer, several stages of "
            "splitting, added tokens with conditions, or a template): these hold ids that would move"
        )
    merges = parts.merges.copy() if parts.core.has_merges() else None
    gone = _of_ranks(parts, size) if merges is None else _of_merges(parts, merges, size)
    if has - len(gone) > size:
        raise ValueError(f"cannot shrink to {size} tokens: without any merge there are still {has - len(gone)}")
    vocab, moved = _moved_down(parts, gone)
    ignore_merges = merges is not None and parts.core.ignores_merges()
    core = CoreTokenizer(vocab, merges, list(moved.items()), parts.pattern.core(), ignore_merges)
    origin = parts.origin and parts.origin.moved()
    return Parts(core, parts.pattern, None, record and record.shrunk(len(core.merges())), origin)


def _of_merges(parts: Parts, merges: list[tuple[bytes, bytes]], size: int) -> set[int]:
    """Take the last merges off the list until `size` tokens are left; returns the ids that were removed."""
    makers = Counter(left + right for left, right in merges)
    gone: set[int] = set()
    while merges and parts.core.vocab_size() - len(gone) > size:
        left, right = merges.pop()
        token = left + right
        makers[token] -= 1
        if not makers[token]:  # otherwise an earlier merge makes the token too
            gone.add(parts.core.token_id(token))
    # A list of all pairs that make each token has pairs of later tokens. Without these tokens the pairs never merge.
    tokens = {parts.vocab[id] for id in gone}
    merges[:] = [(left, right) for left, right in merges if left not in tokens and right not in tokens]
    return gone


def _of_ranks(parts: Parts, size: int) -> set[int]:
    """Return the ids of the last ranks: all but `size` tokens."""
    merged = [id for id, token in parts.ordinary.items() if len(token) > 1]
    return set(sorted(merged, reverse=True)[: parts.core.vocab_size() - size])


def _moved_down(parts: Parts, gone: set[int]) -> tuple[dict[int, bytes], dict[str, int]]:
    """Return the tokens that stay; special tokens that were above all others get the ids right after them."""
    highest, specials = max(parts.ordinary), dict(parts.special_tokens)
    kept = {id: token for id, token in parts.ordinary.items() if id not in gone}
    above = sorted((id, name) for name, id in specials.items() if id > highest)
    below = [id for id in specials.values() if id < highest]
    for id, (_, name) in enumerate(above, max([*kept, *below]) + 1):
        specials[name] = id
    vocab = {**kept, **{id: name.encode() for name, id in specials.items()}}
    return dict(sorted(vocab.items())), specials
