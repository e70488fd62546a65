"""The tokens of a vocabulary in the forms that an inspection needs, and the figures that need no text."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any

from .. import scripts
from . import kinds as kinds_of
from .results import Contents, Duplicates, Lengths, Partial, Sizes, VocabularyToken
from .utf8 import is_in_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...formats.parts import Parts

META = "\u2581"
"""The character that SentencePiece writes for a space."""


class Vocabulary:
    """The tokens of a tokenizer, in the forms that are asked for more than once.

    Attributes:
        parts: The tokenizer.
        ids: All ids, ascending.
        tokens: The bytes of each of `ids`.
        special: The ids of special tokens.
        ordinary: The tokens that are not special, by ascending id.
        texts: The ordinary tokens that are whole characters: id → text.
    """

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.ids = sorted(parts.vocab)
        self.tokens = [parts.vocab[id] for id in self.ids]
        self.special = frozenset(parts.special_tokens.values())
        self.ordinary = [VocabularyToken(id, parts.vocab[id]) for id in self.ids if id not in self.special]
        # The tokens for single bytes, where merging begins with characters: they encode characters that are no token.
        characters = parts.core.characters()
        self.bytes_of_characters = frozenset(() if characters is None else characters[0])
        self.texts = {id: text for id, token in self.ordinary if (text := text_of(token)) is not None}

    def token(self, id: int) -> VocabularyToken:
        """Return a token by its id."""
        return VocabularyToken(id, self.parts.vocab[id])


def text_of(token: bytes) -> str | None:
    """Return the text of a token; None if its bytes are no whole characters."""
    try:
        return token.decode()
    except UnicodeDecodeError:
        return None


def sizes(vocabulary: Vocabulary) -> Sizes:
    """Return how large a vocabulary is, and by which rules it encodes."""
    parts = vocabulary.parts
    core: Any = parts.core
    rule = "merges" if core.has_merges() else "ranks"
    return Sizes(
        tokens=len(vocabulary.ids),
        ordinary=len(vocabulary.ordinary),
        special=len(vocabulary.ids) - len(vocabulary.ordinary),
        max_id=core.max_id(),
        free_ids=core.max_id() + 1 - len(vocabulary.ids),
        token_bytes=sum(len(token) for _, token in vocabulary.ordinary),
        merges=len(core.merges()),
        rule=rule if core.characters() is None else "characters",
        whole_pretokens=core.ignores_merges(),
        pattern=parts.pattern.name or parts.pattern.text,
    )


def lengths(vocabulary: Vocabulary, top: int) -> Lengths:
    """Return how long the ordinary tokens are, with the `top` longest."""
    sized = [len(token) for _, token in vocabulary.ordinary]
    longest = sorted(vocabulary.ordinary, key=lambda one: (-len(one.token), one.id))[:top]
    return Lengths(
        by_bytes=_counted(sized),
        by_characters=_counted(map(len, vocabulary.texts.values())),
        mean_bytes=sum(sized) / max(len(sized), 1),
        median_bytes=sorted(sized)[(len(sized) - 1) // 2] if sized else 0,
        longest=tuple(longest),
    )


def _counted(numbers: Iterable[int]) -> dict[int, int]:
    return dict(sorted(collections.Counter(numbers).items()))


def contents(vocabulary: Vocabulary) -> Contents:
    """Return what the ordinary tokens are made of."""
    classes = kinds_of.of_characters(vocabulary.texts.values())
    script_of = scripts.find(kinds_of.different(vocabulary.texts.values()))
    kinds = collections.Counter(_kind(text, classes) for text in vocabulary.texts.values())
    kinds["partial"] = len(vocabulary.ordinary) - len(vocabulary.texts)
    found = collections.Counter(_script(text, script_of) for text in vocabulary.texts.values())
    return Contents(
        kinds={kind: kinds[kind] for kind in kinds_of.KINDS},
        leading_space=sum(len(text) > 1 and text[0] in (" ", META) for text in vocabulary.texts.values()),
        scripts=dict(sorted(found.items(), key=lambda one: (-one[1], one[0]))),
    )


def _kind(text: str, classes: dict[str, str]) -> str:
    kinds = set(map(classes.__getitem__, without_space(text)))
    return kinds.pop() if len(kinds) == 1 else "mixed" if kinds else "other"


def _script(text: str, script_of: dict[str, str]) -> str:
    found = set(map(script_of.__getitem__, text)) - {"Common", "Inherited"}
    return "Common" if not found else found.pop() if len(found) == 1 else "several"


def without_space(text: str) -> str:
    """Return a text without the space in front, if the text has other characters."""
    return text[1:] if len(text) > 1 and text[0] in (" ", META) else text


def partial(vocabulary: Vocabulary, top: int) -> Partial:
    """Return which ordinary tokens are no whole characters."""
    found = [one for one in vocabulary.ordinary if one.id not in vocabulary.texts]
    counts = collections.Counter(_part(token) for _, token in found)
    return Partial(
        tokens=len(found),
        single_bytes=counts["single"],
        inside_character=counts["inside"],
        across_characters=counts["across"],
        in_no_text=counts["nowhere"],
        examples=tuple(one for one in found if len(one.token) > 1)[:top],
    )


def _part(token: bytes) -> str:
    if not is_in_text(token):
        return "nowhere"
    if len(token) == 1:
        return "single"
    # The bytes of one character: no ASCII, and only continuation bytes after the first byte.
    return "inside" if all(byte & 0xC0 == 0x80 for byte in token[1:]) and token[0] >= 0x80 else "across"


def duplicates(vocabulary: Vocabulary, top: int) -> Duplicates:
    """Return which tokens differ by a space in front, by case, or by both."""
    texts = set(vocabulary.texts.values())
    spaced = sum(len(text) > 1 and text[0] in (" ", META) and text[1:] in texts for text in texts)
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
