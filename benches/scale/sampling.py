"""What a sample of a text changes in the merges: `python benches/scale sample FILES...`.

A tokenizer is trained on all documents, then on drawn shares of them, on the counts of all without rare pretokens,
and on the sum of parts in which rare pretokens were left out. A line has how many merges are the same up to the
first that is not, the share of merges that both have, and how many more tokens all documents take than with the
tokenizer of all. Smaller vocabularies are the first merges of the largest. A small sample may not have enough pairs
for a vocabulary: then it has fewer merges.
"""

from __future__ import annotations

import argparse
import functools
import operator
import random
import warnings
from collections.abc import Iterator
from pathlib import Path

import corpus
import pyarrow as pa
import pyarrow.compute as pc

import toksmith
from toksmith import Tokenizer, count_pretokens, train
from toksmith.engines import count_arrow
from toksmith.training.counts import PretokenCounts

CHUNK = 256
"""Documents of a chunk of Arrow."""


def column(texts: list[str]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(texts[start : start + CHUNK]) for start in range(0, len(texts), CHUNK)])


def counted(texts: list[str], pattern: str) -> PretokenCounts:
    return count_pretokens(iter(texts), pattern=pattern, workers=1)


def rivals(texts: list[str], options: argparse.Namespace) -> Iterator[tuple[str, PretokenCounts]]:
    """Yield the counts that are compared with those of all documents, which come first."""
    whole = counted(texts, options.pattern)
    yield "all", whole
    for share in options.shares:
        for seed in range(options.seeds):
            drawn = random.Random(seed).sample(texts, max(1, round(len(texts) * share / 100)))
            yield f"{share:g}% of the documents, draw {seed + 1}", counted(drawn, options.pattern)
    for least in options.least:
        yield f"without those below {least}, after the sum", whole.at_least(least)
    cuts = range(0, len(texts), -(-len(texts) // options.parts))
    for least in options.least:
        parts = (counted(texts[start : start + cuts.step], options.pattern).at_least(least) for start in cuts)
        name = f"without those below {least} in each of {options.parts} parts (wrong)"
        yield name, functools.reduce(operator.add, parts)


def compare(texts: list[str], options: argparse.Namespace) -> None:
    chunks = column(texts)
    base: dict[int, tuple[list[tuple[bytes, bytes]], int]] = {}
    print("| counts of | different | vocabulary | same until merge | merges of both | tokens |\n" + "|---" * 6 + "|")
    for name, counts in rivals(texts, options):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="no pair is left")
            largest = train(counts, max(options.sizes))
        for size in sorted(options.sizes):
            tokenizer = toksmith.surgery.shrink(largest, min(size, largest.vocab_size))
            merges, tokens = list(tokenizer.merges), _tokens(tokenizer, chunks)
            if name == "all":
                base[size] = merges, tokens
            own, least = base[size]
            same = next((n for n, (a, b) in enumerate(zip(merges, own, strict=False)) if a != b), len(own))
            shared = len(set(merges) & set(own)) / len(own)
            print(
                f"| {name} | {len(counts):,} | {size:,} | {same:,} | {100 * shared:.2f}% | "
                f"{100 * (tokens / least - 1):+.3f}% |",
                flush=True,
            )


def _tokens(tokenizer: Tokenizer, chunks: pa.ChunkedArray) -> int:
    found: int = pc.sum(count_arrow(tokenizer, chunks, workers=1)).as_py()
    return found


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", type=Path, nargs="+", help="Parquet of `gather`, or texts in gzip, taken together")
    parser.add_argument("--pattern", default="gpt2")
    parser.add_argument("--sizes", type=int, nargs="+", default=[8000, 32000, 50000])
    parser.add_argument("--shares", type=float, nargs="+", default=[1, 10, 30], help="per cent of the documents")
    parser.add_argument("--seeds", type=int, default=1, help="draws of each share")
    parser.add_argument("--least", type=int, nargs="+", default=[2, 5, 10])
    parser.add_argument("--parts", type=int, default=64)


def run(options: argparse.Namespace) -> None:
    texts = corpus.documents(options.files)
    print(f"{len(texts):,} documents, {corpus.megabytes(texts):,.1f} MB, pattern {options.pattern}\n")
    compare(texts, options)
