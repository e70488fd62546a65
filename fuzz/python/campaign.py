"""Random inputs for a target in Python, without a fuzzer: `python fuzz/python/campaign.py tiktoken_patterns 100000`.

Goes on until so many pairs were compared, in child processes: one that hangs or dies costs its own input alone.
Prints what failed, by the seed of its input, and what became of all inputs.
"""

from __future__ import annotations

import argparse
import collections
import multiprocessing
import os
import queue
import random
import sys
import time
from typing import Any

import splitting
import targets

BYTES = {"pipelines": 1024}
"""Bytes of an input; 320 for any other target."""
INPUTS_AT_A_TIME = 400
SECONDS = 60
"""For one input; a target has its own limit, which ends what can be interrupted."""


def run(name: str, seeds: range, current: Any, results: Any) -> None:
    """Run a target on the inputs of some seeds."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # panics of other libraries
    splitting.outcomes.clear()
    for seed in seeds:
        current.value = seed
        try:
            targets.ALL[name](random.Random(seed).randbytes(BYTES.get(name, 320)))
        except Exception as error:
            results.put((seed, repr(error)))
    results.put(splitting.outcomes)


class Worker:
    """A child process with its inputs."""

    def __init__(self, name: str, seeds: range, results: Any) -> None:
        self.current = multiprocessing.Value("q", seeds.start)
        self.seeds, self.last, self.since = seeds, -1, time.monotonic()
        self.process = multiprocessing.get_context("fork").Process(
            target=run, args=(name, seeds, self.current, results)
        )
        self.process.start()

    def is_stuck(self) -> bool:
        """Whether the process has had the same input for too long."""
        if self.current.value != self.last:
            self.last, self.since = self.current.value, time.monotonic()
        return self.process.is_alive() and time.monotonic() - self.since > SECONDS


def campaign(name: str, pairs: int, first: int, workers: int) -> int:
    """Run inputs from a seed on until enough pairs were compared; returns how many failed."""
    targets.ALL[name](b"")  # what is made once, children inherit
    results: Any = multiprocessing.Queue()
    outcomes: collections.Counter[str] = collections.Counter()
    running: list[Worker] = []
    failed = 0

    def compared() -> int:
        return sum(count for outcome, count in outcomes.items() if outcome.startswith("compared"))

    while running or compared() < pairs:
        while len(running) < workers and compared() < pairs:
            running.append(Worker(name, range(first, first + INPUTS_AT_A_TIME), results))
            first += INPUTS_AT_A_TIME
        for worker in running:
            if worker.is_stuck():
                worker.process.kill()
            if not worker.process.is_alive() and worker.process.exitcode:
                results.put((worker.last, f"ended with {worker.process.exitcode}"))
                rest = range(worker.current.value + 1, worker.seeds.stop)
                running = [*running, Worker(name, rest, results)] if rest else running
        running = [worker for worker in running if worker.process.is_alive()]
        try:
            while True:
                found = results.get(timeout=0.2)
                if isinstance(found, collections.Counter):
                    outcomes += found
                else:
                    failed += 1
                    print("seed {}: {}".format(*found), flush=True)
        except queue.Empty:
            pass
    for outcome, count in outcomes.most_common():
        print(f"{count:>10,}  {outcome}")
    print(f"{failed:>10,}  failed")
    return failed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Run a target on random inputs.")
    parser.add_argument("target")
    parser.add_argument("pairs", type=int, help="how many pairs are compared at the least")
    parser.add_argument("--seed", type=int, default=0, help="of the first input")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    sys.exit(campaign(arguments.target, arguments.pairs, arguments.seed, arguments.workers) > 0)
