"""The measurements. Each runs in a fresh process (`worker.py`) and returns what it found as plain data."""

import gc
import hashlib
import importlib
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import texts
from peer import Peer
from vocabularies import Vocabulary

Job = dict[str, Any]
Found = dict[str, Any]


def timed(call: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    start = time.perf_counter()
    result = call(*arguments)
    return result, time.perf_counter() - start


def passes(call: Callable[..., Any], argument: Any, most: int, budget: float) -> tuple[Any, list[float]]:
    """The first pass, and up to `most` further ones while they fit into `budget` seconds.

    A result is gone before the next pass starts, so that no pass pays for another's memory.
    """
    result, first = timed(call, argument)
    times = [first]
    while len(times) <= most and (len(times) == 1 or sum(times[1:]) + times[-1] < budget) and first < 2 * budget:
        result = None
        result, taken = timed(call, argument)
        times.append(taken)
    return result, times


def digest(rows: list[Any]) -> str:
    """A hash of ids, cut into rows or not, whatever holds them."""
    import numpy as np

    found = hashlib.sha256()
    for row in rows:
        found.update(np.asarray(row, dtype=np.uint32).tobytes() + b"|")
    return found.hexdigest()


def one_text(peer: Peer, job: Job) -> Found:
    """One long text: the first pass is the cold one."""
    text = texts.read_text(Path(job["texts"]), job["corpus"], job.get("limit"))
    size = len(text.encode())  # a `str` keeps no copy of this
    _, ready = timed(peer.ready)
    gc.collect()
    faults = [page_faults()]

    def encode(text: str) -> Any:
        ids = peer.to_array(text)
        faults.append(page_faults())
        return ids

    ids, times = passes(encode, text, job["passes"], job["budget"])
    return {
        "ready": ready,
        "bytes": size,
        "faults": faults[1] - faults[0],
        "times": times,
        "tokens": len(ids),
        "digest": digest([ids]),
        "array": peer.arrays,
    }


def batch(peer: Peer, job: Job) -> Found:
    """Documents or, with a size, texts of as many bytes, to lists or to arrays."""
    where = Path(job["texts"]), job["corpus"]
    limit = job.get("limit")
    documents = texts.slices(*where, job["size"], limit) if "size" in job else texts.read_documents(*where, limit)
    size = sum(len(document.encode()) for document in documents)
    peer.ready()
    gc.collect()
    if job["form"] == "lists":
        rows, times = passes(peer.batch_to_lists, documents, job["passes"], job["budget"])
    else:
        result, times = passes(peer.batch_to_arrays, documents, job["passes"], job["budget"])
        rows = list(peer.rows(result))
    return {
        "bytes": size,
        "times": times,
        "texts": len(documents),
        "digest": digest(rows),
        "array": peer.array_batches,
    }


def small(peer: Peer, job: Job) -> Found:
    """Short strings to lists: nanoseconds a call over fresh ones, over the same again, and over one."""
    strings = texts.small_strings(Path(job["texts"]), job["corpus"], job.get("limit"))
    encode = peer.to_list
    per_call(encode, strings[0])
    digests = {}
    found: Found = {}
    for length in texts.LENGTHS:
        some = strings[length]
        fresh = per_call(encode, some)
        again = min(per_call(encode, some) for _ in range(3))
        one = min(per_call(encode, some[:1] * max(200, 100_000 // length)) for _ in range(3))
        found[str(length)] = {"fresh": fresh, "again": again, "one": one}
        digests[str(length)] = digest([encode(string) for string in some])
    found["exact"] = digests == job["expected"]
    return found


EARLY = 10
"""Calls that count as early ones, the first included."""


def fresh(peer: Peer, job: Job) -> Found:
    """Documents that the process has not seen: the first call, the next nine, the rest; and page faults a call."""
    documents = texts.fresh_documents(Path(job["texts"]), job["corpus"], job["size"], job.get("limit"))
    encode = peer.to_list if job["form"] == "lists" else peer.to_array
    sizes = [len(document.encode()) for document in documents]
    gc.collect()
    gc.disable()
    rows, times, faults = [], [], [page_faults()]
    for document in documents:
        start = time.perf_counter_ns()
        ids = encode(document)
        times.append(time.perf_counter_ns() - start)
        faults.append(page_faults())
        rows.append(ids)
    calls = {"first": slice(0, 1), "early": slice(1, EARLY), "rest": slice(EARLY, None)}
    found: Found = {"digest": digest(rows), "array": job["form"] == "lists" or peer.arrays}
    for name, part in calls.items():
        count = len(times[part])
        found[name] = {
            "seconds": sum(times[part]) / 1e9,
            "bytes": sum(sizes[part]),
            "faults": (faults[part.stop or -1] - faults[part.start]) / count,
        }
    return found


def page_faults() -> int:
    """Pages that the process touched for the first time so far."""
    if sys.platform == "win32":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def per_call(encode: Callable[[str], Any], strings: list[str]) -> float:
    start = time.perf_counter_ns()
    for string in strings:
        encode(string)
    return (time.perf_counter_ns() - start) / len(strings)


def decode(peer: Peer, job: Job) -> Found:
    """Ids of the reference back to text, and to bytes."""
    import numpy as np

    array = np.load(job["reference"])
    ids = array.tolist()
    text = texts.read_text(Path(job["texts"]), job["corpus"], job.get("limit"))
    data = text.encode()
    got, to_text = passes(peer.to_text, ids, job["passes"], job["budget"])
    same = got == text
    got, to_bytes = passes(peer.to_bytes, array, job["passes"], job["budget"])
    return {
        "bytes": len(data),
        "text": to_text,
        "data": to_bytes,
        "exact": same and bytes(got) == data,
        "decodes_bytes": peer.decodes_bytes,
    }


def count(peer: Peer, job: Job) -> Found:
    """How many ids a text has, beside encoding it to an array; both warm."""
    text = texts.read_text(Path(job["texts"]), job["corpus"], job.get("limit"))
    size = len(text.encode())
    ids, encoding = passes(peer.to_array, text, job["passes"], job["budget"])
    expected, number = len(ids), 0
    ids = None
    number, counting = passes(peer.count, text, job["passes"], job["budget"])
    return {
        "bytes": size,
        "encode": encoding[1:] or encoding,
        "count": counting,
        "counts": peer.counts,
        "tokens": number,
        "exact": number == expected,
    }


def hostile(peer: Peer, job: Job) -> Found:
    """A string made to be slow, and one of twice its length."""
    text, double = texts.hostile(job["input"]), texts.hostile(job["input"], 2)
    peer.ready()
    ids, first = timed(peer.to_list, text)
    tokens = len(ids)
    exact = peer.to_text(list(ids)) == text
    ids = None
    ids, second = timed(peer.to_list, double)
    expected = texts.HOSTILE_COUNTS.get(job["vocab"], {}).get(job["input"])
    return {
        "times": [first],
        "double": second,
        "tokens": tokens,
        "exact": exact and (expected is None or expected == tokens),
    }


def start(cls: type[Peer], vocabulary: Vocabulary) -> Found:
    """Import a peer, load a vocabulary and encode a few words: seconds of each."""
    _, imported = timed(importlib.import_module, cls.module)
    peer, loaded = timed(cls, vocabulary, 1)
    ids, encoded = timed(peer.to_list, "Hello, world!")
    return {"times": [imported, loaded, encoded], "ids": [int(id) for id in ids]}


def memory(peer: Peer, job: Job) -> Found:
    """Memory after encoding a corpus to an array, and the most that encoding took beyond what was there before."""
    text = texts.read_text(Path(job["texts"]), job["corpus"], job.get("limit"))
    size = len(text.encode())
    _, first = timed(peer.to_list, "a")
    before = resident()
    reset_peak()
    ids = peer.to_array(text)
    peak = peak_resident()
    tokens = len(ids)
    ids = None
    gc.collect()
    return {"first": first, "bytes": size, "tokens": tokens, "peak": peak - before, "kept": resident() - before}


def kib(path: str, key: str) -> int:
    """A field of a file of `/proc/self`, in bytes; 0 where there is none."""
    if sys.platform != "linux":
        return 0
    for line in Path(path).read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    return 0


def resident() -> int:
    return kib("/proc/self/smaps_rollup", "Rss")


def proportional() -> int:
    return kib("/proc/self/smaps_rollup", "Pss")


def peak_resident() -> int:
    return kib("/proc/self/status", "VmHWM")


def reset_peak() -> None:
    if sys.platform == "linux":
        Path("/proc/self/clear_refs").write_text("5")


TASKS: dict[str, Callable[[Peer, Job], Found]] = {
    "text": one_text,
    "batch": batch,
    "small": small,
    "fresh": fresh,
    "decode": decode,
    "count": count,
    "hostile": hostile,
    "memory": memory,
}
