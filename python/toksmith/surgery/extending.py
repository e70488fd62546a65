"""Tokenizers with new tokens: learned ones above all others, and chosen ones at reserved ids."""

import warnings
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from .. import _core, patterns
from .._internal import arguments
from .._internal.choices import Ties
from .._internal.messages import shown
from ..corpus import Corpus, TextSources
from ..tokenizer import Tokenizer, tokenizer_of
from ..training.counts import PretokenCounts
from ..training.train import train
from .change import VocabChange
from .pruning import check_merges_bytes, encoded


def extend(
    tokenizer: Tokenizer | object, sources: Corpus | TextSources | PretokenCounts, n: int, **options: Any
) -> tuple[Tokenizer, VocabChange]:
    """Return a tokenizer with `n` more tokens, and the change of the vocabulary.

    It is `toksmith.train(sources, tokenizer.vocab_size + n, base=tokenizer)`: all ids and merges stay, and new tokens
    follow, each made by a new merge. A tokenizer that merges characters learns from the words into which it encodes
    the texts, each from one space to the next; bytes and special tokens end a word.

    Args:
        tokenizer: A `Tokenizer`, or what `Tokenizer.from_pretrained` takes.
        sources: The texts to learn from, or their counts, as in `toksmith.train`. Where characters are merged, texts.
        n: How many tokens there will be more, with new special tokens among them.
        **options: Further options of `toksmith.train`, such as `special_tokens`. Where characters are merged: `ties`,
            `min_frequency`, `max_token_length` and `workers`.

    Raises:
        ValueError, OSError: `n` is negative; and those of `toksmith.train`.

    >>> import toksmith
    >>> tokenizer = toksmith.train(toksmith.PretokenCounts({b"low": 5}), 258)
    >>> larger, change = extend(tokenizer, toksmith.PretokenCounts({b"lower": 3}), 1)
    >>> larger.encode("lower"), [tokenizer.vocab[id] for id in change.pieces]
    ([258, 114], [b'low', b'e'])
    """
    tokenizer, count = tokenizer_of(tokenizer), arguments.whole("n", n, 0)
    if tokenizer._core.characters() is None:
        arguments.check_keywords(extend, options, train)
        larger = train(sources, tokenizer.vocab_size + count, base=tokenizer, **options)
    else:
        arguments.check_keywords(extend, options, _trained_on_words)
        larger = _trained_on_words(tokenizer, sources, count, **options)
    return larger, _change(tokenizer, larger, tokenizer.vocab)


def replace_tokens(
    tokenizer: Tokenizer | object, slots: Iterable[int], tokens: Iterable[str | bytes]
) -> tuple[Tokenizer, VocabChange]:
    """Return a tokenizer with new tokens at reserved ids, and the change of the vocabulary. All other ids stay.

    Args:
        tokenizer: A `Tokenizer`, or what `Tokenizer.from_pretrained` takes.
        slots: Ids of special or other added tokens, which go, or ids without a token.
        tokens: The new token of each slot. A str becomes a special token. Bytes become an ordinary token: a new merge
            joins the two tokens that the bytes are encoded to; the bytes before them in the list count.

    Raises:
        ValueError: A slot is the id of an ordinary token, or stands twice; a token exists; bytes are not encoded to
            two tokens of one pretoken; under rank semantics, slots of bytes do not ascend above the ids of all
            ordinary tokens; or the template needs a token that goes.

    >>> import toksmith
    >>> tokenizer = toksmith.Tokenizer(None, None, ["<|reserved_0|>", "<|reserved_1|>"])
    >>> replaced, change = replace_tokens(tokenizer, [256, 257], ["<|user|>", b"ab"])
    >>> replaced.encode("<|user|>ab"), change.old_to_new[-2:], change.pieces[-2:]
    ([256, 257], array([-1, -1]), array([97, 98]))
    """
    tokenizer, new = tokenizer_of(tokenizer), _replacements(slots, tokens)
    core, vocab, taken = tokenizer._core, tokenizer.vocab, {slot for slot, _ in new}
    check_merges_bytes(core, "given other tokens")
    ordinary = vocab.keys() - core.added_ids()
    for slot in sorted(taken & ordinary):
        raise ValueError(f"id {slot} is that of the ordinary token {shown(vocab[slot])}: it is not reserved")
    ids = {id: id for id in vocab if id not in taken}
    core = core.relabeled([*ids.items()])
    merged = {token: slot for slot, token in new if isinstance(token, bytes)}
    if merged:
        core = _with_merged(core, merged, max(ordinary))
    names = {token: slot for slot, token in new if isinstance(token, str)}
    replaced = tokenizer._of(core).with_special_tokens(names)
    for token, slot in merged.items():
        if replaced.encode(token, special=False) != [slot]:
            raise ValueError(f"{shown(token)} is more than one pretoken: no text would be encoded to it")
    return replaced, _change(tokenizer, replaced, ids)


