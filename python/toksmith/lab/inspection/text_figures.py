"""Figures of a text and of the use of a vocabulary, from the counts of its tokens."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from . import merging
from .results import Usage, Used, VocabularyToken, Zipf

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .merging import Tree
    from .results import Reach
    from .usage import Counter
    from .vocabulary import Vocabulary


def usage(vocabulary: Vocabulary, tree: Tree, reach: Reach, counter: Counter, top: int) -> Usage:
    """Return how the counted texts use a vocabulary."""
    import numpy as np

    counts, ids, tokens = counter.counts, vocabulary.ids, vocabulary.tokens
    ordinary = np.array([id not in vocabulary.special for id in ids], np.bool_)
    single, partial = _no_characters(vocabulary)
    total = int(counts.sum())
    parts = np.zeros(len(ids), np.bool_)
    parts[list(tree.parts(counts))] = True
    unused = ordinary & (counts == 0) & ~parts
    never = {one.id for one in reach.unreachable} | {one.id for one in reach.undecided}
    candidates = (
        VocabularyToken(ids[place], tokens[place])
        for place in np.flatnonzero(unused).tolist()
        if len(tokens[place]) > 1 and ids[place] in vocabulary.texts and ids[place] not in never
    )
    applied = tree.applied(counts)
    order = np.argsort(-counts, kind="stable")
    singles, partials = int(counts[single].sum()), int(counts[partial].sum())
    return Usage(
        documents=counter.documents,
        bytes=counter.bytes,
        characters=counter.characters,
        tokens=total,
        special=int(counts[~ordinary].sum()),
        bytes_per_token=_over(counter.bytes, total),
        characters_per_token=_over(counter.characters, total),
        single_bytes=singles,
        single_bytes_share=_over(singles, total),
        partial=partials,
        partial_share=_over(partials, total),
        used=int((ordinary & (counts > 0)).sum()),
        used_once=int((ordinary & (counts == 1)).sum()),
        parts_only=int((ordinary & (counts == 0) & parts).sum()),
        unused=int(unused.sum()),
        half=int(np.searchsorted(2 * np.cumsum(counts[order]), total)) + 1 if total else 0,
        most_used=tuple(Used(ids[at], tokens[at], int(counts[at])) for at in order[:top].tolist() if counts[at]),
        candidates=tuple(one for one, _ in zip(candidates, range(top), strict=False)),
        zipf=zipf(counts),
        merged=int(applied.sum()),
        most_saved=merging.most_saved(vocabulary, tree, applied, top),
        idle_merges=int(((np.array(tree.left) >= 0) & (applied == 0)).sum()),
        counts=counts,
        applied=applied,
    )


def _over(number: int, total: int) -> float:
    return number / total if total else 0.0


def _no_characters(vocabulary: Vocabulary) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which tokens are single bytes of a character, and which are no whole characters, in order of ids."""
    import numpy as np

    of_bytes = vocabulary.bytes_of_characters
    single, partial = [], []
    for id, token in zip(vocabulary.ids, vocabulary.tokens, strict=True):
        is_partial = id not in vocabulary.texts and id not in vocabulary.special
        partial.append(is_partial)
        single.append(id in of_bytes if of_bytes else is_partial and len(token) == 1)
    return np.array(single, np.bool_), np.array(partial, np.bool_)


def zipf(counts: NDArray[np.int64]) -> Zipf | None:
    """Return how uses fall with the rank; None if fewer than two tokens are used."""
    import numpy as np

    falling = -np.sort(-counts[counts > 0])
    if len(falling) < 2:
        return None
    exponents = np.arange(0, math.floor(10 * math.log10(len(falling))) + 1) / 10
    ranks = np.unique(np.append(np.round(10**exponents), len(falling)).astype(np.int64))
    ranks = ranks[ranks <= len(falling)]
    x, y = np.log10(ranks), np.log10(falling[ranks - 1])
    x, y = x - x.mean(), y - y.mean()
    slope = float(x @ y / (x @ x))
    spread = float(y @ y)
    return Zipf(
        slope=slope,
        r_squared=float((x @ y) ** 2 / (x @ x) / spread) if spread else 1.0,
        points=tuple(zip(ranks.tolist(), falling[ranks - 1].tolist(), strict=True)),
    )
