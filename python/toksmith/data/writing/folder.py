"""The folder that a run writes: whole shards and, until the end, the files that a later run needs to continue.

A shard, its index and the state are written in a folder of their own. A shard takes its final name only after a
state that counts it as whole is on the disk. The manifest comes last. So at any moment the folder is finished, or a
later run can continue it.
"""

from __future__ import annotations

import contextlib
import errno
import json
import shutil
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._internal.messages import shown
from ...files import new_file, text_files, whole_files
from . import state as states
from .formats import FORMATS, Format, Raw, complete
from .state import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ... import _core
    from ...tokenizer import Tokenizer

MANIFEST = "manifest.json"
TOKENIZER = "tokenizer.toksmith"
UNFINISHED = ".toksmith-unfinished"
STATE = "state.json"
"""The state of a run of one machine."""
ON_ENGINE = "engine.json"
"""The file that a run on an engine has in place of a state."""


class Folder:
    """The folder of one run.

    Args:
        path: The folder; it is made if it is missing.
        plan: All settings that decide what the run writes, as JSON: a later run must have the same.
        form: The format of the shards.
        splits: The names of the splits.
        width: The bytes of an id.
    """

    def __init__(self, path: Path, plan: dict[str, Any], form: Format, splits: list[str], width: int) -> None:
        self.path, self.plan, self.form, self.splits, self.width = path, plan, form, splits, width
        self.unfinished = path / UNFINISHED
        self.shards: dict[tuple[int, int], dict[str, Any]] = {}
        self._published: set[tuple[int, int]] = set()
        self._lock = threading.Lock()

    def finished(self) -> dict[str, Any] | None:
        """Return the manifest, if the run was finished before.

        Raises:
            FileExistsError: The folder holds a finished run of something else, or files that are of no run.
        """
        manifest = self.path / MANIFEST
        if manifest.exists():
            held = text_files.read_object(manifest, "manifest of toksmith")
            self._compare(held.get("run"), "the finished run in")
            shutil.rmtree(self.unfinished, ignore_errors=True)
            return held
        if self.path.exists() and not self.unfinished.exists() and any(self.path.iterdir()):
            message = "the folder is not empty, and holds no run that could go on: name another one"
            raise FileExistsError(errno.ENOTEMPTY, message, str(self.path))
        return None

    def check_sources_are_known(self) -> None:
        """Check that the sources are files, so that they are known to be those of the finished run.

        Raises:
            FileExistsError: Some are pipes or texts.
        """
        if any(source[1] is None for source in self.plan["sources"]):
            raise FileExistsError(errno.EEXIST, "the folder holds a finished run: name another one", str(self.path))

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Make the folder, and keep other processes from writing to it.

        Raises:
            OSError: The folder cannot be made, or another process writes to it.
        """
        self.unfinished.mkdir(parents=True, exist_ok=True)
        with new_file.locked(self.unfinished) as is_ours:
            if not is_ours:
                message = "another process writes to this folder: wait for it, or name another folder"
                raise BlockingIOError(errno.EWOULDBLOCK, message, str(self.path))
            yield

    def state(self) -> State | None:
        """Return the state to continue from, and publish the shards that it counts as whole; None at the beginning.

        Raises:
            ValueError: The run that was begun here had other sources, another tokenizer or other options; or its
                state is damaged.
            FileExistsError: The run that was begun here is one on an engine.
        """
        path = self.unfinished / STATE
        if (self.unfinished / ON_ENGINE).exists():
            message = "the folder holds a run on an engine that has not ended: remove it, or name another folder"
            raise FileExistsError(errno.EEXIST, message, str(self.path))
        if not path.exists():
            return None
        state = states.read(path)
        self._compare(state.run, "the run that was begun in")
        if len(state.snapshot[2]) != len(self.splits):
            raise ValueError(f"{path}: the state is that of a run with other splits: name another folder")
        self.shards |= {(split, number): told for split, number, told in state.shards}
        self._publish(state.snapshot)
        return state

    def _compare(self, before: Any, what: str) -> None:
        if not isinstance(before, dict):
            raise ValueError(f"{what} {shown(str(self.path))} does not say what it was: name another folder")
        for name, difference in _differences(before, self.plan):
            advice = "give the same to go on, or name another folder"
            raise ValueError(f"{what} {shown(str(self.path))} had {name} {difference}: {advice}")

    @contextlib.contextmanager
    def saving(self, tokenizer: Tokenizer) -> Iterator[Callable[[], None]]:
        """Write the tokenizer beside the shards while they are made; yield a function that waits until it is written.

        Writing a large vocabulary takes so long that the end of a short run would wait for it.
        """
        failed: list[BaseException] = []

        def save() -> None:
            try:
                tokenizer.save(self.unfinished / TOKENIZER, verify=False)
            except BaseException as error:
                failed.append(error)

        thread = threading.Thread(target=save)
        try:
            thread.start()
        except RuntimeError:  # the system starts no more threads
            save()

        def wait() -> None:
            if thread.ident is not None:
                thread.join()
            if failed:
                raise failed[0]
            (self.unfinished / TOKENIZER).replace(self.path / TOKENIZER)

        try:
            yield wait
        finally:
            if thread.ident is not None:
                thread.join()

    def finish(self, split: int, number: int, tokens: int, documents: int, hashes: _core.WrittenHashes) -> None:
        """Make a shard whole; the core calls it from its threads. `hashes` are those of its ids, as far as known."""
        name = f"{self.splits[split]}-{number:05}"
        raw = Raw(self.unfinished / f"{name}.ids", self.unfinished / f"{name}.index", tokens, documents, self.width)
        files, told = complete(raw, self.form, hashes)
        stem = self.form.stem(self.splits[split], number)
        names = {"file": f"{stem}{self.form.suffix}", "index": f"{stem}.index.npy"}
        told = names | told | {"parts": {path.name: f"{stem}{suffix}" for suffix, path in files.items()}}
        with self._lock:
            self.shards[split, number] = told

    def save(self, snapshot: Any, skipped: list[tuple[int, int, str]]) -> None:
        """Save a state, then publish the shards that it counts as whole; the core calls it, never twice at once."""
        with self._lock:
            done = sorted(self.shards.items())
        shards = [(split, number, told) for (split, number), told in done if number < snapshot[2][split][0]]
        states.write(self.unfinished / STATE, State(self.plan, snapshot, skipped, shards))
        self._publish(snapshot)

    def _publish(self, snapshot: Any) -> None:
        """Give whole shards their names. A shard that has its name already is left alone."""
        for split, (open_number, _, _) in enumerate(snapshot[2]):
            for number in range(open_number):
                if (split, number) in self._published:
                    continue
                self.publish(self.shards[split, number]["parts"])
                self._published.add((split, number))
                with contextlib.suppress(FileNotFoundError):
                    (self.unfinished / f"{self.splits[split]}-{number:05}.ids").unlink()

    def publish(self, parts: dict[str, str]) -> None:
        """Give the files of a shard their names. A file that has its name already is left alone."""
        for part, name in parts.items():
            try:
                (self.unfinished / part).replace(self.path / name)
            except FileNotFoundError:
                if not (self.path / name).exists():
                    raise

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        """Finish the run."""
        write_manifest(self.path, manifest)
        shutil.rmtree(self.unfinished, ignore_errors=True)

    def splits_told(self, totals: list[Any]) -> dict[str, Any]:
        """Return what the manifest says of the splits."""
        told: dict[str, Any] = {}
        for split, (name, (tokens, documents)) in enumerate(zip(self.splits, totals, strict=True)):
            shards = [shard for (of, _), shard in sorted(self.shards.items()) if of == split]
            kept = [{key: value for key, value in shard.items() if key != "parts"} for shard in shards]
            told[name] = {"documents": documents, "tokens": tokens, "shards": kept}
        return told


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Write the manifest of a folder."""
    text = json.dumps(manifest, indent=1, ensure_ascii=False)
    # A name that is not UTF-8 has lone surrogates here, which JSON has escapes for: they read back as the name.
    whole_files.write(folder / MANIFEST, [text.encode(errors="backslashreplace"), b"\n"])


