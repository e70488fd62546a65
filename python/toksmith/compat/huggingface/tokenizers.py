"""`Tokenizer`: the methods that programs call on `tokenizers.Tokenizer`, with the same results.

The class is a small mutable shell around an immutable `toksmith.Tokenizer`: it holds only truncation, padding, the
post-processor, and which added tokens are special. Changing a part makes a new `toksmith.Tokenizer`.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import importlib
import json
import os
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, ParamSpec, TypeVar

from ..._core import HuggingFaceEncoding as Encoding
from ..._internal import arguments
from ...files import text_files, whole_files
from ...formats import verification
from ...tokenizer import Tokenizer as Native
from . import state
from .components import AddedToken, Component, Decoder, Json, Normalizer, PreTokenizer, TokenLike, checked_ids
from .model import BPE, BpeTrainer, train, train_from_iterator
from .settings import Settings

_P = ParamSpec("_P")
_R = TypeVar("_R")


def _in_thread(method: Callable[_P, _R]) -> Callable[_P, Coroutine[object, object, _R]]:
    """Return a method that does the same in a thread, for programs with an event loop."""

    @functools.wraps(method)
    async def call(*args: _P.args, **options: _P.kwargs) -> _R:
        return await asyncio.to_thread(method, *args, **options)

    return call


def _part(name: str, kind: type[Component], what: str) -> Any:
    """Return the property of a part of the tokenizer."""

    def get(tokenizer: Tokenizer) -> Component | None:
        return kind.of(tokenizer._state.part(name))

    def put(tokenizer: Tokenizer, part: object) -> None:
        tokenizer._state = tokenizer._state.with_part(name, kind.of(part))

    return property(get, put, doc=f"{what} May be set, also to one of `tokenizers`.")


class Tokenizer(Settings):
    """A `toksmith.Tokenizer` behind the interface of `tokenizers.Tokenizer`.

    It encodes like a `tokenizers.Tokenizer` that is loaded from the folder that `save_huggingface` writes.

    Args:
        tokenizer: The tokenizer that encodes; or a model, `BPE()` for one that is going to be trained.

    >>> from toksmith import Tokenizer as Ours
    >>> tokenizer = Tokenizer(Ours(None, None, ["<|end|>"]))
    >>> tokenizer.encode("a b<|end|>").ids
    [97, 32, 98, 256]
    >>> tokenizer.encode("a b<|end|>").tokens
    ['a', 'Ġ', 'b', '<|end|>']
    """

    def __init__(self, tokenizer: object) -> None:
        super().__init__()
        if isinstance(tokenizer, Native):
            self._state = state.of_core(tokenizer)
            self._take_settings(self._state.settings)
        elif type(tokenizer).__name__ == "BPE":
            self._state = state.of_model(tokenizer)
        else:
            raise TypeError(f"expected a toksmith.Tokenizer or a BPE, not {type(tokenizer).__name__}")

    @property
    def _tokenizer(self) -> Native:
        return self._state.core

    # Files

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Tokenizer:
        """Load a `tokenizer.json`."""
        with text_files.naming(path):
            return cls._of(text_files.read_object(path, "tokenizer.json"))

    @classmethod
    def from_str(cls, json: str) -> Tokenizer:
        """Load the content of a `tokenizer.json`."""
        return cls._of(text_files.parse_object(json, "the tokenizer.json", "tokenizer.json"))

    @classmethod
    def from_buffer(cls, buffer: bytes) -> Tokenizer:
        """Load the content of a `tokenizer.json`."""
        return cls.from_str(bytes(buffer).decode())

    @classmethod
    def _of(cls, content: Json) -> Tokenizer:
        tokenizer = cls.__new__(cls)
        Settings.__init__(tokenizer)
        tokenizer._state = state.of_content(content)
        tokenizer._take_settings(content)
        return tokenizer

    def to_str(self, pretty: bool = False) -> str:
        """Return the content of a `tokenizer.json`."""
        content = {**self._state.content(), **self._settings_content()}
        form: Json = {"indent": 2} if pretty else {"separators": (",", ":")}
        return json.dumps(content, ensure_ascii=False, **form)

    def save(self, path: str | os.PathLike[str], pretty: bool = True, *, verify: bool = True) -> None:
        """Write a `tokenizer.json`; it is verified as `toksmith.Tokenizer.save_huggingface` does."""
        check = None
        if verify and self._state.trained is not None:
            check = functools.partial(verification.verify, self._tokenizer._core, "huggingface")
        whole_files.write(path, [self.to_str(pretty).encode()], check)

    # Text to ids

    def encode(
        self, sequence: object, pair: object = None, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> Encoding:
        """Return the encoding of a text, or of a list of words with `is_pretokenized`; `pair` is encoded after it."""
        sequences = [sequence] if pair is None else [sequence, pair]
        options = (is_pretokenized, not self.encode_special_tokens, add_special_tokens, False, 1)
        return self._settings.encode(self._tokenizer._core, sequences, options)

    def encode_batch(
        self,
        input: Iterable[object],
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
        *,
        _is_fast: bool = False,
    ) -> list[Encoding]:
        """Return the encoding of each text, or pair of texts, on all cores; padded to one length if padding is on."""
        texts, workers = arguments.checked_batch(input), arguments.checked_workers(None)
        options = (is_pretokenized, not self.encode_special_tokens, add_special_tokens, _is_fast, workers)
        return self._settings.encode_batch(self._tokenizer._core, texts, options)

    def encode_batch_fast(
        self, input: Iterable[object], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """As `encode_batch`, without tokens, offsets and words, as in `tokenizers`."""
        return self.encode_batch(input, is_pretokenized, add_special_tokens, _is_fast=True)

    # Ids to text

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """Return the text of ids, without special tokens. An id that has no token is left out."""
        return self._state.decode([self._state.shown(ids, skip_special_tokens)])[0]

    def decode_batch(self, sequences: Iterable[Sequence[int]], skip_special_tokens: bool = True) -> list[str]:
        """Return the text of each list of ids."""
        batch = arguments.checked_batch(sequences, "decode_batch", "lists of ids")
        return self._state.decode([self._state.shown(ids, skip_special_tokens) for ids in batch])

    async_encode = _in_thread(encode)
    async_encode_batch = _in_thread(encode_batch)
    async_encode_batch_fast = _in_thread(encode_batch_fast)
    async_decode_batch = _in_thread(decode_batch)

    # The vocabulary

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a token, spelled as the vocabulary has it; None if there is none."""
        ids = self._state.added.ids
        return ids[token] if token in ids else self._state.model_id(token)

    def id_to_token(self, id: int) -> str | None:
        """Return the token of an id, spelled as the vocabulary has it; None if there is none."""
        return self._state.token(id)

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """Return ids by token; without added tokens, those of the model, which may include some added tokens too."""
        added = self._state.added
        left_out = frozenset() if with_added_tokens else added.beside
        names = {name: id for name, id in added.ids.items() if id not in left_out}
        vocab = () if self._state.trained is None else self._tokenizer.vocab
        return {**{self._state.spelled(id): id for id in vocab if id not in added.rows}, **names}

    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """Return how many tokens there are."""
        return self._state.size(with_added_tokens)

    def get_added_tokens_decoder(self) -> dict[int, TokenLike]:
        """Return the added tokens by id, as objects of `tokenizers` if that is installed."""
        kind: Callable[..., TokenLike] = AddedToken
        with contextlib.suppress(ImportError):
            kind = importlib.import_module("tokenizers").AddedToken
        rows = self._state.added.rows.items()
        return {id: kind(**{name: value for name, value in row.items() if name != "id"}) for id, row in rows}

    def add_special_tokens(self, tokens: Iterable[object]) -> int:
        """Add tokens that decoding leaves out by default; returns how many are new."""
        return self._add(tokens, special=True)

    def add_tokens(self, tokens: Iterable[object]) -> int:
        """Add tokens that are found in the text before all else; returns how many are new."""
        return self._add(tokens, special=False)

    def _add(self, tokens: Iterable[object], special: bool) -> int:
        self._state, changed = self._state.with_tokens(tokens, special)
        return changed

    # What is done to encodings

    def post_process(
        self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True
    ) -> Encoding:
        """Return an encoding truncated, post-processed and padded."""
        encodings = [encoding] if pair is None else [encoding, pair]
        return self._settings.finish(encodings, add_special_tokens)

    # Its parts

    @property
    def model(self) -> BPE:
        """Vocabulary and merges. May be set."""
        return BPE._of(self._state)

    @model.setter
    def model(self, model: object) -> None:
        self._state = state.of_model(model, self._state)

    normalizer = _part("normalizer", Normalizer, "The normalizer, which changes a text before it is split.")
    pre_tokenizer = _part("pre_tokenizer", PreTokenizer, "The pre-tokenizer, which cuts a text into pretokens.")
    decoder = _part("decoder", Decoder, "The decoder, which turns tokens into text.")

    # Training

    def train(self, files: Sequence[str], trainer: Any = None) -> None:
        """Learn vocabulary and merges from files of text, each line by itself; `trainer` is a `BpeTrainer`."""
        self._state = train(self._state, files, trainer)

    def train_from_iterator(
        self, iterator: Iterable[str | Iterable[str]], trainer: Any = None, length: int | None = None
    ) -> None:
        """Learn vocabulary and merges from texts, or from lists of texts; `trainer` is a `BpeTrainer`."""
        self._state = train_from_iterator(self._state, iterator, trainer)

    def __repr__(self) -> str:
        return f"<Tokenizer of tokenizers' interface over {self._state.trained or 'no vocabulary'!r}>"


