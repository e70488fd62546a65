"""The record of a training: its tie rule, and how often each merge was counted. No part of a tokenizer's identity."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._internal import choices
from .._internal.choices import Ties
from .._internal.messages import shown

Counts = list[int | None]


class Record:
    """The tie rule, the tokens that existed before the first merge, and the count of each merge.

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

    def shrunk(self, merges: int) -> Record:
        """Return the record of the first `merges` merges."""
        return Record(self.ties, self.initial_tokens, self.counts()[:merges])

    def state(self) -> dict[str, Any]:
        """Return the record as a dictionary for JSON."""
        return {"ties": self.ties, "least": self.initial_tokens, "merge_counts": self.counts()}

    @classmethod
    def of_state(cls, state: object) -> Record:
        """Return the record of a `state`."""
        fields = state if isinstance(state, dict) else {}
        ties, initial_tokens, counts = (fields.get(name) for name in ("ties", "least", "merge_counts"))
        if ties not in choices.TIES:
            raise ValueError(f"the training was under the tie rule {shown(ties)}, which is not known")
        if type(initial_tokens) is not int or not 256 <= initial_tokens < 2**32:
            raise ValueError(f"the training began with {shown(initial_tokens)} tokens, not at least 256")
        if not isinstance(counts, list):
            raise ValueError("the counts of the merges are not a list")
        for index, count in enumerate(counts):
            if count is not None and (type(count) is not int or not 0 < count <= 2**63):
                raise ValueError(f"the count of merge number {index} is {shown(count)}, not between 1 and 2^63")
        return cls(ties, initial_tokens, counts)
