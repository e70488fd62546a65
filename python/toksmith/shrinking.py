"""Shrinking: a tokenizer with the last merges left out."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .tokenizer import Tokenizer


def shrink(tokenizer: Tokenizer, n: int) -> Tokenizer:
    """Return `tokenizer` with `n` tokens. See `Tokenizer.shrink`."""
    size = operator.index(n)
    record = tokenizer._record
    least = max(256 + len(tokenizer.special_tokens), record.least if record else 0)
    if size > tokenizer.vocab_size:
        raise ValueError(f"cannot shrink to {size} tokens: there are {tokenizer.vocab_size}")
    if size < least:
        what = "256 bytes and special tokens"
        if record and least > 256 + len(tokenizer.special_tokens):
            what = "those of the tokenizer that was extended, and its special tokens"
        raise ValueError(f"cannot shrink to {size} tokens: {least} stay, {what}")
    if size == tokenizer.vocab_size:
        return tokenizer
    by_merges = tokenizer._core.has_merges()
    merges = list(tokenizer.merges) if by_merges else None
    gone = _of_merges(tokenizer, merges, size) if merges is not None else _of_ranks(tokenizer, size)
    vocab, specials = _moved_down(tokenizer, gone)
    shrunk = type(tokenizer)(vocab, merges, specials, pattern=tokenizer._pattern)
    if record:
        shrunk._cache["record"] = record.shrunk(len(shrunk._core.merges()))
    return shrunk


def _of_merges(tokenizer: Tokenizer, merges: list[tuple[bytes, bytes]], size: int) -> set[int]:
    """Take the last merges off the list until `size` tokens are left; returns the ids that went."""
    makers: dict[bytes, int] = {}
    for left, right in merges:
        makers[left + right] = makers.get(left + right, 0) + 1
    gone: set[int] = set()
    while merges and tokenizer.vocab_size - len(gone) > size:
        left, right = merges.pop()
        token = left + right
        makers[token] -= 1
        if not makers[token]:  # else an earlier merge makes it too
            gone.add(tokenizer.token_id(token))
    _check_all_gone(tokenizer, gone, size)
    return gone


def _of_ranks(tokenizer: Tokenizer, size: int) -> set[int]:
    """Return the ids of the last ranks: all but `size` tokens."""
    special = set(tokenizer.special_tokens.values())
    merged = [id for id, token in tokenizer.vocab.items() if id not in special and len(token) > 1]
    gone = set(sorted(merged, reverse=True)[: tokenizer.vocab_size - size])
    _check_all_gone(tokenizer, gone, size)
    return gone


def _check_all_gone(tokenizer: Tokenizer, gone: set[int], size: int) -> None:
    left = tokenizer.vocab_size - len(gone)
    if left > size:
        raise ValueError(f"cannot shrink to {size} tokens: without any merge there are still {left}")


def _moved_down(tokenizer: Tokenizer, gone: set[int]) -> tuple[dict[int, bytes], dict[str, int]]:
    """Return what stays, with the special tokens that were above all others right behind them."""
    special = set(tokenizer.special_tokens.values())
    ordinary = {id: token for id, token in tokenizer.vocab.items() if id not in special}
    highest = max(ordinary)
    kept = {id: token for id, token in ordinary.items() if id not in gone}
    specials = dict(tokenizer.special_tokens)
    above = sorted((id, name) for name, id in specials.items() if id > highest)
    below = [id for id in special if id < highest]
    next_id = max([*kept, *below]) + 1
    for id, (_, name) in enumerate(above, next_id):
        specials[name] = id
    vocab = {**kept, **{id: name.encode() for name, id in specials.items()}}
    return dict(sorted(vocab.items())), specials
