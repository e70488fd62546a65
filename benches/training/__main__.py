"""Train toksmith and its peers on the same files, after comparing merges where the rules agree.

usage: python benches/training [--corpus en,code,multi,lines] [--size 10000,32000,100000] [--peers toksmith,gigatoken]
                               [--rounds 3] [--threads 2] [--limit BYTES] [--json out.json] [--figures out.json]
                               [--no-build] [--file PATH]

Installs the pinned packages of benches/requirements.txt and a release build of this working tree into target/peers
(as `python benches/peers` does), reads ../shared/data/corpora beside the repository (or --data), and prints a table
in Markdown: wall time of the whole process from its start to its end, that of training alone, and the peak of memory.
Documents are separated by <|endoftext|>; the pattern is GPT-2's, but for sentencepiece, which has a way of its own.
A peer that learns other tokens from a text than toksmith by the same rule for ties is not timed on it.
"""

import argparse
import datetime
import gzip
import json
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peers"))

import environment  # noqa: E402
import figures  # noqa: E402
import report  # noqa: E402
from environment import say  # noqa: E402

PEERS = ("toksmith", "gigatoken", "rustbpe", "tokenizers", "ffbpe", "gigabpe", "sentencepiece")
# The rule for ties that each of them has, by its name here. Sentencepiece counts otherwise.
TIES = {
    "gigatoken": "huggingface",
    "rustbpe": "smallest_ids",
    "tokenizers": "huggingface",
    "ffbpe": "bytes",
    "gigabpe": "huggingface",
}
SIZES = (10_000, 32_000, 100_000)
CORPORA = ("en", "code", "multi")
# The English corpus in lines: gigabpe ends a pretoken at a line, and documents nowhere else.
LINES = "lines"
WORK = environment.WORK / "training"


def arguments() -> argparse.Namespace:
    def some(kind: Any, allowed: tuple[Any, ...] | None = None) -> Any:
        def split(text: str) -> list[Any]:
            found = [kind(part) for part in text.split(",")]
            if allowed and not set(found) <= set(allowed):
                raise argparse.ArgumentTypeError(f"{text}: choose from {', '.join(map(str, allowed))}")
            return found

        return split

    parser = argparse.ArgumentParser(prog="benches/training", description="Time trainers.")
    parser.add_argument("--corpus", type=some(str, (*CORPORA, LINES)), default=[*CORPORA])
    parser.add_argument("--size", type=some(int), default=[*SIZES], help="tokens in all")
    parser.add_argument("--peers", type=some(str, PEERS), default=[*PEERS])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=int, help="bytes of each corpus; by default all")
    parser.add_argument("--timeout", type=float, default=900.0, help="seconds for one training")
    parser.add_argument("--file", type=Path, action="append", help="a text file instead of the corpora")
    parser.add_argument("--data", type=Path, default=environment.ROOT.parent / "shared" / "data")
    parser.add_argument("--json", type=Path, help="write all that was found to this file")
    parser.add_argument("--figures", type=Path, help="write the medians into a file")
    parser.add_argument("--no-check", action="store_true", help="do not compare what is learned")
    parser.add_argument("--no-build", action="store_true", help="use the build of toksmith that is there")
    return parser.parse_args()


def written(given: argparse.Namespace) -> dict[str, Path]:
    """The texts as files, by name."""
    if given.file:
        return {path.stem: path for path in given.file}
    WORK.mkdir(parents=True, exist_ok=True)
    texts = {}
    for name in given.corpus:
        source = given.data / "corpora" / f"{'en' if name == LINES else name}.txt.gz"
        if not source.is_file():
            sys.exit(f"{source} is not there: give the folder with --data, or a text with --file")
        path = WORK / f"{name}-{given.limit or 'all'}.txt"
        text = gzip.decompress(source.read_bytes())[: given.limit].decode(errors="ignore")
        data = (in_lines(text) if name == LINES else text).encode()
        if not path.is_file() or path.read_bytes() != data:
            path.write_bytes(data)
        texts[name] = path
    return texts


def in_lines(text: str) -> str:
    """The text without separators, and a line feed in place of all whitespace around one."""
    return re.sub(r"\s*\n\s*", "\n", text.replace("<|endoftext|>", "\n"))


