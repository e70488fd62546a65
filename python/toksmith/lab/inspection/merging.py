"""How tokens are merged: the two parts of each token, and the depths and uses of merges that follow from them."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any

from .results import Merging, Saved

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .vocabulary import Vocabulary


class Tree:
    """The last merge of each token. A token is named by its place among all ids in ascending order.

    Attributes:
        left: The left part of each token; -1 for a token that no merge makes.
        right: The right part of each token; -1 likewise.
        order: The tokens that a merge makes, each after its parts.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        core: Any = vocabulary.parts.core
        left, right = core.last_pairs()
        self.left: list[int] = left.tolist()
        self.right: list[int] = right.tolist()
        made = (place for place, part in enumerate(self.left) if part >= 0)
        self.order = sorted(made, key=lambda place: len(vocabulary.tokens[place]))

    def depths(self) -> list[int]:
        """Return the depth of each token: 0 without a merge, else 1 more than that of its deeper part."""
        found = [0] * len(self.left)
        for place in self.order:
            found[place] = 1 + max(found[self.left[place]], found[self.right[place]])
        return found

    def applied(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how often the last merge of each token was applied in a text whose tokens have these counts.

        The merge of a token is applied for each use of the token, and for each use of a token that it is a part of.
        """
        import numpy as np

        uses = counts.tolist()
        for place in reversed(self.order):
            if number := uses[place]:
                uses[self.left[place]] += number
                uses[self.right[place]] += number
        return np.where(np.array(self.left) >= 0, np.array(uses, np.int64), 0)

    def parts(self, counts: NDArray[np.int64]) -> set[int]:
        """Return the tokens that are a part, or a part of a part and so on, of a token that is used."""
        found: set[int] = set()
        uses = counts.tolist()
        for place in reversed(self.order):
            if uses[place] or place in found:
                found |= {self.left[place], self.right[place]}
        return found


def merging(vocabulary: Vocabulary, tree: Tree, top: int) -> Merging:
    """Return how deep the merges of ordinary tokens are."""
    depths = tree.depths()
    ordinary = [place for place, id in enumerate(vocabulary.ids) if id not in vocabulary.special]
    made = [depths[place] for place in ordinary if depths[place]]
    deepest = sorted((place for place in ordinary if depths[place]), key=lambda place: (-depths[place], place))[:top]
    chain = deepest[:1]
    while chain and depths[chain[-1]]:
        left, right = tree.left[chain[-1]], tree.right[chain[-1]]
        chain.append(left if depths[left] >= depths[right] else right)
    return Merging(
        by_depth=dict(sorted(collections.Counter(depths[place] for place in ordinary).items())),
        mean_depth=sum(made) / max(len(made), 1),
        deepest=tuple((vocabulary.token(vocabulary.ids[place]), depths[place]) for place in deepest),
        chain=tuple(vocabulary.token(vocabulary.ids[place]) for place in reversed(chain)),
    )


def most_saved(vocabulary: Vocabulary, tree: Tree, applied: NDArray[np.int64], top: int) -> tuple[Saved, ...]:
    """Return the merges that were applied most."""
    import numpy as np

    ids, tokens = vocabulary.ids, vocabulary.tokens
    best = np.argsort(-applied, kind="stable")[:top].tolist()
    return tuple(
        Saved(ids[place], tokens[place], ids[tree.left[place]], ids[tree.right[place]], int(applied[place]))
        for place in best
        if applied[place]
    )
