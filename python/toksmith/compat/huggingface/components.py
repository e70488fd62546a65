"""The parts of a tokenizer, each as an object: normalizer, pre-tokenizer, post-processor, decoder.

Each is the dictionary that a `tokenizer.json` has for it, with the methods that programs call on the part of
`tokenizers`. A part is never changed in place: assign another one to the tokenizer.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ... import _core
from ..._core import HuggingFaceEncoding as Encoding
from ..._core import spell
from ..._internal.arguments import checked_text
from .added import Json

if TYPE_CHECKING:
    from typing_extensions import Self


def checked_ids(sequence: Sequence[int]) -> list[int]:
    """Return ids as `decode` takes them: a sequence of integers of 32 bits, without a sign."""
    if isinstance(sequence, (str, bytes)) or not hasattr(sequence, "__getitem__"):
        raise TypeError(f"ids must be a sequence of int, not {type(sequence).__name__}")
    ids = [operator.index(id) for id in sequence]
    for id in ids:
        if not 0 <= id < 1 << 32:
            raise OverflowError(f"id {id} is {'negative' if id < 0 else 'more than 32 bits'}")
    return ids


class Component(Json):
    """A part of a `tokenizer.json`. Its fields are attributes, too; the parts inside a `Sequence` are its items."""

    _LIST = ""

    @classmethod
    def of(cls, part: object) -> Self | None:
        """Return the component of a part: of `tokenizers`, of a `tokenizer.json`, or None."""
        return None if part is None else cls(content_of(part))

    def __getattr__(self, name: str) -> Any:
        if name in self and name != "type":
            return self[name]
        raise AttributeError(f"{self.get('type')} has no attribute {name!r}")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"cannot set {name!r}: assign a new part to the tokenizer")

    def __getitem__(self, key: str | int) -> Any:
        if isinstance(key, int):
            return type(self)(super().__getitem__(self._LIST)[key])
        return super().__getitem__(key)

    def __getstate__(self) -> bytes:
        return json.dumps(self).encode()

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (dict(self),)


class Normalizer(Component):
    """A normalizer, which changes a text before it is split."""

    _LIST = "normalizers"

    def normalize_str(self, sequence: str) -> str:
        """Return the normalized text."""
        return steps_of(normalizer=self).normalize(checked_text(sequence))


class PreTokenizer(Component):
    """A pre-tokenizer, which cuts a text into pretokens, and spells their bytes."""

    _LIST = "pretokenizers"

    def pre_tokenize_str(self, sequence: str) -> list[tuple[str, tuple[int, int]]]:
        """Return the pretokens of a text, spelled, each with its place in characters."""
        return steps_of(pre_tokenizer=self).pre_tokenize(checked_text(sequence))

    @staticmethod
    def alphabet() -> list[str]:
        """Return the characters that stand for bytes."""
        return sorted(spell(bytes([byte])) for byte in range(256))


class PostProcessor(Component):
    """A post-processor, which puts tokens around the ids of a text."""

    _LIST = "processors"

    @property
    def core(self) -> _core.PostProcessor:
        """What the core runs."""
        return _core.PostProcessor(json.dumps(self))

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Return how many tokens the post-processor adds."""
        return self.core.added(is_pair)

    def process(self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True) -> Encoding:
        """Return one encoding, made of one or two, which stay as they are."""
        encodings = [encoding] if pair is None else [encoding, pair]
        return _core.EncodingSettings("[null, null]", self.core).finish(encodings, add_special_tokens)


class Decoder(Component):
    """A decoder, which turns spelled tokens into text."""

    def decode(self, tokens: Iterable[str]) -> str:
        """Return the text of tokens."""
        return steps_of(decoder=self).decode(list(tokens))


def steps_of(**parts: Json | None) -> _core.Pipeline:
    """Return the steps of some parts of a `tokenizer.json`."""
    return _core.Pipeline(json.dumps(parts))


def content_of(part: object) -> Json:
    """Return a part as a `tokenizer.json` has it, read from its state."""
    if isinstance(part, dict):
        return dict(part)
    state = getattr(part, "__getstate__", lambda: None)()
    if not isinstance(state, bytes):
        raise TypeError(f"expected a part of a tokenizer, not {type(part).__name__}")
    content: Json = json.loads(state)
    return content
