r"""Which tokens some text is encoded to, which tokens no text is encoded to, and why.

A token is *reachable* if a text was found that has it among its ids. It is *unreachable* by one of these proofs:

- **Merging.** Assume that a token stands in the result of a pretoken, however long the pretoken is. No merge has
  crossed the two ends of the token, since merges are never undone. So every merge between its ends joined two parts
  between its ends, and was the one with the lowest rank there (of equal ranks the leftmost). The bytes of the token
  alone are merged in just this way. Therefore a token whose bytes alone are merged to other tokens is in no result.
- **Whole pretokens.** Some tokenizers look up a whole pretoken before they merge. There a token that merging does not
  make is in a result only if it is a pretoken, and so whole characters. The pattern can prove that it never is one.
- **The pattern.** A token lies inside one pretoken, which is a match of the pattern. The automaton that finds the
  matches takes no text with the token inside (`inside`).
- **Neighbours.** If two tokens stand side by side in a result, then merging the bytes of both alone gives these two,
  for the same reason as above. A token that begins or ends inside a character has a neighbour in its pretoken that
  completes the character. The token is unreachable if merging or the pattern rules out every token of the vocabulary
  as this neighbour.
- **UTF-8.** A text is UTF-8, and no UTF-8 has the bytes of the token. Only encoding bytes gives it.

A token with neither a text nor a proof is *undecided*.
"""

from __future__ import annotations

import collections
import functools
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

import numpy as np

from ... import reference
from .. import parts
from ..explanation import merges_of, pieces_of
from . import inside, utf8
from .results import Reach, Unreachable, VocabularyToken
from .vocabulary import Vocabulary

# Texts to put before and after a token to find a text for it: an example of each class of characters in patterns.
_AROUND = (
    *("", " ", "a", "A", "\n", "1", ".", "☃", "'", "  ", "\t", "é", "日", "\r\n", "a ", "\u0301", "/", "\U000f0000"),
    *("s", "S", "t", "T", "d", "D", "m", "M", "re", "RE", "Re", "ve", "VE", "Ve", "ll", "LL", "Ll", "lL"),
)
# Texts that are tried for each undecided token in one round.
_ROUND = 24
# Tokens whose texts are held in memory together.
_GROUP = 4096
# Texts that are tried for one token in all.
_MAX_TRIES = 4800
# Characters of all texts that are tried for all tokens, so that no vocabulary takes more than some seconds.
_MAX_CHARACTERS = 1 << 25
# Pairs of tokens that are merged, in Python, to find neighbours. Tokens beyond it stay undecided.
_MAX_PAIRS = 1 << 17
# Pairs of tokens with more bytes than this are not merged; they are taken to be possible.
_MAX_BYTES = 64
T = TypeVar("T")


def reach(vocabulary: Vocabulary, workers: int | None) -> Reach:
    """Return which ordinary tokens `encode` can give.

    Cost: each token is encoded once. For each of the few tokens that are still undecided then, up to some thousand
    texts are encoded.
    """
    undecided = _without_text(vocabulary, workers)
    unreachable, undecided = _proved(vocabulary, undecided)
    undecided = _searched(vocabulary, {token: _texts(token.token) for token in undecided}, workers)
    alone, undecided = _beside_others(vocabulary, undecided, workers)
    unreachable = sorted([*unreachable, *alone])
    return Reach(
        reachable=len(vocabulary.ordinary) - len(unreachable) - len(undecided),
        unreachable=tuple(unreachable),
        undecided=tuple(undecided),
        by_reason=dict(sorted(collections.Counter(token.reason for token in unreachable).items())),
    )


def _without_text(vocabulary: Vocabulary, workers: int | None) -> list[VocabularyToken]:
    """Return the tokens that are not among the ids of their own text, and that no other rule makes reachable."""
    pipeline = vocabulary.tokenizer.pipeline
    reachable = {token["id"] for token in pipeline.added_tokens} if pipeline is not None else set()
    unknown = parts.unknown_token(vocabulary.tokenizer)
    if unknown is not None:
        reachable.add(unknown)
    texts = [(id, text) for id, text in vocabulary.texts.items() if id not in reachable and text]
    reachable |= _among_ids(vocabulary, texts, workers)
    return [token for token in vocabulary.ordinary if token.id not in reachable]


def _among_ids(vocabulary: Vocabulary, texts: list[tuple[int, str]], workers: int | None) -> set[int]:
    """Return the ids that are among the ids of their text; `texts` are pairs of an id and a text for it."""
    ids_with_text: set[int] = set()
    for batch in _groups(texts):
        expected = np.array([id for id, _ in batch], np.int64)
        ids, starts = vocabulary.tokenizer.encode_batch_to_numpy(
            [text for _, text in batch], special=False, workers=workers
        )
        matches = np.concatenate([[0], np.cumsum(ids == np.repeat(expected, np.diff(starts)))])
        ids_with_text.update(expected[matches[starts[1:]] > matches[starts[:-1]]].tolist())
    return ids_with_text


def _groups(items: list[T]) -> Iterator[list[T]]:
    """Yield the items in groups whose texts are held in memory together."""
    yield from (items[start : start + _GROUP] for start in range(0, len(items), _GROUP))


