"""One measurement in a process of its own: reads a job from its argument, writes what it found to the job's file.

What a peer prints does not matter, and what it crashes with is what it found.
"""

import importlib
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

import exactness
import measure
import vocabularies
from adapters import PEERS

Job = dict[str, Any]


def pin(cpus: list[int]) -> None:
    """Keep this process on as many CPUs as the job has threads: some peers start threads whatever they are told."""
    if cpus and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cpus)


def load_and_measure(job: Job) -> dict[str, Any]:
    """Import, load, measure; then, for ids that are not those of the reference, where they differ."""
    cls = PEERS[job["peer"]]
    vocabulary = vocabularies.load(Path(job["data"]), Path(job["folder"]), job["vocab"])
    if job["task"] == "start":
        return measure.start(cls, vocabulary)
    importlib.import_module("numpy")
    importlib.import_module(cls.module)
    rss, pss = measure.resident(), measure.proportional()
    peer, taken = measure.timed(cls, vocabulary, job["threads"])
    found: dict[str, Any] = {
        "load": taken,
        "load_rss": measure.resident() - rss,
        "load_pss": measure.proportional() - pss,
    }
    found |= measure.TASKS[job["task"]](peer, job)
    if job["task"] == "fresh":
        found["exact"] = found["digest"] == job["expected"]
    if job["task"] == "text" and found["digest"] != job["expected"]:
        found["difference"] = exactness.difference(peer, vocabulary, job)
    return found


def reference(job: Job) -> dict[str, Any]:
    """The reference's ids of a corpus, kept in files: as one text, and of each document."""
    return exactness.write_reference(job)


def prepare(job: Job) -> dict[str, Any]:
    """Files of vocabularies that the peers need."""
    refused = vocabularies.prepare(Path(job["data"]), Path(job["folder"]), job["vocabs"], job["peers"])
    return {"refused": refused}


def main() -> None:
    job: Job = json.loads(sys.argv[1])
    pin(job.get("cpus", []))
    run = {"prepare": prepare, "reference": reference}.get(job["task"], load_and_measure)
    try:
        found = run(job)
    except BaseException as error:  # a Rust panic is no Exception
        traceback.print_exc()
        found = {"error": f"{type(error).__name__}: {error}"[:300]}
    Path(job["out"]).write_text(json.dumps(found))


main()
