"""The parts of a tokenizer, as plain data: loading returns them, saving takes them, and a `Tokenizer` holds them."""

from __future__ import annotations

from .._core import Tokenizer as CoreTokenizer
from ..patterns import Pattern
from .huggingface.origin import Origin
from .huggingface.pipeline import Pipeline
from .training_record import Record


class Parts:
    """A core, a pattern, a pipeline and the record of a training. Immutable."""

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
