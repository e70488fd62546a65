"""Small objects that programs ask a tokenizer for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...formats.gpt2 import unspell

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .tokenizer import Tokenizer


class AddedToken(NamedTuple):
    """A token that is found in the text before all else, where `tokenizers`, which has its own, is not installed."""

    content: str
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False
    special: bool = True

    def __str__(self) -> str:
        return self.content


class Decoder:
    """What turns spelled tokens into text."""

    def decode(self, tokens: Iterable[str]) -> str:
        """Return the text of tokens; one that spells no bytes stands for its own."""
        parts = (plain if (plain := unspell(token)) is not None else token.encode() for token in tokens)
        return b"".join(parts).decode("utf-8", "replace")


class BPE:
    """The vocabulary of a tokenizer."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def token_to_id(self, token: str) -> int | None:
        """As of the tokenizer."""
        return self._tokenizer.token_to_id(token)

    def id_to_token(self, id: int) -> str | None:
        """As of the tokenizer."""
        return self._tokenizer.id_to_token(id)
