"""minbpe's module `base`: its files, what its tokenizers have in common, and its helpers.

A model file has a line "minbpe v1", the pattern, the number of special tokens, a line for each of them (name, a
space, id), and a line of two ids for each merge; the first merge makes id 256. A `.vocab` file is for people.
"""

import itertools
import os
import types
import unicodedata
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ... import _core, patterns
from ..._internal.messages import shown
from ...files import text_files, whole_files
from ...formats import verification
from ...tokenizer import Tokenizer as ToksmithTokenizer
from .. import _merges
from .._merges import Pair


class Model(NamedTuple):
    """The content of a model file."""

    pattern: str
    special_tokens: dict[str, int]
    merges: dict[Pair, int]


def tokenizer_of(model: Model) -> ToksmithTokenizer:
    """Return the tokenizer of a model."""
    pattern = patterns.of_source(model.pattern or None, 0, "drop")
    return _merges.tokenizer_of(model.merges, model.special_tokens, pattern)


def save(core: _core.Tokenizer, path: str | os.PathLike[str]) -> None:
    """Write the `.model` file of a tokenizer, and beside it the `.vocab` file, which minbpe writes for people.

    A tokenizer is refused unless its ids are those of the bytes by value, the merges, then the special tokens.
    """
    prefix = prefix_of(path)
    model = Model(*_core.minbpe_model(core.written("minbpe")[0].decode()))
    verification.compare_texts("a .model file of minbpe", core, tokenizer_of(model)._core)
    write(prefix, model, verification.ordinary(core))


def prefix_of(path: str | os.PathLike[str]) -> str:
    """Return the path of a model file without `.model`; `ValueError` if it ends otherwise."""
    name = os.fspath(path)
    if not name.endswith(".model"):
        raise ValueError(f"{name}: the name of a model file ends in .model")
    return name.removesuffix(".model")


def write(prefix: str, model: Model, vocab: Mapping[int, bytes]) -> None:
    """Write `prefix`.model and `prefix`.vocab, byte for byte as minbpe does, as UTF-8."""
    for what, text in [("pattern", model.pattern), *(("special token", name) for name in model.special_tokens)]:
        if "\n" in text or "\r" in text:
            raise ValueError(
                f"a .model file has one line for the {what}, and {shown(text)} has a line break: "
                "save `tokenizer`, the toksmith.Tokenizer inside, instead"
            )
    lines = ["minbpe v1", model.pattern, str(len(model.special_tokens))]
    lines += [f"{name} {id}" for name, id in model.special_tokens.items()]
    lines += [f"{left} {right}" for left, right in model.merges]
    text = "\n".join(lines) + "\n"
    whole_files.write_all(
        [(f"{prefix}.model", [text.encode()]), (f"{prefix}.vocab", vocab_lines(vocab, model.merges))]
    )


def vocab_lines(vocab: Mapping[int, bytes], merges: Mapping[Pair, int]) -> Iterator[bytes]:
    """Yield the lines of a `.vocab` file: each token, with the two tokens that it was made of."""
    parts = {id: pair for pair, id in merges.items()}
    for id, token in vocab.items():
        made_of = "".join(f"[{render_token(vocab[part])}]" for part in parts.get(id, ()))
        arrow = " -> " if made_of else ""
        yield f"{made_of}{arrow}[{render_token(token)}] {id}\n".encode()


def replace_control_characters(s: str) -> str:
    """Return `s` with control, format and unassigned characters as escapes: they would spoil the lines."""
    return "".join(c if unicodedata.category(c)[0] != "C" else f"\\u{ord(c):04x}" for c in s)


def render_token(t: bytes) -> str:
    """Return the text of a token, with U+FFFD for bytes that are not UTF-8, and control characters escaped."""
    return replace_control_characters(t.decode(errors="replace"))


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
    """Training, saving, loading and the vocabulary of minbpe's tokenizers.

    The immutable `toksmith.Tokenizer` in `tokenizer` does the work; training, loading and registering special tokens
    replace it. The properties are read-only.
    """

    _has_pattern = False

    def __init__(self) -> None:
        self._replace(Model("", {}, {}))

    def _replace(self, model: Model, is_loaded: bool = False) -> None:
        """Become the tokenizer of a model; if there is no such tokenizer, stay unchanged."""
        self._tokenizer = self._build(model)
        self._model, self._vocab = model, _merges.vocab_of(model.merges)
        if is_loaded:
            self._vocab.update((id, name.encode()) for name, id in model.special_tokens.items())

    def _build(self, model: Model) -> ToksmithTokenizer:
        return tokenizer_of(model)

    @property
    def tokenizer(self) -> ToksmithTokenizer:
        """The tokenizer that encodes and decodes."""
        return self._tokenizer

    @property
    def pattern(self) -> str:
        """The pattern that cuts text into chunks; "" for none."""
        return self._model.pattern

    @property
    def merges(self) -> Mapping[Pair, int]:
        """Pairs of ids with the id that they merge into."""
        return types.MappingProxyType(self._model.merges)

    @property
    def special_tokens(self) -> Mapping[str, int]:
        """Ids of the special tokens by name."""
        return types.MappingProxyType(self._model.special_tokens)

    @property
    def vocab(self) -> Mapping[int, bytes]:
        """Bytes by id. As in the original it has the special tokens only after `load`."""
        return types.MappingProxyType(self._vocab)

    def train(self, text: str, vocab_size: int, verbose: bool = False) -> None:
        """Learn `vocab_size - 256` merges from `text`; of equally frequent pairs, the first in the text merges.

        Special tokens in the text are read as ordinary text. Registered special tokens stay registered.

        Args:
            text: The text to train on.
            vocab_size: Tokens of the result, of which 256 are the bytes; special tokens are not counted.
            verbose: Print each merge, after training.

        Raises:
            ValueError: `vocab_size` is less than 256, or takes the id of a special token.
        """
        pattern = patterns.of_source(self.pattern or None, 0, "drop")
        merges, counts = _merges.learn([text], vocab_size, pattern, "first")
        self._replace(self._model._replace(merges=merges))
        asked = vocab_size - 256
        for number, ((pair, id), count) in enumerate(zip(merges.items(), counts, strict=True) if verbose else (), 1):
            print(f"merge {number}/{asked}: {pair} -> {id} ({self._vocab[id]!r}) had {count} occurrences")
        if len(merges) < asked:
            what = f"no pair is left after {len(merges)} merges of {asked}"
            warnings.warn(f"{what}: the vocabulary has {256 + len(merges)} tokens", stacklevel=2)

    def save(self, file_prefix: str | os.PathLike[str]) -> None:
        """Write `file_prefix`.model, which `load` reads, and `file_prefix`.vocab, which people read.

        Both files equal those of minbpe, byte for byte, as UTF-8.
        """
        write(os.fspath(file_prefix), self._model, self.vocab)

    def load(self, model_file: str | os.PathLike[str]) -> None:
        """Take the pattern, special tokens and merges of a `.model` file."""
        name = f"{prefix_of(model_file)}.model"
        text = text_files.read_text(name)
        with text_files.naming(name):
            model = Model(*_core.minbpe_model(text))
        if bool(model.pattern) != self._has_pattern:
            kind = "BasicTokenizer" if self._has_pattern else "RegexTokenizer"
            raise ValueError(f"{name}, line 2: the pattern is that of another kind of tokenizer: load it with {kind}")
        with text_files.naming(name):
            self._replace(model, is_loaded=True)
