"""Times encoding through Ray Data and Spark on two cores, beside `encode_batch_to_numpy` and other libraries.

usage: python benches/engines encode RANKS FILES... [--engines ray spark] [--rounds 5] [--megabytes 200]
       python benches/engines memory FILES... [--limit 300MB]
       python benches/engines sizes [--megabytes 12 100 400 1600]

`encode`: documents are pieces of about 4 KB of the texts, in the memory of the engine; a plan encodes them and
leaves the ids in the memory of the engine (Ray), or gives them to its JVM, which throws them away (Spark).
Libraries take turns in the same plan, on one thread in each of two processes: toksmith, toksmith with the column of
texts in the result, tiktoken's `encode_ordinary_batch`, `encode_batch_fast` of tokenizers; and texts that go
through a process as they are, which is what the engine takes by itself. Beside them stand `encode_batch_to_numpy`
of one process with two threads. Ids are compared first, and the start of the engine is no part of the times. Ratios
are of speed to that of the first line, by the wall clock and by the time of the processor, which the processes of
the engine itself are part of.

`memory`: see memory.py; `sizes`: see sizes.py.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent / "scale"))
os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])

import corpus  # noqa: E402
import functions  # noqa: E402
import memory  # noqa: E402
import plans  # noqa: E402
import pyarrow as pa  # noqa: E402
import sizes  # noqa: E402
import workers  # noqa: E402

from toksmith import Tokenizer  # noqa: E402

CHARACTERS = 4000
"""Characters of a document."""


def pieces(paths: list[Path], megabytes: float) -> list[str]:
    """Return documents of the texts, so many megabytes in all."""
    found: list[str] = []
    room = megabytes * 1e6
    for text in corpus.documents(paths):
        for start in range(0, len(text), CHARACTERS):
            found.append(text[start : start + CHARACTERS])
            room -= len(found[-1].encode())
            if room < 0:
                return found
    return found


def check(plan: plans.Plan, libraries: list[str], texts: list[str]) -> None:
    """Compare the ids of all plans with those of one process; documents come in any order."""
    expected = sorted(plan.tokenizer.encode_batch(texts, special=False))
    for library in libraries:
        if library in ("toksmith", *functions.LIBRARIES) and sorted(plan.ids(library)) != expected:
            raise SystemExit(f"{plan.name}: {library} has other ids")


class Time(NamedTuple):
    """Seconds that a call took, by the wall clock and of the processor, the processes of the engine among them."""

    wall: float
    processor: float


def timed(call: Callable[[], Any]) -> Time:
    processor, wall = workers.processor_seconds(os.getpid()), time.perf_counter()
    call()
    return Time(time.perf_counter() - wall, workers.processor_seconds(os.getpid()) - processor)


def encode(options: argparse.Namespace) -> None:
    texts = pieces(options.files, options.megabytes)
    size = corpus.megabytes(texts)
    tokenizer = Tokenizer.from_tiktoken(options.ranks, pattern=options.pattern)
    print(f"{len(texts):,} documents, {size:,.1f} MB, {options.parts} parts, {options.rounds} rounds")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        tokenizer.save(folder / functions.RANKS, format="tiktoken")
        tokenizer.save_huggingface(folder)
        for engine in options.engines:
            plan = plans.PLANS[engine](tokenizer, folder, str(tokenizer.pattern.pattern))
            print(f"\n{plan.name}: the first result is there after {plan.start():.1f} s")
            try:
                measure(plan, texts, size, options)
            finally:
                plan.stop()


def measure(plan: plans.Plan, texts: list[str], size: float, options: argparse.Namespace) -> None:
    few = texts[: options.checked]
    plan.load(pa.table({"text": few}), options.parts)
    check(plan, options.libraries, few)
    print(f"{len(few):,} documents have the same ids")
    plan.load(pa.table({"text": pa.array(texts, pa.string())}), options.parts)
    alone = "encode_batch_to_numpy"
    times: dict[str, list[Time]] = {name: [] for name in (alone, *options.libraries)}
    for _ in range(options.rounds + 1):  # the first is thrown away: processes make their tokenizers in it
        for name, own in times.items():
            if name == alone:
                own.append(timed(lambda: plan.tokenizer.encode_batch_to_numpy(texts, workers=plans.CORES)))
            else:
                own.append(timed(lambda: plan.run(name)))  # noqa: B023
    print(
        f"\n| {plan.name} | MB/s, best | median | of the first, best | median | of processor time |\n"
        + "|---" * 6
        + "|"
    )
    base = [list(kind) for kind in zip(*times[alone][1:], strict=True)]
    for name, (_, *own) in times.items():
        wall, processor = (list(kind) for kind in zip(*own, strict=True))
        best, middle = size / min(wall), size / statistics.median(wall)
        of_best, of_middle = min(base[0]) / min(wall), statistics.median(base[0]) / statistics.median(wall)
        of_processor = min(base[1]) / max(min(processor), 0.01)
        print(f"| {name} | {best:,.1f} | {middle:,.1f} | {of_best:.2f} | {of_middle:.2f} | {of_processor:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    own = commands.add_parser("encode")
    own.add_argument("ranks", type=Path, help="a rank file, such as gpt2.tiktoken")
    own.add_argument("files", type=Path, nargs="+", help="Parquet with a column `text`, or texts in gzip")
    own.add_argument("--pattern", default="gpt2")
    own.add_argument("--engines", nargs="+", choices=plans.PLANS, default=[*plans.PLANS])
    own.add_argument("--libraries", nargs="+", choices=plans.LIBRARIES, default=[*plans.LIBRARIES])
    own.add_argument("--rounds", type=int, default=5)
    own.add_argument("--parts", type=int, default=8)
    own.add_argument("--megabytes", type=float, default=200)
    own.add_argument("--checked", type=int, default=2000, help="documents whose ids are compared")
    own.set_defaults(run=encode)
    memory.add_options(commands.add_parser("memory", description=memory.__doc__))
    sizes.add_options(
        commands.add_parser("sizes", description=sizes.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    )
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
