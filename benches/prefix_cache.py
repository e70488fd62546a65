"""`PrefixCache` beside encoding each prompt anew, in conversations of which many go on at once.

usage: python benches/prefix_cache.py RANKS PATTERN TEXT [--threads 8] [--instructions 8000] [--turn 1000]

Each conversation begins with one of a few instructions. Its prompt is the whole of it so far, which is put together
just before it is encoded. In each step a random half of the conversations goes on by a turn, and the threads share
their prompts. A tokenizer that encodes them anew and the cache of another one take turns, so that a turn is new to
both. Both give arrays, which are compared in a second pass.

Printed are the processor time of all threads and the time that passed; below, that of a third tokenizer which gets
the new turns alone: no cache can be faster.
"""

from __future__ import annotations

import argparse
import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import toksmith

USER, ASSISTANT, SYSTEM = (
    "<|im_end|>\n<|im_start|>user\n",
    "<|im_end|>\n<|im_start|>assistant\n",
    "<|im_start|>system\n",
)
Encode = Callable[[str], Any]
Prompts = list[tuple[str, str]]
"""What was said before, and the turn that is new."""


def steps(text: str, options: argparse.Namespace) -> Iterator[tuple[Prompts, int]]:
    """Yield the prompts of each step, and how many bytes of them are in no earlier prompt."""
    rng, at = random.Random(1), 0

    def words(count: int) -> str:
        nonlocal at
        at = at + count if at + 2 * count < len(text) else rng.randrange(count)
        return text[at : at + count]

    systems = [SYSTEM + words(options.instructions) for _ in range(options.kinds)] if options.instructions else [""]
    prompts = [rng.choice(systems) for _ in range(options.conversations)]
    turns, new = [0] * len(prompts), sum(len(system.encode()) for system in systems)
    while unfinished := [number for number, count in enumerate(turns) if count < options.turns]:
        step: Prompts = []
        for number in rng.sample(unfinished, k=(len(unfinished) + 1) // 2):
            length = options.turn // 4
            turn = words(rng.randrange(length, 5 * length)) if turns[number] else ""
            turn += USER + words(rng.randrange(length // 2, 3 * length // 2)) + ASSISTANT
            step.append((prompts[number], turn))
            prompts[number] += turn
            turns[number] += 1
            new += len(turn.encode())
        yield step, new
        new = 0


def timed(encode: Encode, prompts: Prompts, threads: int, is_whole: bool) -> tuple[float, float]:
    """Return the processor time of threads that encode prompts, and the time that passed."""
    took = [0.0] * threads

    def work(number: int) -> None:
        for before, turn in prompts[number::threads]:
            prompt = before + turn if is_whole else turn
            start = time.thread_time()
            encode(prompt)
            took[number] += time.thread_time() - start

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    start = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(took), time.perf_counter() - start


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ranks", type=Path)
    parser.add_argument("pattern")
    parser.add_argument("text", type=Path)
    for name, default, help in (
        ("threads", 8, "threads that share the prompts"),
        ("conversations", 1000, "conversations that go on at once"),
        ("turns", 20, "turns of each"),
        ("turn", 1000, "characters of a turn on average: a question and the answer to the one before"),
        ("instructions", 8000, "characters before the first turn; 0 for none"),
        ("kinds", 4, "different instructions"),
        ("megabytes", 1024, "memory of the cache"),
    ):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{help} ({default})")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    special = {name: 300_000 + at for at, name in enumerate(("<|im_start|>", "<|im_end|>"))}

    def load() -> toksmith.Tokenizer:
        return toksmith.Tokenizer.from_tiktoken(options.ranks, pattern=options.pattern, special_tokens=special)

    text = options.text.read_text("utf-8", "ignore")
    tokenizer, cache = load(), toksmith.PrefixCache(load(), options.megabytes << 20)
    calls = {"anew": tokenizer.encode_to_numpy, "cache": cache.encode_to_numpy, "turns": load().encode_to_numpy}
    sums, total, known = {name: np.zeros(2) for name in calls}, 0, 0
    for number, (prompts, new) in enumerate(steps(text, options)):
        for name in list(calls)[:: 1 if number % 2 else -1]:
            sums[name] += timed(calls[name], prompts, options.threads, name != "turns")
        total, known = total + sum(len("".join(prompt).encode()) for prompt in prompts), known + new
    print(f"{total:,} bytes, {known:,} of them new; {cache.size_bytes:,} bytes of memory")
    for name, (processor, passed) in sums.items():
        ratios = sums["anew"] / sums[name]
        print(f"{name:6} {processor:8.2f} s of processors {ratios[0]:6.1f} × {passed:8.2f} s {ratios[1]:6.1f} ×")
    cache = toksmith.PrefixCache(tokenizer, options.megabytes << 20)
    for prompts, _ in steps(text, options):
        for prompt in map("".join, prompts):
            assert np.array_equal(cache.encode_to_numpy(prompt), tokenizer.encode_to_numpy(prompt))
    print("equal ids")


if __name__ == "__main__":
    main()
