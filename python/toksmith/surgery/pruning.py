"""Tokenizers with fewer tokens: pruned to a choice of them, or shrunk by their last merges."""

import itertools
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._internal import arguments
from ..corpus import Corpus, TextSources
from ..tokenizer import Tokenizer, tokenizer_of
from .change import VocabChange

Ids = Iterable[int] | NDArray[np.integer]


@arguments.naming_keywords
def prune(
    tokenizer: Tokenizer | object,
    *,
    keep: Ids | None = None,
    drop: Ids | None = None,
    min_count: int | None = None,
    on: Corpus | TextSources | None = None,
    workers: int | None = None,
) -> tuple[Tokenizer, VocabChange]:
    """Return a tokenizer of some of the tokens, and the change of the vocabulary.

    Its merges are those whose two parts and result stay, in their order; under rank semantics its ranks are those of
    the tokens that stay. So that text still reaches each of them, what they are merged from stays too, and so do the
    tokens of the 256 bytes, and of the space where characters are merged: `needed` has these tokens. Ordinary tokens
    that merging never makes are left out, unless whole pretokens are looked up before merging, and so are those that
    end inside a character which no remaining token completes. The ids keep their order, and become 0, 1, 2, …

    Args:
        tokenizer: A `Tokenizer`, or what `Tokenizer.from_pretrained` takes.
        keep: The ids of the tokens to keep. Special and other added tokens stay as well.
        drop: Or the ids of the tokens to leave out. Special tokens stay unless they are among them.
        min_count: Or how often a token must occur in the texts `on` to be kept. Special tokens stay as well.
        on: The texts to count tokens in: a `Corpus`, or what makes one.
        workers: Threads for counting; default: all cores.

    Raises:
        ValueError: Not one of the choices is made; an id is that of no token; the template or the padding needs a
            token to be dropped; or the tokenizer has dropout, or merges by the names of its tokens
            (docs/huggingface.md).
        OSError: A file cannot be read.

    >>> import toksmith
    >>> tokenizer = toksmith.train(toksmith.PretokenCounts({b"low": 5, b"lower": 2, b"newer": 1}), 262)
    >>> pruned, change = prune(tokenizer, keep=[tokenizer.token_id("lower")])
    >>> pruned.merges
    [(b'o', b'w'), (b'l', b'ow'), (b'e', b'r'), (b'low', b'er')]
    >>> change.needed[-3:], change.old_to_new[-3:]
    (array([256, 257, 258]), array([259,  -1,  -1]))
    """
    tokenizer = tokenizer_of(tokenizer)
    core = tokenizer._core
    if sum(option is not None for option in (keep, drop, min_count)) != 1 or (min_count is None) != (on is None):
        raise ValueError("prune takes keep, drop, or min_count with on: exactly one of them")
    check_merges_bytes(core, "pruned")
    fixed = core.added_ids()
    if keep is not None:
        kept = _checked(tokenizer, "keep", keep)
    elif drop is not None:
        gone = _checked(tokenizer, "drop", drop)
        kept, fixed = tokenizer.vocab.keys() - gone, fixed - gone
    else:
        least = arguments.whole("min_count", min_count)
        uses = np.zeros(tokenizer.max_id + 1, np.int64)
        for ids in encoded(tokenizer, Corpus.of(() if on is None else on), workers):
            uses += np.bincount(ids, minlength=len(uses))
        kept = {id for id in tokenizer.vocab if uses[id] >= least}
    made, old_ids, needed = core.pruned(sorted(kept - fixed), sorted(fixed))
    pruned = tokenizer._of(made)
    return pruned, VocabChange.between(tokenizer, pruned, old_ids, needed)


def check_merges_bytes(core: _core.Tokenizer, change: str) -> None:
    """Raise ValueError for a tokenizer with dropout, and for one that merges by the names of its tokens."""
    if core.is_spelled():
        raise ValueError(f"a tokenizer with dropout or one that merges by the names of its tokens cannot be {change}")


def _checked(tokenizer: Tokenizer, name: str, ids: Ids) -> set[int]:
    checked = {arguments.whole(f"{name}: an id", id) for id in arguments.listed(name, ids, "ids")}
    for id in checked - tokenizer.vocab.keys():
        raise ValueError(f"{name}: {id} is the id of no token")
    return checked


def encoded(tokenizer: Tokenizer, texts: Corpus, workers: int | None) -> Iterator[NDArray[np.uint32]]:
    """Yield the ids of the texts, of many texts or some megabytes together."""
    documents = texts.documents()
    arrays = (tokenizer.encode_iterable(document.pieces, arrays=True, workers=workers) for document in documents)
    joined = itertools.chain.from_iterable(arrays)
    while batch := [*itertools.islice(joined, 64)]:
        yield np.concatenate(batch)


def shrink(tokenizer: Tokenizer | object, n: int) -> Tokenizer:
    """Return a tokenizer of `n` tokens, special ones included: `tokenizer` without its last merges.

    Special tokens whose ids are above all others move down to follow them; all other ids stay. Without superwords the
    result is the same as training with `n`. Under rank semantics the last ranks are left out.

    Raises:
        ValueError: `n` is more than the number of tokens, less than the bytes and special tokens, or less than the
            size of the tokenizer that this one was extended from; or a `pipeline` does more than the vocabulary says
            (a normalizer, several stages, added tokens with conditions, a template); or the tokenizer has dropout, or
            merges by the names of its tokens.

    >>> import toksmith
    >>> counts = toksmith.PretokenCounts({b"low": 5, b"lower": 2})
    >>> toksmith.surgery.shrink(toksmith.train(counts, 260), 258) == toksmith.train(counts, 258)
    True
    """
    tokenizer = tokenizer_of(tokenizer)
    size, has = arguments.whole("n", n), tokenizer.vocab_size
    if size > has:
        raise ValueError(f"cannot shrink to {size} tokens: there are {has}")
    plain = 256 + len(tokenizer.special_tokens)
    record = tokenizer._core.record()
    least = max(plain, record[1] if record else 0)
    if size < least:
        extended = "those of the tokenizer that was extended, and its special tokens"
        what = extended if least > plain else "256 bytes and special tokens"
        raise ValueError(f"cannot shrink to {size} tokens: {least} stay, {what}")
    if size == has:
        return tokenizer
    check_merges_bytes(tokenizer._core, "shrunk")
    pipeline = tokenizer.pipeline
    template = pipeline and pipeline.template
    if pipeline and (not pipeline.is_plain or pipeline.is_staged or (template and template.added())):
        raise ValueError(
            "cannot shrink a tokenizer that does more than its vocabulary says (a normalizer, several stages of "
            "splitting, added tokens with conditions, or a template): these hold ids that would move"
        )
    return tokenizer._of(tokenizer._core.shrunk(size))