class DecodeStream:
    """Decodes ids as they come, in the pieces of the original: a piece ends where no character is unfinished.

    `ids` are those that came before; their text is not returned again.
    """

    __slots__ = ("_ids", "_prefix", "_prefix_index", "_skips")

    def __init__(self, ids: Sequence[int] | None = None, skip_special_tokens: bool = False) -> None:
        self._ids, self._skips = checked_ids(ids or []), skip_special_tokens
        self._prefix, self._prefix_index = "", 0

    def step(self, tokenizer: Tokenizer, id: int | list[int]) -> str | None:
        """Add an id, or several; return the text that is complete now, None if there is none."""
        new = checked_ids(id if isinstance(id, list) else [id])
        if not self._prefix and self._ids:
            text = tokenizer.decode(self._ids, skip_special_tokens=self._skips)
            if not text.endswith("\ufffd"):
                self._prefix, self._prefix_index = text, len(self._ids)
        self._ids = self._ids + new  # a new list: a copy of the stream has this one
        text = tokenizer.decode(self._ids, skip_special_tokens=self._skips)
        if len(text.encode()) <= len(self._prefix.encode()) or text.endswith("\ufffd"):
            return None
        if not text.startswith(self._prefix):
            raise ValueError("Invalid prefix encountered while decoding stream")
        piece = text[len(self._prefix) :]
        read = len(self._ids) - self._prefix_index
        self._ids = self._ids[self._prefix_index :]
        self._prefix = tokenizer.decode(self._ids, skip_special_tokens=self._skips)
        self._prefix_index = read
        return piece


