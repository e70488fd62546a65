r"""Which tokens some text is encoded to, which tokens no text is encoded to, and why.

A token is *reachable* if a text was found that has it among its ids. It is *unreachable* by one of these proofs:

- **Merging.** Assume that a token stands in the result of a pretoken, however long the pretoken is. No merge has
  crossed the two ends of the token, since merges are never undone. So every merge between its ends joined two parts
  between its ends, and was the one with the lowest rank there (of equal ranks the leftmost). The bytes of the token
  alone are merged in just this way. Therefore a token whose bytes alone are merged to other tokens is in no result.
- **Whole pretokens.** Some tokenizers look up a whole pretoken before they merge. There a token that merging does not
  make is in a result only if it is a pretoken, and so whole characters. The pattern can prove that it never is one.
- **The pattern.** A token lies inside one pretoken, which is a match of the pattern. An automaton that accepts all
  matches, and some more texts, accepts no text with the token inside (`regex_dialects.inside`).
- **Neighbours.** If two tokens stand side by side in a result, then merging the bytes of both alone gives these two,
  for the same reason as above. A token that begins or ends inside a character has a neighbour in its pretoken that
  completes the character. The token is unreachable if merging or the pattern rules out every token of the vocabulary
  as this neighbour (`neighbours`).
- **UTF-8.** A text is UTF-8, and no UTF-8 has the bytes of the token. Only `encode_bytes` gives it.

A token with neither a text nor a proof is *undecided*.
"""

from __future__ import annotations

import collections
import functools
import itertools
from typing import TYPE_CHECKING, Any

from ... import patterns
from ...regex_dialects import inside, steps
from . import utf8
from .neighbours import Neighbours
from .results import Reach, Unreachable, VocabularyToken

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
# Characters of texts that are encoded together.
_BATCH = 1 << 22


def reach(vocabulary: Vocabulary, workers: int) -> Reach:
    """Return which ordinary tokens `encode` can give.

    Cost: each token is encoded once. For each of the few tokens that are still undecided then, up to some thousand
    texts are encoded.
    """
    undecided = _without_text(vocabulary, workers)
    unreachable, undecided = _proved(vocabulary, undecided)
    undecided = _searched(vocabulary, {one: _texts(one.token) for one in undecided}, workers)
    alone, undecided = _beside_others(vocabulary, undecided, workers)
    unreachable = sorted([*unreachable, *alone])
    return Reach(
        reachable=len(vocabulary.ordinary) - len(unreachable) - len(undecided),
        unreachable=tuple(unreachable),
        undecided=tuple(undecided),
        by_reason=dict(sorted(collections.Counter(one.reason for one in unreachable).items())),
    )


def _without_text(vocabulary: Vocabulary, workers: int) -> list[VocabularyToken]:
    """Return the tokens that are not among the ids of their own text, and that no other rule makes reachable."""
    pipeline = vocabulary.parts.pipeline
    found = {token.id for token in pipeline.added_tokens} if pipeline is not None else set()
    characters = vocabulary.parts.core.characters()
    if characters is not None and characters[1] is not None:
        found.add(characters[1])  # the unknown token, which stands for any character that is no token
    tried = [(id, text) for id, text in vocabulary.texts.items() if id not in found and text]
    found |= _given(vocabulary, tried, workers)
    return [one for one in vocabulary.ordinary if one.id not in found]


def _given(vocabulary: Vocabulary, tried: list[tuple[int, str]], workers: int) -> set[int]:
    """Return the ids that are among the ids of their text; `tried` are pairs of an id and a text for it."""
    import numpy as np

    found: set[int] = set()
    for batch in _batches(tried):
        wanted = np.array([id for id, _ in batch], np.int64)
        ids, starts = vocabulary.parts.core.encode_batch_to_numpy([text for _, text in batch], False, workers)
        matches = np.concatenate([[0], np.cumsum(ids == np.repeat(wanted, np.diff(starts)))])
        found.update(wanted[matches[starts[1:]] > matches[starts[:-1]]].tolist())
    return found


