"""The `Tokenizer` of the first toksmith, the package in plain Python that this project took its name from.

Its notebooks say `from toksmith.tokenizer import Tokenizer`. Here that is
`from toksmith.compat.first_toksmith import Tokenizer`: the same methods, merges, ids and state files
(github.com/ademyanchuk/toksmith), without the wait.

>>> tokenizer = Tokenizer()
>>> tokenizer.train("aaabdaaabac", vocab_size=259, special_tokens=[])
>>> tokenizer.merges
[(97, 97), (256, 97), (257, 98)]
"""

from __future__ import annotations

import itertools
import json
import logging
import operator
import os
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import toksmith

from .. import patterns
from .._internal.messages import shown
from ..files import text_files, whole_files
from . import _pairs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    Pair = tuple[int, int]
    Pretoken = tuple[int, ...]

__all__ = ["GPT2_SPLIT_PAT", "Tokenizer"]

GPT2_SPLIT_PAT = patterns.GPT2

_VERSION = 1
_BLOCK = 1 << 20  # characters of a file that are read at a time

logger = logging.getLogger(__name__)


class Tokenizer:
    """BPE of GPT-2's pretokens; of equally frequent pairs, the one with the greatest ids merges.

    Its attributes are plain ones: `vocab` (bytes by id), `merges` (pairs of ids, in the order of their ids from 256),
    and `pattern`, compiled by `regex`.
    """

    vocab: dict[int, bytes]
    merges: list[Pair]

    def __init__(self) -> None:
        self.pattern: Any = patterns.of_source(GPT2_SPLIT_PAT, 0, "drop").compiled()
        self._reset_state()

    def _reset_state(self) -> None:
        self.vocab, self.merges = {byte: bytes([byte]) for byte in range(256)}, []

    @property
    def tokenizer(self) -> toksmith.Tokenizer:
        """A `toksmith.Tokenizer` of the merges and the special tokens, which encodes, decodes and saves.

        Raises:
            ValueError: `vocab` has a token that no merge makes, with an id below that of a token that a merge makes.
        """
        first = 256 + len(self.merges)
        specials = {token.decode(): id for id, token in self.vocab.items() if id >= first}
        made = _pairs.tokenizer_of(self.merges, patterns.resolve(self.pattern, "keep"), specials)
        for id, token in self.vocab.items():
            if id < first and made.token_bytes(id) != token:
                raise ValueError(
                    f"vocab has {shown(token)} as id {id}, where the merges make {made.token_bytes(id)!r}"
                )
        return made

    def train(
        self,
        text: str,
        vocab_size: int,
        special_tokens: Sequence[str],
        use_fast_merge: bool = False,
        verbose: bool = False,
    ) -> None:
        """Learn merges from `text`, from which the special tokens are removed: the text around them is joined.

        Args:
            text: The text to train on.
            vocab_size: Tokens of the result: 256 bytes, the merges, then the special tokens.
            special_tokens: Special tokens.
            use_fast_merge: Accepted as in the original; it has no effect.
            verbose: Log each merge at the level of debugging.

        Raises:
            ValueError: `vocab_size` is less than the bytes and the special tokens.
        """
        joined = re.sub(_delimiter(special_tokens), "", text) if special_tokens else text
        self._train([joined], vocab_size, special_tokens, verbose)

    def train_from_file(
        self, file_path: str | os.PathLike[str], vocab_size: int, special_tokens: Sequence[str], verbose: bool = False
    ) -> None:
        """Learn merges from a UTF-8 file, which is read in blocks; the special tokens separate documents in it.

        Raises:
            OSError: The file cannot be read.
            ValueError: There is no special token, or `vocab_size` is less than the bytes and the special tokens.
        """
        if not special_tokens:
            raise ValueError("at least one special token required: it separates the documents of the file")
        self._train(_documents(file_path, special_tokens), vocab_size, special_tokens, verbose)

    def _train(self, texts: Iterable[str], vocab_size: int, special_tokens: Sequence[str], verbose: bool) -> None:
        least, size = 256 + len(special_tokens), operator.index(vocab_size)
        if size < least:
            raise ValueError(f"vocab_size must be >= {least}, the bytes and the special tokens, not {size}")
        pattern = patterns.resolve(self.pattern, "drop")
        learned = _pairs.learn(texts, size - len(special_tokens), pattern, "ids")
        self._reset_state()
        for id, (left, right, count) in enumerate(learned, 256):
            self.merges.append((left, right))
            self.vocab[id] = self.vocab[left] + self.vocab[right]
            if verbose:
                logger.debug(
                    "%r + %r, %d times: %d, %r", self.vocab[left], self.vocab[right], count, id, self.vocab[id]
                )
        self.vocab.update(enumerate((token.encode() for token in special_tokens), len(self.vocab)))

    # Counts, as the notebooks ask for them

    def _pretoken_count(self, text: str) -> dict[Pretoken, int]:
        """Return how often each pretoken occurs, as the tuple of its bytes."""
        return dict(Counter(tuple(found.group().encode()) for found in self.pattern.finditer(text)))

    def _pairs_count(self, pretokens: Mapping[Pretoken, int]) -> dict[Pair, int]:
        return _pairs_count(pretokens)

    # State files

    def save_state(self, prefix: str, folder: str | os.PathLike[str]) -> Path:
        """Write `folder`/`prefix`_tokenizer.json, and return its path. The folder is made if it does not exist.

        Raises:
            NotADirectoryError: `folder` is no folder.
        """
        path = _folder(folder) / f"{Path(prefix).name}_tokenizer.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        vocab = {str(id): token.hex() for id, token in self.vocab.items()}
        state = {"version": _VERSION, "merges": self.merges, "vocab": vocab}
        whole_files.write(path, [json.dumps(state, indent=2, ensure_ascii=False).encode()])
        return path

    def load_state(self, prefix: str, folder: str | os.PathLike[str]) -> None:
        """Load the state that `save_state` has written.

        Raises:
            FileNotFoundError: There is no such file.
            NotADirectoryError: `folder` is no folder.
            ValueError: The file is no state file; names what is wrong.
        """
        place = _folder(folder)
        if not place.is_dir():
            raise NotADirectoryError(f"{os.fspath(folder)} is no folder")
        path = place / f"{Path(prefix).name}_tokenizer.json"
        if not path.is_file():
            raise FileNotFoundError(f"there is no state file {path}")
        self.merges, self.vocab = _state_of(text_files.read_object(path, "state of a tokenizer"), str(path))


