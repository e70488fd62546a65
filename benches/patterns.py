"""Times published patterns: `toksmith.Encoding` beside tiktoken, on one thread, with the same ids.

usage: python benches/patterns.py TEXT [--megabytes 2] [--rounds 5]

TEXT is a file of UTF-8, also one that gzip has compressed. A vocabulary of 20,000 tokens is trained on it. For each
pattern of tests/data/published_patterns.json in tiktoken's dialect, ids are compared first. Then both libraries
encode the text in turns, and least and median of the ratios are printed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import tiktoken

import toksmith
from toksmith import patterns

DATA = Path(__file__).parents[1] / "tests/data/published_patterns.json"


def read(path: Path, megabytes: float) -> str:
    """Return the start of a file, whole characters."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        return file.read(int(megabytes * 1e6)).decode("utf-8", "ignore")


def seconds(encode: Callable[[str], object], text: str) -> float:
    """Return how long one call takes."""
    start = time.perf_counter()
    encode(text)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("text", type=Path)
    parser.add_argument("--megabytes", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    text = read(arguments.text, arguments.megabytes)
    size = len(text.encode()) / 1e6
    tokens = toksmith.train(iter([text]), 20_000, pattern="o200k").vocab
    ranks = {token: rank for rank, token in tokens.items()}
    for row in json.loads(DATA.read_text(encoding="utf-8")):
        if row["dialect"] != "tiktoken":
            continue
        pattern = row["stages"][0]["pattern"]
        theirs = tiktoken.Encoding(row["id"], pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        ours = toksmith.Encoding(row["id"], pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        if ours.encode_ordinary(text) != theirs.encode_ordinary(text):
            raise SystemExit(f"{row['id']}: the ids differ")
        pairs = [
            (seconds(theirs.encode_ordinary, text), seconds(ours.encode_ordinary, text))
            for _ in range(arguments.rounds)
        ]
        ratios = [one / other for one, other in pairs]
        best = size / min(other for _, other in pairs)
        engine = patterns.explain(pattern, "tiktoken").engine
        print(
            f"{row['id']:22} {engine:9} {best:6.0f} MB/s, times tiktoken: "
            f"{min(ratios):5.1f} least, {statistics.median(ratios):5.1f} median",
            flush=True,
        )


if __name__ == "__main__":
    main()
