"""A training that may be killed at any moment, and goes on from a file.

The file holds the merges so far: the words of the counts, laid out by them, are in the state that the training was
in. Beside them it holds everything that they depend on, so that another training never goes on from it.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
from pathlib import Path
from typing import Any

_MAGIC = b"toksmith checkpoint 1\n"


class Checkpoint:
    """The checkpoint of one training.

    Args:
        path: The file, which need not be there yet.
        options: What the merges depend on, beside the counts.

    Raises:
        FileNotFoundError: There is no such folder.
        ValueError: The file is no checkpoint, or that of other options (it names the first that differs).
    """

    def __init__(self, path: str | os.PathLike[str], options: dict[str, Any]) -> None:
        self.path = Path(path)
        self.made = b""
        self._key = json.loads(json.dumps(options))
        if not self.path.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self.path.parent))
        self._read: dict[str, Any] | None = None
        if self.path.exists():
            self._read, self.made = _parsed(self.path)
            self._compare({name: value for name, value in self._read.items() if name != "counts"})

    def _compare(self, found: dict[str, Any]) -> None:
        for name in sorted(self._key.keys() | found.keys()):
            if found.get(name) != self._key.get(name):
                was, now = _short(found.get(name)), _short(self._key.get(name))
                raise ValueError(
                    f"{self.path} is the checkpoint of another training: its {name} was {was}, and is {now} now. "
                    "Go back to that, give another path, or delete the file to begin anew"
                )

    def begin(self, counts: str) -> bytes:
        """Say which counts are trained on, by their fingerprint; returns the merges that were made of them.

        Raises:
            ValueError: The checkpoint is of other counts.
        """
        self._key["counts"] = counts
        if self._read is None:
            self.save(b"")
        elif self._read["counts"] != counts:
            raise ValueError(
                f"{self.path} is the checkpoint of a training on another text. "
                "Go back to that, give another path, or delete the file to begin anew"
            )
        return self.made

    def save(self, merges: bytes) -> None:
        """Write the file anew: it is the old one or all of the new one, whenever the process is killed."""
        head = {"key": self._key, "sha256": hashlib.sha256(merges).hexdigest()}
        # Always of one name: what a killed process left behind is written over.
        temporary = self.path.with_name(f".{self.path.name[:80]}.tmp")
        try:
            with temporary.open("wb") as file:
                file.writelines((_MAGIC, json.dumps(head).encode(), b"\n", merges))
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise


def _parsed(path: Path) -> tuple[dict[str, Any], bytes]:
    data = path.read_bytes()
    head, _, merges = data.removeprefix(_MAGIC).partition(b"\n")
    try:
        content: Any = json.loads(head) if data.startswith(_MAGIC) else None
        key, digest = content["key"], content["sha256"]
    except (ValueError, TypeError, KeyError):
        raise ValueError(f"{path} is no checkpoint of a training; it was left as it is") from None
    if not isinstance(key, dict) or "counts" not in key or hashlib.sha256(merges).hexdigest() != digest:
        raise ValueError(f"{path}: the checkpoint is damaged: delete it to begin anew")
    return key, merges


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "…"
