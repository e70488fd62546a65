"""Superwords: training with and without a memory limit, and encoding beside an ordinary vocabulary and `tokenizers`.

    python benches/superwords.py FILES... [--vocab-size N] [--rule RULE] [--limit SIZE] [--rounds N]

Files are what `train` reads; `python benches/scale gather` collects real text. Each training runs in a process of its
own. The encoders take turns on one thread, with the first megabytes of the text.
"""

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer as HuggingFace

import toksmith

SAMPLE_BYTES = 20_000_000
THEIR_BYTES = 2_000_000


def train(files: list[str], size: int, rule: str, limit: str | None, out: str) -> None:
    """Train, save, and print what it took."""
    before, start = time.process_time(), time.perf_counter()
    superwords = None if rule == "none" else toksmith.Superwords(rule=rule)  # type: ignore[arg-type]
    tokenizer = toksmith.train(files, size, superwords=superwords, memory_limit=limit)
    seconds, processor = time.perf_counter() - start, time.process_time() - before
    tokenizer.save(out)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    merges = hashlib.blake2b(repr(list(tokenizer.merges)).encode(), digest_size=8).hexdigest()
    print(json.dumps({"seconds": seconds, "processor": processor, "peak": peak, "merges": merges}))


def trained(options: argparse.Namespace, rule: str, limit: str | None, out: Path) -> toksmith.Tokenizer:
    arguments = json.dumps([options.files, options.vocab_size, rule, limit, str(out)])
    done = subprocess.run(
        [sys.executable, __file__, "--train", arguments], capture_output=True, text=True, check=True
    )
    took = json.loads(done.stdout)
    name = f"{rule}, {limit or 'no limit'}"
    print(
        f"{name}: {took['seconds']:.1f} s, {took['processor']:.1f} s of processors, peak {took['peak']:,.0f} MiB, "
        f"merges {took['merges']}",
        flush=True,
    )
    return toksmith.Tokenizer.load(out)


def sample(files: list[str]) -> str:
    corpus, parts, size = toksmith.Corpus(files), [], 0
    for document in corpus.documents():
        for piece in document.pieces:
            parts.append(piece)
            size += len(piece)
        if size > SAMPLE_BYTES:
            break
    return "".join(parts)[:SAMPLE_BYTES]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--vocab-size", type=int, default=64_000)
    parser.add_argument("--rule", choices=["words", "spaces"], action="append")
    parser.add_argument("--limit", default="1GB")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--train", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train:
        train(*json.loads(options.train))
        return
    text = sample(options.files)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        ordinary = trained(options, "none", None, place / "ordinary.json")
        for rule in options.rule or ["words", "spaces"]:
            ours = trained(options, rule, None, place / f"{rule}.json")
            trained(options, rule, options.limit, place / f"{rule}-limited.json")
            ours.save_huggingface(place / rule)
            theirs = HuggingFace.from_file(str(place / rule / "tokenizer.json"))
            short = text[:THEIR_BYTES]
            assert theirs.encode(short).ids == ours.encode(short), "the ids differ"
            encode(options.rounds, text, short, ordinary, ours, theirs)


def encode(rounds: int, text: str, short: str, ordinary: Any, ours: Any, theirs: Any) -> None:
    calls: dict[str, tuple[str, Callable[[], object]]] = {
        "ordinary": (text, lambda: ordinary.encode_to_numpy(text, workers=1)),
        "superwords": (text, lambda: ours.encode_to_numpy(text, workers=1)),
        "tokenizers": (short, lambda: theirs.encode(short)),
    }
    rates = dict.fromkeys(calls, 0.0)
    for _ in range(rounds):
        for name, (encoded, call) in calls.items():
            start = time.process_time()
            call()
            rates[name] = max(rates[name], len(encoded.encode()) / 1e6 / (time.process_time() - start))
    tokens = {"ordinary": ordinary.count(text), "superwords": ours.count(text)}
    print(f"tokens: {tokens['superwords']:,} for {tokens['ordinary']:,}, MB/s: {rates}", flush=True)


if __name__ == "__main__":
    main()
