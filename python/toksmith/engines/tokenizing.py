"""Encoding the documents of an engine into a folder of shards: the work of the driver.

Workers encode each part once, as a piece. The driver finds out which documents of which pieces make each shard.
Workers write the shards. The driver gives them their names, and writes the manifest.
"""

from __future__ import annotations

import errno
import functools
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._internal.messages import shown
from ..data.writing import manifest
from ..data.writing.options import DEFAULT_BUFFER, Options
from ..data.writing.tokenize import loaded_tokenizer
from .kept import KeptFunction
from .pieces import Piece, PieceJob, not_rising, piece_of, raw_of, write_pieces
from .run_folder import RunFolder
from .shard_files import SHARDS, ShardJob, write_shard
from .shard_plan import ShardPlan, shard_plans

if TYPE_CHECKING:
    import os

    import numpy as np
    from numpy.typing import NDArray

    WritePieces = Callable[[Callable[..., Any]], list[str]]
    WriteShards = Callable[[Callable[..., Any], list[str]], list[str]]

_MOST_LISTED = 10_000
"""Most documents that are listed as left out, as on one machine."""
# A piece has no head and no checksum, holds all documents of its part, and is written by one core.
_OF_PIECES = {"head_bytes": 0, "is_hashed": False, "shard_ids": 2**62, "workers": 1}


class Run:
    """A run, whose options were checked.

    Args:
        source: What the documents are, for the manifest.
        column: The name of the column of texts.
        order: The name of the column of numbers that orders them, if any.
        tokenizer: What encodes them.
        given: Options of `toksmith.tokenize`.

    Raises:
        ValueError: An option is wrong.
    """

    def __init__(self, source: str, column: str, order: str | None, tokenizer: Any, given: dict[str, Any]) -> None:
        self._source, self._column, self._order = source, column, order
        self._tokenizer = loaded_tokenizer(tokenizer)
        self._options = Options(
            self._tokenizer,
            **given,
            shuffle=None,
            shuffle_buffer=DEFAULT_BUFFER,
            document_separator=None,
            workers=1,
        )
        manifest.check_format(self._options)

    def write(self, out: str | os.PathLike[str], encode: WritePieces, write: WriteShards) -> dict[str, Any]:
        """Write a folder of shards, and return its manifest; see `Engine.tokenize`.

        Args:
            out: The folder.
            encode: Calls a function of batches for each part, on workers; returns all that it yields, in the order
                of the documents.
            write: Calls a function for each of some names, on workers; returns the results in the order of names.

        Raises:
            ValueError: The folder is a URL, or holds a finished run of something else; or two documents have the same
                number in the column that orders them.
            OSError: The folder holds something else, or cannot be written to.
        """
        if "://" in str(out):
            raise ValueError(
                f"out is a folder that all machines see, not {shown(str(out))}: mount it, and name its path"
            )
        options = self._options
        plan = {
            "tokenizer": self._tokenizer.fingerprint,
            "options": options.told | {"field": None, "column": self._column, "order": self._order},
            "sources": [[self._source, None, None]],
        }
        folder = RunFolder(Path(out).absolute(), plan, options.form, options.splits, options.width)
        with folder.begun(), folder.saving(self._tokenizer) as wait:
            if options.unseparated is not None:
                warnings.warn(options.unseparated, stacklevel=4)
            pieces = self._pieces(folder, encode)
            self._write_shards(_planned(pieces, options, folder), folder, write)
            outcome = _outcome(pieces, self._source, len(options.splits))
            told = manifest.manifest(self._tokenizer, options, folder, outcome)
            folder.publish_all()
            wait()
            folder.write_manifest(told)
        if told["totals"]["skipped"]:
            warnings.warn(manifest.left_out(told, folder), stacklevel=3)
        return told

    def _pieces(self, folder: RunFolder, encode: WritePieces) -> list[Piece]:
        """Return the pieces of all parts, in the order of the documents."""
        for_core = self._options.for_core | _OF_PIECES
        job = PieceJob(str(folder.unfinished), self._tokenizer, for_core, self._column, self._order)
        pieces = [piece_of(row) for row in encode(KeptFunction(functools.partial(write_pieces, job=job)))]
        _check_order(pieces, self._order)
        return pieces

    def _write_shards(self, shards: list[ShardPlan], folder: RunFolder, write: WriteShards) -> None:
        """Let workers write all shards."""
        names = [f"{folder.splits[shard.split]}-{shard.number:05}" for shard in shards]
        for name, shard in zip(names, shards, strict=True):
            (folder.unfinished / SHARDS / f"{name}.json").write_text(json.dumps(shard.ranges))
        job = ShardJob(str(folder.unfinished), folder.form.name, folder.width)
        written = write(functools.partial(write_shard, job=job), names)
        for shard, told in zip(shards, written, strict=True):
            folder.shards[shard.split, shard.number] = json.loads(told)


def _check_order(pieces: list[Piece], order: str | None) -> None:
    """Check that the numbers of each part are above those of the part before it.

    Raises:
        ValueError: They are not: two documents have the same number.
    """
    last: int | None = None
    for piece in pieces:
        if order is None or piece.numbers is None:
            continue
        first, end = piece.numbers
        if last is not None and first <= last:
            raise ValueError(not_rising(order, first))
        last = end


def _planned(pieces: list[Piece], options: Options, folder: RunFolder) -> list[ShardPlan]:
    """Return all shards.

    Raises:
        FileNotFoundError: The driver does not see a piece.
    """
    planned: list[ShardPlan] = []
    for split, name in enumerate(options.splits):

        def starts_of(piece: str, tokens: int, documents: int, name: str = name) -> NDArray[np.int64]:
            raw = raw_of(folder.unfinished, piece, name, tokens, documents, folder.width)
            if not raw.starts_file.exists():
                message = "a worker has written this, and the driver does not see it: out is a folder that all see"
                raise FileNotFoundError(errno.ENOENT, message, str(raw.starts_file))
            return raw.starts

        of_split = ((piece.name, *piece.totals[split]) for piece in pieces)
        planned += shard_plans(split, of_split, options.shard_size, starts_of)
    return planned


def _outcome(pieces: list[Piece], source: str, splits: int) -> manifest.Outcome:
    """Return the outcome of all parts together."""
    totals = [
        (sum(piece.totals[split][0] for piece in pieces), sum(piece.totals[split][1] for piece in pieces))
        for split in range(splits)
    ]
    skipped: list[dict[str, str]] = []
    before = 0
    for piece in pieces:
        for number, place, reason in piece.skipped[: _MOST_LISTED - len(skipped)]:
            why = reason or f"not UTF-8 at byte {place}"
            skipped.append({"source": source, "place": f"text number {before + number}", "reason": why})
        before += piece.texts
    sources = [{"name": source, "bytes": None, "documents": sum(piece.documents for piece in pieces)}]
    text_bytes, skipped_count = (sum(piece.text_bytes for piece in pieces), sum(p.skipped_count for p in pieces))
    return manifest.Outcome(totals, sources, text_bytes, skipped, skipped_count)
