"""What a run on many machines takes, from measured figures: `python benches/scale plan`.

Everything that is printed follows from the options and Heaps' law, V = K n^b. Times are those of the processor,
spread evenly over all cores; of reading and writing, the time that the network or the disks take at the given rate
of a machine.
"""

from __future__ import annotations

import argparse

from growth import Law

TERABYTE = 1e12
HOUR = 3600


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--laws", type=float, nargs="+", default=[2.56, 0.713, 10.02, 0.611], help="K and b, in pairs"
    )
    parser.add_argument("--terabytes", type=float, nargs="+", default=[10, 100])
    parser.add_argument("--machines", type=int, default=64)
    parser.add_argument("--cores", type=int, default=16)
    parser.add_argument("--bytes-per-pretoken", type=float, default=4.0)
    parser.add_argument("--bytes-per-token", type=float, default=4.4)
    parser.add_argument("--bytes-per-id", type=float, default=2.0)
    parser.add_argument("--part", type=float, default=1e9, help="bytes of text of a partition")
    parser.add_argument("--row", type=float, default=26.2, help="bytes of a row of counts as Arrow has it")
    parser.add_argument("--driver", type=float, default=167, help="bytes of the driver for each different pretoken")
    parser.add_argument("--learning", type=float, default=190, help="bytes for each while merges are learned")
    parser.add_argument(
        "--read", type=float, default=1e9, help="bytes a second that a machine reads, sends or writes"
    )
    parser.add_argument(
        "--unpack", type=float, default=273e6, help="bytes of text a second that a core reads of Parquet"
    )
    parser.add_argument("--count", type=float, default=304e6, help="bytes a second that a core counts")
    parser.add_argument("--encode", type=float, default=174e6, help="bytes a second that a core encodes")
    parser.add_argument("--write", type=float, default=114e6, help="bytes of text a second whose ids a core writes")
    parser.add_argument("--shuffle", type=float, default=145e-9, help="seconds of a core for a row of the shuffle")
    parser.add_argument("--sum", type=float, default=1300e-9, help="seconds for a pretoken in the sum of the driver")
    parser.add_argument("--learn", type=float, default=890e-9, help="seconds for a pretoken in learning merges")


def run(options: argparse.Namespace) -> None:
    pairs = zip(options.laws[::2], options.laws[1::2], strict=True)
    for law in (Law(*pair) for pair in pairs):
        print(f"\nHeaps' law with K = {law.factor:g}, b = {law.power:g}\n")
        columns = [figures(law, terabytes * TERABYTE, options) for terabytes in options.terabytes]
        print("| | " + " | ".join(f"{terabytes:g} TB" for terabytes in options.terabytes) + " |")
        print("|---" * (len(columns) + 1) + "|")
        for name in columns[0]:
            print(f"| {name} | " + " | ".join(column[name] for column in columns) + " |")


def figures(law: Law, size: float, options: argparse.Namespace) -> dict[str, str]:
    """Return the figures of a run over so many bytes of text, by their names."""
    machines, cores = options.machines, options.machines * options.cores
    pretokens = size / options.bytes_per_pretoken
    different, in_part = law.different(pretokens), law.different(options.part / options.bytes_per_pretoken)
    parts = size / options.part
    rows = parts * in_part
    moved = rows * options.row
    ids = size / options.bytes_per_token * options.bytes_per_id
    return {
        "partitions": f"{parts:,.0f}",
        "pretokens": f"{pretokens:.1e}",
        "different pretokens of a partition": f"{in_part / 1e6:,.2f} million, {in_part * options.row / 1e6:,.0f} MB",
        "rows of all partitions": f"{rows:.1e}",
        "through the shuffle": f"{moved / 1e12:,.2f} TB, {100 * moved / size:.0f}% of the text",
        "different pretokens of all": f"{different / 1e6:,.0f} million",
        "rows of the sum": f"{different * options.row / 1e9:,.0f} GB",
        "memory of the driver": f"{different * options.driver / 1e9:,.0f} GB",
        "memory while merges are learned": f"{different * options.learning / 1e9:,.0f} GB",
        "read the text, once for counting and once for encoding, each": _time(size / options.read / machines),
        "unpack Parquet": _time(size / options.unpack / cores),
        "count": _time(size / options.count / cores),
        "add equal pretokens": _time(rows * options.shuffle / cores),
        "move the rows": _time(moved / options.read / machines),
        "sum on the driver, one core": _time(different * options.sum),
        "learn merges, one core": _time(different * options.learn),
        "encode": _time(size / options.encode / cores),
        "make Parquet of the ids": _time(size / options.write / cores),
        "write the ids": f"{_time(ids / options.read / machines)}, {ids / 1e12:,.1f} TB",
    }


def _time(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 2 * HOUR else f"{seconds / HOUR:.1f} h"
