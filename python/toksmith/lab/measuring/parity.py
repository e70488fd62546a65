"""How many tokens the same sentences take in different languages."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from .results import Parity, Premium

if TYPE_CHECKING:
    from .bootstrap import Bootstrap
    from .encoders import Encoder
    from .texts import Parallel

# Sentences that are encoded together, in each language.
_SENTENCES = 1 << 14


def of(parallel: Parallel, reference: str, encoders: list[Encoder], bootstrap: Bootstrap) -> list[Parity]:
    """Return each language of parallel texts, the reference first.

    The premium is the number of tokens of all sentences in a language, divided by that in the reference. For its
    interval, sentences are drawn together with their translations.

    Raises:
        OSError, ValueError: As `Parallel.sentences`.
    """
    columns = _columns(parallel, encoders)
    languages = parallel.languages
    at = languages.index(reference)
    width = len(encoders) + 2
    order = [at, *(number for number in range(len(languages)) if number != at)]
    # A row of columns for each language: bytes, characters, and the tokens of each tokenizer.
    pairs = [(number * width + column, at * width + column) for number in order for column in range(width)]
    ratios = bootstrap.ratios(columns.reshape(len(languages) * width, -1), pairs)
    totals = columns.sum(axis=2)
    found = []
    for place, number in enumerate(order):
        size, characters, *premiums = ratios[place * width : (place + 1) * width]
        tokens = totals[number, 2:].tolist()
        named = zip(encoders, tokens, premiums, strict=True)
        found.append(
            Parity(
                languages[number],
                reference,
                columns.shape[2],
                size,
                characters,
                tuple(Premium(encoder.name, count, premium) for encoder, count, premium in named),
            )
        )
    return found


def _columns(parallel: Parallel, encoders: list[Encoder]) -> np.ndarray[tuple[int, int, int], np.dtype[np.int64]]:
    """Return bytes, characters and tokens of each sentence: shape (languages, 2 + tokenizers, sentences)."""
    parts = []
    rows = parallel.sentences()
    while batch := list(itertools.islice(rows, _SENTENCES)):
        part = np.empty((len(parallel.languages), 2 + len(encoders), len(batch)), np.int64)
        for number, sentences in enumerate(zip(*batch, strict=True)):
            part[number, 0] = [len(sentence.encode()) for sentence in sentences]
            part[number, 1] = [len(sentence) for sentence in sentences]
            for column, encoder in enumerate(encoders, 2):
                part[number, column] = np.diff(encoder.encode(sentences)[1])
        parts.append(part)
    if not parts:
        raise ValueError("the parallel texts are empty")
    return np.concatenate(parts, axis=2)
