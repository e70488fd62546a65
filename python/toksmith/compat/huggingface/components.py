"""The parts of a tokenizer, each as an object: added tokens, normalizer, pre-tokenizer, post-processor, decoder.

Each of the last four is the dictionary that a `tokenizer.json` has for it, with the methods that programs call on the
part of `tokenizers`. A part is never changed in place: assign another one to the tokenizer.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ... import _core
from ..._core import HuggingFaceEncoding as Encoding
from ..._core import spell
from ..._internal.arguments import checked_text

if TYPE_CHECKING:
    from typing_extensions import Self


Json = dict[str, Any]
"""An object of JSON."""

FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
_FIELDS = ("content", *FLAGS)


TokenLike = Any
"""An `AddedToken`, or one of `tokenizers`."""


class AddedToken:
    """A token that is found in the text before all others, in place of `tokenizers.AddedToken` if that is missing.

    By default `normalized` is the opposite of `special`.
    """

    def __init__(
        self,
        content: str = "",
        single_word: bool = False,
        lstrip: bool = False,
        rstrip: bool = False,
        normalized: bool | None = None,
        special: bool = False,
    ) -> None:
        self.content, self.single_word, self.lstrip, self.rstrip = content, single_word, lstrip, rstrip
        self._normalized, self.special = normalized, special

    @property
    def normalized(self) -> bool:
        """Whether the token is looked for in the normalized text, and is itself normalized for that."""
        return not self.special if self._normalized is None else self._normalized

    def __getstate__(self) -> Json:
        return {name: getattr(self, name) for name in _FIELDS}

    def __setstate__(self, state: Json) -> None:
        AddedToken.__init__(self, **state)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AddedToken) and self.__getstate__() == other.__getstate__()

    def __hash__(self) -> int:
        return hash(self.content)

    def __str__(self) -> str:
        return self.content

    def __repr__(self) -> str:
        flags = ", ".join(f"{flag}={getattr(self, flag)}" for flag in FLAGS)
        return f'AddedToken("{self.content}", {flags})'


def _row_of(token: TokenLike, special: bool) -> Json:
    """Return an added token as a `tokenizer.json` has it, without id; `special` marks it so, as in `tokenizers`."""
    if isinstance(token, str):
        token = AddedToken(token, special=special)
    if not all(hasattr(token, name) for name in _FIELDS):
        raise TypeError(f"Input must be a List[Union[str, AddedToken]], and one of them is {type(token).__name__}")
    if special and not token.special:
        token.special = True
    return {name: getattr(token, name) for name in _FIELDS}


class Added:
    """The added tokens of a tokenizer. A change gives a new one.

    Attributes:
        rows: Id → the token as a `tokenizer.json` has it.
        ids: Content → id.
        once_special: Contents that were special once: decoding skips them, even if they are added again as others.
        beside: Ids of tokens that the vocabulary of the model does not have.
    """

    def __init__(self, rows: Iterable[Json], beside: Iterable[int], once_special: Iterable[str] = ()) -> None:
        self.rows = {row["id"]: row for row in sorted(rows, key=lambda row: row["id"])}
        self.ids = {row["content"]: id for id, row in self.rows.items()}
        self.once_special = {*once_special, *(row["content"] for row in self.rows.values() if row["special"])}
        self.beside = frozenset(beside)

    def with_tokens(
        self, tokens: Iterable[object], special: bool, model_id: Callable[[str], int | None], model_size: int
    ) -> tuple[Added, int]:
        """Return the added tokens after more were added, and how many of those changed something.

        `model_id` returns the id that the model has for a token.
        """
        if not isinstance(tokens, (list, tuple)):
            raise TypeError(f"the tokens must be a list, not {type(tokens).__name__}")
        new = [_row_of(token, special) for token in tokens]
        rows, ids, beside = dict(self.rows), dict(self.ids), set(self.beside)
        once = {*self.once_special, *(row["content"] for row in new if row["special"] and row["content"])}
        changed, next_id = 0, max(max(ids.values(), default=-1) + 1, model_size)
        for row in new:
            name = row["content"]
            id = ids[name] if name in ids else model_id(name)
            if not name or (id in rows and row.items() <= rows[id].items()):
                continue
            if id is None:
                id, next_id = next_id, next_id + 1
                beside.add(id)
            ids[name], rows[id] = id, {"id": id, **row}
            changed += 1
        return Added(rows.values(), beside, once), changed

    def for_matching(self) -> list[Json]:
        """Return the rows by which tokens are found: a token that was special once is found as a special token."""
        return [
            {**row, "special": row["special"] or row["content"] in self.once_special} for row in self.rows.values()
        ]


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
    """A part of a `tokenizer.json`. Its fields are also attributes; the parts inside a `Sequence` are its items."""

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
