"""Encoding the documents of an engine into a folder of shards: the work of the driver.

Workers encode each part once, as a piece. The driver finds out which documents of which pieces make each shard.
Workers write the shards. The driver gives them their names, and writes the manifest.

Until the end all files are in the hidden folder that a run of one machine uses too. A run on an engine is never
continued, since nobody can tell whether its data are still the same: a later run begins anew, and removes the files
that are left.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import functools
import json
import os
import shutil
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .._internal.messages import shown
from ..data.folder import ON_ENGINE, STATE, Folder, Shard
from ..data.manifest import NAME, TOKENIZER, Outcome, is_file_name
from ..data.options import Options, ShardOptions
from ..data.tokenize import loaded_tokenizer, warn_of_skipped
from ..files import text_files, whole_files
from ..tokenizer import Tokenizer
from .kept import KeptFunction
from .pieces import PIECES, Piece, PieceJob, not_rising, piece_of, raw_of, write_pieces
from .shards import SHARDS, ShardJob, ShardPlan, SplitOfPiece, shard_plans, write_shard

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Unpack

_MAX_LISTED = 10_000
"""Documents that are listed as left out, as on one machine."""


class Work(NamedTuple):
    """What is encoded on an engine, and how the engine does it."""

    source: str
    """What the documents are, for the manifest."""
    column: str
    """The name of the column of texts."""
    order: str | None
    """The name of the column of numbers that orders them, if any."""
    encode: Callable[[Callable[..., Any]], list[str]]
    """Calls a function of batches for each part, on workers; returns all it yields, in the order of the documents."""
    each: Callable[[Callable[[str], str], list[str]], list[str]]
    """Calls a function for each of some names, on workers; returns the results in the order of names."""


def tokenize(
    work: Work, tokenizer: object, out: str | os.PathLike[str], **shard_options: Unpack[ShardOptions]
) -> dict[str, Any]:
    """Write a folder of shards, and return its manifest; see `Engine.tokenize`."""
    encoder = loaded_tokenizer(tokenizer)
    options = Options(encoder, **shard_options)
    if "://" in str(out):
        raise ValueError(
            f"out must be a folder that all machines see, not {shown(str(out))}: mount it, and pass its path"
        )
    settings = options.settings | {"field": None, "column": work.column, "order": work.order}
    run = {"tokenizer": encoder.fingerprint, "options": settings, "sources": [[work.source, None, None]]}
    folder = RunFolder(Path(out).absolute(), run, options)
    with folder.begun(), folder.saving(encoder) as wait:
        if options.warning is not None:
            warnings.warn(options.warning, stacklevel=3)
        pieces = _pieces(work, encoder, folder)
        _write_shards(_planned(pieces, folder), folder, work)
        manifest = folder.manifest(encoder, _outcome(pieces, work.source, len(options.splits)))
        folder.publish_all()
        wait()
        folder.write_manifest(manifest)
    warn_of_skipped(manifest, folder, stacklevel=4)
    return manifest


def _pieces(work: Work, tokenizer: Tokenizer, folder: RunFolder) -> list[Piece]:
    """Return the pieces of all parts, in the order of the documents."""
    # A piece has no header and no checksum, holds all documents of its part, and is written by one core; a piece that
    # is not whole is made anew, so its run needs no state.
    options = dataclasses.replace(
        folder.options.core, head_bytes=0, is_hashed=False, shard_size=2**62, workers=1, snapshot_seconds=1e9
    )
    job = PieceJob(str(folder.unfinished), tokenizer, options, work.column, work.order)
    pieces = [piece_of(row) for row in work.encode(KeptFunction(functools.partial(write_pieces, job=job)))]
    _check_order(pieces, work.order)
    return pieces


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
            if not (self.path / NAME).exists():
                self._clear()
            shutil.rmtree(self.unfinished)

    def _clear(self) -> None:
        if (self.unfinished / STATE).exists():
            message = "the folder has an unfinished run of toksmith.tokenize: finish it, or choose another folder"
            raise FileExistsError(errno.EEXIST, message, str(self.path))
        for name in self._published_before():
            (self.path / name).unlink(missing_ok=True)
        for folder in (self.unfinished / PIECES, self.unfinished / SHARDS):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(exist_ok=True)  # a worker of an earlier run may still write
        self._write_names([])

    def _published_before(self) -> list[str]:
        """Return the files to which an earlier run has given their final names, or was about to give them."""
        path = self.unfinished / ON_ENGINE
        if not path.exists():
            return []
        names = text_files.read_object(path, "state of a run on an engine").get("files")
        if not isinstance(names, list) or not all(map(is_file_name, names)):
            raise ValueError(
                f"{path}: not a valid state of a run of Ray or Spark: remove it, or choose another folder"
            )
        return names

    def _write_names(self, names: list[str]) -> None:
        text = json.dumps({"run": self.run, "files": names})
        whole_files.write(self.unfinished / ON_ENGINE, [text.encode()])

    def publish_all(self) -> None:
        """Give all shards their final names, once they are known to be whole."""
        self._write_names([TOKENIZER, *(name for shard in self.shards.values() for name in shard.files.values())])
        for shard in self.shards.values():
            self.publish(shard.files)


def _check_order(pieces: list[Piece], order: str | None) -> None:
    """Check that the numbers of each part are above those of the part before it."""
    last: int | None = None
    for piece in pieces:
        if order is None or piece.numbers is None:
            continue
        first, end = piece.numbers
        if last is not None and first <= last:
            raise ValueError(not_rising(order, first))
        last = end


def _planned(pieces: list[Piece], folder: RunFolder) -> list[ShardPlan]:
    """Return all shards."""
    plans: list[ShardPlan] = []
    options = folder.options
    for split, name in enumerate(options.splits):

        def starts_of(piece: SplitOfPiece, name: str = name) -> NDArray[np.int64]:
            raw = raw_of(folder.unfinished, piece.piece, name, piece.tokens, piece.documents, options.dtype)
            if not raw.starts_file.exists():
                message = "the driver does not see it: out must be a folder that all machines see"
                raise FileNotFoundError(errno.ENOENT, message, str(raw.starts_file))
            return raw.starts

        parts = (SplitOfPiece(p.name, p.split_tokens[split], p.split_documents[split]) for p in pieces)
        plans += shard_plans(split, parts, options.core.shard_size, starts_of)
    return plans


def _write_shards(plans: list[ShardPlan], folder: RunFolder, work: Work) -> None:
    names = [f"{folder.options.splits[plan.split]}-{plan.number:05}" for plan in plans]
    for name, plan in zip(names, plans, strict=True):
        (folder.unfinished / SHARDS / f"{name}.json").write_text(json.dumps(plan.ranges))
    job = ShardJob(str(folder.unfinished), folder.options.form.name, folder.options.dtype)
    rows = work.each(functools.partial(write_shard, job=job), names)
    for plan, row in zip(plans, rows, strict=True):
        folder.shards[plan.split, plan.number] = Shard(*json.loads(row))


def _outcome(pieces: list[Piece], source: str, splits: int) -> Outcome:
    skipped: list[dict[str, str]] = []
    before = 0
    for piece in pieces:
        for text in piece.skipped[: _MAX_LISTED - len(skipped)]:
            place = f"text number {before + text.number}"
            skipped.append({"source": source, "place": place, "reason": text.reason})
        before += piece.texts
    documents = [sum(piece.split_documents[split] for piece in pieces) for split in range(splits)]
    return Outcome(
        [sum(piece.split_tokens[split] for piece in pieces) for split in range(splits)],
        documents,
        [{"name": source, "bytes": None, "documents": sum(documents)}],
        sum(piece.text_bytes for piece in pieces),
        skipped,
        sum(piece.skipped_count for piece in pieces),
    )