def _proved(vocabulary: Vocabulary, tokens: list[VocabularyToken]) -> tuple[list[Unreachable], list[VocabularyToken]]:
    """Return the tokens that are proved to be unreachable, and the others."""
    if parts.merges_names(vocabulary.tokenizer):
        return [], tokens  # the bytes of a token may have a prefix in front, which is in no text
    merged = parts.merged_differently(vocabulary.tokenizer)
    ignores_merges = parts.ignores_merges(vocabulary.tokenizer)
    pattern = inside.of_pattern(parts.pattern(vocabulary.tokenizer))
    proved, others = [], []
    for token in tokens:
        reason = _reason(token.token, token.id in merged, ignores_merges, pattern)
        if reason is None:
            others.append(token)
        else:
            instead = tuple(merged.get(token.id, ())) if "merges" in reason else ()
            proved.append(Unreachable(*token, reason, instead))
    return proved, others


def _reason(token: bytes, is_merged_away: bool, ignores_merges: bool, pattern: inside.Inside | None) -> str | None:
    """Return why no text gives a token, as in `Unreachable`; None without a proof."""
    if not token:
        return "empty"
    if not utf8.is_in_text(token):
        return "utf8"
    firsts, text, last = utf8.shape(token)
    if is_merged_away:
        if not ignores_merges or firsts or last is not None:
            return "merges"  # a pretoken is whole characters
        return "merges and pattern" if pattern is not None and not pattern.may_be(text) else None
    return "pattern" if pattern is not None and not pattern.may_hold(text, firsts, last) else None


def _searched(
    vocabulary: Vocabulary, texts: Mapping[VocabularyToken, Iterator[str]], workers: int | None
) -> list[VocabularyToken]:
    """Return the tokens that are among the ids of none of the texts that are tried for each."""
    waiting = {token.id: token for token in texts}
    room = _MAX_CHARACTERS
    for _ in range(_MAX_TRIES // _ROUND):
        for ids in _groups([*waiting]):
            tried = [(id, text) for id in ids for text in itertools.islice(texts[waiting[id]], _ROUND)]
            room -= sum(len(text) + 1 for _, text in tried)
            if room < 0:
                return list(waiting.values())
            for id in _among_ids(vocabulary, tried, workers):
                waiting.pop(id, None)
    return list(waiting.values())


def _beside_others(
    vocabulary: Vocabulary, tokens: list[VocabularyToken], workers: int | None
) -> tuple[list[Unreachable], list[VocabularyToken]]:
    """Return the tokens that need a neighbour and can have none, and those that stay undecided."""
    tokenizer = vocabulary.tokenizer
    if not tokens or parts.merges_characters(tokenizer) or parts.merges_names(tokenizer):
        return [], tokens
    broken = [token for id, token in vocabulary.ordinary if id not in vocabulary.texts and utf8.is_in_text(token)]
    may_meet, alone, texts = _meeting(vocabulary), [], {}
    for token in tokens[: _MAX_PAIRS // (2 * len(broken) + 1)]:
        firsts, _, last = utf8.shape(token.token)
        befores = [other + token.token for other in broken if firsts and may_meet(other, token.token)]
        afters = [token.token + other for other in broken if last is not None and may_meet(token.token, other)]
        if (firsts and not befores) or (last is not None and not afters):
            alone.append(token)
        elif pairs := afters or befores:
            texts[token] = itertools.chain.from_iterable(itertools.islice(_texts(pair), 64) for pair in pairs)
    decided = {*alone, *texts} - {*_searched(vocabulary, texts, workers)}
    return [Unreachable(*token, "neighbours", ()) for token in alone], [one for one in tokens if one not in decided]


def _meeting(vocabulary: Vocabulary) -> Callable[[bytes, bytes], bool]:
    """Return a function that says whether a token may stand beside another one that completes its character."""
    tokenizer = vocabulary.tokenizer
    ids = {token: id for id, token in vocabulary.ordinary}
    rank_of = reference.rank_function(tokenizer.merges if parts.has_merges(tokenizer) else ids)
    pattern = inside.of_pattern(parts.pattern(tokenizer))

    def may_meet(left: bytes, right: bytes) -> bool:
        both = left + right
        if not utf8.is_in_text(both):
            return False
        firsts, text, last = utf8.shape(both)
        if pattern is not None and not pattern.may_hold(text, firsts, last):
            return False
        return len(both) > _MAX_BYTES or pieces_of(both, merges_of(both, rank_of)) == (left, right)

    return may_meet


def _texts(token: bytes) -> Iterator[str]:
    """Yield texts that hold the bytes of a token."""
    try:
        bare = iter([token.decode()])
    except UnicodeDecodeError:
        bare = utf8.texts_with(token) if utf8.is_in_text(token) else iter(())
    first: list[str] = []
    for text in bare:
        first = [*first[:15], text]
        yield text
    for before, after in _surroundings():
        yield from (f"{before}{text}{after}" for text in first)


@functools.lru_cache(maxsize=1)
def _surroundings() -> list[tuple[str, str]]:
    """Return the pairs of texts to put before and after a token, the more usual first, without the empty pair."""
    numbered = itertools.product(enumerate(_AROUND), repeat=2)
    ordered = sorted(numbered, key=lambda pair: pair[0][0] + pair[1][0])
    return [(before, after) for (_, before), (_, after) in ordered[1:]]
