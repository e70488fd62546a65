"""Times a byte-level tokenizer with NFC beside the same tokenizer without a normalizer.

usage: python benches/normalized.py tokenizer.json TEXT [TEXT ...] [--workers 1] [--rounds 3]

Each figure is the median of fresh processes that take turns: MB/s of the first pass, of the best of two more, and of
the first pass by the time of processors, which other work on the machine changes less.
"in NFC" is one long text; in "half", every second document of 4,000 characters is not in NFC, and the tokenizer
without a normalizer gets the documents in NFC. The ids of both are compared first.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
import unicodedata
from pathlib import Path

import toksmith

SIZE = 4000


def documents(text: str) -> list[str]:
    """Return documents of a text; every second one has characters in two parts."""
    whole = [text[at : at + SIZE] for at in range(0, len(text), SIZE)]
    apart = [document.replace("e", "e\u0301", 20) + "e\u0301" for document in whole]
    return [unicodedata.normalize("NFD", apart[i]) if i % 2 else whole[i] for i in range(len(whole))]


def timed(tokenizer: str, texts: str, workers: int) -> None:
    """Print the speed of the first pass, the best of two more, and the first by the time of processors, in MB/s."""
    texts_of = json.loads(Path(texts).read_text(encoding="utf-8"))
    made = toksmith.Tokenizer.from_huggingface(tokenizer)
    size, seconds, processors = sum(len(text.encode()) for text in texts_of), [], []
    for _ in range(3):
        begin, used = time.perf_counter(), time.process_time()
        if len(texts_of) == 1:
            made.encode_to_numpy(texts_of[0], workers=workers)
        else:
            made.encode_batch_to_numpy(texts_of, workers=workers)
        seconds.append(time.perf_counter() - begin)
        processors.append(time.process_time() - used)
    print(json.dumps([size / time_ / 1e6 for time_ in (seconds[0], min(seconds[1:]), processors[0])]))


def main() -> None:
    """Compare both tokenizers on each text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("texts", type=Path, nargs="+")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    content = json.loads(options.tokenizer.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder, f"{name}.json") for name in ("none", "nfc", "raw", "composed")}
        files["none"].write_text(json.dumps({**content, "normalizer": None}), encoding="utf-8")
        files["nfc"].write_text(json.dumps({**content, "normalizer": {"type": "NFC"}}), encoding="utf-8")
        for path in options.texts:
            whole = unicodedata.normalize("NFC", path.read_text(encoding="utf-8"))
            for name, texts in (("in NFC", [whole]), ("half", documents(whole))):
                composed = [unicodedata.normalize("NFC", text) for text in texts]
                compare(f"{path.stem}, {name}", files, texts, composed, options)


def compare(
    name: str, files: dict[str, Path], texts: list[str], composed: list[str], options: argparse.Namespace
) -> None:
    """Print the speed with NFC and without, and their ratio."""
    nfc, none = (toksmith.Tokenizer.from_huggingface(files[kind]) for kind in ("nfc", "none"))
    assert nfc.encode_batch(texts[:200]) == none.encode_batch(composed[:200])
    files["raw"].write_text(json.dumps(texts), encoding="utf-8")
    files["composed"].write_text(json.dumps(composed), encoding="utf-8")
    speeds: dict[str, list[list[float]]] = {"nfc": [], "none": []}
    for _ in range(options.rounds):
        for kind, texts_of in (("nfc", "raw"), ("none", "composed")):
            command = [
                sys.executable,
                __file__,
                "--timed",
                str(files[kind]),
                str(files[texts_of]),
                str(options.workers),
            ]
            speeds[kind].append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
    medians = {kind: [*map(statistics.median, zip(*runs, strict=True))] for kind, runs in speeds.items()}
    shown = {kind: ", ".join(f"{speed:.0f}" for speed in row) for kind, row in medians.items()}
    ratios = ", ".join(f"{a / b:.2f}" for a, b in zip(medians["nfc"], medians["none"], strict=True))
    print(f"{name}: {shown['nfc']} MB/s with NFC; {shown['none']} without: {ratios}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--timed"]:
        timed(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        main()
