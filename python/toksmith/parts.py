"""What a tokenizer is made of, as plain data: loading returns it, saving takes it, and a `Tokenizer` holds it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._core import Tokenizer as CoreTokenizer
    from .huggingface.origin import Origin
    from .huggingface.pipeline import Pipeline
    from .patterns import Pattern
    from .training_record import Record


class Parts:
    """A core, a pattern, a pipeline and the record of a training. Nothing of it changes.

    Args:
        core: Tokens, merges and special tokens; or a `PipelineCore`, which has the same methods, around them.
        pattern: What cuts text into pretokens.
        pipeline: What a Hugging Face tokenizer does beside that; None for nothing.
        record: What is known of the training; None for a tokenizer that was not trained here.
        origin: What a Hugging Face folder or object says beside all that; None for any other tokenizer.
    """

    __slots__ = ("_merges", "_vocab", "core", "origin", "pattern", "pipeline", "record")

    def __init__(
        self,
        core: Any,
        pattern: Pattern,
        pipeline: Pipeline | None = None,
        record: Record | None = None,
        origin: Origin | None = None,
    ) -> None:
        self.core: CoreTokenizer = core
        self.pattern, self.pipeline, self.record, self.origin = pattern, pipeline, record, origin
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
