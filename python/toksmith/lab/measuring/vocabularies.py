"""How evenly a text uses a vocabulary, and the tokens that two vocabularies share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .results import Overlap

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .encoders import Encoder


def renyi_efficiency(counts: NDArray[np.int64], vocab_size: int | None, alpha: float) -> float | None:
    """Return the Rényi entropy of the tokens of a text, divided by the most that the vocabulary allows.

    This is H_α(p) / log |V| with H_α(p) = log(Σ p^α) / (1 − α), where p is the share of each token of the text and
    |V| the number of ordinary tokens; for α = 1 it is Shannon's entropy. Zouhar, Meister, Gastaldi, Du, Sachan and
    Cotterell ("Tokenization and the Noiseless Channel", ACL 2023) define it, and find that for α = 2.5 it correlates
    with the quality of translation. None if the size of the vocabulary is not known.
    """
    if vocab_size is None or vocab_size < 2 or not counts.any():
        return None
    shares = counts[counts > 0] / counts.sum()
    if alpha == 1:
        entropy = float(-(shares * np.log(shares)).sum())
    elif math.isinf(alpha):
        entropy = float(-np.log(shares.max()))
    else:
        entropy = float(np.log((shares**alpha).sum()) / (1 - alpha))
    return max(0.0, entropy) / math.log(vocab_size)  # of one token, -0.0


def overlap(
    first: Encoder, second: Encoder, first_counts: NDArray[np.int64], second_counts: NDArray[np.int64]
) -> Overlap:
    """Return the tokens that the vocabularies of two tokenizers share, by the bytes of their ordinary tokens."""
    assert first.vocab is not None and second.vocab is not None
    mine, theirs = set(first.vocab.values()), set(second.vocab.values())
    shared = mine & theirs
    return Overlap(
        first=first.name,
        second=second.name,
        first_size=len(mine),
        second_size=len(theirs),
        shared=len(shared),
        jaccard=len(shared) / len(mine | theirs),
        first_tokens_shared=_share(first, first_counts, shared),
        second_tokens_shared=_share(second, second_counts, shared),
    )


def _share(encoder: Encoder, counts: NDArray[np.int64], shared: set[bytes]) -> float | None:
    """Return the share of the tokens of the text that are tokens of both vocabularies."""
    assert encoder.vocab is not None
    ids = [id for id, token in encoder.vocab.items() if token in shared and id < len(counts)]
    return float(counts[ids].sum() / counts.sum()) if counts.any() else None
