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
from .pipeline_core import PipelineCore
from .stretches import Places, Stretch, with_prefix

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from .pipeline import Pipeline


class CharacterCore(PipelineCore):
    """The object that `Tokenizer` calls in place of its core, if the model merges characters."""

    __slots__ = ("__dict__", "_all", "_spaces", "_with_space")

    def __init__(self, inner: _core.Tokenizer, pipeline: Pipeline) -> None:
        super().__init__(inner, pipeline)
        assert pipeline.spaces is not None
        self._spaces = pipeline.spaces
        self._all = self._texts(pipeline.added_tokens)
        self._with_space = self._texts(t for t in pipeline.added_tokens if " " in t.content or META in t.content)

    # Text to ids

    def is_unchanged(self, text: str, special: bool) -> bool:
        """Return whether the core does everything by itself for this text, and for each stretch of it."""
        if self._spaces.prefix is None:
            return not self._spaces.are_plain and super().is_unchanged(text, special)
        return self._spaces.prefix == "" and META not in text and self._ready(text, special) is not None

    def _ready(self, text: str, special: bool) -> tuple[str, bool] | None:
        prefix = self._spaces.prefix
        if prefix is None:
            return super()._ready(text, special)
        plain = self._with_spaces(text)
        if plain is None:
            return None
        text = plain
        found = self._in_text if special else self._ordinary
        if found is not None and found.is_in(text):
            return None
        # If the core looks for special tokens, it also puts the space in front of the stretches between them.
        return (text, True) if special else (self._with_prefix(text), False)

    def _with_spaces(self, text: str) -> str | None:
        """Return a text with a space for each U+2581; None if that could make, or hide, an added token."""
        if META not in text:
            return text
        plain = text.replace(META, " ")
        found = self._with_space
        return None if found is not None and (found.is_in(text) or found.is_in(plain)) else plain

    def _with_prefix(self, text: str) -> str:
        """Return a text without added tokens with its prefix, for a pipeline that does nothing else to it."""
        prefix = self._spaces.prefix
        return f" {text}" if prefix and text and (prefix == "always" or text[0] != " ") else text

    def _stretches(self, text: str, special: bool) -> Iterator[Stretch]:
        metaspace = self._spaces.metaspace
        if metaspace is None or metaspace.scheme != "first":
            return super()._stretches(text, special)
        # Whether a prefix is put in front depends on the place of a stretch.
        return self._placed_stretches(text, special)

    def _prefixed(self, text: str, places: Places | None) -> Iterator[Stretch]:
        if not self._spaces.are_plain:
            yield Stretch(None, text, places)
            return
        if META in text:
            places = places and _of_single_bytes(text, places)
            text = text.replace(META, " ")
        if self._lacks_prefix(text, places):
            text = f" {text}"
            places = places and with_prefix(places)
        yield Stretch(None, text, places)

    def _lacks_prefix(self, text: str, places: Places | None) -> bool:
        """Whether Metaspace puts a prefix in front of a stretch."""
        metaspace = self._spaces.metaspace
        if metaspace is None or metaspace.scheme == "never" or text.startswith(" "):
            return False
        return metaspace.scheme == "always" or (places is not None and int(places.starts[0]) == 0)

    def encode_with_offsets(self, text: str, special: bool, characters: bool) -> tuple[list[int], NDArray[np.int64]]:
        """See `encode`. Spans are those of the original text; a prefix has the span of its first character."""
        is_ready = characters and self._ready(text, special) is not None
        if not is_ready or (special and self._spaces.prefix and self._all is not None and self._all.is_in(text)):
            return super().encode_with_offsets(text, special, characters)
        plain = text.replace(META, " ") if self._spaces.are_plain else text
        if not self._spaces.prefix:
            return self._inner.encode_with_offsets(plain, special, True)
        prefixed = self._with_prefix(plain)
        ids, spans = self._inner.encode_with_offsets(prefixed, False, True)
        if len(prefixed) > len(text):
            spans = (spans - 1).clip([0, 1])  # a token of the prefix alone has the first character's span too
        return ids, spans

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
