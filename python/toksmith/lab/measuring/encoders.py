"""Tokenizers of any library with one interface, which gives the ids of a batch of texts in one array."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._internal.messages import shown
from ...tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    Batch = tuple[NDArray[np.uint32], NDArray[np.int64]]


class Encoder:
    """A tokenizer that is compared.

    Args:
        name: Its name in the results.
        encode: Takes texts and returns their ids in one array of `uint32`, and the places in it where each text
            begins and the last one ends, `int64` of shape (texts + 1,). Special tokens are read as ordinary text, if
            the library can do so.
        vocab: The bytes of its ordinary tokens by id; None if they are not known.
        tokenizer: The tokenizer, if it is one of this package.
        workers: Threads.
    """

    def __init__(
        self,
        name: str,
        encode: Callable[[Sequence[str]], Batch],
        vocab: Mapping[int, bytes] | None = None,
        tokenizer: Tokenizer | None = None,
        workers: int = 1,
    ) -> None:
        self.name, self.encode, self.vocab, self.tokenizer = name, encode, vocab, tokenizer
        self._workers = workers

    def encode_long(self, text: str) -> NDArray[np.uint32]:
        """Return the ids of one text, made on all threads if the library can do so."""
        if self.tokenizer is None:
            return self.encode([text])[0]
        return self.tokenizer.encode_to_numpy(text, special=False, workers=self._workers)

    def tokens(self, text: str) -> list[tuple[int, bytes]] | None:
        """Return the ids of a text with their bytes, to be shown; None if the bytes are not known."""
        ids = self.encode([text])[0].tolist()
        if self.tokenizer is not None:
            return [(id, self.tokenizer.token_bytes(id)) for id in ids]
        vocab = self.vocab
        return [(id, vocab[id]) for id in ids] if vocab is not None and all(id in vocab for id in ids) else None

    @property
    def vocab_size(self) -> int | None:
        """The number of its ordinary tokens; None if it is not known."""
        return None if self.vocab is None else len(self.vocab)


def of_all(tokenizers: Any, workers: int) -> list[Encoder]:
    """Return the encoders of the tokenizers that `compare` was given.

    Args:
        tokenizers: A mapping of names to tokenizers, or a list of them.
        workers: Threads of each.

    Raises:
        TypeError: One of them is no tokenizer.
        ValueError: There is none, or two have the same name.
        OSError: One is given by a path or a name that does not exist.
    """
    if isinstance(tokenizers, (str, bytes, os.PathLike)) or hasattr(tokenizers, "encode"):
        tokenizers = [tokenizers]
    named = tokenizers.items() if isinstance(tokenizers, Mapping) else _named(tokenizers)
    found = [_of(str(name), tokenizer, workers) for name, tokenizer in named]
    if not found:
        raise ValueError("no tokenizer is given")
    names = [encoder.name for encoder in found]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two tokenizers are called {shown(name)}: give a mapping of names to tokenizers")
    return found


def _named(tokenizers: Iterable[Any]) -> Iterable[tuple[str, Any]]:
    for number, tokenizer in enumerate(tokenizers, 1):
        if isinstance(tokenizer, (str, bytes, os.PathLike)):
            yield os.fsdecode(tokenizer), tokenizer
        else:
            name = getattr(tokenizer, "name", None) or getattr(tokenizer, "name_or_path", None)
            yield (name if isinstance(name, str) else f"tokenizer {number}"), tokenizer


def _of(name: str, given: Any, workers: int) -> Encoder:
    if isinstance(given, (str, bytes, os.PathLike)):
        given = Tokenizer.from_pretrained(os.fsdecode(given))
    inner = getattr(given, "tokenizer", None)
    if isinstance(inner, Tokenizer):  # `Encoding`
        given = inner
    if isinstance(given, Tokenizer):
        return _ours(name, given, workers)
    if not callable(getattr(given, "encode", None)):
        raise TypeError(f"{shown(name)} is no tokenizer: {type(given).__name__} has no method encode")
    return Encoder(name, _theirs(given, workers), _vocab(given))


def _ours(name: str, tokenizer: Tokenizer, workers: int) -> Encoder:
    def encode(texts: Sequence[str]) -> Batch:
        return tokenizer.encode_batch_to_numpy(texts, special=False, workers=workers)

    return Encoder(name, encode, tokenizer._parts.ordinary, tokenizer, workers)


def _theirs(given: Any, workers: int) -> Callable[[Sequence[str]], Batch]:
    """Return the fastest call of another library's tokenizer that adds no tokens of its own."""
    if hasattr(given, "encode_ordinary_batch"):  # tiktoken
        return lambda texts: _joined(given.encode_ordinary_batch(list(texts), num_threads=workers))
    if hasattr(given, "encode_batch_fast"):  # tokenizers
        return lambda texts: _joined(
            [one.ids for one in given.encode_batch_fast(list(texts), add_special_tokens=False)]
        )
    if hasattr(given, "convert_ids_to_tokens") and callable(given):  # transformers
        return lambda texts: _joined([given.encode(text, add_special_tokens=False, verbose=False) for text in texts])
    return lambda texts: _joined([_ids(given.encode(text)) for text in texts])


def _ids(encoded: Any) -> Sequence[int]:
    ids: Sequence[int] = getattr(encoded, "ids", encoded)
    return ids


def _joined(rows: Sequence[Sequence[int]]) -> Batch:
    starts = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=starts[1:])
    ids = np.concatenate([np.zeros(0, np.uint32), *(np.asarray(row, np.uint32) for row in rows)])
    return ids, starts


def _vocab(given: Any) -> dict[int, bytes] | None:
    """Return the bytes of tokens by id for a tokenizer of tiktoken. No other library has a method for them."""
    ranks = getattr(given, "_mergeable_ranks", None)
    if not isinstance(ranks, dict):
        return None
    return {id: token for token, id in ranks.items() if isinstance(token, bytes)}
