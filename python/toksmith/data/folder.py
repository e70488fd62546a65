"""The folder that a run writes: whole shards and, until the end, the files that a later run needs to continue.

A shard, its index and the state are written in a folder of their own. A shard takes its final name only after a
state that counts it as whole is on the disk. The manifest comes last. So at any moment the folder is finished, or a
later run can continue it.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .. import _core
from .._internal.messages import shown
from ..files import new_file, text_files, whole_files
from ..tokenizer import Tokenizer
from . import manifest as manifests
from .manifest import TOKENIZER, JsonObject, Outcome, is_file_name
from .options import Options
from .shards import Raw, complete
from .table_texts import SkippedRow

UNFINISHED = ".toksmith-unfinished"
STATE = "state.json"
"""The state of a run of one machine."""
ON_ENGINE = "engine.json"
"""The file that a run on an engine has in place of a state."""
_KIND = "toksmith unfinished run"
_VERSION = 4


class Shard(NamedTuple):
    """A whole shard: its files in the unfinished folder with their final names, and its entry in the manifest."""

    files: dict[str, str]
    entry: JsonObject


class State(NamedTuple):
    """What a later run needs to continue.

    The file of a state has a checksum, so a damaged state is refused. A forged state decides what the run writes, but
    the run touches no file outside its folder.
    """

    run: JsonObject
    """The settings that decide what the run writes; a later run must have the same."""
    snapshot: JsonObject
    skipped: list[SkippedRow]
    shards: dict[tuple[int, int], Shard]
    """The shards that are whole, by the number of the split and the number of the shard."""

    def write(self, path: Path) -> None:
        """Write the state; the file is whole afterwards, or as it was before."""
        content = {
            "run": self.run,
            "snapshot": self.snapshot,
            "skipped": self.skipped,
            "shards": [[*key, *shard] for key, shard in self.shards.items()],
        }
        head = {"format": _KIND, "version": _VERSION, "sha256": _digest(content)}
        whole_files.write(whole_files.without_link(path), [json.dumps({**head, "state": content}).encode()])

    @classmethod
    def read(cls, path: Path) -> State:
        """Read a state; a file that `write` did not write is a `ValueError`."""
        # One error whatever is wrong: nobody writes such a file by hand.
        with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
            file = text_files.read_object(path, _KIND)
            content = file["state"]
            if (file["format"], file["version"], file["sha256"]) == (_KIND, _VERSION, _digest(content)):
                return cls._of(content)
        raise ValueError(
            f"{path}: not a valid state of a run of this version of toksmith: remove the folder {path.parent.parent} "
            "to start again"
        )

    @classmethod
    def _of(cls, content: JsonObject) -> State:
        snapshot = content["snapshot"]
        _core.check_snapshot(json.dumps(snapshot))
        skipped = [SkippedRow(*row) for row in content["skipped"]]
        shards = {(split, number): Shard(files, entry) for split, number, files, entry in content["shards"]}
        if not all(is_file_name(name) for shard in shards.values() for pair in shard.files.items() for name in pair):
            raise ValueError("a name leads out of the folder")
        return cls(content["run"], snapshot, skipped, shards)


def _digest(content: JsonObject) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def reason_of(skipped: JsonObject) -> str:
    """Return why a document was left out, as a snapshot has it."""
    return skipped["reason"] or f"not UTF-8 at byte {skipped['offset']}"


class Folder:
    """The folder of one run. A later run must have the same `run`: all settings that decide what is written."""

    def __init__(self, path: Path, run: JsonObject, options: Options) -> None:
        self.path, self.run, self.options = path, run, options
        self.unfinished = path / UNFINISHED
        self.shards: dict[tuple[int, int], Shard] = {}
        self._published: set[tuple[int, int]] = set()
        self._lock = threading.Lock()

    def finished(self) -> JsonObject | None:
        """Return the manifest, if the run was finished before; the folder must not have files that are of no run."""
        path = self.path / manifests.NAME
        if path.exists():
            manifest = text_files.read_object(path, "manifest of toksmith")
            self._compare(manifest.get("run"), "the finished run in")
            shutil.rmtree(self.unfinished, ignore_errors=True)
            return manifest
        if self.path.exists() and not self.unfinished.exists() and any(self.path.iterdir()):
            message = "the folder is not empty, and has no unfinished run: choose another folder"
            raise FileExistsError(errno.ENOTEMPTY, message, str(self.path))
        return None

    def check_sources_are_known(self) -> None:
        """Check that the sources are files, no pipes or texts: they are known to be those of the finished run."""
        if any(source[1] is None for source in self.run["sources"]):
            raise FileExistsError(
                errno.EEXIST, "the folder has a finished run: choose another folder", str(self.path)
            )

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Make the folder, and keep other processes from writing to it."""
        self.unfinished.mkdir(parents=True, exist_ok=True)
        if self.unfinished.is_symlink():
            raise OSError(
                errno.ELOOP, "a symbolic link, which is not written through: remove it", str(self.unfinished)
            )
        with new_file.locked(self.unfinished) as is_ours:
            if not is_ours:
                message = "another process is writing to this folder: wait for it, or choose another folder"
                raise BlockingIOError(errno.EWOULDBLOCK, message, str(self.path))
            yield

    def state(self) -> State | None:
        """Return the state to continue from, and publish the shards that it counts as whole; None at the start.

        Every byte of these shards is compared with their checksums.
        """
        path = self.unfinished / STATE
        if (self.unfinished / ON_ENGINE).exists():
            message = "the folder has an unfinished run of Ray or Spark: remove it, or choose another folder"
            raise FileExistsError(errno.EEXIST, message, str(self.path))
        if not path.exists():
            return None
        state = State.read(path)
        self._compare(state.run, "the unfinished run in")
        if len(state.snapshot["shards"]) != len(self.options.splits):
            raise ValueError(f"{path}: the state is of a run with other splits: choose another folder")
        for shard in state.shards.values():
            self.check(shard)
        self.shards |= state.shards
        self._publish(state.snapshot)
        return state

    def check(self, shard: Shard) -> None:
        """Check that the files of a whole shard are those that were written."""
        entry = shard.entry
        expected = {entry.get("file"): entry.get("blake3"), entry.get("index"): entry.get("index_blake3")}
        for file, name in shard.files.items():
            path = self.unfinished / file
            if not os.path.lexists(path):
                path = self.path / name
            if not path.is_file() or _core.checksum(path)[1] != expected.get(name, entry.get("idx_blake3")):
                problem = "is not the file" if path.exists() else "is missing; it is a file"
                raise ValueError(
                    f"{path} {problem} that the unfinished run had written: remove the folder "
                    f"{self.path} to start again"
                )

    def _compare(self, before: object, what: str) -> None:
        if not isinstance(before, dict):
            raise ValueError(f"{what} {shown(str(self.path))} has no settings to compare: choose another folder")
        for name, difference in _differences(before, self.run):
            advice = "pass the same value to continue, or choose another folder"
            raise ValueError(f"{what} {shown(str(self.path))} had {name} {difference}: {advice}")

    def raw_files(self, split: int, number: int) -> tuple[Path, Path]:
        """Return the files of ids and of starts of a shard that is not whole yet."""
        stem = self.unfinished / f"{self.options.splits[split]}-{number:05}"
        return stem.with_name(f"{stem.name}.ids"), stem.with_name(f"{stem.name}.index")

    def finish(
        self, split: int, number: int, tokens: int, documents: int, hashes: _core.WrittenHashes | None = None
    ) -> None:
        """Make a shard whole; the core calls it from its threads. `hashes` are those of its ids, as far as known."""
        raw = Raw(*self.raw_files(split, number), tokens, documents, self.options.dtype)
        form = self.options.form
        files, entry = complete(raw, form, form.stem(self.options.splits[split], number), hashes)
        with self._lock:
            self.shards[split, number] = Shard({path.name: final for path, final in files.items()}, entry)

    def save(self, snapshot: JsonObject, skipped: list[SkippedRow]) -> None:
        """Save a state, then publish the shards that it counts as whole; never called twice at once.

        Before anything is written there is no state: it would only keep a corrected call from beginning.
        """
        if not any(total["ids"] or total["documents"] for total in snapshot["totals"]):
            return
        with self._lock:
            shards = {key: self.shards[key] for key in sorted(self.shards) if key[1] < snapshot["shards"][key[0]][0]}
        State(self.run, snapshot, skipped, shards).write(self.unfinished / STATE)
        self._publish(snapshot)

    def _publish(self, snapshot: JsonObject) -> None:
        """Give whole shards their names. A shard that has its name already is left alone."""
        for split, (end, _) in enumerate(snapshot["shards"]):
            for number in range(end):
                if (split, number) in self._published:
                    continue
                self.publish(self.shards[split, number].files)
                self._published.add((split, number))
                self.raw_files(split, number)[0].unlink(missing_ok=True)

    def publish(self, files: dict[str, str]) -> None:
        """Give the files of a shard their names. A file that has its name already is left alone."""
        for file, name in files.items():
            try:
                (self.unfinished / file).replace(self.path / name)
            except FileNotFoundError:
                if not (self.path / name).exists():
                    raise

    def write_manifest(self, manifest: JsonObject, tokenizer: Tokenizer) -> None:
        """Finish the run."""
        tokenizer.save(whole_files.without_link(self.path / TOKENIZER), verify=False)
        manifests.write(self.path, manifest)
        shutil.rmtree(self.unfinished, ignore_errors=True)

    def manifest(self, tokenizer: Tokenizer, outcome: Outcome) -> JsonObject:
        """Return the manifest, once all shards are whole."""
        settings = self.options.settings
        head = {"file": TOKENIZER, "fingerprint": tokenizer.fingerprint, "vocab_size": tokenizer.vocab_size}
        return {
            "format": manifests.KIND,
            "version": manifests.VERSION,
            "tokenizer": head,
            "file_format": settings["format"],
            "dtype": settings["dtype"],
            "options": {key: value for key, value in settings.items() if key not in ("format", "dtype")},
            "splits": {
                name: {
                    "documents": outcome.split_documents[split],
                    "tokens": outcome.split_tokens[split],
                    "shards": [shard.entry for key, shard in sorted(self.shards.items()) if key[0] == split],
                }
                for split, name in enumerate(self.options.splits)
            },
            "sources": outcome.sources,
            "skipped": outcome.skipped,
            "totals": {
                "documents": sum(outcome.split_documents),
                "text_bytes": outcome.text_bytes,
                "special_tokens": outcome.special_tokens,
                "tokens": sum(outcome.split_tokens),
                "skipped": outcome.skipped_count,
            },
            "run": self.run,
        }


def _differences(before: JsonObject, now: JsonObject) -> Iterator[tuple[str, str]]:
    if before.get("tokenizer") != now["tokenizer"]:
        yield "another tokenizer", f"(fingerprint {str(before.get('tokenizer'))[:12]}, not {now['tokenizer'][:12]})"
    options, sources = before.get("options"), before.get("sources")
    options = options if isinstance(options, dict) else {}
    for name, value in now["options"].items():
        if options.get(name) != value:
            yield name, f"{shown(options.get(name))}, not {shown(value)}"
    sources = sources if isinstance(sources, list) else []
    for old, new in zip(sources, now["sources"], strict=False):
        if not isinstance(old, list) or len(old) != len(new) or old[0] != new[0]:
            name = old[0] if isinstance(old, list) and old else old
            yield "the source", f"{shown(name)} where {shown(new[0])} is now"
        elif old[1] != new[1]:
            yield f"the source {shown(old[0])}", f"of {old[1]} bytes, which are {new[1]} now"
        elif old != new:
            yield f"the source {shown(old[0])}", "that has changed since then"
    if len(sources) != len(now["sources"]):
        yield "other sources:", f"{len(sources)} of them, not {len(now['sources'])}"
