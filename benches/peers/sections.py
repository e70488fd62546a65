"""The sections of the bench: which jobs each of them runs."""

import itertools
import os
import subprocess
import time
from collections.abc import Callable

import environment
import texts
from adapters import PEERS
from environment import say
from runner import SECTIONS, Runner


def cold(runner: Runner) -> None:
    """One long text to an array, in a fresh process: the first pass is cold, those after it warm."""
    for vocab, corpus, peers in runner.cells("cold", PEERS):
        ids = runner.reference(vocab, corpus)
        for threads in (1, 2):
            able = [peer for peer in peers if threads == 1 or PEERS[peer].parallel_text]
            job = {"task": "text", "vocab": vocab, "corpus": corpus, "threads": threads}
            job |= {} if "warm" in runner.options.only else {"passes": 0}
            runner.in_turn("text", job | {"expected": ids["text"], "reference": ids["path"]}, able)


def batch(runner: Runner) -> None:
    """Documents to lists and to arrays, on one thread and on two."""
    for vocab, corpus, peers in runner.cells("batch", PEERS):
        runner.reference(vocab, corpus)
        for form in ("lists", "arrays"):
            able = [peer for peer in peers if form == "lists" or PEERS[peer].array_batches]
            for threads in (1, 2):
                job = {"task": "batch", "vocab": vocab, "corpus": corpus, "threads": threads, "form": form}
                runner.in_turn("batch", job, able)


def slices(runner: Runner) -> None:
    """Batches of texts of 140 bytes and of 4 KB, to lists and to arrays, on one thread and on two."""
    for vocab, corpus, peers in runner.cells("slices", PEERS):
        runner.reference(vocab, corpus)
        for size, form, threads in itertools.product(texts.SLICE_BYTES, ("lists", "arrays"), (1, 2)):
            able = [peer for peer in peers if form == "lists" or PEERS[peer].array_batches]
            job = {"task": "batch", "vocab": vocab, "corpus": corpus, "threads": threads, "form": form, "size": size}
            runner.in_turn("slices", job, able)


def small(runner: Runner) -> None:
    """Short strings to lists."""
    for vocab, corpus, peers in runner.cells("small", PEERS):
        job = {"task": "small", "vocab": vocab, "corpus": corpus}
        runner.in_turn("small", job | {"expected": runner.reference(vocab, corpus)["small"]}, peers)


def fresh(runner: Runner) -> None:
    """Documents that a fresh process has not seen, one call each."""
    for vocab, corpus, peers in runner.cells("fresh", PEERS):
        expected = runner.reference(vocab, corpus)["fresh"]
        for form in ("lists", "arrays"):
            able = [peer for peer in peers if form == "lists" or PEERS[peer].arrays]
            for size in texts.DOCUMENT_BYTES:
                job = {"task": "fresh", "vocab": vocab, "corpus": corpus, "form": form, "size": size}
                runner.in_turn("fresh", job | {"expected": expected[str(size)]}, able)


def decode(runner: Runner) -> None:
    """Ids of the reference to text and to bytes."""
    for vocab, corpus, peers in runner.cells("decode", PEERS):
        job = {"task": "decode", "vocab": vocab, "corpus": corpus}
        runner.in_turn("decode", job | {"reference": runner.reference(vocab, corpus)["path"]}, peers)


def count(runner: Runner) -> None:
    """Counting beside encoding."""
    for vocab, corpus, peers in runner.cells("count", PEERS):
        runner.in_turn("count", {"task": "count", "vocab": vocab, "corpus": corpus}, peers)


def memory(runner: Runner) -> None:
    """Loading: time and memory; encoding: peak memory."""
    for vocab, corpus, peers in runner.cells("memory", PEERS):
        runner.in_turn("memory", {"task": "memory", "vocab": vocab, "corpus": corpus}, peers)


def hostile(runner: Runner) -> None:
    """Strings made to be slow: time, and how it grows when they double."""
    usual, runner.options.timeout = runner.options.timeout, min(runner.options.timeout, 60.0)
    vocabs = runner.options.vocabs or list(texts.HOSTILE_COUNTS)
    for vocab in vocabs:
        peers = [peer for peer in runner.options.peers if vocab in PEERS[peer].vocabularies]
        for name in texts.HOSTILE:
            runner.in_turn("hostile", {"task": "hostile", "vocab": vocab, "input": name}, peers)
    runner.options.timeout = usual


def imports(runner: Runner) -> None:
    """`import` in a fresh interpreter, over a bare one."""
    say("import")
    peers = ["", *runner.options.peers]
    for number in range(5 * runner.options.rounds):
        for peer in peers:
            code = f"import {environment.module_of(peer)}" if peer else "pass"
            env = os.environ | environment.search_path(peer)
            start = time.perf_counter()
            subprocess.run([str(environment.PYTHON), "-c", code], check=True, capture_output=True, env=env)
            taken = time.perf_counter() - start
            runner.records.append({"section": "import", "peer": peer, "round": number, "times": [taken]})


def start(runner: Runner) -> None:
    """From a process that runs to the first ids of a vocabulary: import, load, encode."""
    for vocab in runner.options.vocabs or SECTIONS["start"][0]:
        peers = [peer for peer in runner.options.peers if vocab in PEERS[peer].vocabularies]
        runner.in_turn("start", {"task": "start", "vocab": vocab}, peers)


RUN: dict[str, Callable[[Runner], None]] = {
    "cold": cold,
    "warm": cold,
    "batch": batch,
    "slices": slices,
    "small": small,
    "fresh": fresh,
    "decode": decode,
    "count": count,
    "memory": memory,
    "import": imports,
    "start": start,
    "hostile": hostile,
}
