"""`toksmith.surgery.align` beside a loop in Python that goes through both lists of ids.

usage: python benches/align.py RANKS_A PATTERN_A RANKS_B PATTERN_B TEXT

Both give the same groups, and check that the bytes are the same. Rounds take turns; the lowest processor time of each
is printed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import toksmith

BYTES = 1 << 20


Tokens = tuple[list[bytes], list[int]]  # by id, and their lengths


def two_pointers(a: Tokens, ids_a: list[int], b: Tokens, ids_b: list[int]) -> list[list[int]]:
    """Return where tokens of both end."""
    (tokens_a, lengths_a), (tokens_b, lengths_b) = a, b
    if b"".join([tokens_a[id] for id in ids_a]) != b"".join([tokens_b[id] for id in ids_b]):
        raise ValueError("the ids stand for other bytes")
    ends, at, other, left, right = [[0, 0]], 0, 0, 0, 0
    while at < len(ids_a) or other < len(ids_b):
        if left <= right:
            left += lengths_a[ids_a[at]]
            at += 1
        else:
            right += lengths_b[ids_b[other]]
            other += 1
        if left == right:
            ends.append([at, other])
    return ends


def lowest(rounds: int, calls: list[Callable[[], Any]]) -> list[float]:
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, row in zip(calls, times, strict=True):
            start = time.thread_time()
            call()
            row.append(time.thread_time() - start)
    return [min(row) for row in times]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("ranks_a", "pattern_a", "ranks_b", "pattern_b", "text"):
        parser.add_argument(name)
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    files = ((arguments.ranks_a, arguments.pattern_a), (arguments.ranks_b, arguments.pattern_b))
    a, b = (toksmith.Tokenizer.from_tiktoken(path, pattern=name, special_tokens=()) for path, name in files)
    text = Path(arguments.text).read_bytes()[:BYTES].decode("utf-8", "ignore")
    lists = [one.encode(text) for one in (a, b)]
    arrays = [one.encode_to_numpy(text) for one in (a, b)]
    tokens = [[one.vocab.get(id, b"") for id in range(one.max_id + 1)] for one in (a, b)]
    tables = [(one, list(map(len, one))) for one in tokens]
    python = two_pointers(tables[0], lists[0], tables[1], lists[1])
    assert toksmith.surgery.align(a, lists[0], b, lists[1]).tolist() == python
    print(f"{len(text.encode()):,} bytes, {len(lists[0]):,} and {len(lists[1]):,} ids, {len(python) - 1:,} groups")
    calls: dict[str, Callable[[], Any]] = {
        "two pointers": lambda: two_pointers(tables[0], lists[0], tables[1], lists[1]),
        "align, lists": lambda: toksmith.surgery.align(a, lists[0], b, lists[1]),
        "align, arrays": lambda: toksmith.surgery.align(a, arrays[0], b, arrays[1]),
    }
    times = lowest(arguments.rounds, [*calls.values()])
    for name, took in zip(calls, times, strict=True):
        print(f"{name:15} {1000 * took:8.2f} ms {times[0] / took:8.1f} ×")


if __name__ == "__main__":
    main()