def child(job: dict[str, Any], timeout: float) -> dict[str, Any]:
    """Run one training in a process of its own."""
    out = WORK / "result.json"
    out.unlink(missing_ok=True)
    threads = str(job["threads"])
    env = os.environ | {
        "RAYON_NUM_THREADS": threads,
        "OMP_NUM_THREADS": threads,
        "TOKENIZERS_PARALLELISM": "true" if job["threads"] > 1 else "false",
    }
    given = [job["peer"], job["path"], job["size"], threads, job.get("ties", "bytes"), out, job.get("tokens", "")]
    command = [str(environment.PYTHON), str(HERE / "worker.py"), *map(str, given)]
    start = time.perf_counter()
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        _, said = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return {"error": f"over {timeout:.0f} s"}
    wall = time.perf_counter() - start
    if not out.is_file():
        return {"error": f"died ({process.returncode}): {said.decode(errors='replace').strip()[-200:]}"}
    found: dict[str, Any] = json.loads(out.read_text())
    return found if "error" in found else found | {"wall": wall}


def run(
    given: argparse.Namespace, able: list[str], texts: dict[str, Path], others: set[tuple[str, str]]
) -> list[dict[str, Any]]:
    """Time the peers on each text but those that learn other tokens from it."""
    records = []
    for name, path in texts.items():
        peers = [peer for peer in able if (name, peer) not in others]
        for size in given.size if peers else ():
            failed: set[str] = set()
            for number in range(given.rounds):
                # The peers in turn, each round from another one on.
                for peer in [*peers[number % len(peers) :], *peers[: number % len(peers)]]:
                    if peer in failed:
                        continue
                    job = {"peer": peer, "path": str(path), "size": size, "threads": given.threads}
                    found = child(job, given.timeout)
                    if "error" in found:
                        failed.add(peer)
                    records.append({"corpus": name, "size": size, "peer": peer, "round": number, **found})
                    say(f"{name} {size} {peer}: " + (found.get("error") or f"{found['wall']:.2f} s"))
    return records


def learned(job: dict[str, Any], timeout: float) -> "list[str] | str":
    """The tokens that a training adds, in hex; or what went wrong."""
    out = WORK / "tokens"
    found = child(job | {"tokens": str(out)}, timeout)
    return found.get("error") or out.read_text().split()


def agreements(
    given: argparse.Namespace, peers: list[str], texts: dict[str, Path]
) -> tuple[list[str], set[tuple[str, str]]]:
    """Compare what is learned where the rule for ties can be the same, at the least size.

    Returns a line for each peer, and the texts and peers that differ.
    """
    lines, others = [], set()
    for name, path in texts.items():
        job = {"path": str(path), "size": min(given.size), "threads": given.threads}
        for peer, ties in TIES.items():
            if peer not in peers:
                continue
            theirs = learned(job | {"peer": peer}, given.timeout)
            ours = learned(job | {"peer": "toksmith", "ties": ties}, given.timeout)
            left_out = "" if isinstance(ours, list) and ours == theirs else "left out: "
            if left_out:
                others.add((name, peer))
            lines.append(f"- {left_out}{name}, {job['size']:,} tokens, {peer}: {report.agreement(ours, theirs)}")
            say(lines[-1])
    return lines, others


def main() -> None:
    given = arguments()
    missing = environment.install()
    if not given.no_build or not list((environment.WORK / "wheels").glob("*.whl")):
        environment.build()
    broken = [peer for peer in given.peers if peer in missing]
    for peer in broken:
        say(f"left out: {peer}: {missing[peer]}")
    peers = [peer for peer in given.peers if peer not in broken]
    WORK.mkdir(parents=True, exist_ok=True)
    texts = written(given)
    agreed, others = ([], set()) if given.no_check else agreements(given, peers, texts)
    records = run(given, peers, texts, others)
    about = f"{datetime.date.today().isoformat()}, {report.machine()}; {platform.python_version()}"
    if given.json:
        given.json.write_text(json.dumps({"about": about, "records": records}, indent=1))
    if given.figures:
        versions = environment.versions(peers)
        machine = f"{report.machine()}, CPython {platform.python_version()}"
        figures.write(given.figures, "training", machine, versions, figures.of_trainers(records, given.threads))
    print(f"{about}; {given.threads} threads, {given.rounds} rounds in turn.\n")
    print(report.tables(records, texts, agreed))


main()