class ByteLevelBPETokenizer(Tokenizer):
    """A tokenizer that is made like GPT-2's. It has all methods of `Tokenizer`.

    Its arguments are those of `tokenizers`; `vocab` and `merges` are objects or paths, and are left out for a
    tokenizer that is going to be trained.
    """

    def __init__(
        self,
        vocab: str | dict[str, int] | None = None,
        merges: str | Sequence[tuple[str, str]] | None = None,
        add_prefix_space: bool = False,
        lowercase: bool = False,
        dropout: float | None = None,
        unicode_normalizer: str | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        trim_offsets: bool = False,
    ) -> None:
        model = BPE()
        if vocab is not None and merges is not None:
            prefix, suffix = continuing_subword_prefix or "", end_of_word_suffix or ""
            affixes = {"continuing_subword_prefix": prefix, "end_of_word_suffix": suffix}
            model = BPE(vocab, merges, dropout=dropout, **affixes)
        super().__init__(model)
        kinds = [unicode_normalizer.upper() if unicode_normalizer else None, "Lowercase" if lowercase else None]
        steps = [{"type": kind} for kind in kinds if kind]
        if steps:
            self.normalizer = {"type": "Sequence", "normalizers": steps} if len(steps) > 1 else steps[0]
            self.normalize("")  # raises for a form that is not known
        byte_level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
        self.pre_tokenizer = {**byte_level, "add_prefix_space": add_prefix_space}
        self.decoder = byte_level
        self.post_processor = {**byte_level, "trim_offsets": trim_offsets}

    @staticmethod
    def from_file(vocab_filename: str, merges_filename: str, **options: Any) -> ByteLevelBPETokenizer:  # type: ignore[override]
        """Load GPT-2's two files."""
        return ByteLevelBPETokenizer(vocab_filename, merges_filename, **options)

    def train(
        self,
        files: str | Sequence[str],
        vocab_size: int = 30000,
        min_frequency: int = 2,
        show_progress: bool = True,
        special_tokens: Sequence[str | TokenLike] = (),
    ) -> None:
        """Learn vocabulary and merges from files of text, each line by itself."""
        trainer = _trainer(vocab_size, min_frequency, special_tokens)
        super().train([files] if isinstance(files, str) else files, trainer)

    def train_from_iterator(  # type: ignore[override]
        self,
        iterator: Iterable[str | Iterable[str]],
        vocab_size: int = 30000,
        min_frequency: int = 2,
        show_progress: bool = True,
        special_tokens: Sequence[str | TokenLike] = (),
        length: int | None = None,
    ) -> None:
        """Learn vocabulary and merges from texts, or from lists of texts."""
        super().train_from_iterator(iterator, _trainer(vocab_size, min_frequency, special_tokens))

    def normalize(self, sequence: str) -> str:
        """Return the normalized text."""
        return sequence if self.normalizer is None else self.normalizer.normalize_str(sequence)

    def save_model(self, directory: str, prefix: str | None = None) -> list[str]:
        """Write `vocab.json` and `merges.txt`; returns their paths."""
        return self.model.save(directory, prefix)


def _trainer(vocab_size: int, min_frequency: int, special_tokens: Sequence[str | TokenLike]) -> BpeTrainer:
    return BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        special_tokens=special_tokens,
        initial_alphabet=PreTokenizer.alphabet(),
    )