def _state_of(state: dict[str, Any], name: str) -> tuple[list[Pair], dict[int, bytes]]:
    """Return the merges and the vocabulary of a state file."""
    version, merges, tokens = state.get("version"), state.get("merges"), state.get("vocab")
    if version != _VERSION:
        raise ValueError(f"{name}: Unsupported tokenizer state version: {shown(version)}, not {_VERSION}")
    if not isinstance(merges, list) or not isinstance(tokens, dict):
        raise ValueError(f'{name}: "merges" is a list, and "vocab" an object')
    for pair in merges:
        if not isinstance(pair, list) or len(pair) != 2 or not all(type(id) is int for id in pair):
            raise ValueError(f"{name}: a merge is two ids, not {shown(pair)}")
    vocab = {}
    for id, spelled in tokens.items():
        if not (id.isascii() and id.isdigit() and len(id) <= 10):
            raise ValueError(f"{name}: Invalid token ID in state file: {shown(id)}")
        try:
            vocab[int(id)] = bytes.fromhex(spelled)
        except (TypeError, ValueError):
            raise ValueError(f"{name}: Invalid hex for token {id}: {shown(spelled)}") from None
    return [(left, right) for left, right in merges], vocab


def _folder(folder: str | os.PathLike[str]) -> Path:
    path = Path(folder).expanduser().resolve()
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"{os.fspath(folder)} is there, and no folder")
    return path


def _delimiter(special_tokens: Sequence[str]) -> str:
    return f"(?:{'|'.join(map(re.escape, special_tokens))})+"


def _documents(path: str | os.PathLike[str], special_tokens: Sequence[str]) -> Iterator[str]:
    """Yield the documents of a file."""
    delimiter, longest = re.compile(_delimiter(special_tokens)), max(map(len, special_tokens))
    rest = ""
    with Path(path).open(encoding="utf-8") as file:
        while block := file.read(_BLOCK):
            rest, start = rest + block, 0
            for found in delimiter.finditer(rest):
                if found.end() > len(rest) - longest:  # the next block may continue a longer special token
                    break
                yield rest[start : found.start()]
                start = found.end()
            rest = rest[start:]
    yield from delimiter.split(rest)


# Helpers of its module


def _pairs_count(pretokens: Mapping[Pretoken, int]) -> dict[Pair, int]:
    """Return how often each pair of neighbours occurs in counted pretokens."""
    counts: dict[Pair, int] = {}
    for pretoken, count in pretokens.items():
        for pair in itertools.pairwise(pretoken):
            counts[pair] = counts.get(pair, 0) + count
    return counts


def _merge(seq: Sequence[Any], pair: tuple[Any, Any], new_ix: Any) -> tuple[Any, ...]:
    """Return a sequence with every occurrence of `pair`, from the left, replaced.

    >>> _merge((7, 7, 7), (7, 7), 0)
    (0, 7)
    """
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise ValueError(f"`pair` must be a 2-tuple, not {shown(pair)}")
    merged: list[Any] = []
    at = 0
    while at < len(seq):
        found = tuple(seq[at : at + 2]) == pair
        merged.append(new_ix if found else seq[at])
        at += 2 if found else 1
    return tuple(merged)


def get_lowest_rank_pair(pretoken: Pretoken, pair_to_idx: Mapping[Pair, int]) -> tuple[Pair, int] | None:
    """Return the pair of neighbours that merges first, with the id that it merges into; None if none does."""
    found = [(pair_to_idx[pair], pair) for pair in itertools.pairwise(pretoken) if pair in pair_to_idx]
    if not found:
        return None
    id, pair = min(found, key=lambda one: one[0])
    return pair, id


def encode_pretoken(pretoken: Pretoken, pair_to_idx: Mapping[Pair, int]) -> Pretoken:
    """Return the ids of a pretoken, given as those of its bytes.

    >>> encode_pretoken((1, 2, 3), {(1, 2): 5, (2, 3): 10, (5, 3): 42})
    (42,)
    """
    while (found := get_lowest_rank_pair(pretoken, pair_to_idx)) is not None:
        pretoken = _merge(pretoken, *found)
    return pretoken


def _encode_iterable(
    pretokenized_text: Iterable[str], pair_to_idx: Mapping[Pair, int], special: Mapping[str, int]
) -> list[int]:
    """Return the ids of pretokens and special tokens, one after the other."""
    ids: list[int] = []
    for piece in pretokenized_text:
        ids += [special[piece]] if piece in special else encode_pretoken(tuple(piece.encode()), pair_to_idx)
    return ids
