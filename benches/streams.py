"""`DecodeStreams` beside streamers for each sequence: that of transformers, which is Python, and that of tokenizers.

usage: python benches/streams.py RANKS PATTERN TEXT [--sequences 256] [--tokens 256]

Each step adds an id to each sequence, as a server does. All texts are compared with those of `decode`. Rounds take
turns; the lowest processor time of each is printed.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers
import transformers
from tokenizers.decoders import DecodeStream
from transformers.generation.streamers import TextStreamer

import toksmith

Rows = list[list[int]]


class Collector(TextStreamer):
    """A streamer that keeps what it would print."""

    def __init__(self, tokenizer: Any) -> None:
        super().__init__(tokenizer)
        self.texts: list[str] = []

    def on_finalized_text(self, text: str, stream_end: bool = False) -> None:
        """Keep a text."""
        self.texts.append(text)


def by_transformers(tokenizer: Any, rows: Rows) -> list[str]:
    streams = [Collector(tokenizer) for _ in rows]
    for step in zip(*rows, strict=True):
        for stream, id in zip(streams, step, strict=True):
            stream.put(np.array([id]))
    for stream in streams:
        stream.end()
    return ["".join(stream.texts) for stream in streams]


def by_tokenizers(tokenizer: tokenizers.Tokenizer, rows: Rows) -> list[str]:
    streams = [DecodeStream(skip_special_tokens=False) for _ in rows]
    texts: list[list[str]] = [[] for _ in rows]
    for step in zip(*rows, strict=True):
        for stream, text, id in zip(streams, texts, step, strict=True):
            text.append(stream.step(tokenizer, id) or "")
    return ["".join(text) for text in texts]


def by_toksmith(tokenizer: toksmith.Tokenizer, rows: Rows, **options: Any) -> list[str]:
    streams = toksmith.DecodeStreams(tokenizer, [[] for _ in rows], **options)
    steps = [streams.push(step) for step in zip(*rows, strict=True)]
    return ["".join(texts) for texts in zip(*steps, streams.flush(), strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ranks", type=Path)
    parser.add_argument("pattern")
    parser.add_argument("text", type=Path)
    for name, default in (("sequences", 256), ("tokens", 256), ("rounds", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    ours = toksmith.Tokenizer.from_tiktoken(options.ranks, pattern=options.pattern, special_tokens=())
    with tempfile.TemporaryDirectory() as folder:
        ours.save_huggingface(folder, verify=False)
        theirs = transformers.AutoTokenizer.from_pretrained(folder)
        fast = tokenizers.Tokenizer.from_file(f"{folder}/tokenizer.json")
    ids = ours.encode(options.text.read_text("utf-8", "ignore")[: 16 * options.sequences * options.tokens])
    starts = range(0, options.sequences * options.tokens, options.tokens)
    rows = [ids[start : start + options.tokens] for start in starts]
    # A row that begins inside a character would be shown in different ways.
    rows = [
        ours.encode(ours.decode(row, errors="ignore") + " the" * options.tokens)[: options.tokens] for row in rows
    ]
    calls: dict[str, Callable[[], list[str]]] = {
        "TextStreamer": lambda: by_transformers(theirs, rows),
        "DecodeStream of tokenizers": lambda: by_tokenizers(fast, rows),
        "DecodeStreams": lambda: by_toksmith(ours, rows),
        "DecodeStreams, stop strings": lambda: by_toksmith(ours, rows, stop=["<|end|>", "\n\nUser:", "</tool_call>"]),
    }
    least = dict.fromkeys(calls, float("inf"))
    expected = [ours.decode(row) for row in rows]
    for _ in range(options.rounds):
        for name, call in calls.items():
            start = time.thread_time()
            texts = call()
            least[name] = min(least[name], time.thread_time() - start)
            assert texts == expected, name
    versions = {library.__name__: library.__version__ for library in (transformers, tokenizers, toksmith)}
    print(", ".join(f"{name} {version}" for name, version in versions.items()))
    print(f"{options.sequences} sequences of {options.tokens} tokens")
    for name, took in least.items():
        each = 1e9 * took / (options.sequences * options.tokens)
        print(f"{name:28} {each:9,.0f} ns a token {least['TextStreamer'] / took:8.1f} ×")


if __name__ == "__main__":
    main()
