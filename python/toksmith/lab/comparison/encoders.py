"""Tokenizers of any library with one interface, which counts the tokens of a batch of texts."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..._internal.messages import shown
from ...tokenizer import Tokenizer, tokenizer_of

Counts: TypeAlias = "NDArray[np.int64]"


@dataclass(frozen=True)
class Encoder:
    """A tokenizer that is compared."""

    name: str
    # Returns how many tokens each text has. Special tokens are read as ordinary text, if the library can do so.
    count: Callable[[Sequence[str]], Counts]
    tokenizer: Tokenizer | None = None  # if it is one of this package
    workers: int = 1

    def count_long(self, pieces: Iterable[str]) -> Iterator[int]:
        """Yield the numbers of tokens of the parts of one long text, made on all threads if the library can do so."""
        if self.tokenizer is None:
            return iter(self.count(["".join(pieces)]).tolist())
        return map(len, self.tokenizer.encode_iterable(pieces, special=False, workers=self.workers, arrays=True))


def encoders_of(tokenizers: Any, workers: int) -> list[Encoder]:
    """Return the encoders of the tokenizers that `compare` was given."""
    if isinstance(tokenizers, (str, bytes, os.PathLike)) or hasattr(tokenizers, "encode"):
        tokenizers = [tokenizers]
    if not isinstance(tokenizers, Iterable):
        raise TypeError(
            "tokenizers is a list of tokenizers, or a mapping of names to tokenizers; each is a Tokenizer, a name, a "
            f"path, or an object with encode, not {type(tokenizers).__name__}: {shown(tokenizers)}"
        )
    named = tokenizers.items() if isinstance(tokenizers, Mapping) else _named(tokenizers)
    encoders = [_encoder_of(str(name), tokenizer, workers) for name, tokenizer in named]
    if not encoders:
        raise ValueError("no tokenizer is given")
    names = [encoder.name for encoder in encoders]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two tokenizers are called {shown(name)}: give a mapping of names to tokenizers")
    return encoders


def _named(tokenizers: Iterable[Any]) -> Iterable[tuple[str, Any]]:
    for number, tokenizer in enumerate(tokenizers, 1):
        if isinstance(tokenizer, (str, bytes, os.PathLike)):
            yield os.fsdecode(tokenizer), tokenizer
        else:
            name = getattr(tokenizer, "name", None) or getattr(tokenizer, "name_or_path", None)
            yield (name if isinstance(name, str) else f"tokenizer {number}"), tokenizer


def _encoder_of(name: str, tokenizer: Any, workers: int) -> Encoder:
    is_ours = isinstance(tokenizer, Tokenizer) or isinstance(getattr(tokenizer, "tokenizer", None), Tokenizer)
    if is_ours or isinstance(tokenizer, (str, bytes, os.PathLike)):
        ours = tokenizer_of(tokenizer)
        encode = functools.partial(ours.encode_batch_to_numpy, special=False, workers=workers)
        return Encoder(name, lambda texts: np.diff(encode(texts)[1]), ours, workers)
    if not callable(getattr(tokenizer, "encode", None)):
        raise TypeError(f"{shown(name)} is no tokenizer: {type(tokenizer).__name__} has no method encode")
    foreign = _foreign_encode(tokenizer, workers)

    def count(texts: Sequence[str]) -> Counts:
        return np.array([len(getattr(encoded, "ids", encoded)) for encoded in foreign(list(texts))], np.int64)

    return Encoder(name, count)


def _foreign_encode(tokenizer: Any, workers: int) -> Callable[[list[str]], Iterable[Any]]:
    """Return the fastest call of another library's tokenizer that adds no tokens of its own."""
    if hasattr(tokenizer, "encode_ordinary_batch"):  # tiktoken
        return functools.partial(tokenizer.encode_ordinary_batch, num_threads=workers)
    if hasattr(tokenizer, "encode_batch_fast"):  # tokenizers
        return functools.partial(tokenizer.encode_batch_fast, add_special_tokens=False)
    if hasattr(tokenizer, "convert_ids_to_tokens") and callable(tokenizer):  # transformers
        return functools.partial(map, functools.partial(tokenizer.encode, add_special_tokens=False, verbose=False))
    return functools.partial(map, tokenizer.encode)
