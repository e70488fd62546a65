"""How often a text uses each token, counted by the batch functions of the core.

No Python loop runs over the tokens of a text. Some megabytes of text are in memory at a time, however long the text
is. Two things are held whole: a record of JSON lines or Parquet, and a text that its pattern cannot cut (see
`Tokenizer.encode_iterable`).
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from ...encoding import text_streaming

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

# Characters of short documents that are encoded together.
_BATCH = 1 << 21


class Counter:
    """Counts the ids, documents, bytes and characters of texts.

    Args:
        core: The core of a tokenizer.
        ids: All its ids, ascending.
        special: Whether special tokens in a text become their ids.
        workers: Threads.

    Attributes:
        counts: The uses of each of `ids`, `int64`.
    """

    def __init__(self, core: Any, ids: Sequence[int], special: bool, workers: int) -> None:
        import numpy as np

        self._core, self._special, self._workers = core, special, workers
        self._ids = np.array(ids, np.int64)
        # `bincount` by id needs memory up to the highest id. Sparse ids are looked up first, and counted by place.
        self._slots = ids[-1] + 1 if ids and ids[-1] < 4 * len(ids) + (1 << 16) else 0
        self.counts: NDArray[np.int64] = np.zeros(len(ids), np.int64)
        self.documents = self.bytes = self.characters = 0

    def add(self, documents: Iterable[Iterable[str]]) -> None:
        """Count documents, each the pieces of its text."""
        held: list[str] = []
        size = 0
        for document in documents:
            self.documents += 1
            pieces = self._measured(document)
            first = _first(pieces, _BATCH)
            length = sum(map(len, first))
            if length >= _BATCH:
                for ids in text_streaming.arrays(
                    self._core, itertools.chain(first, pieces), self._special, self._workers
                ):
                    self._count(ids)
                continue
            held.append("".join(first))
            size += length
            if size >= _BATCH or len(held) >= _BATCH // 16:
                self._add_batch(held)
                held, size = [], 0
        if held:
            self._add_batch(held)

    def _measured(self, pieces: Iterable[str]) -> Iterator[str]:
        for piece in pieces:
            self.characters += len(piece)
            self.bytes += len(piece) if piece.isascii() else len(piece.encode())
            yield piece

    def _add_batch(self, texts: list[str]) -> None:
        self._count(self._core.encode_batch_to_numpy(texts, self._special, self._workers)[0])

    def _count(self, ids: NDArray[np.uint32]) -> None:
        import numpy as np

        if self._slots:
            self.counts += np.bincount(ids, minlength=self._slots)[self._ids]
        else:
            self.counts += np.bincount(np.searchsorted(self._ids, ids), minlength=len(self._ids))


def _first(pieces: Iterator[str], size: int) -> list[str]:
    """Take pieces until they have so many characters, or end."""
    taken: list[str] = []
    held = 0
    while held < size and (piece := next(pieces, None)) is not None:
        taken.append(piece)
        held += len(piece)
    return taken
