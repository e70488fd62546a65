"""Runs the measurements: each in a fresh process, the peers in turn, round after round."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import environment
import texts
from environment import say

Job = dict[str, Any]
Record = dict[str, Any]

SLOW = 40.0
"""A peer whose process took longer than this many seconds is not asked again for the same thing."""

# What a section measures by default: vocabularies, corpora.
EVERYTHING = (("gpt2", "cl100k", "o200k", "qwen3"), texts.CORPORA)
SECTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "cold": EVERYTHING,
    "warm": EVERYTHING,
    "batch": (("gpt2", "cl100k", "o200k"), ("en", "code", "multi")),
    "slices": (("gpt2", "o200k"), ("en", "multi")),
    "small": (("gpt2", "cl100k"), ("en", "code")),
    "fresh": (("gpt2", "cl100k", "o200k"), ("en", "code", "multi")),
    "decode": (("cl100k",), ("en", "multi")),
    "count": (("gpt2", "cl100k"), ("en", "multi")),
    "memory": (("cl100k",), ("en",)),
    "import": ((), ()),
    "start": (("gpt2", "cl100k", "o200k"), ()),
    "hostile": (("gpt2", "cl100k", "o200k"), ()),
}


@dataclass
class Options:
    """What the command line asks for."""

    data: Path
    only: list[str]
    vocabs: list[str] | None
    corpora: list[str] | None
    peers: list[str]
    rounds: int
    passes: int = 5
    budget: float = 3.0
    limit: int | None = None
    timeout: float = 300.0


def cores() -> list[int]:
    """The CPUs that this process may use, one of each core, the last first: interrupts like the first."""
    if not hasattr(os, "sched_getaffinity"):
        return []
    found, seen = [], set()
    for cpu in sorted(os.sched_getaffinity(0), reverse=True):
        path = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        siblings = path.read_text() if path.is_file() else str(cpu)
        if siblings not in seen:
            seen.add(siblings)
            found.append(cpu)
    return found


@dataclass
class Runner:
    """Starts the processes and collects what they found."""

    options: Options
    records: list[Record] = field(default_factory=list)
    references: dict[tuple[str, str], Record] = field(default_factory=dict)

    folder = environment.WORK / "vocabularies"
    texts = environment.WORK / "texts"

    def child(self, job: Job) -> Record:
        """Run one job in a fresh process; its result, or `{"error": …}`."""
        out = environment.WORK / "result.json"
        out.unlink(missing_ok=True)
        job = (
            {"passes": self.options.passes}
            | job
            | {
                "data": str(self.options.data),
                "folder": str(self.folder),
                "texts": str(self.texts),
                "limit": self.options.limit,
                "budget": self.options.budget,
                "out": str(out),
            }
        )
        threads = job.setdefault("threads", 1)
        allowed = cores()
        job["cpus"] = allowed[:threads] if len(allowed) >= threads else []
        env = os.environ | {
            "RAYON_NUM_THREADS": str(threads),
            "TOKENIZERS_PARALLELISM": "true" if threads > 1 else "false",
            "OMP_NUM_THREADS": str(threads),
            **environment.search_path(job.get("peer", "")),
        }
        command = [str(environment.PYTHON), str(Path(__file__).with_name("worker.py")), json.dumps(job)]
        limit = self.options.timeout * (10 if job["task"] in ("reference", "prepare") else 1)
        try:
            done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=limit, check=False)
        except subprocess.TimeoutExpired:
            return {"error": f"over {limit:.0f} s"}
        if not out.is_file():
            return {"error": f"the process died ({done.returncode}): {done.stderr.strip()[-200:]}"}
        found: Record = json.loads(out.read_text())
        return found

    def prepare(self) -> dict[str, str]:
        """Write the texts and the files of vocabularies; returns what a peer refused."""
        import vocabularies

        say("preparing texts and vocabularies …")
        texts.write_corpora(self.options.data, self.texts, vocabularies.all_specials(self.options.data))
        job = {"task": "prepare", "vocabs": list(vocabularies.SOURCES), "peers": self.options.peers}
        found = self.child(job)
        if "error" in found:
            raise SystemExit(f"preparing the vocabularies failed: {found['error']}")
        refused: dict[str, str] = found["refused"]
        return refused

    def reference(self, vocab: str, corpus: str) -> Record:
        """The reference's ids of a corpus: files and hashes, made once."""
        if (vocab, corpus) not in self.references:
            found = self.child({"task": "reference", "vocab": vocab, "corpus": corpus})
            if "error" in found:
                raise SystemExit(f"the reference failed on {vocab}, {corpus}: {found['error']}")
            self.references[vocab, corpus] = found
        return self.references[vocab, corpus]

    def in_turn(self, section: str, job: Job, peers: list[str]) -> None:
        """Ask each peer in turn, as many rounds as were asked for; one that fails or is slow is asked once."""
        done: set[str] = set()
        for number in range(self.options.rounds):
            for peer in peers:
                if peer in done:
                    continue
                start = time.monotonic()
                found = self.child(job | {"peer": peer})
                taken = time.monotonic() - start
                if "error" in found or taken > SLOW:
                    done.add(peer)
                where = {
                    name: job[name] for name in ("vocab", "corpus", "threads", "form", "input", "size") if name in job
                }
                self.records.append({"section": section, "peer": peer, "round": number} | where | found)
                note = found.get("error") or found.get("difference") or ""
                say(f"{section} {' '.join(map(str, where.values()))} {peer} {taken:.1f} s {note}")

    def cells(self, section: str, choice: Any) -> Iterator[tuple[str, str, list[str]]]:
        """Vocabulary, corpus, and the peers that have the vocabulary."""
        vocabs, corpora = SECTIONS[section]
        for vocab in self.options.vocabs or vocabs:
            peers = [peer for peer in self.options.peers if vocab in choice[peer].vocabularies]
            for corpus in self.options.corpora or corpora:
                yield vocab, corpus, peers

    def run(self) -> None:
        """Run every section that was asked for."""
        import sections

        for section in self.options.only:
            if section == "warm" and "cold" in self.options.only:
                continue  # the same processes measure both
            sections.RUN[section](self)
