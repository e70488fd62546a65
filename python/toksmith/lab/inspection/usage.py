"""How often a text uses each token, counted by the batch functions of the core.

No Python loop runs over the tokens of a text. Some megabytes of text are in memory at a time, however long the text
is. Two things are held whole: a record of JSON lines or Parquet, and a text that its pattern cannot cut (see
`Tokenizer.encode_iterable`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...corpus import Document
from ...encoding.text_streaming import Size
from ...tokenizer import Tokenizer
from ..batches import batches
from .results import Reach, Usage, Used, VocabularyToken
from .vocabulary import Tree, Vocabulary, top_saved


class Counter(Size):
    """Counts the `documents`, `bytes` and `characters` of texts; `counts` has the uses of each of `ids`."""

    def __init__(self, tokenizer: Tokenizer, ids: Sequence[int], special: bool, workers: int | None) -> None:
        self._tokenizer, self._special, self._workers = tokenizer, special, workers
        self._ids = np.array(ids, np.int64)
        # `bincount` by id needs memory up to the highest id. Sparse ids are looked up first, and counted by place.
        self._slots = ids[-1] + 1 if ids and ids[-1] < 4 * len(ids) + (1 << 16) else 0
        self.counts: NDArray[np.int64] = np.zeros(len(ids), np.int64)
        self.documents = 0

    def add(self, documents: Iterable[Document]) -> None:
        """Count documents."""
        options: Any = {"special": self._special, "workers": self._workers}
        for batch, texts, pieces in batches(documents):
            self.documents += len(batch)
            if pieces is None:
                self._count(self._tokenizer.encode_batch_to_numpy([*self.measured(texts)], **options)[0])
                continue
            for ids in self._tokenizer.encode_iterable(self.measured(pieces), arrays=True, **options):
                self._count(ids)

    def _count(self, ids: NDArray[np.uint32]) -> None:
        if self._slots:
            self.counts += np.bincount(ids, minlength=self._slots)[self._ids]
        else:
            self.counts += np.bincount(np.searchsorted(self._ids, ids), minlength=len(self._ids))


def usage(vocabulary: Vocabulary, tree: Tree, reach: Reach, counter: Counter, top: int) -> Usage:
    """Return how the counted texts use a vocabulary."""
    counts, ids, tokens = counter.counts, vocabulary.ids, vocabulary.tokens
    ordinary = np.array([id not in vocabulary.special for id in ids], np.bool_)
    total = int(counts.sum())
    totals = tree.totals(counts)
    is_merged, parts = np.array(tree.left) >= 0, totals > counts
    applied = np.where(is_merged, totals, 0)
    unused = ordinary & (counts == 0) & ~parts
    never = {token.id for token in reach.unreachable} | {token.id for token in reach.undecided}
    candidates = (
        VocabularyToken(ids[place], tokens[place])
        for place in np.flatnonzero(unused).tolist()
        if len(tokens[place]) > 1 and ids[place] in vocabulary.texts and ids[place] not in never
    )
    order = np.argsort(-counts, kind="stable")
    return Usage(
        documents=counter.documents,
        bytes=counter.bytes,
        characters=counter.characters,
        tokens=total,
        special=int(counts[~ordinary].sum()),
        bytes_per_token=_over(counter.bytes, total),
        characters_per_token=_over(counter.characters, total),
        used=int((ordinary & (counts > 0)).sum()),
        parts_only=int((ordinary & (counts == 0) & parts).sum()),
        unused=int(unused.sum()),
        most_used=tuple(
            Used(ids[place], tokens[place], int(counts[place])) for place in order[:top].tolist() if counts[place]
        ),
        candidates=tuple(itertools.islice(candidates, top)),
        slope=slope(counts),
        merged=int(applied.sum()),
        most_saved=top_saved(vocabulary, tree, applied, top),
        idle_merges=int((is_merged & (applied == 0)).sum()),
        counts=counts,
        applied=applied,
    )


def _over(number: int, total: int) -> float:
    return number / total if total else 0.0


def slope(counts: NDArray[np.int64]) -> float | None:
    """Return how uses fall with the rank; None if fewer than two tokens are used."""
    falling = -np.sort(-counts[counts > 0])
    if len(falling) < 2:
        return None
    exponents = np.arange(0, math.floor(10 * math.log10(len(falling))) + 1) / 10
    ranks = np.unique(np.append(np.round(10**exponents), len(falling)).astype(np.int64))
    return float(np.polyfit(np.log10(ranks), np.log10(falling[ranks - 1]), 1)[0])
