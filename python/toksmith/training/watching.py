"""Watching a training in more detail than its progress: its last merges, and how well they compress the text."""

from __future__ import annotations

import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .counts import PretokenCounts
    from .options import Options

_MERGE = struct.Struct("<IIIQ")  # left, right and token in internal ids, and the count
_BYTES = 256


class Watcher:
    """A `progress` for `train` that knows the merges so far. A subclass says what it does with them.

    The training calls it as any report, with (stage, done, total), and calls `changed` about ten times a second while
    merges are learned. Both run on the thread that trains, so the time that they take makes the training slower.

    Attributes:
        text_bytes: Bytes of the text that was counted, without special tokens; 0 before merges are learned.
        text_tokens: Tokens of that text, as the merges so far encode it.
    """

    def __init__(self) -> None:
        self.text_bytes = self.text_tokens = 0
        self._pretokens, self._base, self._first = 0, [bytes([byte]) for byte in range(_BYTES)], _BYTES
        self._rows = bytearray()
        self._tokens = bytearray()  # the rows that add a token, in the order of these

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Take the progress of a stage: "count" in bytes, "merge" in merges. The total is 0 while it is not known."""

    def changed(self) -> None:
        """Take notice of new merges."""

    def begin(self, counts: PretokenCounts, options: Options, *, is_bare: bool) -> Callable[[bytes, int], Any]:
        """Return what the core calls with new merges and the number of pairs that are left in the text.

        Args:
            counts: The counts that merges are learned from.
            options: The options of the training.
            is_bare: Whether no merge was made by an earlier run.
        """
        self._pretokens = counts._core.total()
        if options.base is not None:
            self._base = [token for _, token in sorted(options.base.vocab.items())]
            self._first = len(self._base)
        # Where the text begins as single bytes, the first call tells their number without a look at all pretokens.
        is_bare = is_bare and options.base is None and not options.forced_tokens
        self.text_bytes = 0 if is_bare else counts._core.text_bytes()
        return self._take

    def merges(self) -> int:
        """Return how many merges there are."""
        return len(self._rows) // _MERGE.size

    def last(self, count: int) -> list[tuple[int, bytes, bytes, int]]:
        """Return the last merges, the latest first: the number from 1 on, both parts, how often the pair occurred."""
        numbers = range(self.merges(), max(self.merges() - count, 0), -1)
        return [self._merge(number) for number in numbers]

    def _take(self, merges: bytes, pairs: int) -> None:
        # A pretoken has one token more than pairs.
        self.text_tokens = pairs + self._pretokens
        self.text_bytes = self.text_bytes or self.text_tokens
        self._rows += merges
        if self._first == _BYTES:
            self._tokens += merges  # each adds a token
        else:
            adding = (row for row in _MERGE.iter_unpack(merges) if row[2] >= self._first)
            self._tokens += b"".join(_MERGE.pack(*row) for row in adding)
        self.changed()

    def _merge(self, number: int) -> tuple[int, bytes, bytes, int]:
        left, right, _, count = _MERGE.unpack_from(self._rows, (number - 1) * _MERGE.size)
        return number, self._bytes(left), self._bytes(right), count

    def _bytes(self, token: int) -> bytes:
        """Return the bytes of a token in internal ids."""
        waiting, parts = [token], []
        while waiting:
            token = waiting.pop()
            if token < self._first:
                parts.append(self._base[token])
            else:
                left, right, _, _ = _MERGE.unpack_from(self._tokens, (token - self._first) * _MERGE.size)
                waiting += [right, left]
        return b"".join(parts)
