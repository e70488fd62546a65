"""The tokens of a vocabulary in the forms that an inspection needs, and the figures that need no text."""

from __future__ import annotations

import collections

import numpy as np
from numpy.typing import NDArray

from ...formats.verification import text_of
from ...tokenizer import Tokenizer
from .. import parts
from ..characters import KINDS, kinds_of, scripts_of
from .results import Contents, Duplicates, Merging, Saved, Sizes, VocabularyToken


class Vocabulary:
    """The tokens of a tokenizer, in the forms that are asked for more than once.

    `tokens` are the bytes of all `ids`, which ascend, as do the ids of the `ordinary` tokens, those that are not
    `special`. `texts` has the ordinary tokens that are whole characters, by id.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._vocab = tokenizer.vocab
        self.ids = sorted(self._vocab)
        self.tokens = [self._vocab[id] for id in self.ids]
        self.special = frozenset(tokenizer.special_tokens.values())
        self.ordinary = [self.token(id) for id in self.ids if id not in self.special]
        self.texts = {id: text for id, token in self.ordinary if (text := text_of(token)) is not None}

    def token(self, id: int) -> VocabularyToken:
        """Return a token by its id."""
        return VocabularyToken(id, self._vocab[id])


def sizes(vocabulary: Vocabulary) -> Sizes:
    """Return how large a vocabulary is, and by which rules it encodes."""
    tokenizer = vocabulary.tokenizer
    pattern = parts.pattern(tokenizer)
    rule = "merges" if parts.has_merges(tokenizer) else "ranks"
    return Sizes(
        tokens=len(vocabulary.ids),
        ordinary=len(vocabulary.ordinary),
        special=len(vocabulary.ids) - len(vocabulary.ordinary),
        max_id=tokenizer.max_id,
        free_ids=tokenizer.max_id + 1 - len(vocabulary.ids),
        token_bytes=sum(len(token) for _, token in vocabulary.ordinary),
        merges=len(tokenizer.merges),
        rule="characters" if parts.merges_characters(tokenizer) else rule,
        whole_pretokens=parts.ignores_merges(tokenizer),
        pattern=pattern.name or pattern.text,
    )


def contents(vocabulary: Vocabulary) -> Contents:
    """Return what the ordinary tokens are made of."""
    texts = vocabulary.texts.values()
    characters = "".join(set("".join(texts)))
    kind_of, script_of = kinds_of(characters), scripts_of(characters)
    kinds = collections.Counter(_kind(text, kind_of) for text in texts)
    kinds["partial"] = len(vocabulary.ordinary) - len(texts)
    scripts = collections.Counter(_script(text, script_of) for text in texts)
    return Contents(
        kinds={kind: kinds[kind] for kind in KINDS},
        leading_space=sum(len(text) > 1 and text[0] in (" ", parts.META) for text in texts),
        scripts=dict(sorted(scripts.items(), key=lambda item: (-item[1], item[0]))),
    )


def _kind(text: str, kind_of: dict[str, str]) -> str:
    kinds = set(map(kind_of.__getitem__, without_space(text)))
    return kinds.pop() if len(kinds) == 1 else "mixed" if kinds else "other"


def _script(text: str, script_of: dict[str, str]) -> str:
    scripts = set(map(script_of.__getitem__, text)) - {"Common", "Inherited"}
    return "Common" if not scripts else scripts.pop() if len(scripts) == 1 else "several"


def without_space(text: str) -> str:
    """Return a text without the space in front, if the text has other characters."""
    return text[1:] if len(text) > 1 and text[0] in (" ", parts.META) else text


def duplicates(vocabulary: Vocabulary, top: int) -> Duplicates:
    """Return which tokens differ by a space in front, by case, or by both."""
    texts = set(vocabulary.texts.values())
    spaced = sum(len(text) > 1 and text[0] in (" ", parts.META) and text[1:] in texts for text in texts)
    cases, both = collections.defaultdict(list), collections.defaultdict(list)
    for id, text in vocabulary.texts.items():
        cases[text.casefold()].append(id)
        both[without_space(text).casefold()].append(id)
    by_case = [ids for ids in cases.values() if len(ids) > 1]
    by_both = [ids for ids in both.values() if len(ids) > 1]
    largest = sorted(by_both, key=lambda ids: (-len(ids), ids[0]))[:top]
    return Duplicates(
        by_space=spaced,
        by_case=len(by_case),
        by_case_tokens=sum(map(len, by_case)),
        by_both=len(by_both),
        by_both_tokens=sum(map(len, by_both)),
        largest=tuple(tuple(map(vocabulary.token, ids)) for ids in largest),
    )


class Tree:
    """The last merge of each token. A token is named by its place among all ids in ascending order.

    `left` and `right` are its parts, -1 for a token that no merge makes. `order` has the others, parts first.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        left, right = parts.last_merges(vocabulary.tokenizer)
        self.left: list[int] = left.tolist()
        self.right: list[int] = right.tolist()
        merged = (place for place, part in enumerate(self.left) if part >= 0)
        self.order = sorted(merged, key=lambda place: len(vocabulary.tokens[place]))

    def depths(self) -> list[int]:
        """Return the depth of each token: 0 without a merge, else 1 more than that of its deeper part."""
        depths = [0] * len(self.left)
        for place in self.order:
            depths[place] = 1 + max(depths[self.left[place]], depths[self.right[place]])
        return depths

    def totals(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how often each token was there, alone or as a part, in a text whose tokens have these counts.

        The merge of a token is applied for each use of the token, and for each use of a token that it is a part of.
        """
        uses = counts.tolist()
        for place in reversed(self.order):
            if number := uses[place]:
                uses[self.left[place]] += number
                uses[self.right[place]] += number
        return np.array(uses, np.int64)


def merging(vocabulary: Vocabulary, tree: Tree, top: int) -> Merging:
    """Return how deep the merges of ordinary tokens are."""
    depths = tree.depths()
    ordinary = [place for place, id in enumerate(vocabulary.ids) if id not in vocabulary.special]
    merged = [depths[place] for place in ordinary if depths[place]]
    deepest = sorted((place for place in ordinary if depths[place]), key=lambda place: (-depths[place], place))[:top]
    return Merging(
        by_depth=dict(sorted(collections.Counter(depths[place] for place in ordinary).items())),
        mean_depth=sum(merged) / max(len(merged), 1),
        deepest=tuple((vocabulary.token(vocabulary.ids[place]), depths[place]) for place in deepest),
    )


def top_saved(vocabulary: Vocabulary, tree: Tree, applied: NDArray[np.int64], top: int) -> tuple[Saved, ...]:
    """Return the merges that were applied most."""
    ids, tokens = vocabulary.ids, vocabulary.tokens
    best = np.argsort(-applied, kind="stable")[:top].tolist()
    return tuple(
        Saved(ids[place], tokens[place], ids[tree.left[place]], ids[tree.right[place]], int(applied[place]))
        for place in best
        if applied[place]
    )
