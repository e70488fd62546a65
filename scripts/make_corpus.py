"""Makes a corpus of any size whose vocabulary grows as that of real text does.

    python scripts/make_corpus.py corpus.txt 10GB

Words are drawn by Zipf's law, and new ones come as Heaps' law says: after n words there are about 3.45 n^0.62
different ones (as counted in web text). The words are made up of syllables, the frequent ones short; sentences have
capitals, commas and full stops, documents end with <|endoftext|>. The same size and seed give the same bytes. It
takes some megabytes of memory, whatever the size.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from toksmith._internal.memory import limit

HEAPS_FACTOR, HEAPS_POWER = 3.45, 0.62
# Words that are drawn at a time.
BATCH = 1 << 16
SYLLABLES = [
    (onset + vowel + coda).encode()
    for onset in ("", "b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "w", "st", "tr", "ch")
    for vowel in ("a", "e", "i", "o", "u", "ea")
    for coda in ("", "n", "r", "s", "l", "t", "nd")
]
PARTS = 3
ROOM = 6 * PARTS


def spellings(numbers: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return words by their numbers, a row of bytes each, zero-filled: a different one for each number."""
    table = np.zeros((len(SYLLABLES), 6), np.uint8)
    for row, syllable in zip(table, SYLLABLES, strict=True):
        row[: len(syllable)] = list(syllable)
    words = np.zeros((len(numbers), ROOM), np.uint8)
    rest = numbers.copy()
    filled = np.ones(len(numbers), bool)
    # Spelled in syllables from the last to the first, as a number is in digits; so no number is spelled in two ways.
    for place in range(PARTS):
        words[filled, 6 * place : 6 * place + 6] = table[rest[filled] % len(SYLLABLES)]
        rest = rest // len(SYLLABLES) - 1
        filled = rest >= 0
    return words


def batch(rng: np.random.Generator, known: float, drawn: int) -> tuple[NDArray[np.int64], float]:
    """Return the numbers of the next words, and how many different words there are then."""
    after = HEAPS_FACTOR * (drawn + BATCH) ** HEAPS_POWER
    fresh = int(after) - int(known)
    # By Zipf's law, with all that is known so far: the word of rank r has a share of 1/r.
    ranks = np.minimum(np.exp(rng.random(BATCH) * np.log(max(known, 2))), max(known - 1, 1))
    numbers = ranks.astype(np.int64) - 1
    if fresh > 0:
        places = rng.choice(BATCH, min(fresh, BATCH), replace=False)
        numbers[places] = int(known) + np.arange(len(places))
    return numbers, after


def text(rng: np.random.Generator, numbers: NDArray[np.int64]) -> bytes:
    """Return sentences of the words."""
    words = spellings(numbers)
    line = np.zeros((len(words), ROOM + 3), np.uint8)
    line[:, 1 : ROOM + 1] = words
    line[:, 0] = ord(" ")
    kind = rng.random(len(words))
    line[kind < 0.07, ROOM + 1] = ord(",")
    stops = kind > 0.94
    line[stops, ROOM + 1] = ord(".")
    first = np.roll(stops, 1)
    letters = line[:, 1:7]
    at = (letters[first] > 0).argmax(axis=1)
    picked = letters[first]
    picked[np.arange(len(at)), at] -= 32
    letters[first] = picked
    line[kind > 0.9985, ROOM + 2] = 1
    line[(kind > 0.985) & (kind <= 0.9985), ROOM + 2] = ord("\n")
    flat = line.ravel()
    return flat[flat != 0].tobytes().replace(b"\x01", b"<|endoftext|>")


def make(out: BinaryIO, size: int, seed: int = 0) -> None:
    """Write `size` bytes of text."""
    rng = np.random.default_rng(seed)
    known, drawn = HEAPS_FACTOR * BATCH**HEAPS_POWER, 0
    while size > 0:
        numbers, known = batch(rng, known, drawn)
        drawn += BATCH
        piece = text(rng, numbers)[:size]
        out.write(piece)
        size -= len(piece)


def main() -> None:
    parser = argparse.ArgumentParser(description="Make a corpus with a realistic growth of its vocabulary.")
    parser.add_argument("out", help="the file to write; - for standard output")
    parser.add_argument("size", help='bytes, or a text such as "10GB"')
    parser.add_argument("--seed", type=int, default=0, help="another one makes other text")
    given = parser.parse_args()
    size = limit(given.size)
    if given.out == "-":
        make(sys.stdout.buffer, size, given.seed)
        return
    with Path(given.out).open("wb") as file:
        make(file, size, given.seed)


if __name__ == "__main__":
    main()
