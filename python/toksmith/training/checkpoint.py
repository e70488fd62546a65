"""Checkpoints: a training that is killed at any moment resumes from a file.

The file holds the merges so far. Replaying them on the same counts gives the state that the training was in. The file
also holds everything that the merges depend on, so that no other training resumes from it.
"""

import contextlib
import errno
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from .._internal import arguments
from .._internal.messages import shown
from ..files import reading, text_files, whole_files
from . import counts_files
from .counts_files import Counts, Head

_MAGIC = b"toksmith checkpoint 1\n"
MAX_BYTES = 1 << 31
"""Maximum size of a checkpoint. A merge takes at most 16 bytes."""


class Checkpoint:
    """The checkpoint of one training, in a file that need not be there yet.

    `checkpoint` is its path, or a path and the seconds between two writes. `options` are those that the merges depend
    on, besides the counts; a checkpoint of others is an error.
    """

    def __init__(self, checkpoint: object, options: Mapping[str, object]) -> None:
        path, seconds = checkpoint if isinstance(checkpoint, tuple) and len(checkpoint) == 2 else (checkpoint, 30.0)
        self.seconds = arguments.fraction("the time between two checkpoints", seconds)
        self.path = Path(arguments.path_of("checkpoint", path))
        if not self.seconds >= 0:
            raise ValueError(f"the time between checkpoints must be 0 seconds or more, not {seconds}")
        self.made = b""
        self._key: dict[str, object] = json.loads(json.dumps(options))
        if not self.path.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self.path.parent))
        self._read: dict[str, object] | None = None
        if self.path.exists():
            self._resume()

    def _resume(self) -> None:
        self._read, self.made = _parsed(self.path)
        for name in sorted((self._key.keys() | self._read.keys()) - {"counts"}):
            if self._read.get(name) != self._key.get(name):
                was, now = shown(self._read.get(name)), shown(self._key.get(name))
                raise ValueError(
                    f"{self.path} is the checkpoint of another training: its {name} was {was}, and is {now} now. "
                    "Go back to that, give another path, or delete the file to start over"
                )

    def begin(self, counts: str) -> bytes:
        """Set the counts that are trained on, by their fingerprint; returns the merges that were made of them."""
        self._key["counts"] = counts
        if self._read is None:
            try:
                whole_files.create(self.path, self._content(b""))
            except FileExistsError:  # another process has created the file since this one began
                self._resume()
        if self._read is not None and self._read["counts"] != counts:
            raise ValueError(
                f"{self.path} is the checkpoint of a training on another text. "
                "Go back to that, give another path, or delete the file to start over"
            )
        return self.made

    def save(self, merges: bytes) -> None:
        """Replace the file: whenever the process is killed, the file is the old one or all of the new one.

        Several processes may run the same training with one checkpoint: the last that writes wins.
        """
        with contextlib.suppress(FileNotFoundError):
            if _parsed(self.path)[0] != self._key:
                raise ValueError(
                    f"{self.path} is meanwhile the checkpoint of another training, and was left to it: "
                    "give each training a path of its own"
                )
        whole_files.write(self.path, self._content(merges))

    def save_counts(self, counts: Counts, head: Head) -> str:
        """Save counts that memory does not suffice for beside the checkpoint; return a note for the error."""
        path = self.path.with_name(f"{self.path.name}.counts")
        if path.exists():
            return f". The counts are not saved, because {path} already exists"
        counts_files.save(counts, head, path)
        return f". The counts are saved in {path}: give PretokenCounts.load({str(path)!r}) to train"

    def _content(self, merges: bytes) -> list[bytes]:
        head = {"key": self._key, "sha256": hashlib.sha256(merges).hexdigest()}
        return [_MAGIC, json.dumps(head).encode(), b"\n", merges]


def _parsed(path: Path) -> tuple[dict[str, object], bytes]:
    with reading.open_regular(path) as file:
        is_checkpoint = file.read(len(_MAGIC)) == _MAGIC
    data = reading.read(path, MAX_BYTES) if is_checkpoint else b""
    head, _, merges = data.removeprefix(_MAGIC).partition(b"\n")
    try:
        content = text_files.parse(head, str(path), "checkpoint")
        key, digest = content["key"], content["sha256"]
    except (ValueError, TypeError, KeyError):
        raise ValueError(f"{path} is not a checkpoint of a training; it was left as it is") from None
    if not isinstance(key, dict) or "counts" not in key or hashlib.sha256(merges).hexdigest() != digest:
        raise ValueError(
            f"{path}: checksum mismatch: the checkpoint is corrupt or truncated; delete it to start over"
        )
    return key, merges
