"""minbpe's `GPT4Tokenizer`: the vocabulary of cl100k_base."""

import os
from collections.abc import Mapping
from typing import NoReturn

from ... import patterns
from ..._core import tokens_of_ranks
from ..._internal.messages import shown
from ...files import reading, text_files, whole_files
from ...formats.published import encodings
from ...tokenizer import Tokenizer as ToksmithTokenizer
from .. import tiktoken
from .base import Model, vocab_lines
from .regex import GPT4_SPLIT_PATTERN, RegexTokenizer

GPT4_SPECIAL_TOKENS = {**encodings.ENCODINGS["cl100k_base"].special_tokens}


class GPT4Tokenizer(RegexTokenizer):
    """GPT-4's tokenizer, under minbpe's spelling of its pattern. It is not trained, saved or loaded.

    The single bytes of cl100k_base have other ids than their values: `byte_shuffle` has the id of each byte. As in
    the original, `vocab` spells tokens with these ids in place of the bytes; `tokenizer.vocab` has the bytes.

    Args:
        path: The rank file, `cl100k_base.tiktoken`. By default it is found as `toksmith.get_encoding` finds it.

    Raises:
        ValueError: The file is no rank file with all single bytes among the first 256 ids.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._ranks = _ranks(path)
        self.byte_shuffle = {byte: self._ranks[bytes([byte])] for byte in range(256)}
        self.inverse_byte_shuffle = {id: byte for byte, id in self.byte_shuffle.items()}
        self._replace(Model(GPT4_SPLIT_PATTERN, GPT4_SPECIAL_TOKENS, recover_merges(self._ranks)))

    def _build(self, model: Model) -> ToksmithTokenizer:
        vocab = {id: token for token, id in self._ranks.items()}
        pattern = patterns.of_source(model.pattern, 0, "drop")
        return ToksmithTokenizer(vocab, None, model.special_tokens, pattern=pattern)

    def train(self, *_: object, **__: object) -> NoReturn:
        """Raise NotImplementedError: merges are those of GPT-4, and a `.model` file has no place for byte orders."""
        raise NotImplementedError(
            "GPT4Tokenizer is neither trained, saved nor loaded: its vocabulary is that of GPT-4. "
            "`tokenizer.save(path)` writes what is inside"
        )

    save = load = train

    def save_vocab(self, vocab_file: str | os.PathLike[str]) -> None:
        """Write the tokens for people to read, in the form of a `.vocab` file."""
        vocab = {id: self.tokenizer.token_bytes(id) for id in self.vocab}
        whole_files.write(vocab_file, vocab_lines(vocab, self.merges))


def recover_merges(mergeable_ranks: Mapping[bytes, int]) -> dict[tuple[int, int], int]:
    """Return the pair of ids that each token is merged from, with the id of the token, in the order of the ranks.

    Raises:
        ValueError: A single byte has no rank, or lower ranks make no two parts of a token.
    """
    tokenizer = ToksmithTokenizer({rank: token for token, rank in mergeable_ranks.items()}, None, pattern=None)
    pairs = {left + right: (left, right) for left, right in tokenizer.merges}
    merges: dict[tuple[int, int], int] = {}
    for token, rank in mergeable_ranks.items():
        if len(token) == 1:
            continue
        if token not in pairs:
            raise ValueError(f"the token {shown(token)} of rank {rank} is not made of two tokens of lower ranks")
        left, right = pairs[token]
        merges[mergeable_ranks[left], mergeable_ranks[right]] = rank
    return merges


def _ranks(path: str | os.PathLike[str] | None) -> dict[bytes, int]:
    """Return the ranks of cl100k_base, from the file at `path` or the published encoding."""
    if path is None:
        ranks = dict(tiktoken.get_encoding("cl100k_base")._mergeable_ranks)
    else:
        with text_files.naming(path):
            ranks = {token: id for id, token in tokens_of_ranks(reading.read(path)).items()}
    singles = [ranks.get(bytes([byte]), -1) for byte in range(256)]
    if sorted(singles) != list(range(256)) or sorted(ranks.values()) != list(range(len(ranks))):
        raise ValueError(f"{path or 'cl100k_base'}: expected ids without gaps, the single bytes first")
    return ranks
