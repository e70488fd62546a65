"""The folder that a run on an engine writes: pieces, then shards, and the manifest last.

Until the end all files are in the hidden folder that a run of one machine uses too. A run on an engine is never
continued, since nobody can tell whether its data are still the same: a later run begins anew, and removes the files
that are left.
"""

from __future__ import annotations

import contextlib
import errno
import json
import shutil
from typing import TYPE_CHECKING, Any

from ..data.writing.folder import MANIFEST, ON_ENGINE, STATE, TOKENIZER, Folder
from ..files import text_files, whole_files
from .pieces import PIECES
from .shard_files import SHARDS

if TYPE_CHECKING:
    from collections.abc import Iterator


class RunFolder(Folder):
    """The folder of one run on an engine."""

    @contextlib.contextmanager
    def begun(self) -> Iterator[None]:
        """Begin a run, and keep other processes from writing to the folder. An error removes what was not finished.

        Raises:
            FileExistsError: The folder holds a finished run, one that a single machine has begun, or something else.
            OSError: The folder cannot be made, or another process writes to it.
        """
        if self.finished() is not None:
            self.check_sources_are_known()
        with self.locked():
            self._clear()
            try:
                yield
            except BaseException:
                self._clean()
                raise

    def _clean(self) -> None:
        """Remove all files of a failed run, as far as possible; of a finished run, remove the files left over."""
        with contextlib.suppress(OSError):
            if not (self.path / MANIFEST).exists():
                self._clear()
            shutil.rmtree(self.unfinished)

    def _clear(self) -> None:
        """Remove what an earlier run has left."""
        if (self.unfinished / STATE).exists():
            message = "the folder holds a run of toksmith.tokenize to go on with: finish it, or name another folder"
            raise FileExistsError(errno.EEXIST, message, str(self.path))
        for name in self._named_before():
            (self.path / name).unlink(missing_ok=True)
        for each in (PIECES, SHARDS):
            shutil.rmtree(self.unfinished / each, ignore_errors=True)
            (self.unfinished / each).mkdir(exist_ok=True)  # a worker of an earlier run may still write
        self._write_names([])

    def _named_before(self) -> list[str]:
        """Return the files to which an earlier run has given their final names, or was about to give them."""
        path = self.unfinished / ON_ENGINE
        if not path.exists():
            return []
        names: Any = text_files.read_object(path, "state of a run on an engine").get("files")
        if not isinstance(names, list) or not all(isinstance(name, str) and _is_plain(name) for name in names):
            raise ValueError(f"{path}: this is no state of a run on an engine: remove it, or name another folder")
        return names

    def _write_names(self, names: list[str]) -> None:
        text = json.dumps({"run": self.plan, "files": names})
        whole_files.write(self.unfinished / ON_ENGINE, [text.encode()])

    def publish_all(self) -> None:
        """Give all shards their final names, once they are known to be whole."""
        parts = [shard["parts"] for shard in self.shards.values()]
        self._write_names([TOKENIZER, *(name for one in parts for name in one.values())])
        for one in parts:
            self.publish(one)


def _is_plain(name: str) -> bool:
    """Whether `name` is the name of a file, with no folder before it."""
    return name not in ("", ".", "..") and not set(name) & set("/\\:\0")
