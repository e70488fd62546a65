"""Templates: the ids that the post-processor of a `tokenizer.json` puts around texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ... import _core


class Piece(NamedTuple):
    """A piece of a template: a text ("A" or "B"), or tokens that are added; with a type id."""

    sequence: str | None
    tokens: tuple[tuple[str, int], ...]
    type_id: int


class Encoded(NamedTuple):
    """An encoded text: ids, tokens as Hugging Face spells them, and their places in characters."""

    ids: list[int]
    tokens: list[str]
    spans: list[tuple[int, int]]


class Part(NamedTuple):
    """A text, or tokens that are added: as `Encoded`, with type ids, and which text it is (None: added tokens)."""

    ids: list[int]
    tokens: list[str]
    spans: list[tuple[int, int]]
    type_ids: list[int]
    sequence: int | None


class Template:
    """Hugging Face's post-processor, which puts tokens around encoded texts. Immutable."""

    __slots__ = ("_core",)

    def __init__(self, core: _core.PostProcessor) -> None:
        self._core = core

    @property
    def single(self) -> tuple[Piece, ...]:
        """The pieces around one text; empty if nothing is added."""
        return self._pieces(False)

    @property
    def pair(self) -> tuple[Piece, ...]:
        """The pieces around two texts; empty if nothing is added."""
        return self._pieces(True)

    def _pieces(self, is_pair: bool) -> tuple[Piece, ...]:
        pieces = self._core.pieces(is_pair)
        return tuple(Piece(sequence, tuple(tokens), type_id) for sequence, tokens, type_id in pieces)

    @property
    def trims_offsets(self) -> bool:
        """Whether whitespace at the ends of tokens is left out of their offsets."""
        return self._core.trims_offsets

    def added(self, is_pair: bool = False) -> int:
        """Return how many ids are added around one text, or two."""
        return self._core.added(is_pair)

    def ids(self, first: Sequence[int], second: Sequence[int] | None = None) -> list[int]:
        """Return the ids of one text, or two, with those that are added."""
        texts = [
            Encoded(list(ids), [""] * len(ids), [(0, 0)] * len(ids)) for ids in (first, second) if ids is not None
        ]
        return self._processed(texts, True).ids

    def process(self, texts: Sequence[Encoded], add_special_tokens: bool = True) -> list[Part]:
        """Return the parts of the whole in order: each text, and each group of added tokens."""
        return [Part(*part) for part in self._processed(texts, add_special_tokens).parts()]

    def _processed(self, texts: Sequence[Encoded], add_special_tokens: bool) -> _core.HuggingFaceEncoding:
        encodings = [_core.HuggingFaceEncoding.of_columns(*text) for text in texts]
        return self._core.process(encodings, add_special_tokens)


def encoded(core: _core.Tokenizer, text: str, *, special: bool = True) -> Encoded:
    """Return ids, tokens and spans in characters of `text`, before tokens are put around it.

    A token that merging makes is spelled as the vocabulary of the file spells it; an added token is spelled as the
    text that was matched, with the whitespace that belongs to it. `Template.process` puts tokens around the text.
    """
    settings = _core.EncodingSettings(None, None, None)
    encoding = settings.encode(core, [text], False, special, False)
    return Encoded(encoding.ids, encoding.tokens, encoding.offsets)
