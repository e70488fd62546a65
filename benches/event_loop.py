"""How long an event loop stands still while another thread encodes.

usage: python benches/event_loop.py RANKS PATTERN TEXT

The loop does nothing but take turns, and the longest time between two turns is its stall. The lowest of some rounds
is printed, since whatever else runs on the machine only makes a round worse; beside it, that of a loop alone.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import toksmith

TOKENS = 1_000_000


async def stall(call: Callable[[], Any] | None) -> tuple[float, float]:
    """Return the longest time between two turns of the loop during a call in a thread, and the time of the call."""
    start = last = time.perf_counter()
    longest = 0.0
    working = asyncio.create_task(asyncio.to_thread(call or (lambda: time.sleep(0.02))))
    while not working.done():
        await asyncio.sleep(0)
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
    await working
    return longest, last - start


def long_text(tokenizer: toksmith.Tokenizer, path: Path) -> str:
    """Return the beginning of a file, again and again, until it has so many tokens."""
    text = path.read_text("utf-8")[: 8 * TOKENS]
    text *= 1 + TOKENS // tokenizer.count(text)
    return tokenizer.truncate(text, TOKENS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ranks", type=Path)
    parser.add_argument("pattern")
    parser.add_argument("text", type=Path)
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    tokenizer = toksmith.Tokenizer.from_tiktoken(arguments.ranks, pattern=arguments.pattern, special_tokens=())
    text = long_text(tokenizer, arguments.text)
    ids = tokenizer.encode_to_numpy(text)
    calls: dict[str, Callable[[], Any] | None] = {
        "nothing": None,
        "count": lambda: tokenizer.count(text, workers=1),
        "encode_to_numpy": lambda: tokenizer.encode_to_numpy(text, workers=1),
        "encode": lambda: tokenizer.encode(text, workers=1),
        "decode of an array": lambda: tokenizer.decode(ids),
        "document": lambda: tokenizer.document(text),
        "align": lambda: toksmith.surgery.align(tokenizer, ids, tokenizer, ids),
    }
    print(f"{len(ids):,} tokens, {len(text.encode()):,} bytes, toksmith {toksmith.__version__}")
    for name, call in calls.items():
        rounds = [asyncio.run(stall(call)) for _ in range(arguments.rounds)]
        longest, took = (min(column) for column in zip(*rounds, strict=True))
        print(f"{name:20} {1000 * longest:8.2f} ms stall {1000 * took:8.1f} ms")


if __name__ == "__main__":
    main()
