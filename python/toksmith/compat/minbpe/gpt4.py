"""minbpe's `GPT4Tokenizer`: the vocabulary of cl100k_base."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import toksmith

from ... import patterns, reference
from ..._internal.messages import shown
from ...files import whole_files
from ...formats import rank_file as rank_files
from . import model
from .regex import GPT4_SPLIT_PATTERN, RegexTokenizer

if TYPE_CHECKING:
    from collections.abc import Mapping

    Pair = tuple[int, int]

GPT4_SPECIAL_TOKENS = {
    "<|endoftext|>": 100257,
    "<|fim_prefix|>": 100258,
    "<|fim_middle|>": 100259,
    "<|fim_suffix|>": 100260,
    "<|endofprompt|>": 100276,
}


class GPT4Tokenizer(RegexTokenizer):
    """GPT-4's tokenizer, under minbpe's spelling of its pattern. It is not trained, saved or loaded.

    The single bytes of cl100k_base have other ids than their values: `byte_shuffle` has the id of each byte. As in
    the original, `vocab` spells tokens with these ids in place of the bytes; `tokenizer.vocab` has the bytes.

    Args:
        path: The rank file, `cl100k_base.tiktoken`. By default it is found as `toksmith.get_encoding` finds it.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: The file is no rank file with all single bytes among the first 256 ids.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._ranks = _ranks(path)
        self.byte_shuffle = {byte: self._ranks[bytes([byte])] for byte in range(256)}
        self.inverse_byte_shuffle = {id: byte for byte, id in self.byte_shuffle.items()}
        self._vocab_has_specials, self._merges = False, {}
        self._replace(GPT4_SPLIT_PATTERN, self._merges, GPT4_SPECIAL_TOKENS)
        self._merges = self._pairs()

    def _made(
        self, pattern: patterns.Pattern, merges: dict[Pair, int], special_tokens: dict[str, int]
    ) -> toksmith.Tokenizer:
        if merges is not self._merges:
            raise NotImplementedError("the merges of GPT4Tokenizer cannot be replaced: they are those of GPT-4")
        vocab = {id: token for token, id in self._ranks.items()}
        return toksmith.Tokenizer(vocab, None, special_tokens, pattern=pattern)

    def _pairs(self) -> dict[Pair, int]:
        """Return the pair that each token is merged from; a rank file has only the merged tokens."""
        vocab = self.tokenizer.vocab
        pairs = self.tokenizer._core.merges()
        return {(left, right): self._ranks[vocab[left] + vocab[right]] for left, right in pairs}

    def train(self, text: str, vocab_size: int, verbose: bool = False) -> None:
        """Raise NotImplementedError: the merges of GPT-4 are given."""
        raise NotImplementedError("GPT4Tokenizer is not trained: its merges are those of GPT-4")

    def save(self, file_prefix: str | os.PathLike[str]) -> None:
        """Raise NotImplementedError: a `.model` file has no place for the order of the bytes."""
        raise NotImplementedError("GPT4Tokenizer cannot be saved. `tokenizer.save(path)` writes what is inside")

    def load(self, model_file: str | os.PathLike[str]) -> None:
        """Raise NotImplementedError, as `save` does."""
        raise NotImplementedError("GPT4Tokenizer cannot be loaded. It is what it is made with")

    def save_vocab(self, vocab_file: str | os.PathLike[str]) -> None:
        """Write the tokens for people to read, in the form of a `.vocab` file."""
        vocab = {id: self.tokenizer.token_bytes(id) for id in self.vocab}
        whole_files.write(vocab_file, (line.encode() for line in model.vocab_lines(vocab, self._merges)))


def bpe(mergeable_ranks: Mapping[bytes, int], token: bytes, max_rank: int | None) -> list[bytes]:
    """Return the tokens that the bytes of a token merge to by ranks below `max_rank`, or by all ranks.

    >>> bpe({b"lo": 256, b"low": 257}, b"low", 257)
    [b'lo', b'w']
    """

    def rank_of(left: bytes, right: bytes) -> int | None:
        rank = mergeable_ranks.get(left + right)
        return None if rank is None or (max_rank is not None and rank >= max_rank) else rank

    return list(reference.encode_word(token, rank_of))


def recover_merges(mergeable_ranks: Mapping[bytes, int]) -> dict[Pair, int]:
    """Return the pair of ids that each token is merged from, with the id of the token, in the order of the ranks.

    Raises:
        ValueError: A single byte has no rank, or lower ranks make no two parts of a token.
    """
    whole = toksmith.Tokenizer({rank: token for token, rank in mergeable_ranks.items()}, None, pattern=None)
    vocab = whole.vocab
    made = {vocab[left] + vocab[right]: (left, right) for left, right in whole._core.merges()}
    merges: dict[Pair, int] = {}
    for token, rank in mergeable_ranks.items():
        if len(token) == 1:
            continue
        if token not in made:
            raise ValueError(f"the token {shown(token)} of rank {rank} is not made of two tokens of lower ranks")
        merges[made[token]] = rank
    return merges


def _ranks(path: str | os.PathLike[str] | None) -> dict[bytes, int]:
    """Return the ranks of cl100k_base, from the file at `path` or the published encoding."""
    if path is None:
        ranks: dict[bytes, int] = dict(toksmith.get_encoding("cl100k_base")._mergeable_ranks)
    else:
        ranks = {token: id for id, token in rank_files.read(path).items()}
    singles = [ranks.get(bytes([byte]), -1) for byte in range(256)]
    if sorted(singles) != list(range(256)) or sorted(ranks.values()) != list(range(len(ranks))):
        raise ValueError(f"{path or 'cl100k_base'}: expected ids without gaps, the single bytes first")
    return ranks