def _differences(before: dict[str, Any], now: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each setting that differs between two runs: its name, and both values."""
    if before.get("tokenizer") != now["tokenizer"]:
        yield "another tokenizer", f"(fingerprint {str(before.get('tokenizer'))[:12]}, not {now['tokenizer'][:12]})"
    old: Any = before.get("options")
    old = old if isinstance(old, dict) else {}
    for name, value in now["options"].items():
        if old.get(name) != value:
            yield name, f"{shown(old.get(name))}, not {shown(value)}"
    sources: Any = before.get("sources")
    sources = sources if isinstance(sources, list) else []
    for one, other in zip(sources, now["sources"], strict=False):
        if not isinstance(one, list) or len(one) != len(other) or one[0] != other[0]:
            before_it = one[0] if isinstance(one, list) and one else one
            yield "the source", f"{shown(before_it)} where {shown(other[0])} is now"
        elif one[1:] != other[1:]:
            how = (
                f"of {one[1]} bytes, which are {other[1]} now"
                if one[1] != other[1]
                else "that was changed since then"
            )
            yield f"the source {shown(one[0])}", how
    if len(sources) != len(now["sources"]):
        yield "other sources:", f"{len(sources)} of them, not {len(now['sources'])}"


def form_of(name: str) -> Format:
    """Return a format by its name."""
    if name not in FORMATS:
        raise ValueError(f"format is one of {', '.join(map(repr, FORMATS))}, not {shown(name)}")
    return FORMATS[name]
