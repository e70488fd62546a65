"""minbpe's `BasicTokenizer`: no pattern, no special tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .backed import BackedTokenizer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ... import patterns


class BasicTokenizer(BackedTokenizer):
    """BPE over the whole text, which is not cut.

    >>> tokenizer = BasicTokenizer()
    >>> tokenizer.train("low lower lowest", 258)
    >>> dict(tokenizer.merges)
    {(108, 111): 256, (256, 119): 257}
    """

    def train(self, text: str, vocab_size: int, verbose: bool = False) -> None:
        """Learn `vocab_size - 256` merges from `text`; of equally frequent pairs, the first in the text merges.

        Args:
            text: The text to train on.
            vocab_size: Tokens of the result, of which 256 are the bytes.
            verbose: Print each merge, after training.

        Raises:
            ValueError: `vocab_size` is less than 256.

        Warns:
            UserWarning: No pair is left: the vocabulary is smaller than asked.
        """
        self._train(text, vocab_size, verbose)

    def encode(self, text: str) -> list[int]:
        """Return the ids of `text`."""
        return self.tokenizer.encode(text, special=False)

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of `ids`, with U+FFFD for bytes that are not UTF-8.

        Raises:
            KeyError: There is no token of an id.
        """
        if self._own_vocab is not None:
            return b"".join(self._own_vocab[id] for id in ids).decode(errors="replace")
        return self.tokenizer.decode(ids)

    def _resolved(self, pattern: str) -> patterns.Pattern:
        if pattern:
            raise ValueError("BasicTokenizer cuts text nowhere: for a pattern take RegexTokenizer")
        return super()._resolved(pattern)

    def _check_kind(self, pattern: str, name: str) -> None:
        if pattern:
            raise ValueError(f"{name}, line 2: its tokenizer cuts text by a pattern: load it with RegexTokenizer")
