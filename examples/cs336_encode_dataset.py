"""Stanford CS336, assignment 1: from text files to `uint16` arrays of ids, for the training of a language model.

    python examples/cs336_encode_dataset.py data/TinyStoriesV2-GPT4-train.txt data/TinyStoriesV2-GPT4-valid.txt \
        --vocab-size 10000 --out tokens

trains on the first file (or loads `--tokenizer`), and writes `tokens/tokenizer.json` and for every file the ids, as
`tokens/TinyStoriesV2-GPT4-train.npy`. `np.load(path, mmap_mode="r")` then reads them without loading them.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import toksmith

END = "<|endoftext|>"


def encode_dataset(tokenizer: toksmith.Tokenizer, text_file: Path, ids_file: Path) -> tuple[int, float]:
    """Write the ids of a text file to a `uint16` file; return how many there are, and the seconds it took.

    The file is read in windows and encoded on all cores, so it may be larger than memory. With the suffix `.npy` it
    is for `np.load`, with any other for `np.fromfile` and `np.memmap`.

    Raises:
        ValueError: An id that occurs is above 65,535, the largest of `uint16`; nothing is left behind.
    """
    start = time.perf_counter()
    count = tokenizer.encode_file(text_file, ids_file, dtype="uint16", progress=sys.stderr.isatty())
    return count, time.perf_counter() - start


def main(arguments: list[str] | None = None) -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description="Encode text files to uint16 arrays of token ids.")
    parser.add_argument("files", nargs="+", type=Path, help="text files; the first is trained on")
    parser.add_argument("--out", type=Path, default=Path("tokens"), help="the folder to write to")
    parser.add_argument("--tokenizer", type=Path, help="a saved tokenizer, instead of training one")
    parser.add_argument("--vocab-size", type=int, default=10_000, help="tokens, the special token among them")
    parser.add_argument("--special-token", action="append", help=f"may be there more than once; default {END}")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    if options.tokenizer:
        tokenizer = toksmith.Tokenizer.load(options.tokenizer)
    else:
        specials = options.special_token or [END]
        tokenizer = toksmith.train(
            options.files[0], options.vocab_size, special_tokens=specials, progress=sys.stderr.isatty()
        )
    tokenizer.save(options.out / "tokenizer.json")
    for file in options.files:
        count, seconds = encode_dataset(tokenizer, file, options.out / f"{file.stem}.npy")
        size = file.stat().st_size
        print(
            f"{file.name}: {size:,} bytes, {count:,} tokens, {size / max(count, 1):.2f} bytes per token, "
            f"{size / seconds / 1e6:.0f} MB/s"
        )


if __name__ == "__main__":
    main()
