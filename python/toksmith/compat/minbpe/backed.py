"""The base of minbpe's tokenizers that are backed by a `toksmith.Tokenizer`: their state, and training."""

from __future__ import annotations

import operator
import types
import warnings
from typing import TYPE_CHECKING

from ... import patterns
from ..._internal.messages import shown
from .. import _pairs
from . import model
from .base import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Mapping

    import toksmith

    Pair = tuple[int, int]


class BackedTokenizer(Tokenizer):
    """A tokenizer of minbpe's whose work a `toksmith.Tokenizer` does.

    It holds the immutable `toksmith.Tokenizer` as `tokenizer`, and replaces it in `train`, `load` and so on. Its
    `merges`, `special_tokens` and `vocab` are read-only views: to change one, assign a new mapping. An assigned
    `vocab` decodes until the next training or loading.
    """

    _tokenizer: toksmith.Tokenizer
    _pattern: str
    _merges: dict[Pair, int]
    _special_tokens: dict[str, int]
    _vocab: dict[int, bytes] | None
    _own_vocab: Mapping[int, bytes] | None = None

    def __init__(self) -> None:
        self._start("")

    def _start(self, pattern: str) -> None:
        self._vocab_has_specials = False
        self._replace(pattern, {}, {})

    def _replace(self, pattern: str, merges: dict[Pair, int], special_tokens: Mapping[str, int]) -> None:
        """Become the tokenizer of these parts; if they make no tokenizer, stay unchanged."""
        special_tokens = _checked(special_tokens, merges)
        self._tokenizer = self._made(self._resolved(pattern), merges, special_tokens)
        self._pattern, self._merges, self._special_tokens = pattern, merges, special_tokens
        self._vocab = None

    @property
    def tokenizer(self) -> toksmith.Tokenizer:
        """The tokenizer that encodes and decodes. Immutable: training or loading replaces it by another object."""
        return self._tokenizer

    def _made(
        self, pattern: patterns.Pattern, merges: dict[Pair, int], special_tokens: dict[str, int]
    ) -> toksmith.Tokenizer:
        return _pairs.tokenizer_of(merges, pattern, special_tokens)

    def _resolved(self, pattern: str) -> patterns.Pattern:
        """Return the pattern that cuts text; no pretokenization for the base and the tokenizer without a pattern."""
        return patterns.of_source(None, 0, "drop")

    @property
    def pattern(self) -> str:
        """The pattern that cuts text into chunks; "" for none. An assigned one holds for training and encoding."""
        return self._pattern

    @pattern.setter
    def pattern(self, pattern: str) -> None:
        self._replace(pattern, self._merges, self._special_tokens)

    @property
    def merges(self) -> Mapping[Pair, int]:
        """Pairs of ids with the id that they merge into; read-only. Assigning a new mapping replaces them."""
        return types.MappingProxyType(self._merges)

    @merges.setter
    def merges(self, merges: Mapping[Pair, int]) -> None:
        self._replace(self._pattern, model.checked_merges(merges), self._special_tokens)
        self._vocab_has_specials = False

    @property
    def special_tokens(self) -> Mapping[str, int]:
        """Ids of the special tokens by name; read-only."""
        return types.MappingProxyType(self._special_tokens)

    @special_tokens.setter
    def special_tokens(self, special_tokens: Mapping[str, int]) -> None:
        self._replace(self._pattern, self._merges, special_tokens)

    @property
    def vocab(self) -> Mapping[int, bytes]:
        """Bytes by id, read-only. As in the original it has the special tokens only after `load`.

        A mapping that is assigned is kept as it is, and used for decoding.
        """
        if self._own_vocab is not None:
            return self._own_vocab
        if self._vocab is None:
            self._vocab = self._build_vocab()
        return types.MappingProxyType(self._vocab)

    @vocab.setter
    def vocab(self, vocab: Mapping[int, bytes]) -> None:
        if not hasattr(vocab, "items"):
            raise TypeError(f"vocab is a dict of ids and bytes, not {type(vocab).__name__}")
        self._own_vocab = vocab

    def _build_vocab(self) -> dict[int, bytes]:
        vocab = {byte: bytes([byte]) for byte in range(256)}
        for (left, right), id in self._merges.items():
            vocab[id] = vocab[left] + vocab[right]
        if self._vocab_has_specials:
            vocab.update((id, name.encode()) for name, id in self._special_tokens.items())
        return vocab

    def _train(self, text: str, vocab_size: int, verbose: bool) -> None:
        if not isinstance(text, str):
            raise TypeError(f"the text to train on is a str, not {type(text).__name__}")
        learned = _pairs.learn([text], vocab_size, self._resolved(self._pattern), "first")
        merges = {(left, right): 256 + i for i, (left, right, _) in enumerate(learned)}
        self._replace(self._pattern, merges, self._special_tokens)
        self._vocab_has_specials, self._own_vocab = False, None
        if verbose:
            self._print_merges([count for _, _, count in learned], vocab_size - 256)
        if len(learned) < vocab_size - 256:
            warnings.warn(
                f"no pair is left after {len(learned)} merges of {vocab_size - 256}: "
                f"the vocabulary has {256 + len(learned)} tokens",
                stacklevel=3,
            )

    def _print_merges(self, counts: list[int], asked: int) -> None:
        for i, ((pair, id), count) in enumerate(zip(self._merges.items(), counts, strict=True)):
            print(f"merge {i + 1}/{asked}: {pair} -> {id} ({self.vocab[id]!r}) had {count} occurrences")

    def _become(self, parts: model.Model, name: str) -> None:
        self._check_kind(parts.pattern, name)
        try:
            self._replace(parts.pattern, parts.merges, parts.special_tokens)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        self._vocab_has_specials, self._own_vocab = True, None

    def _check_kind(self, pattern: str, name: str) -> None:
        """Refuse a file of another kind of tokenizer."""


def _checked(special_tokens: Mapping[str, int], merges: dict[Pair, int]) -> dict[str, int]:
    """Return the special tokens, checked: no other token may have their ids."""
    last = 255 + len(merges)
    names: dict[int, str] = {}
    for name, given in special_tokens.items():
        if not isinstance(name, str):
            raise TypeError(f"special tokens are a dict of str to int, not of {type(name).__name__}")
        id = operator.index(given)
        if 0 <= id <= last:
            raise ValueError(
                f"the special token {shown(name)} has the id {id} of an ordinary token: take one above {last}"
            )
        if not 0 <= id < 2**32:
            raise ValueError(f"the special token {shown(name)} has the id {id}, not one from 0 to 2^32 - 1")
        if names.setdefault(id, name) != name:
            raise ValueError(f"the special tokens {shown(names[id])} and {shown(name)} have the same id {id}")
    return {name: id for id, name in names.items()}