def _batches(tried: list[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    held: list[tuple[int, str]] = []
    size = 0
    for one in tried:
        held.append(one)
        size += len(one[1])
        if size >= _BATCH:
            yield held
            held, size = [], 0
    if held:
        yield held


def _proved(vocabulary: Vocabulary, tokens: list[VocabularyToken]) -> tuple[list[Unreachable], list[VocabularyToken]]:
    """Return the tokens that are proved to be unreachable, and the rest."""
    core: Any = vocabulary.parts.core
    merged = dict(core.unmade())
    wholes, pattern = core.ignores_merges(), automaton(vocabulary)
    proved, rest = [], []
    for id, token in tokens:
        reason = _reason(token, id in merged, wholes, pattern)
        if reason is None:
            rest.append(VocabularyToken(id, token))
        else:
            instead = tuple(merged.get(id, ())) if "merges" in reason else ()
            proved.append(Unreachable(id, token, reason, instead))
    return proved, rest


def _reason(token: bytes, is_merged_away: bool, wholes: bool, pattern: inside.Inside | None) -> str | None:
    """Return why no text gives a token, a key of `REASONS`; None without a proof."""
    if not token:
        return "empty"
    if not utf8.is_in_text(token):
        return "utf8"
    firsts, text, last = utf8.shape(token)
    if is_merged_away:
        if not wholes or firsts or last:
            return "merges"  # a pretoken is whole characters
        return "merges and pattern" if pattern is not None and not pattern.may_be(text) else None
    return "pattern" if pattern is not None and not pattern.may_hold(text, firsts, last) else None


def automaton(vocabulary: Vocabulary) -> inside.Inside | None:
    """Return an automaton that accepts every pretoken; None if none is known for this pattern."""
    pattern = vocabulary.parts.pattern
    # None for: patterns in stages; another version of Unicode, which may put a character into another class; patterns
    # without a name that keep unmatched text, since that text is a pretoken too; patterns that are not regular.
    known = type(pattern) is patterns.Pattern and pattern.text is not None
    if not known or pattern.text is None or pattern.unicode != patterns.installed_unicode():
        return None
    if pattern.name is None and pattern.unmatched == "keep":
        return None
    return _automaton_of(pattern.text, pattern.compiled().flags)


@functools.lru_cache(maxsize=4)
def _automaton_of(text: str, flags: int) -> inside.Inside | None:
    try:
        return inside.Inside(steps.steps(text, flags))
    except ValueError:
        return None


def _searched(
    vocabulary: Vocabulary, texts: Mapping[VocabularyToken, Iterator[str]], workers: int
) -> list[VocabularyToken]:
    """Return the tokens that are among the ids of none of the texts that are tried for each."""
    waiting = {one.id: one for one in texts}
    room = _MAX_CHARACTERS
    for _ in range(_MAX_TRIES // _ROUND):
        for ids in _groups(list(waiting)):
            tried = [(id, text) for id in ids for text in itertools.islice(texts[waiting[id]], _ROUND)]
            room -= sum(len(text) + 1 for _, text in tried)
            if room < 0:
                return list(waiting.values())
            for id in _given(vocabulary, tried, workers):
                waiting.pop(id, None)
    return list(waiting.values())


def _groups(ids: list[int]) -> Iterator[list[int]]:
    """Yield the ids in groups whose texts are held in memory together."""
    yield from (ids[start : start + _GROUP] for start in range(0, len(ids), _GROUP))


def _beside_others(
    vocabulary: Vocabulary, tokens: list[VocabularyToken], workers: int
) -> tuple[list[Unreachable], list[VocabularyToken]]:
    """Return the tokens that need a neighbour and can have none, and those that stay undecided."""
    if not tokens or vocabulary.parts.core.characters() is not None:
        return [], tokens
    pattern, neighbours = automaton(vocabulary), Neighbours(vocabulary)
    looked_at = tokens[: _MAX_PAIRS // max(neighbours.count, 1)]
    pairs = {one: neighbours.pairs(one.token, pattern) for one in looked_at}
    proved = [Unreachable(*one, "neighbours", ()) for one, found in pairs.items() if found == []]
    texts = {one: itertools.chain.from_iterable(map(_texts_of, found)) for one, found in pairs.items() if found}
    rest = _searched(vocabulary, texts, workers)
    return proved, [one for one in tokens if one in rest or pairs.get(one) is None]


def _texts_of(pair: bytes) -> Iterator[str]:
    return itertools.islice(_texts(pair), 64)


def _texts(token: bytes) -> Iterator[str]:
    """Yield texts that hold the bytes of a token."""
    try:
        bare = iter([token.decode()])
    except UnicodeDecodeError:
        bare = utf8.texts_with(token)
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