def _replacements(slots: Iterable[int], tokens: Iterable[str | bytes]) -> list[tuple[int, str | bytes]]:
    ids = [arguments.whole("a slot", slot) for slot in arguments.listed("slots", slots, "ids")]
    new = [*arguments.listed("tokens", tokens, "tokens")]
    if len(ids) != len(new):
        raise ValueError(f"slots are {len(ids)}, and tokens are {len(new)}: give a token for each slot")
    for token in new:
        if not isinstance(token, (str, bytes)):
            raise TypeError(f"a token is str or bytes, not {type(token).__name__}: {shown(token)}")
    return [*zip(ids, new, strict=True)]


def _trained_on_words(
    tokenizer: Tokenizer,
    sources: Corpus | TextSources | PretokenCounts,
    n: int,
    *,
    ties: Ties = "bytes",
    min_frequency: int = 1,
    max_token_length: int | None = None,
    workers: int | None = None,
) -> Tokenizer:
    core = tokenizer._core
    check_merges_bytes(core, "extended")
    if isinstance(sources, PretokenCounts):
        raise TypeError("a tokenizer that merges characters is extended from texts: counts have other words than it")
    counts = _core.PretokenCounts([])
    for ids in encoded(tokenizer, Corpus.of(sources), workers):
        counts = counts.plus(_core.words_of(core, ids))
    options = {"max_merges": n, "ties": ties, "min_frequency": min_frequency, "max_token_length": max_token_length}
    learned = _core.learn(counts, options, base=core)
    if learned.added() < n:
        warnings.warn(f"no pair is left that occurs often enough: {learned.added()} tokens are added", stacklevel=3)
    return tokenizer._of(_core.build_tokenizer(learned, core, [], patterns.of_core(core).core()))


def _with_merged(core: _core.Tokenizer, tokens: dict[bytes, int], highest: int) -> _core.Tokenizer:
    """Return the tokenizer with a last merge for each of the tokens, which have their ids."""
    slots = [*tokens.values()]
    if core.characters() is not None:
        raise ValueError("a tokenizer that merges characters takes special tokens only: give each as a str")
    if not core.has_merges() and (slots != sorted(slots) or slots[0] < highest):
        raise ValueError(f"under rank semantics, the slots of bytes ascend, above the id {highest}")
    room = sum(map(len, tokens))
    learned = _core.learn(_core.PretokenCounts([]), {"max_merges": room}, base=core, forced=[*tokens])
    if learned.added() != len(tokens):
        raise ValueError("bytes are not encoded to two tokens, but to one or to more: put their parts before them")
    ids = {id: id for id in core.vocab()} | dict(enumerate(slots, core.max_id() + 1))
    extended = _core.build_tokenizer(learned, core, [], patterns.of_core(core).core())
    return extended.relabeled([*ids.items()])


def _change(old: Tokenizer, new: Tokenizer, same: Collection[int]) -> VocabChange:
    old_ids = np.full(new.max_id + 1, -1, np.int64)
    old_ids[[*same]] = [*same]
    return VocabChange.between(old, new, old_ids)
