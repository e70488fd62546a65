"""Tokenizers of any library with one interface, which gives the ids of a batch of texts in one array."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..._internal.messages import shown
from ...tokenizer import Tokenizer, tokenizer_of

Batch: TypeAlias = "tuple[NDArray[np.uint32], NDArray[np.int64]]"


class Encoder:
    """A tokenizer that is compared.

    Args:
        name: Its name in the results.
        encode: Takes texts and returns their ids in one array of `uint32`, and the places in it where each text
            begins and the last one ends, `int64` of shape (texts + 1,). Special tokens are read as ordinary text, if
            the library can do so.
        tokenizer: The tokenizer, if it is one of this package.
        workers: Threads.
    """

    def __init__(
        self,
        name: str,
        encode: Callable[[Sequence[str]], Batch],
        tokenizer: Tokenizer | None = None,
        workers: int = 1,
    ) -> None:
        self.name, self.encode, self.tokenizer = name, encode, tokenizer
        self._workers = workers

    def encode_long(self, pieces: Iterable[str]) -> Iterator[NDArray[np.uint32]]:
        """Yield the ids of one long text, made on all threads if the library can do so."""
        if self.tokenizer is None:
            return iter([self.encode(["".join(pieces)])[0]])
        return self.tokenizer.encode_iterable(pieces, special=False, workers=self._workers, arrays=True)


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
        return Encoder(name, encode, ours, workers)
    if not callable(getattr(tokenizer, "encode", None)):
        raise TypeError(f"{shown(name)} is no tokenizer: {type(tokenizer).__name__} has no method encode")
    return Encoder(name, _foreign_encode(tokenizer, workers))


def _foreign_encode(tokenizer: Any, workers: int) -> Callable[[Sequence[str]], Batch]:
    """Return the fastest call of another library's tokenizer that adds no tokens of its own."""
    if hasattr(tokenizer, "encode_ordinary_batch"):  # tiktoken
        return lambda texts: _joined(tokenizer.encode_ordinary_batch(list(texts), num_threads=workers))
    if hasattr(tokenizer, "encode_batch_fast"):  # tokenizers
        encode = functools.partial(tokenizer.encode_batch_fast, add_special_tokens=False)
        return lambda texts: _joined(list(map(_ids, encode(list(texts)))))
    if hasattr(tokenizer, "convert_ids_to_tokens") and callable(tokenizer):  # transformers
        encode = functools.partial(tokenizer.encode, add_special_tokens=False, verbose=False)
        return lambda texts: _joined(list(map(encode, texts)))
    return lambda texts: _joined([_ids(tokenizer.encode(text)) for text in texts])


def _ids(encoded: Any) -> Sequence[int]:
    ids: Sequence[int] = getattr(encoded, "ids", encoded)
    return ids


def _joined(rows: Sequence[Sequence[int]]) -> Batch:
    starts = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=starts[1:])
    ids = np.concatenate([np.zeros(0, np.uint32), *(np.asarray(row, np.uint32) for row in rows)])
    return ids, starts
