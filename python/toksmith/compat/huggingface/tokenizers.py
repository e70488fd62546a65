"""`Tokenizer`: a `tokenizers.Tokenizer` whose texts and ids go through toksmith."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import functools
import json
import operator
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ... import _core
from ..._core import HuggingFaceEncoding as Encoding
from ..._core import unspell
from ..._internal import arguments
from ...files import reading, text_files, whole_files
from ...formats import verification
from ...tokenizer import Tokenizer as Native
from . import training

try:
    import tokenizers as original
    from tokenizers import ByteLevelBPETokenizer as _OriginalByteLevel
except ImportError as error:
    raise ImportError("toksmith.compat.huggingface needs the package `tokenizers` before 1.0: install it") from error


def _part(name: str, of_text: bool = True) -> Any:
    """Return the property of a part of the original; `of_text` if it changes how a text is encoded or decoded."""

    def get(tokenizer: Tokenizer) -> Any:
        part = getattr(tokenizer._original, name)
        tokenizer._lent[name, of_text] = _fingerprint(part)
        return part

    def put(tokenizer: Tokenizer, part: object) -> None:
        setattr(tokenizer._original, name, part)
        tokenizer._lent[name, of_text] = _fingerprint(part)
        tokenizer._forget(of_text)

    return property(get, put)


_MODEL_OPTIONS = (
    *("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix"),
    *("fuse_unk", "byte_fallback", "ignore_merges"),
)


def _fingerprint(part: Any) -> object:
    """Return what tells whether a part was changed in place, which its owner is not told."""
    if isinstance(part, original.models.Model):
        return [getattr(part, name, None) for name in _MODEL_OPTIONS]
    return None if part is None else part.__getstate__()


def _changing(name: str) -> Any:
    """Return the method of the original that changes how an encoding is finished."""

    def call(tokenizer: Tokenizer, *args: object, **options: object) -> None:
        getattr(tokenizer._original, name)(*args, **options)
        tokenizer._forget(of_text=False)

    return call


class Tokenizer:
    """A `tokenizers.Tokenizer` that encodes, decodes and trains with toksmith. Everything else is the original's.

    Args:
        tokenizer: A `toksmith.Tokenizer`; or a model of `tokenizers`, `BPE()` for a tokenizer that is going to be
            trained.

    >>> from toksmith import Tokenizer as Ours
    >>> tokenizer = Tokenizer(Ours(None, None, ["<|end|>"]))
    >>> tokenizer.encode("a b<|end|>").ids
    [97, 32, 98, 256]
    >>> tokenizer.encode("a b<|end|>").tokens
    ['a', 'Ġ', 'b', '<|end|>']
    """

    __slots__ = ("_decoding", "_lent", "_native", "_original", "_settings", "encode_special_tokens")

    def __init__(self, tokenizer: Any) -> None:
        if isinstance(tokenizer, Native):
            self._fill(original.Tokenizer.from_str(tokenizer._core.written("huggingface")[0].decode()), tokenizer)
        elif isinstance(tokenizer, original.models.BPE):
            self._fill(original.Tokenizer(tokenizer), None)
            self._lent["model", True] = _fingerprint(tokenizer)
        else:
            raise TypeError(f"expected a toksmith.Tokenizer or a BPE, not {type(tokenizer).__name__}")

    def _fill(self, tokenizer: Any, native: Native | None, encode_special_tokens: bool = False) -> None:
        self._original, self.encode_special_tokens = tokenizer, encode_special_tokens
        # A change puts a new list in place, so what another thread makes meanwhile is kept in the list of before.
        self._native = [] if native is None else [native]
        self._settings: list[_core.EncodingSettings] = []
        self._decoding: list[tuple[bool, set[int]]] = []
        self._lent: dict[tuple[str, bool], object] = {}

    @classmethod
    def around(cls, tokenizer: Any) -> Tokenizer:
        """Return the stand-in for a `tokenizers.Tokenizer`, which it keeps and changes.

        Raises:
            ValueError: A part is none that toksmith runs, such as a model that is not BPE.
        """
        made = cls.__new__(cls)
        made._fill(tokenizer, None, tokenizer.encode_special_tokens)
        if tokenizer.get_vocab_size():
            _ = made._tokenizer
        return made

    def _forget(self, of_text: bool = True) -> None:
        """Note that the original was changed; `of_text` if in how a text is encoded or decoded."""
        self._settings = []
        if of_text:
            self._native, self._decoding = [], []

    @property
    def _tokenizer(self) -> Native:
        """The tokenizer that encodes, made when it is first needed after a change."""
        for (name, of_text), before in list(self._lent.items()):
            if (after := _fingerprint(getattr(self._original, name))) != before:  # the part was changed in place
                self._lent[name, of_text] = after
                self._forget(of_text)
        made = self._native
        if not made:
            if not self._original.get_vocab_size():
                raise ValueError("this tokenizer has no vocabulary yet: train it, or load one")
            core = _core.Tokenizer.of_huggingface(self.to_str().encode(), keep_ids=True)
            # Added tokens that are not special, but were, are still found as special tokens.
            added, name_of = self._original.get_added_tokens_decoder(), self._original.id_to_token
            once = {added[id].content for id in _special(self._original) if name_of(id) == added[id].content}
            once -= {token.content for token in added.values() if token.special}
            made.append(Native._of(core.with_special(once) if once else core))
        return made[0]

    def _encoder(self) -> tuple[_core.Tokenizer, _core.EncodingSettings]:
        """Return what encodes, and how encodings are finished, both as after the last change."""
        core, made = self._tokenizer._core, self._settings
        if not made:
            part = self._original.post_processor
            processor = None if part is None else _core.PostProcessor(part.__getstate__().decode())
            lengths = json.dumps([self._original.truncation, self._original.padding])
            made.append(_core.EncodingSettings(lengths, processor))
        return core, made[0]

    # Files

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Tokenizer:
        """Load a `tokenizer.json`."""
        with text_files.naming(path):
            return cls.from_buffer(reading.read(path))

    @classmethod
    def from_str(cls, json: str) -> Tokenizer:
        """Load the content of a `tokenizer.json`."""
        return cls.from_buffer(json.encode())

    @classmethod
    def from_buffer(cls, buffer: bytes) -> Tokenizer:
        """Load the content of a `tokenizer.json`."""
        try:
            with verification.peer("not a tokenizer.json"):
                tokenizer = original.Tokenizer.from_buffer(bytes(buffer))
        except ValueError:
            _core.Tokenizer.of_huggingface(bytes(buffer))  # whose error names the place
            raise
        return cls.around(tokenizer)

    @classmethod
    def from_pretrained(cls, identifier: str, revision: str = "main", token: str | None = None) -> Tokenizer:
        """Load the `tokenizer.json` of a model on the Hub."""
        return cls.around(original.Tokenizer.from_pretrained(identifier, revision, token))

    def to_str(self, pretty: bool = False) -> str:
        """Return the content of a `tokenizer.json`."""
        content: str = self._original.to_str(pretty)
        return content

    def save(self, path: str | os.PathLike[str], pretty: bool = True, *, verify: bool = True) -> None:
        """Write a `tokenizer.json`; it is verified as `toksmith.Tokenizer.save_huggingface` does."""
        check = None
        if verify and self._original.get_vocab_size() and self._original.decoder is not None:
            check = functools.partial(verification.verify, self._tokenizer._core, "huggingface")
        whole_files.write(path, [self.to_str(pretty).encode()], check)

    # Text to ids

    def encode(
        self, sequence: object, pair: object = None, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> Encoding:
        """Return the encoding of a text, or of a list of words with `is_pretokenized`; `pair` is encoded after it."""
        sequences = [sequence] if pair is None else [sequence, pair]
        options = (is_pretokenized, not self.encode_special_tokens, add_special_tokens, False, 1)
        core, settings = self._encoder()
        return settings.encode(core, sequences, options)

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
        core, settings = self._encoder()
        return settings.encode_batch(core, texts, options)

    def encode_batch_fast(
        self, input: Iterable[object], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """As `encode_batch`, without tokens, offsets and words, as in `tokenizers`."""
        return self.encode_batch(input, is_pretokenized, add_special_tokens, _is_fast=True)

    def post_process(
        self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True
    ) -> Encoding:
        """Return an encoding truncated, post-processed and padded."""
        encodings = [encoding] if pair is None else [encoding, pair]
        return self._encoder()[1].finish(encodings, add_special_tokens)

    # Ids to text

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """Return the text of ids, without special tokens. An id that has no token is left out."""
        return self.decode_batch([ids], skip_special_tokens)[0]

    def decode_batch(self, sequences: Iterable[Sequence[int]], skip_special_tokens: bool = True) -> list[str]:
        """Return the text of each list of ids."""
        batch = [_checked_ids(ids) for ids in arguments.checked_batch(sequences, "decode_batch", "lists of ids")]
        tokenizer, made = self._tokenizer, self._decoding
        if not made:
            made.append((_decodes_alike(self._original, self._tokenizer), _special(self._original)))
        is_alike, special = made[0]
        if not is_alike:
            return _decoded(self._original, batch, skip_special_tokens)
        vocab, skipped = tokenizer.vocab, special if skip_special_tokens else ()
        shown = [[id for id in ids if id in vocab and id not in skipped] for ids in batch]
        return [tokenizer.decode(shown[0])] if len(shown) == 1 else tokenizer.decode_batch(shown)

    # The original

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name.startswith("async_"):  # for programs with an event loop
            return functools.partial(asyncio.to_thread, getattr(self, name.removeprefix("async_")))
        return getattr(self._original, name)

    model = _part("model")
    normalizer = _part("normalizer")
    pre_tokenizer = _part("pre_tokenizer")
    decoder = _part("decoder")
    post_processor = _part("post_processor", of_text=False)

    enable_truncation = _changing("enable_truncation")
    no_truncation = _changing("no_truncation")
    enable_padding = _changing("enable_padding")
    no_padding = _changing("no_padding")

    def add_tokens(self, tokens: Sequence[Any]) -> int:
        """Add tokens that are found in the text before all else; returns how many are new."""
        return self._added(self._original.add_tokens, tokens)

    def add_special_tokens(self, tokens: Sequence[Any]) -> int:
        """Add tokens that decoding leaves out by default; returns how many are new."""
        return self._added(self._original.add_special_tokens, tokens)

    def _added(self, add: Callable[[Sequence[Any]], int], tokens: Sequence[Any]) -> int:
        before = self._rows()
        count = add(tokens)
        if self._rows() != before:
            self._forget()
        return count

    def _rows(self) -> dict[int, Any]:
        return {id: token.__getstate__() for id, token in self._original.get_added_tokens_decoder().items()}

    # Training

    def train(self, files: Sequence[str], trainer: Any = None) -> None:
        """Learn vocabulary and merges from files of text, each line by itself; `trainer` is a `BpeTrainer`."""
        self.train_from_iterator(training.texts_of(files), trainer)

    def train_from_iterator(
        self, iterator: Iterable[str | Iterable[str]], trainer: Any = None, length: int | None = None
    ) -> None:
        """Learn vocabulary and merges from texts, or from lists of texts; `trainer` is a `BpeTrainer`."""
        if added := self._original.get_added_tokens_decoder():
            raise ValueError(
                f"the tokenizer has added tokens ({next(iter(added.values())).content!r} is one): train one without, "
                "and give them to the trainer as special_tokens"
            )
        trainer = original.trainers.BpeTrainer() if trainer is None else trainer
        vocab, merges = training.learned(self.to_str(), iterator, trainer)
        before, model = self._original.model, original.models.BPE(vocab, merges)
        for name in ("dropout", "unk_token", "fuse_unk", "byte_fallback", "ignore_merges"):
            setattr(model, name, getattr(before, name))
        self._original.model = model
        self._original.add_special_tokens(trainer.special_tokens)
        self._forget()

    def __getstate__(self) -> tuple[Any, Native | None, bool]:
        return self._original, next(iter(self._native), None), self.encode_special_tokens

    def __setstate__(self, state: tuple[Any, Native | None, bool]) -> None:
        self._fill(*state)

    def __copy__(self) -> Tokenizer:
        return copy.deepcopy(self)

    def __repr__(self) -> str:
        return f"<{self._original!r} with toksmith inside>"


def _special(tokenizer: Any) -> set[int]:
    """Return the ids that decoding leaves out: an added token stays special if it is added again as another."""
    special = set()
    for id, token in tokenizer.get_added_tokens_decoder().items():
        is_special: bool = token.special and tokenizer.id_to_token(id) == token.content
        with contextlib.suppress(ValueError):
            if shown := _decoded(tokenizer, [[id] * 3], False)[0]:
                is_special = _decoded(tokenizer, [[id] * 3], True)[0] != shown
        if is_special:
            special.add(id)
    return special


def _decoded(tokenizer: Any, batch: list[list[int]], skip_special_tokens: bool) -> list[str]:
    """Return the texts that the original makes of lists of ids."""
    with verification.peer("tokenizers"):
        texts: list[str] = tokenizer.decode_batch(batch, skip_special_tokens)
    return texts


def _decodes_alike(tokenizer: Any, native: Native) -> bool:
    """Return whether toksmith decodes the ids of a tokenizer as it does.

    toksmith returns the bytes of an added token; a decoder reads its name as the spelling of bytes.
    """
    if native.pipeline is not None and native.pipeline.merges_characters:
        return True
    names = {tokenizer.id_to_token(id): token for id, token in tokenizer.get_added_tokens_decoder().items()}
    return tokenizer.decoder is not None and all(
        name == token.content and (name.isascii() or unspell(name) in (None, name.encode()))
        for name, token in names.items()
    )


def _checked_ids(sequence: Sequence[int]) -> list[int]:
    """Return ids as `decode` takes them: a sequence of integers of 32 bits, without a sign."""
    if isinstance(sequence, (str, bytes)) or not hasattr(sequence, "__getitem__"):
        raise TypeError(f"ids must be a sequence of int, not {type(sequence).__name__}")
    ids = [operator.index(id) for id in sequence]
    for id in ids:
        if not 0 <= id < 1 << 32:
            raise OverflowError(f"id {id} is {'negative' if id < 0 else 'more than 32 bits'}")
    return ids


class DecodeStream:
    """Decodes ids as they come, by the `DecodeStream` of the original, which takes no other tokenizers than its own.

    `ids` are those that came before; their text is not returned again.
    """

    def __init__(self, ids: Sequence[int] | None = None, skip_special_tokens: bool = False) -> None:
        before = {"ids": _checked_ids(ids)} if ids else {}  # which versions before 0.22 do not take
        made = original.tokenizers.decoders.DecodeStream  # which `install` leaves as it is
        self._stream = made(**before, skip_special_tokens=skip_special_tokens)

    def step(self, tokenizer: Any, id: int | list[int]) -> str | None:
        """Add an id, or several; return the text that is complete now, None if there is none."""
        with verification.peer("tokenizers"):
            piece: str | None = self._stream.step(getattr(tokenizer, "_original", tokenizer), id)
        return piece

    def __copy__(self) -> DecodeStream:
        made = DecodeStream()
        made._stream = copy.copy(self._stream)
        return made


class ByteLevelBPETokenizer(_OriginalByteLevel):  # type: ignore[misc]
    """A tokenizer that is made like GPT-2's: `tokenizers.ByteLevelBPETokenizer`, with toksmith inside."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._tokenizer: Any = Tokenizer.around(self._tokenizer)

    @staticmethod
    def from_file(vocab_filename: str, merges_filename: str, **options: Any) -> ByteLevelBPETokenizer:
        """Load GPT-2's two files."""
        return ByteLevelBPETokenizer(vocab_filename, merges_filename, **options)
