"""Tokenizers of any library with one interface, and one pass over documents that counts."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..._internal.messages import shown
from ...corpus import Document
from ...encoding.text_streaming import Size
from ...tokenizer import Tokenizer, tokenizer_of
from ..batches import batches

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


class Table(NamedTuple):
    """Counts of documents: arrays of shape (documents,); `tokens` has the shape (tokenizers, documents).

    `file` and `language` are places in `names`.
    """

    names: list[str]
    file: NDArray[np.int32]
    language: NDArray[np.int32]
    bytes: NDArray[np.int64]
    characters: NDArray[np.int64]
    tokens: NDArray[np.int64]

    def rows(self, chosen: NDArray[np.intp]) -> Table:
        """Return the table of some documents."""
        columns: list[Any] = [column[..., chosen] for column in self[1:]]
        return Table(self.names, *columns)


def measure(encoders: list[Encoder], documents: Iterable[Document]) -> Table:
    """Return the counts of documents. Memory holds some megabytes of text with their ids, and 40 bytes of each."""
    names: dict[str, int] = {}
    rows: list[tuple[int, int, int, int]] = []
    counts: list[NDArray[np.int64]] = []
    for batch, texts, pieces in batches(documents):
        if pieces is None:
            sizes = [(len(text.encode()), len(text)) for text in texts]
            counts.append(np.stack([encoder.count(texts) for encoder in encoders]))
        else:
            size, of_all = _of_long(encoders, pieces)
            sizes = [size]
            counts.append(of_all)
        for document, (size_in_bytes, characters) in zip(batch, sizes, strict=True):
            file, language = (names.setdefault(name, len(names)) for name in (document.source, document.label or ""))
            rows.append((file, language, size_in_bytes, characters))
    if not any(tokens.any() for tokens in counts):
        raise ValueError("there is no text to compare on: all documents are empty, or there is none")
    file_of, language_of, bytes, characters_of = np.array(rows, np.int64).T
    tokens = np.concatenate(counts, axis=1)
    return Table([*names], file_of.astype(np.int32), language_of.astype(np.int32), bytes, characters_of, tokens)


def _of_long(encoders: list[Encoder], pieces: Iterator[str]) -> tuple[tuple[int, int], NDArray[np.int64]]:
    """Return the size of a document and its tokens. All tokenizers take a part in turn: none is far ahead."""
    size = Size()
    copies = itertools.tee(size.measured(pieces), len(encoders))
    counts = [encoder.count_long(copy) for encoder, copy in zip(encoders, copies, strict=True)]
    tokens = np.zeros((len(counts), 1), np.int64)
    for of_all in itertools.zip_longest(*counts, fillvalue=0):
        tokens[:, 0] += of_all
    return (size.bytes, size.characters), tokens
