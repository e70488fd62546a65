"""The parts of a tokenizer, as plain data: loading returns them, saving takes them, and a `Tokenizer` holds them."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from .._core import Tokenizer as CoreTokenizer
from ..patterns import Pattern
from .training_record import Record

if TYPE_CHECKING:
    from .huggingface.origin import Origin
    from .huggingface.pipeline import Pipeline


class Parts:
    """A core, a pattern, a pipeline and the record of a training. Immutable.

    Args:
        core: Tokens, merges and special tokens, between the steps of a pipeline.
        pattern: The pattern that cuts text into pretokens.
        pipeline: The other steps of a Hugging Face tokenizer; None for no other steps.
        record: The record of the training; None for a tokenizer that was not trained here.
        origin: The other settings of a Hugging Face folder or object; None for any other tokenizer.
    """

    __slots__ = ("__weakref__", "_merges", "_vocab", "core", "fingerprint", "origin", "pattern", "pipeline", "record")

    def __init__(
        self,
        core: CoreTokenizer,
        pattern: Pattern,
        pipeline: Pipeline | None = None,
        record: Record | None = None,
        origin: Origin | None = None,
    ) -> None:
        self.core = core
        self.pattern, self.pipeline, self.record, self.origin = pattern, pipeline, record, origin
        self.fingerprint: str | None = None
        self._vocab: dict[int, bytes] | None = None
        self._merges: list[tuple[bytes, bytes]] | None = None

    @property
    def vocab(self) -> dict[int, bytes]:
        """Token bytes by id, special tokens included. Made once; not to be changed."""
        if self._vocab is None:
            self._vocab = self.core.vocab()
        return self._vocab

    @property
    def merges(self) -> list[tuple[bytes, bytes]]:
        """The merges in order; under rank semantics the pair that each token's bytes reach. Made once."""
        if self._merges is None:
            vocab = self.vocab
            self._merges = [(vocab[left], vocab[right]) for left, right in self.core.merges()]
        return self._merges

    @property
    def merge_counts(self) -> list[int | None] | None:
        """How often the pair of each merge occurred in training; None without a record."""
        return None if self.record is None else self.record.counts_of(len(self.core.merges()))

    @property
    def special_tokens(self) -> dict[str, int]:
        """Ids of the special tokens by name."""
        return self.core.special_tokens()

    @property
    def ordinary(self) -> dict[int, bytes]:
        """The tokens that are not special, by id."""
        special = set(self.special_tokens.values())
        return {id: token for id, token in self.vocab.items() if id not in special}


# The tokenizers of this process: those with a fingerprint by it, all others by address. Unpickling one of them shares
# its parts, and reads nothing.
by_fingerprint: weakref.WeakValueDictionary[str, Parts] = weakref.WeakValueDictionary()
without_fingerprint: weakref.WeakValueDictionary[int, Parts] = weakref.WeakValueDictionary()


def register(parts: Parts) -> None:
    """Remember that this process has a tokenizer. Its fingerprint would take a fifth of the time of loading."""
    without_fingerprint[id(parts)] = parts
