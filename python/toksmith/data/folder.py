"""The folder that a run writes: whole shards and, until the end, the files that a later run needs to continue.

The core makes shards whole, saves the state, and gives whole shards their names. The manifest comes last. So at any
moment the folder is finished, or a later run can continue it.
"""

from __future__ import annotations

import contextlib
import errno
import json
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path

from .. import _core
from .._internal.messages import shown
from ..files import new_file, reading, text_files, whole_files
from ..tokenizer import Tokenizer
from . import manifest as manifests
from .manifest import TOKENIZER, JsonObject
from .options import Options
from .shards import write_parquet

UNFINISHED = ".toksmith-unfinished"
STATE = "state.json"
"""The state of a run of one machine."""
ON_ENGINE = "engine.json"
"""The file that a run on an engine has in place of a state."""


def reason_of(skipped: JsonObject) -> str:
    """Return why a document was left out, as a snapshot has it."""
    return skipped["reason"] or f"not UTF-8 at byte {skipped['offset']}"


def date_of(path: Path) -> str | None:
    """Return the date that templates write in the run of a folder, finished or not, if there is one."""
    for file in (path / manifests.NAME, path / UNFINISHED / STATE):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            record = json.loads(reading.read(file))
            date = record.get("state", record)["run"]["options"]["messages"]["date"]
            return None if date is None else str(date)
    return None


class Folder:
    """The folder of one run. A later run must have the same `run`: all settings that decide what is written."""

    def __init__(self, path: Path, run: JsonObject, options: Options, kept: Collection[str] | None = None) -> None:
        self.path, self.run, self.options = path, run, options
        self.unfinished = path / UNFINISHED
        settings = json.dumps(options.core), json.dumps(run)
        self.core = _core.ShardFolder(
            path, self.unfinished, *settings, write_parquet, None if kept is None else set(kept)
        )

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
        whole_files.make_folder(self.unfinished)
        if self.unfinished.is_symlink():
            raise OSError(
                errno.ELOOP, "a symbolic link, which is not written through: remove it", str(self.unfinished)
            )
        with new_file.locked(self.unfinished) as is_ours:
            if not is_ours:
                message = "another process is writing to this folder: wait for it, or choose another folder"
                raise BlockingIOError(errno.EWOULDBLOCK, message, str(self.path))
            yield

    def resume(self) -> None:
        """Continue from the state, if there is one, and publish the shards that it counts as whole.

        Every byte of these shards is compared with their checksums.
        """
        if (self.unfinished / ON_ENGINE).exists():
            message = "the folder has an unfinished run of Ray or Spark: remove it, or choose another folder"
            raise FileExistsError(errno.EEXIST, message, str(self.path))
        before = self.core.run_of_state()
        if before is not None:
            self._compare(json.loads(before), "the unfinished run in")
            self.core.resume()

    def _compare(self, before: object, what: str) -> None:
        if not isinstance(before, dict):
            raise ValueError(f"{what} {shown(str(self.path))} has no settings to compare: choose another folder")
        for name, difference in _differences(before, self.run):
            advice = "pass the same value to continue, or choose another folder"
            raise ValueError(f"{what} {shown(str(self.path))} had {name} {difference}: {advice}")

    def _counted(self, snapshot: JsonObject) -> JsonObject:
        counts = {}
        if self.options.settings["messages"]:
            counts["trained_tokens"] = snapshot["trained"] - snapshot["packed"]["trained_left_out"]
        if self.options.settings["pack"]:
            counts["padding_tokens"] = snapshot["packed"]["padding"]
            counts["left_out_tokens"] = snapshot["packed"]["left_out"]
        return counts

    def write_manifest(self, manifest: JsonObject, tokenizer: Tokenizer) -> None:
        """Finish the run."""
        tokenizer.save(whole_files.without_link(self.path / TOKENIZER), verify=False)
        manifests.write(self.path, manifest)
        shutil.rmtree(self.unfinished, ignore_errors=True)

    def manifest(
        self, tokenizer: Tokenizer, snapshot: JsonObject, sources: list[JsonObject], skipped: list[JsonObject]
    ) -> JsonObject:
        """Return the manifest, once all shards are whole.

        `snapshot` is that of the end, `sources` have name, bytes and documents of each, and `skipped` those documents
        that were left out which are listed.
        """
        settings, entries = self.options.settings, json.loads(self.core.entries())
        head = {"file": TOKENIZER, "fingerprint": tokenizer.fingerprint, "vocab_size": tokenizer.vocab_size}
        return {
            "format": manifests.KIND,
            "version": manifests.VERSION,
            "tokenizer": head,
            "file_format": settings["format"],
            "dtype": settings["dtype"],
            "options": {key: value for key, value in settings.items() if key not in ("format", "dtype")},
            "splits": {
                name: {"documents": total["documents"], "tokens": total["ids"], "shards": shards}
                for name, total, shards in zip(self.options.splits, snapshot["totals"], entries, strict=True)
            },
            "sources": sources,
            "skipped": skipped,
            "totals": {
                "documents": sum(total["documents"] for total in snapshot["totals"]),
                "text_bytes": snapshot["text_bytes"],
                "special_tokens": snapshot["special_tokens"],
                "tokens": sum(total["ids"] for total in snapshot["totals"]),
                "skipped": snapshot["skipped_count"],
                **self._counted(snapshot),
            },
            "run": self.run,
        }


def _differences(before: JsonObject, now: JsonObject) -> Iterator[tuple[str, str]]:
    if before.get("tokenizer") != now["tokenizer"]:
        yield "another tokenizer", f"(fingerprint {str(before.get('tokenizer'))[:12]}, not {now['tokenizer'][:12]})"
    options, sources = before.get("options"), before.get("sources")
    options = options if isinstance(options, dict) else {}
    before_of, now_of = _flat(options), _flat(now["options"])
    for name, value in now_of.items():
        if before_of.get(name) != value:
            yield name, f"{shown(before_of.get(name))}, not {shown(value)}"
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


def _flat(options: JsonObject) -> JsonObject:
    """Return options with those of conversations beside the others."""
    own = options.get("messages")
    return (
        options | {f"messages.{name}": value for name, value in own.items()} | {"messages": True} if own else options
    )
