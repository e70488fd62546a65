"""How many different pretokens a text has: `python benches/scale heaps FILES...`.

Documents are shuffled and counted at sizes that double or so, from 1 MB to all. Heaps' law, V = K n^b with n
pretokens and V different ones, is fitted to the last tenfold of the sizes by least squares of the logarithms. To
see how far it can be trusted, it is also fitted to the last tenfold within the first tenth of the text, and its V
for the whole is compared.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import corpus
import numpy as np
import pyarrow.compute as pc

from toksmith import count_pretokens
from toksmith.training.counts import PretokenCounts

STEPS = (1, 2, 5)
LEAST_KEPT = (2, 5, 10, 100)


class Point(NamedTuple):
    """What the first bytes of a text have."""

    megabytes: float
    pretokens: int
    different: int
    pretoken_bytes: int
    """Bytes of the different pretokens."""
    kept: tuple[int, ...]
    """How many of them occur at least `LEAST_KEPT` times."""


class Law(NamedTuple):
    """Heaps' law with constants."""

    factor: float
    power: float

    def different(self, pretokens: float) -> float:
        """Return how many different pretokens a text of so many pretokens has."""
        return self.factor * pretokens**self.power


def points(texts: list[str], pattern: str) -> list[Point]:
    """Count documents in their order, and look at the counts at 1, 2, 5, 10, ... MB and at the end."""
    found: list[Point] = []
    counts = PretokenCounts({}, pattern=pattern)
    segment: list[str] = []
    size, step = 0.0, 0
    for text in texts:
        segment.append(text)
        size += len(text.encode()) / 1e6
        if size >= STEPS[step % 3] * 10 ** (step // 3):
            counts += count_pretokens(iter(segment), pattern=pattern, workers=1)
            found.append(_point(counts, size))
            segment = []
            while size >= STEPS[step % 3] * 10 ** (step // 3):
                step += 1
    if segment:
        counts += count_pretokens(iter(segment), pattern=pattern, workers=1)
        found.append(_point(counts, size))
    return found


def _point(counts: PretokenCounts, size: float) -> Point:
    table = counts.to_arrow()
    kept = tuple(pc.sum(pc.greater_equal(table["count"], least)).as_py() for least in LEAST_KEPT)
    return Point(size, counts.total, len(counts), pc.sum(pc.binary_length(table["pretoken"])).as_py(), kept)


def fit(measured: list[Point]) -> Law:
    """Fit the points of the last tenfold."""
    last = [point for point in measured if point.megabytes >= measured[-1].megabytes / 10.001]
    power, log = np.polyfit(np.log([p.pretokens for p in last]), np.log([p.different for p in last]), 1)
    return Law(float(np.exp(log)), float(power))


def report(name: str, measured: list[Point], detailed: bool) -> None:
    law, last = fit(measured), measured[-1]
    first_tenth = [point for point in measured if point.megabytes <= last.megabytes / 9.5]
    early = fit(first_tenth) if len(first_tenth) > 2 else None
    fitted = [p for p in measured if p.megabytes >= last.megabytes / 10.001]
    residual = max(abs(law.different(p.pretokens) / p.different - 1) for p in fitted)
    trusted = f"{100 * (early.different(last.pretokens) / last.different - 1):+.1f}%" if early else ""
    kept = " | ".join(f"{100 * count / last.different:.0f}%" for count in last.kept)
    print(
        f"| {name} | {last.megabytes:,.0f} | {last.megabytes * 1e6 / last.pretokens:.2f} | {last.different:,} | "
        f"{last.pretoken_bytes / last.different:.1f} | {kept} | {law.factor:.2f} | {law.power:.3f} | "
        f"{100 * residual:.1f}% | {trusted} |"
    )
    if detailed:
        print("\n| MB | pretokens | different | Heaps' law | difference |\n|---|---|---|---|---|")
        for point in measured:
            from_law = law.different(point.pretokens)
            print(
                f"| {point.megabytes:,.0f} | {point.pretokens:,} | {point.different:,} | {from_law:,.0f} | "
                f"{100 * (from_law / point.different - 1):+.1f}% |"
            )
        print()


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", type=Path, nargs="+", help="Parquet of `gather`, or texts in gzip")
    parser.add_argument("--pattern", default="gpt2")
    parser.add_argument("--together", action="store_true", help="all files as one text, instead of each by itself")
    parser.add_argument("--scripts", action="store_true", help="the documents of each script by themselves")
    parser.add_argument("--points", action="store_true", help="print every size")


def run(options: argparse.Namespace) -> None:
    groups = [options.files] if options.together else [[path] for path in options.files]
    least = " | ".join(f"at least {count}" for count in LEAST_KEPT)
    print(
        f"| text, pattern {options.pattern} | MB | bytes/pretoken | different | their bytes | {least} | K | b | ",
        end="",
    )
    print("largest residual | law of a tenth, for all |\n|" + "---|" * 13)
    for group in groups:
        texts = corpus.documents(group)
        name = "all together" if options.together else group[0].name.split(".")[0]
        named = corpus.by_script(texts) if options.scripts else {name: texts}
        for key, own in sorted(named.items(), key=lambda item: -len(item[1])):
            if len(found := points(own, options.pattern)) > 2:
                report(f"{name}, {key}" if options.scripts else key, found, options.points)
