"""Encoding the documents of an engine into a folder of shards: the work of the driver.

Workers encode each part once, as a piece. The driver finds out which documents of which pieces make each shard, by
bisection in the index of a piece, so it holds nothing for a document, and joins them. A later run begins anew, and
removes the files that are left: nobody can tell whether the data are still the same.
"""

import contextlib
import errno
import itertools
import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from .. import _core
from ..data.folder import ON_ENGINE, STATE, Folder, reason_of
from ..data.manifest import NAME, TOKENIZER, JsonObject, is_file_name
from ..data.shards import open_starts
from ..files import text_files, whole_files
from .workers import PIECES, Piece, check_rising


class Raw(NamedTuple):
    """The files of a split in a piece: ids, and where documents begin."""

    ids: Path
    starts: Path
    tokens: int
    documents: int


Range = tuple[Raw, int, int]
"""Consecutive documents of a piece: its files, the first document, and the one after the last."""


class RunFolder(Folder):
    """The folder of one run on an engine."""

    @contextlib.contextmanager
    def begun(self) -> Iterator[None]:
        """Begin a run, and keep other processes from the folder. An error removes what was not finished."""
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
            if not (self.path / NAME).exists():
                self._clear()
            shutil.rmtree(self.unfinished)

    def _clear(self) -> None:
        if (self.unfinished / STATE).exists():
            message = "the folder has an unfinished run of toksmith.tokenize: finish it, or choose another folder"
            raise FileExistsError(errno.EEXIST, message, str(self.path))
        state = self.unfinished / ON_ENGINE
        if state.exists():  # an earlier run has given files their final names, or was about to
            names = text_files.read_object(state, "state of a run on an engine").get("files")
            if not isinstance(names, list) or not all(map(is_file_name, names)):
                raise ValueError(
                    f"{state}: not a valid state of a run of Ray or Spark: remove it, or choose another folder"
                )
            for name in names:
                (self.path / name).unlink(missing_ok=True)
        shutil.rmtree(self.unfinished / PIECES, ignore_errors=True)
        (self.unfinished / PIECES).mkdir(exist_ok=True)  # a worker of an earlier run may still write
        self._write_names([])

    def _write_names(self, names: list[str]) -> None:
        text = json.dumps({"run": self.run, "files": names})
        whole_files.write(whole_files.without_link(self.unfinished / ON_ENGINE), [text.encode()])

    def publish_all(self) -> None:
        """Give all shards their final names, once they are known to be whole."""
        self._write_names([TOKENIZER, *self.core.names()])
        self.core.publish()

    def piece_options(self) -> str:
        """Return how parts are encoded.

        A piece has no header and no checksum, holds all documents of its part, and is written by one core; a piece
        that is not whole is made anew, so its run needs no state.
        """
        piece = {"is_piece": True, "shard_size": 2**62, "workers": 1, "snapshot_seconds": 1e9}
        return json.dumps(self.options.core | piece)

    def join(self, pieces: list[Piece]) -> None:
        """Write the shards of all splits."""
        for split in range(len(self.options.splits)):
            raws = [self._raw(split, piece) for piece in pieces if piece["totals"][split]["documents"]]
            for number, ranges in enumerate(shard_plans(raws, self.options.core["shard_size"])):
                self.core.join(split, number, [(raw.ids, raw.starts, start, stop) for raw, start, stop in ranges])

    def _raw(self, split: int, piece: Piece) -> Raw:
        folder, name = self.unfinished / PIECES / piece["name"], self.options.splits[split]
        ids, index = (folder / f"{name}-00000.{suffix}" for suffix in ("ids", "index"))
        if not index.exists():
            message = "the driver does not see it: out must be a folder that all machines see"
            raise FileNotFoundError(errno.ENOENT, message, str(index))
        total = piece["totals"][split]
        return Raw(ids, index, total["ids"], total["documents"])


def shard_plans(raws: Iterable[Raw], shard_size: int) -> Iterator[list[Range]]:
    """Yield the documents of each shard of a split: a shard is closed when it has `shard_size` ids or more."""
    size = 0
    ranges: list[Range] = []
    for raw in raws:
        for documents, tokens in _ranges(raw, shard_size - size, shard_size):
            ranges.append(documents)
            size += tokens
            if size >= shard_size:
                yield ranges
                size, ranges = 0, []
    if ranges:
        yield ranges


def _ranges(raw: Raw, room: int, shard_size: int) -> Iterator[tuple[Range, int]]:
    """Yield the documents of a piece that go into each shard, with their ids; the first shard has `room` left."""
    if raw.tokens < room:
        yield (raw, 0, raw.documents), raw.tokens
        return
    starts, start = open_starts(raw.starts, raw.documents), 0
    while start < raw.documents:
        end = int(starts[start]) + room
        stop = min(start + 1 + int(starts[start + 1 :].searchsorted(end)), raw.documents)
        yield (raw, start, stop), int(starts[stop] - starts[start])
        start, room = stop, shard_size


def check_order(pieces: list[Piece], order: str) -> None:
    """Check that the numbers of each part are above those of the part before it."""
    for before, piece in itertools.pairwise(piece for piece in pieces if piece["numbers"] is not None):
        check_rising(order, before["numbers"], piece["numbers"][0])


def outcome(pieces: list[Piece], source: str, splits: int) -> tuple[JsonObject, list[JsonObject], list[JsonObject]]:
    """Return the sums of all pieces, the source, and the documents that were left out, for `Folder.manifest`."""
    skipped: list[JsonObject] = []
    before = 0
    for piece in pieces:
        for text in piece["skipped"][: _core.MAX_LISTED - len(skipped)]:
            place = f"text number {before + (text['line'] or 0)}"
            skipped.append({"source": source, "place": place, "reason": reason_of(text)})
        before += piece["texts"]
    sums: JsonObject = {
        key: sum(piece[key] for piece in pieces) for key in ("text_bytes", "special_tokens", "skipped_count")
    }
    sums["totals"] = [
        {key: sum(piece["totals"][split][key] for piece in pieces) for key in ("ids", "documents")}
        for split in range(splits)
    ]
    documents = sum(total["documents"] for total in sums["totals"])
    return sums, [{"name": source, "bytes": None, "documents": documents}], skipped
