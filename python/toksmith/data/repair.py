"""Writing the damaged files of a finished folder again: a run whose other files are removed once they are whole.

The run has a folder of its own inside the damaged one, and can be continued like any other. No file of the damaged
folder is touched before all that replace its damaged files are whole, and are what the manifest says.
"""

from __future__ import annotations

import errno
import shutil
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from .. import _core
from .._internal import progress_lines
from .._internal.numbers import counted
from .._internal.progress import Report, reporter
from ..files import text_files
from ..tokenizer import Tokenizer
from . import checking
from . import manifest as manifests
from .folder import Folder, State
from .manifest import NAME, TOKENIZER, Manifest

REPAIR = ".toksmith-repair"
_MAX_LISTED = 5


class Work(NamedTuple):
    """What is left to do in a folder."""

    manifest: dict[str, Any] | None
    """The manifest, if the run was finished before."""
    folder: Folder | None
    """The folder to write to; None if nothing is left."""


def work_left(folder: Folder, tokenizer: Tokenizer, verify: bool, progress: bool | str | Report) -> Work:
    """Return what is left to do in the folder of a run.

    Args:
        folder: The folder of the run.
        tokenizer: Its tokenizer.
        verify: Whether to compare the checksums of a finished folder.
        progress: As in `tokenize`.

    Raises:
        FileExistsError: The folder holds files of no run; or nothing is damaged, and the sources have no size.
        ValueError: The folder holds a finished run of something else; or its manifest is malformed.
        OSError: A file cannot be read.
    """
    if _has_lost_manifest(folder, tokenizer):
        message = f"{NAME} is missing or damaged: all documents are encoded again to restore it"
        warnings.warn(f"{folder.path}: {message}", stacklevel=3)
        return Work(None, Repair(folder, None))
    manifest = folder.finished()
    if manifest is None:
        return Work(None, folder)
    damaged = _damaged(folder, verify, progress)
    if not damaged:
        folder.check_sources_are_known()
        return Work(manifest, None)
    warnings.warn(f"{folder.path}: {_described(damaged)}", stacklevel=3)
    if list(damaged) == [TOKENIZER]:
        tokenizer.save(folder.path / TOKENIZER)
        return Work(manifest, None)
    return Work(manifest, Repair(folder, list(damaged)))


def _has_lost_manifest(folder: Folder, tokenizer: Tokenizer) -> bool:
    """Return whether a run with this tokenizer has finished here whose manifest is missing, or is no JSON."""
    path = folder.path / TOKENIZER
    if folder.unfinished.exists() or not path.is_file():
        return False
    try:
        text_files.read_object(folder.path / NAME, "manifest of toksmith")
        return False
    except (FileNotFoundError, ValueError):
        pass
    try:
        return Tokenizer.load(path).fingerprint == tokenizer.fingerprint
    except (ValueError, OSError):
        return False


def _damaged(folder: Folder, verify: bool, progress: bool | str | Report) -> dict[str, str]:
    """Return the names of the damaged files of a finished folder, with what is wrong."""
    lines = progress_lines.json_lines() if progress == "json" else reporter(progress)  # type: ignore[arg-type]
    with lines as report:
        return {file.name: problem for file, problem in checking.damaged(_manifest(folder.path), verify, report)}


def _described(damaged: dict[str, str]) -> str:
    listed = [f"{name}: {problem}" for name, problem in list(damaged.items())[:_MAX_LISTED]]
    more = [f"and {len(damaged) - _MAX_LISTED:,} more"] if len(damaged) > _MAX_LISTED else []
    return f"{counted(len(damaged), 'damaged file')} to be written again: {'; '.join(listed + more)}"


def _manifest(path: Path) -> Manifest:
    return manifests.parse(text_files.read_text(path / NAME), path)


class Repair(Folder):
    """The folder of a run that restores files of a finished folder.

    Args:
        finished: The folder to repair.
        names: Its damaged files; None if its manifest is lost, so that all files are compared with the new ones.
    """

    def __init__(self, finished: Folder, names: list[str] | None) -> None:
        super().__init__(finished.path / REPAIR, finished.run | {"repair": names}, finished.options)
        self._finished, self._names = finished.path, names

    def state(self) -> State | None:
        """Return the state to continue from; None if the repair that was begun has dropped a file that is needed."""
        try:
            state = super().state()
        except (FileNotFoundError, ValueError):
            state = None
        if state is not None:
            before = state.run.get("repair")
            if before == self._names or (before and self._names and set(self._names) <= set(before)):
                return state
        self.shards.clear()
        self._published.clear()
        for path in (*self.path.iterdir(), *self.unfinished.iterdir()):
            if path != self.unfinished and TOKENIZER not in path.name:  # which a thread writes
                path.unlink()
        return None

    def publish(self, files: dict[str, str]) -> None:
        """Keep the files of a shard that are needed, and remove the others."""
        for file, name in files.items():
            if self._is_needed(self.unfinished / file, name):
                super().publish({file: name})
            else:
                (self.unfinished / file).unlink(missing_ok=True)

    def _is_needed(self, new: Path, name: str) -> bool:
        if self._names is not None:
            return name in self._names
        if not new.exists():  # a run before this one has kept or removed it
            return False
        old = self._finished / name
        return not old.is_file() or _core.checksum(old) != _core.checksum(new)

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        """Move the files to their places, if they are what they should be."""
        try:
            self._check()
        except (ValueError, FileExistsError):
            shutil.rmtree(self.path, ignore_errors=True)
            raise
        for path in self._new():
            path.replace(self._finished / path.name)
        if self._names is None:
            del manifest["run"]["repair"]
            manifests.write(self._finished, manifest)
        shutil.rmtree(self.path, ignore_errors=True)

    def _new(self) -> list[Path]:
        """Return the files to move to their places."""
        if self._names is not None:
            return [self.path / name for name in self._names]
        return sorted(path for path in self.path.iterdir() if path.is_file() and path.name != TOKENIZER)

    def _check(self) -> None:
        """Check that all new files are there, and can take their places.

        Raises:
            ValueError: One of them is not what the manifest says.
            FileExistsError: There is no manifest, and one of them would replace a file of other content.
        """
        if self._names is None:
            for path in self._new():
                if (self._finished / path.name).exists():
                    message = f"without a whole {NAME}, and not what the same call writes now: remove this file"
                    raise FileExistsError(errno.EEXIST, message, str(self._finished / path.name))
            return
        manifest = _manifest(self._finished)
        checksums = {file.name: file.checksum for shard in manifest.shards for file in manifest.files_of(shard)}
        for path in self._new():
            expected = checksums.get(path.name)
            if not path.is_file() or expected not in (None, _core.checksum(path)[1]):
                raise ValueError(
                    f"{self._finished / path.name}: cannot be repaired: the same call now gives other bytes than "
                    f"{NAME} says. Nothing was changed. Did the texts, or the version of toksmith or pyarrow, "
                    "change? Name another folder"
                )
