"""`toksmith.data.pack` against its rule, word by word."""

import itertools
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from toksmith.data import pack


def rows_of(lengths: Sequence[int], length: int, long: Any = "split") -> list[list[list[int]]]:
    parts, starts = pack(lengths, length, long=long)
    return [parts[start:end].tolist() for start, end in itertools.pairwise(starts)]


def parts_of(lengths: Sequence[int], length: int, long: str) -> list[list[int]]:
    parts = []
    for document, tokens in enumerate(lengths):
        end = min(tokens, length) if long == "truncate" else 0 if long == "drop" and tokens > length else tokens
        parts += [[document, start, min(start + length, end)] for start in range(0, end, length)]
    return sorted(parts, key=lambda part: part[1] - part[2])


def slowly(lengths: Sequence[int], length: int, long: str, best: bool = True) -> list[list[list[int]]]:
    """Best-fit decreasing, or first-fit decreasing."""
    rows: list[list[list[int]]] = []
    rooms: list[int] = []
    for part in parts_of(lengths, length, long):
        size = part[2] - part[1]
        fits = [number for number, room in enumerate(rooms) if room >= size]
        if not fits:
            rows.append([])
            rooms.append(length)
            fits = [len(rows) - 1]
        row = min(fits, key=lambda number: rooms[number]) if best else fits[0]
        rows[row].append(part)
        rooms[row] -= size
    return rows


@pytest.mark.parametrize("long", ["split", "truncate", "drop"])
def test_every_part_is_in_the_row_of_the_rule(long: str) -> None:
    rng = random.Random(long)
    for _ in range(3400):
        length = rng.randint(1, 30)
        lengths = [rng.randint(0, rng.choice((length, 3 * length))) for _ in range(rng.randint(0, 25))]
        rows = rows_of(lengths, length, long)
        assert rows == slowly(lengths, length, long)
        covered = sorted(tuple(part) for row in rows for part in row)
        assert covered == sorted(tuple(part) for part in parts_of(lengths, length, long))


def test_padding_is_that_of_first_fit_decreasing() -> None:
    rng = random.Random(1)
    for _ in range(20):
        lengths = [min(2000, int(rng.lognormvariate(5, 1.2)) + 1) for _ in range(600)]
        first = len(slowly(lengths, 2048, "split", best=False))
        assert len(rows_of(lengths, 2048)) <= 1.02 * first


def test_lengths_of_all_kinds() -> None:
    assert rows_of([], 4) == []
    assert rows_of([0, 0], 4) == []
    assert rows_of(np.array([3, 1], np.uint16), 4) == [[[0, 0, 3], [1, 0, 1]]]  # type: ignore[arg-type]
    assert rows_of(iter([2]), 2**62) == [[[0, 0, 2]]]  # type: ignore[arg-type]
    for wrong, message in (([1, -2], r"lengths\[1\] is -2, which is negative"),):
        with pytest.raises(ValueError, match=message):
            pack(wrong, 4)
    with pytest.raises(ValueError, match="length"):
        pack([1], 0)
    with pytest.raises(ValueError, match="long is one of 'split', 'truncate', 'drop'"):
        pack([1], 4, long="cut")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        pack(["a"], 4)  # type: ignore[list-item]
