"""Which documents make each shard, against a loop over documents."""

from __future__ import annotations

import itertools
import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from toksmith.engines import run_folder


def test_shards_are_those_of_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_folder, "open_starts", lambda starts, _: starts)
    for case in range(2000):
        rng = random.Random(case)
        size = rng.choice([1, 2, 5, 30, 1000])
        pieces = [
            [rng.choice([0, 0, 1, 2, 7, 40]) for _ in range(rng.choice([0, 1, 3, 20]))]
            for _ in range(rng.randrange(6))
        ]
        expected: list[list[tuple[str, int]]] = []
        held = size
        for piece, lengths in enumerate(pieces):
            for document, length in enumerate(lengths):
                if held >= size:
                    expected.append([])
                    held = 0
                expected[-1].append((str(piece), document))
                held += length

        given: list[Any] = [
            SimpleNamespace(
                name=str(number),
                tokens=sum(lengths),
                documents=len(lengths),
                starts=np.array([0, *itertools.accumulate(lengths)], np.int64),
            )
            for number, lengths in enumerate(pieces)
            if lengths
        ]
        found = [
            [(of.name, document) for of, start, stop in plan for document in range(start, stop)]
            for plan in run_folder.shard_plans(given, size)
        ]
        assert found == expected, case
