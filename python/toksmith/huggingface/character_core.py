"""The core of a tokenizer that merges characters: the treatment of spaces before, and decoding tokens after.

A text that at most gets a space in front goes to the core whole. All other texts go through the pipeline in
stretches; there U+2581 becomes a plain space as the last step, if the core has plain spaces.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from .. import _core, patterns
from ..common.lazy import LazyProperty
from . import decoders
from .characters import Spelling, plain
from .checks import shown
from .decoders import META

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from .pipeline import Pipeline


class CharacterCore:
    """The object that `Tokenizer` calls in place of its core, if the model merges characters."""

    __slots__ = ("__dict__", "_all", "_spaces", "_with_space")

    def __init__(self, inner: _core.Tokenizer, pipeline: Pipeline) -> None:
        self._inner, self._pipeline = pipeline.around(inner), pipeline
        assert pipeline.spaces is not None
        self._normalized = _core.Normalizer(pipeline.normalizer).apply
        self._spaces = pipeline.spaces
    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    # Ids to text

    @LazyProperty
    def spelling(self) -> Spelling:
        """How the file spells tokens; added tokens as decoding sees them: normalized, if they are normalized."""
        tokens = self._pipeline.added_tokens
        names = {token.id: self._normalized(token.content) if token.normalized else token.content for token in tokens}
        return Spelling(self._inner, self._spaces.are_plain, names)

    @LazyProperty
    def _model_spelling(self) -> Spelling:
        return Spelling(self._inner, self._spaces.are_plain, {})

    def spelled(self, id: int) -> str:
        """Return a token of the model as the file spells it; `KeyError` if there is none."""
        return self._model_spelling.of_id(id)

    def id_of(self, token: str) -> int | None:
        """Return the id that the model has for a spelling; None if it has none."""
        return self._model_spelling.id_of(token)

    def model_tokens(self, spelled: str) -> list[tuple[int, str, tuple[int, int]]]:
        """Return id, spelling and place, in bytes, of the tokens that the model makes of a spelled pretoken.

        Raises:
            ValueError: The pretoken has a space, and the core has a space in place of each U+2581.
        """
        are_plain = self._spaces.are_plain
        if are_plain and " " in spelled:
            raise ValueError(f"{shown(spelled)} has a space: this model gets U+2581 in its place")
        ids, spans = self._of_one_pretoken._ids_and_spans(plain(spelled, are_plain).decode())
        at, found = 0, []
        data = plain(spelled, are_plain)
        for id, (start, end) in zip(ids, spans.tolist(), strict=True):
            length = end - start + (2 * data[start:end].count(b" ") if are_plain else 0)
            found.append((id, self.spelled(id), (at, at + length)))
            at += length
        return found

    @LazyProperty
    def _of_one_pretoken(self) -> CharacterCore:
        """The same core, but each text is one pretoken."""
        if self._pipeline.pattern.text is None:
            return self
        specials = list(self._inner.special_tokens().items())
        whole = patterns.resolve(None).core()
        return CharacterCore(_core.Tokenizer.from_state(self._inner.state(), specials, whole), self._pipeline)

    @LazyProperty
    def stripped_spaces(self) -> int | None:
        """How many spaces are taken off the front of the bytes of the tokens; None if decoding does anything else."""
        if not (self._inner.characters() or ([],))[0]:
            return None  # a token for a byte may have the bytes of its spelling
        return decoders.stripped_spaces(self._pipeline.decoder, self._spaces.are_plain)

    @LazyProperty
    def _respelled(self) -> frozenset[int]:
        """The added tokens that decoding spells differently from the core, which merges with them."""
        tokens = self._pipeline.added_tokens
        are_plain = self._spaces.are_plain
        return frozenset(
            token.id
            for token in tokens
            if plain(self.spelling.of_id(token.id), are_plain) != self._inner.token_bytes(token.id)
            or decoders.byte_of(self.spelling.of_id(token.id)) is not None
        )

    def _joins(self, ids: Any) -> bool:
        """Whether the text of these ids is that of their bytes."""
        return self.stripped_spaces is not None and not (self._respelled and self._respelled.intersection(ids))

    def decode(self, ids: Iterable[int], errors: str = "replace") -> str:
        """Return the text of ids, as the decoder of the file makes it."""
        ids = _held(ids)
        if not self._joins(ids):
            return self._decoded(ids)
        try:
            text = self._inner.decode(ids, "strict")
        except UnicodeDecodeError:
            if errors == "replace":
                return self._decoded(ids)
            text = self._inner.decode_bytes(ids).decode("utf-8", errors)
        return text[_leading(text, self.stripped_spaces or 0, " ") :]

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of the text of ids; those that are not UTF-8 stay as they are."""
        ids = _held(ids)
        if not self._joins(ids):
            return self._decoded(ids).encode()
        data = self._inner.decode_bytes(ids)
        return data[_leading(data, self.stripped_spaces or 0, b" ") :]

    def _decoded(self, ids: Any) -> str:
        self._inner.decode_bytes(ids)  # raises the error of an id that is no token
        return decoders.decoded(self._pipeline.decoder, (self.spelling.of_id(int(id)) for id in ids))

    def decode_batch(self, batch: Any, errors: str, starts: Any = None) -> list[str]:
        """Return the text of each list of ids; with `starts`, of each part of one array of ids."""
        if starts is None:
            return [self.decode(ids, errors) for ids in batch]
        self._inner.decode_batch(batch, "ignore", starts)  # raises the errors of ids and starts
        places = [int(start) for start in starts]
        return [self.decode(batch[start:end], errors) for start, end in itertools.pairwise(places)]


def _held(ids: Any) -> Any:
    return ids if hasattr(ids, "__len__") and hasattr(ids, "__getitem__") else list(ids)


def _leading(text: Any, most: int, space: Any) -> int:
    """Return how many of the first characters are spaces, up to a limit."""
    count = 0
    while count < most and text[count : count + 1] == space:
        count += 1
    return count


def _of_single_bytes(text: str, places: Places) -> Places:
    """Return the places of the bytes of a text in which each U+2581 has one byte."""
    import numpy as np

    data = np.frombuffer(text.encode(), np.uint8)
    meta = np.frombuffer(META.encode(), np.uint8)
    found = np.flatnonzero((data[:-2] == meta[0]) & (data[1:-1] == meta[1]) & (data[2:] == meta[2]))
    kept = np.ones(len(data), np.bool_)
    kept[found + 1] = kept[found + 2] = False
    return Places(places.starts[kept], places.ends[kept])
