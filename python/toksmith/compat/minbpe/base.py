"""minbpe's module `base`: the class that its tokenizers come from, and its helpers."""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING

from ... import patterns
from ...files import text_files, whole_files
from .. import _pairs
from . import model
from .render import render_token, replace_control_characters

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

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
    """The base of minbpe's tokenizers, for classes of your own: it has their state, and loads and saves it.

    Its attributes are plain ones, as in the original: `merges`, `pattern`, `special_tokens` and `vocab`, which a
    subclass sets or changes as it trains.
    """

    merges: Any  # pairs of ids with the id that they merge into
    pattern: Any
    special_tokens: Any
    vocab: Any

    def __init__(self) -> None:
        self.merges, self.pattern, self.special_tokens = {}, "", {}
        self.vocab = self._build_vocab()

    @property
    def tokenizer(self) -> toksmith.Tokenizer:
        """A `toksmith.Tokenizer` of the current merges, pattern and special tokens.

        Raises:
            ValueError: The ids of the merges do not count up from 256, or the parts contradict each other.
        """
        pattern = patterns.of_source(self.pattern or None, 0, "drop")
        return _pairs.tokenizer_of(model.checked_merges(self.merges), pattern, self.special_tokens)

    def _build_vocab(self) -> dict[int, bytes]:
        """Return the bytes, then the tokens of the merges and the special tokens."""
        vocab = {byte: bytes([byte]) for byte in range(256)}
        for (left, right), id in self.merges.items():
            vocab[id] = vocab[left] + vocab[right]
        vocab.update((id, name.encode()) for name, id in self.special_tokens.items())
        return vocab

    def train(self, text: str, vocab_size: int, verbose: bool = False) -> None:
        """Train on a text. The base class has no training."""
        raise NotImplementedError

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text. The base class has no encoding."""
        raise NotImplementedError

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of ids. The base class has no decoding."""
        raise NotImplementedError

    def save(self, file_prefix: str | os.PathLike[str]) -> None:
        """Write `file_prefix`.model, which `load` reads, and `file_prefix`.vocab, which people read.

        Both files equal those of minbpe, byte for byte, as UTF-8. They are read back before they take their names.

        Raises:
            ValueError: The pattern or a special token has a line break: the file has each of them on one line.
        """
        prefix = os.fspath(file_prefix)
        parts = model.Model(self.pattern, dict(self.special_tokens), dict(self.merges))
        text = model.written(parts)
        if model.parsed(text, f"{prefix}.model") != parts:
            raise ValueError(f"{prefix}.model would not hold this tokenizer: nothing was written")
        lines = model.vocab_lines(self.vocab, self.merges)
        whole_files.write_all(
            [(f"{prefix}.model", [text.encode()]), (f"{prefix}.vocab", [line.encode() for line in lines])]
        )

    def load(self, model_file: str | os.PathLike[str]) -> None:
        """Take the pattern, special tokens and merges of a `.model` file.

        Raises:
            OSError: The file cannot be read.
            ValueError: The file's name does not end in `.model`, or the file is no model file; names file and line.
        """
        name = os.fspath(model_file)
        if not name.endswith(".model"):
            raise ValueError(f"{name}: the name of a model file ends in .model")
        self._become(model.parsed(text_files.read_text(name), name), name)

    def _become(self, parts: model.Model, name: str) -> None:
        """Take over the content of the file of this name."""
        self.pattern, self.special_tokens, self.merges = parts
        self.vocab = self._build_vocab()
