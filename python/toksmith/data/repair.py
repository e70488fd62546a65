"""Writing the damaged files of a finished folder again: a run whose other files are removed once they are whole.

The run has a folder of its own inside the damaged one, and can be continued like any other. No file of the damaged
folder is touched before all that replace its damaged files are whole, and are what the manifest says.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import warnings

from .. import _core
from .._internal.messages import counted
from .._internal.progress import Report, reporter
from ..files import whole_files
from ..tokenizer import Tokenizer
from . import checking
from . import manifest as manifests
from .folder import Folder
from .manifest import NAME, TOKENIZER, JsonObject

REPAIR = ".toksmith-repair"
_MAX_LISTED = 5


def repair_of(folder: Folder, tokenizer: Tokenizer, verify: bool, progress: bool | str | Report) -> Folder | None:
    """Return the folder of a run that repairs a finished folder; None if nothing is damaged that needs the sources.

    Raises:
        FileExistsError: Nothing is damaged, and the sources have no size.
    """
    with reporter(progress) as report:
        damaged = list(checking.damaged(manifests.parse(folder.path), verify, report))
    if not damaged:
        shutil.rmtree(folder.path / REPAIR, ignore_errors=True)  # of a repair that was killed at its end
        folder.check_sources_are_known()
        return None
    problems = [f"{name}: {problem}" for name, problem in damaged[:_MAX_LISTED]]
    problems += [f"and {len(damaged) - _MAX_LISTED:,} more"] * (len(damaged) > _MAX_LISTED)
    message = f"{counted(len(damaged), 'damaged file')} to be written again: {'; '.join(problems)}"
    warnings.warn(f"{folder.path}: {message}", stacklevel=4)
    names = [name for name, _ in damaged]
    if names != [TOKENIZER]:
        return Repair(folder, names)
    tokenizer.save(whole_files.without_link(folder.path / TOKENIZER))
    return None


class Repair(Folder):
    """The folder of a run that restores the damaged files of a finished folder."""

    def __init__(self, finished: Folder, names: list[str]) -> None:
        path = whole_files.without_link(finished.path / REPAIR)
        super().__init__(path, finished.run | {"repair": names}, finished.options, kept=names)
        self._finished, self._names = finished.path, names

    def resume(self) -> None:
        """Continue from the state; begin anew if the repair that was begun has dropped a file that is needed."""
        with contextlib.suppress(FileNotFoundError, ValueError):
            before = self.core.run_of_state()
            if before is not None and set(self._names) <= set(json.loads(before)["repair"]):
                super().resume()
                return
        for path in (*self.path.iterdir(), *self.unfinished.iterdir()):
            if path != self.unfinished:
                path.unlink()

    def write_manifest(self, manifest: JsonObject, tokenizer: Tokenizer) -> None:
        """Move the files to their places, if they are what the manifest of the finished folder says."""
        tokenizer.save(self.path / TOKENIZER, verify=False)
        finished = manifests.parse(self._finished)
        checksums = {file.name: file.checksum for shard in finished.shards for file in finished.files_of(shard)}
        for name in self._names:
            path, expected = self.path / name, checksums.get(name)
            if not path.is_file() or expected not in (None, _core.checksum(path)[1]):
                shutil.rmtree(self.path, ignore_errors=True)
                raise ValueError(
                    f"{self._finished / name}: cannot be repaired: the same call now writes other bytes than {NAME} "
                    "says. Nothing was changed. Did the texts, or the version of toksmith or pyarrow, change? "
                    "Choose another folder"
                )
        for name in self._names:
            (self.path / name).replace(self._finished / name)
        shutil.rmtree(self.path, ignore_errors=True)
