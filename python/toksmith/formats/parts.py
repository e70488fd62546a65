"""The parts of a tokenizer, as plain data: loading returns them, saving takes them, and a `Tokenizer` holds them."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING

from .. import _core
from .._internal.choices import TIES, Ties
from .._internal.messages import shown
from ..patterns import Pattern

if TYPE_CHECKING:
    from .huggingface.origin import Origin
    from .huggingface.pipeline import Pipeline

Counts = list[int | None]


class Record:
    """The record of a training: the tie rule, the tokens before the first merge, and the count of each merge.

    A count is None for a merge that was not chosen by its count: one of a base without counts, or of a forced token.
    """

    __slots__ = ("_counts", "_learned", "initial_tokens", "ties")

    def __init__(self, ties: Ties, initial_tokens: int, counts: Counts, learned: _core.Learned | None = None) -> None:
        self.ties, self.initial_tokens = ties, initial_tokens
        self._counts, self._learned = counts, learned

    def counts(self) -> Counts:
        """Return the count of each merge."""
        if self._learned is not None:
            self._counts = [*self._counts, *(count or None for count in self._learned.counts())]
            self._learned = None
        return self._counts

    def counts_of(self, merges: int) -> Counts:
        """Return the counts of the merges of a tokenizer with `merges` merges; None for each if they do not fit.

        Under rank semantics, training may reach a token of the base that no pair of the base reached. Its merge has
        no count, and stands among the merges of the base.
        """
        counts = self.counts()
        return counts if len(counts) == merges else [None] * merges

    def pruned(self, merges: int, places: Iterable[int], initial_tokens: int) -> Record:
        """Return the record of the merges at some places, of a tokenizer with `merges` merges."""
        counts = self.counts_of(merges)
        return Record(self.ties, initial_tokens, [counts[place] for place in places])

    def state(self) -> dict[str, object]:
        """Return the record as a dictionary for JSON."""
        return {"ties": self.ties, "least": self.initial_tokens, "merge_counts": self.counts()}

    @classmethod
    def of_state(cls, state: object) -> Record:
        """Return the record of a `state`."""
        fields = state if isinstance(state, dict) else {}
        ties, initial_tokens, counts = (fields.get(name) for name in ("ties", "least", "merge_counts"))
        if ties not in TIES:
            raise ValueError(f"the training was under the tie rule {shown(ties)}, which is not known")
        if type(initial_tokens) is not int or not 256 <= initial_tokens < 2**32:
            raise ValueError(f"the training began with {shown(initial_tokens)} tokens, not at least 256")
        if not isinstance(counts, list):
            raise ValueError("the counts of the merges are not a list")
        for index, count in enumerate(counts):
            if count is not None and (type(count) is not int or not 0 < count <= 2**63):
                raise ValueError(f"the count of merge number {index} is {shown(count)}, not between 1 and 2^63")
        return cls(ties, initial_tokens, counts)


class Parts:
    """A core, its pattern, the other steps and settings of a Hugging Face tokenizer, the record of a training."""

    __slots__ = ("__weakref__", "_merges", "_vocab", "core", "fingerprint", "origin", "pattern", "pipeline", "record")

    def __init__(
        self,
        core: _core.Tokenizer,
        pattern: Pattern,
        pipeline: Pipeline | None = None,
        record: Record | None = None,
        origin: Origin | None = None,
    ) -> None:
        self.core, self.pattern, self.pipeline, self.record, self.origin = core, pattern, pipeline, record, origin
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
    def min_size(self) -> int:
        """The smallest vocabulary that the tokenizer can be shrunk to."""
        return max(256 + len(self.special_tokens), self.record.initial_tokens if self.record else 0)

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
