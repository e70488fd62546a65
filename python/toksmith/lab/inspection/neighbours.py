"""Which tokens can stand beside a token that ends or begins inside a character, and complete the character.

If two tokens stand side by side in a result, then merging the bytes of both alone gives these two tokens: no merge
has crossed their outer ends, so the merges between these ends were those of these bytes alone. A token that completes
a character of another one is in the same pretoken, since a pretoken consists of whole characters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import reference
from .. import explanation
from . import utf8

if TYPE_CHECKING:
    from ...regex_dialects.inside import Inside
    from .vocabulary import Vocabulary

# Pairs of tokens with more bytes than this are not merged here; they are taken to be possible.
_MAX_BYTES = 64
_CONTINUATIONS = bytes(range(0x80, 0xC0))


class Neighbours:
    """The tokens that begin or end inside a character, and which two of them can stand side by side."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        parts = vocabulary.parts
        ids = {token: id for id, token in vocabulary.ordinary}
        self._rank_of = reference.rank_function(parts.merges if parts.core.has_merges() else ids)
        broken = [token for id, token in vocabulary.ordinary if id not in vocabulary.texts and utf8.is_in_text(token)]
        self._befores = [token for token in broken if _ends_inside(token) or not token.strip(_CONTINUATIONS)]
        self._afters = [token for token in broken if _begins_inside(token)]

    @property
    def count(self) -> int:
        """The number of tokens that are tried beside another one."""
        return len(self._befores) + len(self._afters)

    def pairs(self, token: bytes, pattern: Inside | None) -> list[bytes] | None:
        """Return the bytes of a token joined with each neighbour that can complete its first or last character.

        If both characters are incomplete, the pairs are those that complete the last one.

        Returns:
            None if both characters are whole, so that no neighbour is needed. An empty list if one of them is
            incomplete and no token can complete it.
        """
        found: list[bytes] | None = None
        if _begins_inside(token):
            found = [one + token for one in self._befores if self._may_meet(one, token, pattern)]
        if found != [] and _ends_inside(token):
            found = [token + one for one in self._afters if self._may_meet(token, one, pattern)]
        return found

    def _may_meet(self, left: bytes, right: bytes, pattern: Inside | None) -> bool:
        both = left + right
        if not utf8.is_in_text(both):
            return False
        firsts, text, last = utf8.shape(both)
        if pattern is not None and not pattern.may_hold(text, firsts, last):
            return False
        if len(both) > _MAX_BYTES:
            return True
        steps = explanation.steps_of(both, self._rank_of)
        return steps.pieces(len(steps)) == (left, right)


def _begins_inside(token: bytes) -> bool:
    return token[0] in _CONTINUATIONS


def _ends_inside(token: bytes) -> bool:
    return utf8.shape(token).last is not None
