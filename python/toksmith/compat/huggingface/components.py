"""The parts of a tokenizer, each as an object: normalizer, pre-tokenizer, model, post-processor, decoder.

Each is the dictionary that a `tokenizer.json` has for it, with the methods that programs call on the part of
`tokenizers`. A part is never changed in place: assign another one to the tokenizer.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ... import _core
from ..._core import HuggingFaceEncoding as Encoding
from ...files import text_files, whole_files
from ...formats.huggingface.checks import Json
from ...formats.huggingface.file_patterns import steps_of
from ...formats.spelling import BYTE_ORDER, spell

if TYPE_CHECKING:
    from typing_extensions import Self


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

    def __getitem__(self, key: Any) -> Any:
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
        _check_text(sequence)
        return steps_of(normalizer=dict(self)).normalize(sequence)


class PreTokenizer(Component):
    """A pre-tokenizer, which cuts a text into pretokens, and spells their bytes."""

    _LIST = "pretokenizers"

    def pre_tokenize_str(self, sequence: str) -> list[tuple[str, tuple[int, int]]]:
        """Return the pretokens of a text, spelled, each with its place in characters."""
        _check_text(sequence)
        return steps_of(pre_tokenizer=dict(self)).pre_tokenize(sequence)

    @staticmethod
    def alphabet() -> list[str]:
        """Return the characters that stand for bytes."""
        return [spell(bytes([byte])) for byte in BYTE_ORDER]


def _check_text(sequence: object) -> None:
    if not isinstance(sequence, str):
        raise TypeError(f"a text must be a str, not {type(sequence).__name__}")


def checked_ids(sequence: Any) -> list[int]:
    """Return ids as `decode` takes them: a sequence of integers of 32 bits, without a sign."""
    if isinstance(sequence, (str, bytes)) or not hasattr(sequence, "__getitem__"):
        raise TypeError(f"ids must be a sequence of int, not {type(sequence).__name__}")
    ids = [operator.index(id) for id in sequence]
    for id in ids:
        if not 0 <= id < 1 << 32:
            raise OverflowError(f"id {id} is {'negative' if id < 0 else 'more than 32 bits'}")
    return ids


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
        return self.core.process([encoding] if pair is None else [encoding, pair], add_special_tokens)


class Decoder(Component):
    """A decoder, which turns spelled tokens into text."""

    def decode(self, tokens: Iterable[str]) -> str:
        """Return the text of tokens."""
        return steps_of(decoder=dict(self)).decode(list(tokens))


class Token(NamedTuple):
    """A token that the model makes: id, spelling, and its place in bytes of the spelled pretoken."""

    id: int
    value: str
    offsets: tuple[int, int]

    def as_tuple(self) -> tuple[int, str, tuple[int, int]]:
        """Return the three as a tuple."""
        return self.id, self.value, self.offsets


class ModelState(Protocol):
    """The tokenizer that a model belongs to."""

    def content(self) -> Json: ...  # noqa: D102
    def model_id(self, token: str) -> int | None: ...  # noqa: D102
    def model_token(self, id: int) -> str | None: ...  # noqa: D102
    def model_tokens(self, spelled: str) -> list[tuple[int, str, tuple[int, int]]]: ...  # noqa: D102


class BPE:
    """Vocabulary and merges. `BPE()` is empty, for a tokenizer that is going to be trained.

    Args:
        vocab: Ids by spelled token, or the path of a `vocab.json`.
        merges: Pairs of spelled tokens in order, or the path of a `merges.txt`.
        **options: Options of `tokenizers.models.BPE` that a `tokenizer.json` holds: `ignore_merges`, `unk_token`, …
    """

    def __init__(self, vocab: Any = None, merges: Any = None, **options: Any) -> None:
        if (vocab is None) != (merges is None):
            raise ValueError("`vocab` and `merges` must be both specified")
        if isinstance(vocab, str) and isinstance(merges, str):
            vocab, merges = self.read_file(vocab, merges)
        unknown = options.keys() - {*_OPTIONS, "cache_capacity", "dropout"}
        if unknown:
            raise TypeError(f"BPE has no option {sorted(unknown)[0]!r}")
        kept = {name: options.get(name, value) for name, value in _OPTIONS.items()}
        pairs = [[left, right] for left, right in merges or ()]
        self._content: Json = {
            "type": "BPE",
            "dropout": options.get("dropout"),
            **kept,
            "vocab": dict(vocab or {}),
            "merges": pairs,
        }
        self._state: ModelState | None = None

    @classmethod
    def _of(cls, state: ModelState) -> BPE:
        """Return the model of a tokenizer."""
        made = cls.__new__(cls)
        made._state = state
        return made

    @staticmethod
    def read_file(vocab: str, merges: str) -> tuple[dict[str, int], list[tuple[str, str]]]:
        """Return the content of GPT-2's two files."""
        lines = text_files.lines(text_files.read_text(merges))
        pairs = [tuple(line.split(" ")) for line in lines if line and not line.startswith("#version")]
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError(f"{merges}: a line is not a merge of two tokens")
        return text_files.read_object(vocab, "vocab.json"), pairs  # type: ignore[return-value]

    @classmethod
    def from_file(cls, vocab: str, merges: str, **options: Any) -> BPE:
        """Load GPT-2's two files."""
        return cls(*cls.read_file(vocab, merges), **options)

    def __getattr__(self, name: str) -> Any:
        if name in (*_OPTIONS, "dropout"):
            return self.content()[name]
        raise AttributeError(f"BPE has no attribute {name!r}")

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_"):
            raise AttributeError(f"cannot set {name!r}: assign a new model to the tokenizer")
        super().__setattr__(name, value)

    def content(self) -> Json:
        """Return the model as a `tokenizer.json` has it."""
        if self._state is None:
            return self._content
        model: Json = self._state.content()["model"]
        return {"dropout": None, **_OPTIONS, **model}

    def __getstate__(self) -> bytes:
        return json.dumps(self.content()).encode()

    def __reduce__(self) -> tuple[object, ...]:
        return _model_of, (self.content(),)

    def __repr__(self) -> str:
        content = self.content()
        return f"BPE(vocab of {len(content['vocab'])} tokens, {len(content['merges'])} merges)"

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a token of the model; None if there is none."""
        if self._state is not None:
            return self._state.model_id(token)
        id: int | None = self._content["vocab"].get(token)
        return id

    def id_to_token(self, id: int) -> str | None:
        """Return the token of an id of the model; None if there is none."""
        if self._state is not None:
            return self._state.model_token(id)
        return next((token for token, other in self._content["vocab"].items() if other == id), None)

    def tokenize(self, sequence: str) -> list[Token]:
        """Return the tokens of one spelled pretoken. Characters that stand for no byte are left out."""
        _check_text(sequence)
        if self._state is None:
            raise ValueError("this model is in no tokenizer: give it to Tokenizer(model), and ask tokenizer.model")
        return [Token(*token) for token in self._state.model_tokens(sequence)]

    def save(self, folder: str, prefix: str | None = None) -> list[str]:
        """Write `vocab.json` and `merges.txt`; returns their paths."""
        content = self.content()
        pairs = (merge if isinstance(merge, str) else " ".join(merge) for merge in content["merges"])
        vocab = json.dumps(content["vocab"], ensure_ascii=False).encode()
        start = f"{prefix}-" if prefix else ""
        paths = [Path(folder, f"{start}vocab.json"), Path(folder, f"{start}merges.txt")]
        merges = "\n".join(["#version: 0.2", *pairs, ""]).encode()
        whole_files.write_all(zip(paths, ([vocab], [merges]), strict=True))
        return [str(path) for path in paths]


_OPTIONS: Json = {
    "unk_token": None,
    "continuing_subword_prefix": None,
    "end_of_word_suffix": None,
    "fuse_unk": False,
    "byte_fallback": False,
    "ignore_merges": False,
}


def _model_of(content: Json) -> BPE:
    made = BPE()
    made._content = content
    return made


def content_of(part: object) -> Json:
    """Return a part as a `tokenizer.json` has it; one of `tokenizers` is read from its state."""
    if isinstance(part, BPE):
        return part.content()
    if isinstance(part, dict):
        return dict(part)
    state = getattr(part, "__getstate__", lambda: None)()
    if not isinstance(state, bytes):
        raise TypeError(f"expected a part of a tokenizer, not {type(part).__name__}")
    content: Json = json.loads(state)
    return content
