"""Whether the files of a folder are those that its manifest describes, byte for byte."""

from __future__ import annotations

import hashlib
import os
import struct
from typing import TYPE_CHECKING

from .. import _core
from .._internal.messages import shown
from .._internal.progress import summing
from . import dataset, shards
from . import manifest as manifests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from .._internal.progress import Report
    from .manifest import File, Manifest, Shard

_PIECE = 1 << 20
_MISSING = "it is missing"
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
    yield from _of_tokenizer(manifest)
    read = _reading(manifest, report)
    for shard in manifests.shards_of(manifest):
        problems = list(_damaged(manifest, shard, read))
        yield from (f"{manifest.folder / file.name}: {problem}" for file, problem in problems)
        if not problems:
            yield from _of_structure(manifest, shard)


def damaged(manifest: Manifest, verify: bool, report: Report | None = None) -> Iterator[tuple[File, str]]:
    """Yield each file of a folder that is missing, or not what the manifest says, with what is wrong.

    Args:
        manifest: The manifest, as `manifests.parse` returns it.
        verify: Whether to compare checksums as well as sizes, which reads every byte.
        report: As in `differences`.
    """
    tokenizer = manifests.File(manifest.tokenizer_file, 0, None)
    if not (manifest.folder / tokenizer.name).is_file():
        yield tokenizer, _MISSING
    elif verify:
        yield from ((tokenizer, problem) for problem in _of_tokenizer(manifest))
    read = _reading(manifest, report) if verify else None
    for shard in manifests.shards_of(manifest):
        yield from _damaged(manifest, shard, read)


def checksum(manifest: Manifest, path: Path, read: Callable[[int], None] = lambda _: None) -> str:
    """Return the checksum of a file, of the kind in the manifest; `read` gets the bytes of each piece."""
    return _CHECKSUMS[manifest.checksums][1](path, read)


def _reading(manifest: Manifest, report: Report | None) -> Callable[[int], None]:
    files = (file for shard in manifests.shards_of(manifest) for file in manifests.files_of(manifest, shard))
    return summing(report, "check", sum(file.bytes for file in files))


def _damaged(manifest: Manifest, shard: Shard, read: Callable[[int], None] | None) -> Iterator[tuple[File, str]]:
    """Yield the damaged files of a shard. Checksums are compared if `read` is given."""
    for file in manifests.files_of(manifest, shard):
        path = manifest.folder / file.name
        size = path.stat().st_size if path.is_file() else None
        if size is None:
            yield file, _MISSING
        elif size != file.bytes:
            yield file, f"it has {size:,} bytes, and {manifests.NAME} says {file.bytes:,}"
        elif read is not None and file.checksum is not None:
            found = checksum(manifest, path, read)
            if found != file.checksum:
                kind = _CHECKSUMS[manifest.checksums][0]
                yield file, f"the {kind} is {found}, and {manifests.NAME} says {shown(file.checksum)}"


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
    start = manifests.MEGATRON_HEAD
    head = struct.unpack("<9sQBQQ", data[:start]) if len(data) >= start else ()
    if (
        not head
        or head[:2] != (b"MMIDIDX\0\0", 1)
        or head[2] not in _MEGATRON_TYPES[manifest.dtype]
        or head[3:] != (count, count + 1)
        or len(data) != manifests.megatron_bytes(count)
    ):
        yield f"{path}: this is no index of Megatron's for {count:,} documents of {manifest.dtype}"
        return
    lengths = np.frombuffer(data, "<i4", count, start)
    pointers = np.frombuffer(data, "<i8", count, start + 4 * count)
    numbers = np.frombuffer(data, "<i8", count + 1, start + 12 * count)
    width = manifests.WIDTHS[manifest.dtype]
    same = (lengths == np.diff(starts)).all() and (pointers == starts[:-1] * width).all()
    if not same or (numbers != np.arange(count + 1)).any():
        yield f"{path}: its documents are not those of {shard.index_file}"
