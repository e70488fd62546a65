"""What minbpe's tokenizers have in common: their state, `save` and `load`; and the helpers of its base module."""

from __future__ import annotations

import itertools
import operator
import os
import types
import warnings
from typing import TYPE_CHECKING

from ... import patterns
from ...common.messages import shown
from ...files import text_files, whole_files
from .. import _pairs
from . import model
from .render import render_token, replace_control_characters

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import toksmith

    Pair = tuple[int, int]

__all__ = ["Tokenizer", "get_stats", "merge", "render_token", "replace_control_characters"]


def get_stats(ids: Sequence[int], counts: dict[Pair, int] | None = None) -> dict[Pair, int]:
    """Count the pairs of neighbours in `ids`, into `counts` if it is given.

    >>> get_stats([1, 2, 3, 1, 2])
    {(1, 2): 2, (2, 3): 1, (3, 1): 1}
    """
    counts = {} if counts is None else counts
    for pair in itertools.pairwise(ids):
        counts[pair] = counts.get(pair, 0) + 1
    return counts


def merge(ids: Sequence[int], pair: Pair, idx: int) -> list[int]:
    """Return `ids` with every occurrence of `pair`, from the left, replaced by `idx`.

    >>> merge([1, 2, 3, 1, 2], (1, 2), 4)
    [4, 3, 4]
    """
    merged: list[int] = []
    waiting = False  # whether the last id of `merged` may be the left half of a pair
    for id in ids:
        if waiting and (merged[-1], id) == tuple(pair):
            merged[-1], waiting = idx, False
        else:
            merged.append(id)
            waiting = True
    return merged


class Tokenizer:
    """The base of minbpe's tokenizers; on its own it only loads and saves.

    It holds an immutable `toksmith.Tokenizer`, as `tokenizer`, and replaces it in `train`, `load` and so on. Its
    attributes `merges`, `vocab` and `special_tokens` are read-only views: to change one, assign a new mapping.
    """

    tokenizer: toksmith.Tokenizer
    """What encodes and decodes. Immutable: it stays as it is when this object is trained or loaded anew."""
    _pattern: str
    _merges: dict[Pair, int]
    _special_tokens: dict[str, int]
    _vocab: dict[int, bytes] | None

    def __init__(self) -> None:
        self._start("")

    def _start(self, pattern: str) -> None:
        self._vocab_has_specials = False
        self._replace(pattern, {}, {})

    def _replace(self, pattern: str, merges: dict[Pair, int], special_tokens: Mapping[str, int]) -> None:
        """Become the tokenizer of these parts; if there is none, stay what it was."""
        special_tokens = _checked(special_tokens, merges)
        self.tokenizer = self._made(self._resolved(pattern), merges, special_tokens)
        self._pattern, self._merges, self._special_tokens = pattern, merges, special_tokens
        self._vocab = None

    def _made(
        self, pattern: patterns.Pattern, merges: dict[Pair, int], special_tokens: dict[str, int]
    ) -> toksmith.Tokenizer:
        return _pairs.tokenizer_of(merges, pattern, special_tokens)

    def _resolved(self, pattern: str) -> patterns.Pattern:
        """Return what cuts text: for the base, and the tokenizer without a pattern, nothing."""
        return patterns.of_source(None, 0, "drop")

    @property
    def pattern(self) -> str:
        """What cuts text into chunks; "" for none. A new one counts from now on, for training and encoding."""
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
        """Bytes by id, read-only. As in the original it has the special tokens only after `load`."""
        if self._vocab is None:
            self._vocab = self._build_vocab()
        return types.MappingProxyType(self._vocab)

    def _build_vocab(self) -> dict[int, bytes]:
        vocab = {byte: bytes([byte]) for byte in range(256)}
        for (left, right), id in self._merges.items():
            vocab[id] = vocab[left] + vocab[right]
        if self._vocab_has_specials:
            vocab.update((id, name.encode()) for name, id in self._special_tokens.items())
        return vocab

    def train(self, text: str, vocab_size: int, verbose: bool = False) -> None:
        """Train on a text. The base does not."""
        raise NotImplementedError

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text. The base has none."""
        raise NotImplementedError

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of ids. The base has none."""
        raise NotImplementedError

    def _train(self, text: str, vocab_size: int, verbose: bool) -> None:
        if not isinstance(text, str):
            raise TypeError(f"the text to train on is a str, not {type(text).__name__}")
        learned = _pairs.learn([text], vocab_size, self._resolved(self._pattern), "first")
        merges = {(left, right): 256 + i for i, (left, right, _) in enumerate(learned)}
        self._replace(self._pattern, merges, self._special_tokens)
        self._vocab_has_specials = False
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

    def save(self, file_prefix: str | os.PathLike[str]) -> None:
        """Write `file_prefix`.model, which `load` reads, and `file_prefix`.vocab, which people read.

        Both are those of minbpe, byte for byte, as UTF-8. They are read back before they are there.

        Raises:
            ValueError: The pattern or a special token has a line break in it: the file has one on a line.
        """
        prefix = os.fspath(file_prefix)
        parts = model.Model(self._pattern, dict(self._special_tokens), dict(self._merges))
        text = model.written(parts)
        if model.parsed(text, f"{prefix}.model") != parts:
            raise ValueError(f"{prefix}.model would not hold this tokenizer: nothing was written")
        lines = model.vocab_lines(self.vocab, self._merges)
        whole_files.write_all(
            [(f"{prefix}.model", [text.encode()]), (f"{prefix}.vocab", [line.encode() for line in lines])]
        )

    def load(self, model_file: str | os.PathLike[str]) -> None:
        """Become what was saved in a `.model` file: its pattern, special tokens and merges.

        Raises:
            OSError: The file cannot be read.
            ValueError: Its name does not end in `.model`, or it is none; names file and line.
        """
        name = os.fspath(model_file)
        if not name.endswith(".model"):
            raise ValueError(f"{name}: the name of a model file ends in .model")
        parts = model.parsed(text_files.read_text(name), name)
        self._check_kind(parts.pattern, name)
        try:
            self._replace(parts.pattern, parts.merges, parts.special_tokens)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        self._vocab_has_specials = True

    def _check_kind(self, pattern: str, name: str) -> None:
        """Refuse a file of a tokenizer that works otherwise."""


def _checked(special_tokens: Mapping[str, int], merges: dict[Pair, int]) -> dict[str, int]:
    """Return special tokens whose ids are no other token's."""
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
