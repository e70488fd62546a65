"""Time toksmith and its peers, after showing that they give the same ids.

usage: python benches/peers [--quick] [--only cold,small] [--vocab gpt2] [--corpus en] [--peers toksmith,tiktoken]
                            [--rounds 3] [--json out.json] [--figures out.json] [--markdown] [--no-build]

Installs the pinned peers of benches/requirements.txt and a release build of this working tree into target/peers,
reads corpora and rank files from ../shared/data beside the repository (or --data), and prints tables.
"""

import argparse
import datetime
import json
import platform
import sys
from pathlib import Path

import environment
import figures
import tables
from runner import SECTIONS, Options, Runner, cores
from texts import CORPORA
from vocabularies import SOURCES


def names(allowed: "list[str] | tuple[str, ...]") -> "type[str]":
    """An argument type: names from a list, separated by commas."""

    def split(text: str) -> list[str]:
        found = text.split(",")
        wrong = [name for name in found if name not in allowed]
        if wrong:
            raise argparse.ArgumentTypeError(f"{', '.join(wrong)}: not one of {', '.join(allowed)}")
        return found

    return split  # type: ignore[return-value]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benches/peers", description="Time toksmith and its peers.")
    parser.add_argument("--quick", action="store_true", help="a smoke run: 1 MB, one round")
    parser.add_argument("--only", type=names([*SECTIONS]), default=[*SECTIONS], help=", ".join(SECTIONS))
    parser.add_argument("--vocab", type=names([*SOURCES]), help=", ".join(SOURCES))
    parser.add_argument("--corpus", type=names(CORPORA), help=", ".join(CORPORA))
    parser.add_argument("--peers", type=names([*environment.MODULES]), help=", ".join(environment.MODULES))
    parser.add_argument("--rounds", type=int, help="how often each peer is asked (3)")
    parser.add_argument("--json", type=Path, help="write every single measurement to a file")
    parser.add_argument("--figures", type=Path, help="write the medians of one long text into a file")
    parser.add_argument("--markdown", action="store_true", help="begin with machine, date and versions")
    parser.add_argument("--no-build", action="store_true", help="use the build of toksmith that is there")
    parser.add_argument("--data", type=Path, default=environment.ROOT.parent / "shared" / "data")
    return parser.parse_args()


def options(given: argparse.Namespace, peers: list[str]) -> Options:
    chosen = Options(
        given.data, given.only, given.vocab, given.corpus, peers, given.rounds or (1 if given.quick else 3)
    )
    if given.quick:
        chosen.limit, chosen.passes, chosen.budget, chosen.timeout = 1_000_000, 2, 1.0, 60.0
        chosen.vocabs, chosen.corpora = given.vocab or ["gpt2", "cl100k"], given.corpus or ["en", "multi"]
    return chosen


def machine() -> str:
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        lines = cpuinfo.read_text().splitlines()
        model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), model)
    return f"{model}, {len(cores()) or '?'} cores, {platform.system()}, CPython {platform.python_version()}"


def heading(versions: dict[str, str], chosen: Options) -> str:
    today = datetime.date.today().isoformat()
    listed = ", ".join(f"{peer} {version}" for peer, version in versions.items())
    return (
        f"{today}, {machine()}; rounds: {chosen.rounds}, each peer in a fresh process, in turn. {listed}.\n\n"
        "In brackets how many times faster toksmith is, by best and by median. † no door to an array (to bytes, to a "
        "count): the next best one. ≠ other ids than the reference (tiktoken; for qwen3 tokenizers): not ranked."
    )


def main() -> None:
    given = arguments()
    if not (given.data / "corpora").is_dir():
        sys.exit(f"no corpora in {given.data}: give the folder with --data")
    versions, missing = environment.prepare(not given.no_build)
    asked = given.peers or list(environment.MODULES)
    for peer in asked:
        if peer in missing:
            environment.say(f"left out: {peer}: {missing[peer]}")
    runner = Runner(options(given, [peer for peer in asked if peer in versions]))
    for what, reason in runner.prepare().items():
        environment.say(f"left out: {what}: {reason}")
    runner.run()
    if given.json:
        about = {"machine": machine(), "versions": versions, "left_out": missing}
        given.json.write_text(json.dumps(about | {"records": runner.records}, indent=1))
    if given.figures:
        used = {peer: versions[peer] for peer in runner.options.peers}
        figures.write(given.figures, "encoding", machine(), used, figures.of_encoders(runner.records))
    if given.markdown:
        print(heading(versions, runner.options) + "\n")
    print(tables.of(runner.records, runner.references, given.only))


main()
