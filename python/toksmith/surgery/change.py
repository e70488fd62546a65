"""`VocabChange`: which ids of two vocabularies belong together; and ids beside those of their own text."""

from __future__ import annotations

import io
import itertools
import os
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core import align
from ..files import reading, whole_files
from ..tokenizer import Tokenizer, tokenizer_of

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class VocabChange:
    """A change of a vocabulary: the new id of each old one, and how the old tokens spell the new ones.

    Attributes:
        old_to_new: The new id of each old id, -1 where there is none: `int64`, shape (highest old id + 1,).
        new_to_old: The old id of each new id, -1 where there is none: `int64`, shape (highest new id + 1,).
        added: The ids of the tokens that have no old id, ascending: `int64`, shape (n,).
        starts: Where the pieces of each added token start, and where the last ones end: `int64`, shape (n + 1,).
        pieces: The old ids that spell the added tokens, one token after the other: `int64`.
        weights: The weight of each piece: equal in a token, with the sum 1. `float64`.
        needed: The old ids of tokens that stay though they were not asked for, ascending: `int64`.

    >>> import toksmith
    >>> tokenizer = toksmith.train(toksmith.PretokenCounts({b"low": 5}), 258)
    >>> _, change = toksmith.surgery.extend(tokenizer, toksmith.PretokenCounts({b"lowest": 3}), 1)
    >>> change.added, change.pieces, change.weights
    (array([258]), array([115, 116]), array([0.5, 0.5]))
    >>> change.apply_to_embedding([[float(id)] for id in range(258)])[258]
    array([115.5])
    """

    old_to_new: Integers
    new_to_old: Integers
    added: Integers
    starts: Integers
    pieces: Integers
    weights: NDArray[np.float64]
    needed: Integers

    def __post_init__(self) -> None:
        old, new, count = len(self.old_to_new), len(self.new_to_old), len(self.pieces)
        ids_of = {"old_to_new": new, "new_to_old": old, "added": new, "pieces": old, "needed": old}
        for name, limit in (ids_of | {"starts": count + 1}).items():
            ids, least = getattr(self, name), -1 if "_to_" in name else 0
            if ids.dtype != np.int64 or ids.ndim != 1 or (ids < least).any() or (ids >= limit).any():
                raise ValueError(f"{name} has values that do not belong to these vocabularies")
        edges = [*self.starts[[0, -1]]] if len(self.starts) == len(self.added) + 1 else []
        if edges != [0, count] or (np.diff(self.starts) < 0).any() or self.weights.shape != (count,):
            raise ValueError("starts, pieces and weights do not belong together")

    def __repr__(self) -> str:
        kept = int((self.new_to_old >= 0).sum())
        return (
            f"<VocabChange of {len(self.old_to_new)} old ids to {len(self.new_to_old)} new ones: {kept} kept, "
            f"{len(self.added)} added>"
        )

    @classmethod
    def between(cls, old: Tokenizer, new: Tokenizer, old_ids: Integers, needed: ArrayLike = ()) -> VocabChange:
        """Return the change from one tokenizer to another; `old_ids` becomes `new_to_old`."""
        old_to_new = np.full(old.max_id + 1, -1, np.int64)
        kept = np.flatnonzero(old_ids >= 0)
        old_to_new[old_ids[kept]] = kept
        names = {id: name for name, id in new.special_tokens.items()}
        added = sorted(id for id in new.vocab if old_ids[id] < 0)
        spelled = [
            old.encode(names[id], special=False) if id in names else old._core.encode_pretoken(new.vocab[id])
            for id in added
        ]
        counts = np.array([len(pieces) for pieces in spelled], np.int64)
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        pieces = np.array([*itertools.chain.from_iterable(spelled)], np.int64)
        weights = np.repeat(1 / np.maximum(counts, 1), counts)
        return cls(
            old_to_new, old_ids, np.array(added, np.int64), starts, pieces, weights, np.array(needed, np.int64)
        )

    def apply_to_embedding(self, matrix: ArrayLike) -> NDArray[Any]:
        """Return a matrix, or a bias, with a row for each new id, of one with a row for each old id.

        Rows move with their ids. The row of an added token is the weighted mean of those that spell it; that of an id
        without a token is zero. Further rows at the end of the matrix are left out.

        Raises:
            ValueError: The matrix has fewer rows than there are old ids, or not one or two dimensions.
        """
        rows = np.asarray(matrix)
        if rows.ndim not in (1, 2) or len(rows) < len(self.old_to_new):
            raise ValueError(f"the matrix has shape {rows.shape}, and there are {len(self.old_to_new)} old ids")
        changed = np.zeros((len(self.new_to_old), *rows.shape[1:]), rows.dtype)
        kept = self.new_to_old >= 0
        changed[kept] = rows[self.new_to_old[kept]]
        for id, (start, end) in zip(self.added, itertools.pairwise(self.starts), strict=True):
            changed[id] = self.weights[start:end] @ rows[self.pieces[start:end]]
        return changed

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the arrays as an `.npz` file, whole or not at all."""
        content = io.BytesIO()
        np.savez(content, **{field.name: getattr(self, field.name) for field in fields(self)})
        whole_files.write(path, [content.getvalue()])

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> VocabChange:
        """Load a file that `save` wrote; `ValueError` for any other, and for a damaged one."""
        try:
            with reading.open_regular(path) as file, np.lib.npyio.NpzFile(file) as arrays:
                return cls(**{field.name: arrays[field.name] for field in fields(cls)})
        except (ValueError, TypeError, KeyError, EOFError, AttributeError, zipfile.BadZipFile, zlib.error) as error:
            raise ValueError(f"{os.fspath(path)}: not a file of VocabChange.save: {error}") from None


def retokenization(tokenizer: Tokenizer | object, ids: Iterable[int]) -> list[tuple[int, int, list[int]]]:
    """Return where ids are not those of their own text.

    Returns:
        For each such stretch its start and end in `ids`, and the list of the ids that encoding the text of all `ids`
        has in its place. An empty list means that encoding gives `ids` again.

    Raises:
        KeyError: An id has no token; names the id and its index.
        ValueError: Decoding does more than to join bytes, or encoding does not keep the bytes of the text.
    """
    tokenizer = tokenizer_of(tokenizer)
    # An iterator may have no end: the first wrong id ends the call.
    first, second = itertools.tee(ids)
    text = tokenizer.decode_bytes(first)
    old, new = list(second), tokenizer.encode(text)
    ends = align(tokenizer, old, tokenizer, new).tolist()
    return [
        (start, end, new[other:end_of_other])
        for (start, other), (end, end_of_other) in itertools.pairwise(ends)
        if old[start:end] != new[other:end_of_other]
    ]
