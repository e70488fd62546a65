"""Whether the files of a folder are those that its manifest describes, byte for byte."""

from __future__ import annotations

import hashlib
import os
import struct
from typing import TYPE_CHECKING

from .. import _core
from ..common.messages import shown
from ..common.progress import summing
from . import dataset, shards
from . import manifest as manifests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from ..common.progress import Report
    from .manifest import Manifest, Shard

_PIECE = 1 << 20
# Megatron's numbers of types (its `indexed_dataset.py`); it has none for uint32, whose ids are written as int32.
_MEGATRON_TYPES = {"uint16": (8,), "uint32": (4,)}


def differences(folder: str | os.PathLike[str], report: Report | None = None) -> Iterator[str]:
    """Yield the differences between a folder and its manifest, a line each; nothing if all is as it was written.

    Every byte of every shard is read.

    Args:
        folder: The folder. The errors of `open` are raised here as well.
        report: Gets ("check", bytes done, all bytes).
    """
    manifest = manifests.read(folder)
    parts = list(manifests.shards_of(manifest))
    total = sum(shard.bytes + _size(manifest.folder / shard.index_file) for shard in parts)
    read = summing(report, "check", total)
    kind, digest = _CHECKSUMS[manifest.checksums]
    yield from _of_tokenizer(manifest)
    for shard in parts:
        is_whole = True
        for name, expected in ((shard.file, shard.checksum), (shard.index_file, shard.index_checksum)):
            found = digest(manifest.folder / name, read)
            if found != expected:
                is_whole = False
                yield f"{manifest.folder / name}: the {kind} is {found}, and {manifests.NAME} says {shown(expected)}"
        if is_whole:
            yield from _of_structure(manifest, shard)


def _blake3(path: Path, read: Callable[[int], None]) -> str:
    """Return the BLAKE3 of a file in hex; `read` gets the number of bytes after each piece."""
    before = 0

    def progress(_stage: str, done: int, _total: int) -> None:
        nonlocal before
        read(done - before)
        before = done

    return _core.checksum(path, progress=progress)[1]


def _sha256(path: Path, read: Callable[[int], None]) -> str:
    """Return the SHA-256 of a file in hex; `read` gets the number of bytes after each piece."""
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
            read(len(piece))
    return digest.hexdigest()


_CHECKSUMS = {"blake3": ("BLAKE3", _blake3), "sha256": ("SHA-256", _sha256)}


def _size(path: Path) -> int:
    return path.stat().st_size


def _of_tokenizer(manifest: Manifest) -> Iterator[str]:
    try:
        dataset.load_tokenizer(manifest)
    except (OSError, ValueError) as error:
        yield str(error)


def _of_structure(manifest: Manifest, shard: Shard) -> Iterator[str]:
    """Yield the errors in the form of a shard, its index and Megatron's own index."""
    try:
        starts = shards.open_index(manifest, shard)
        if (starts[1:] < starts[:-1]).any():
            yield f"{manifest.folder / shard.index_file}: a document ends before it begins"
        ids = shards.open_ids(manifest, shard)
        if len(ids) != shard.tokens:
            yield f"{manifest.folder / shard.file}: it has {len(ids):,} ids, not {shard.tokens:,}"
        if manifest.file_format == "megatron":
            yield from _of_megatron(manifest, shard, starts)
    except (OSError, ValueError) as error:
        yield str(error)


def _of_megatron(manifest: Manifest, shard: Shard, starts: NDArray[np.int64]) -> Iterator[str]:
    """Compare Megatron's `.idx` with our index: lengths of documents, where they begin in bytes, their numbers."""
    import numpy as np

    path = (manifest.folder / shard.file).with_suffix(".idx")
    data, count = path.read_bytes(), shard.documents
    head = struct.unpack("<9sQBQQ", data[:34]) if len(data) >= 34 else ()
    expected = 34 + 4 * count + 8 * count + 8 * (count + 1)
    if (
        not head
        or head[:2] != (b"MMIDIDX\0\0", 1)
        or head[2] not in _MEGATRON_TYPES[manifest.dtype]
        or head[3:] != (count, count + 1)
        or len(data) != expected
    ):
        yield f"{path}: this is no index of Megatron's for {count:,} documents of {manifest.dtype}"
        return
    lengths = np.frombuffer(data, "<i4", count, 34)
    pointers = np.frombuffer(data, "<i8", count, 34 + 4 * count)
    numbers = np.frombuffer(data, "<i8", count + 1, 34 + 12 * count)
    width = manifests.WIDTHS[manifest.dtype]
    same = (lengths == np.diff(starts)).all() and (pointers == starts[:-1] * width).all()
    if not same or (numbers != np.arange(count + 1)).any():
        yield f"{path}: its documents are not those of {shard.index_file}"
