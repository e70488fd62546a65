"""Whether the files of a folder are those that its manifest describes, byte for byte."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from .. import _core
from .._internal.messages import shown
from .._internal.progress import Report, summing
from . import dataset, shards
from . import manifest as manifests
from .manifest import Manifest, Shard

_MISSING = "it is missing"


def differences(folder: str | os.PathLike[str], report: Report | None = None) -> Iterator[str]:
    """Yield the differences between a folder and its manifest, a line each; nothing if all files are intact.

    Every byte of every shard is read.

    Args:
        folder: The folder. The errors of `open` are raised here as well.
        report: Gets ("check", bytes done, all bytes).
    """
    manifest = manifests.read(folder)
    yield from _check_tokenizer(manifest)
    read = _reading(manifest, report)
    for shard in manifest.shards:
        problems = list(_damaged(manifest, shard, read))
        yield from (f"{manifest.folder / name}: {problem}" for name, problem in problems)
        if not problems:
            yield from _check_structure(manifest, shard)


def damaged(manifest: Manifest, verify: bool, report: Report | None = None) -> Iterator[tuple[str, str]]:
    """Yield the name of each file that is missing, or not what the manifest says, with what is wrong.

    Without `verify` only sizes are compared; the tokenizer, whose size is not known, is loaded.
    """
    if not (manifest.folder / manifest.tokenizer_file).is_file():
        yield manifest.tokenizer_file, _MISSING
    else:
        yield from ((manifest.tokenizer_file, problem) for problem in _check_tokenizer(manifest))
    read = _reading(manifest, report) if verify else None
    for shard in manifest.shards:
        yield from _damaged(manifest, shard, read)


def _reading(manifest: Manifest, report: Report | None) -> Callable[[int], None]:
    files = (file for shard in manifest.shards for file in manifest.files_of(shard))
    return summing(report, "check", sum(file.bytes for file in files))


def _damaged(manifest: Manifest, shard: Shard, read: Callable[[int], None] | None) -> Iterator[tuple[str, str]]:
    """Yield the damaged files of a shard. Checksums are compared if `read` is there."""
    for file in manifest.files_of(shard):
        path = manifest.folder / file.name
        if not path.is_file():
            yield file.name, _MISSING
        elif (size := path.stat().st_size) != file.bytes:
            yield file.name, f"it has {size:,} bytes, and {manifests.NAME} says {file.bytes:,}"
        elif read is not None and (checksum := _checksum(path, read)) != file.checksum:
            message = f"the BLAKE3 is {checksum}, and {manifests.NAME} says {shown(file.checksum)}"
            yield file.name, f"checksum mismatch: {message}"


def _checksum(path: Path, read: Callable[[int], None]) -> str:
    """Return the BLAKE3 of a file; `read` gets the bytes since its last call."""
    before = 0

    def report(_stage: str, done: int, _total: int) -> None:
        nonlocal before
        read(done - before)
        before = done

    return _core.checksum(path, progress=report)[1]


def _check_tokenizer(manifest: Manifest) -> Iterator[str]:
    try:
        dataset.load_tokenizer(manifest)
    except (OSError, ValueError) as error:
        yield str(error)


def _check_structure(manifest: Manifest, shard: Shard) -> Iterator[str]:
    """Yield the errors in the form of a shard and its index."""
    try:
        starts = shards.open_index(manifest, shard)
        if (starts[1:] < starts[:-1]).any():
            yield f"{manifest.folder / shard.index_file}: a document ends before it begins"
        ids = shards.open_ids(manifest, shard)
        if len(ids) != shard.tokens:
            yield f"{manifest.folder / shard.file}: it has {len(ids):,} ids, not {shard.tokens:,}"
    except (OSError, ValueError) as error:
        yield str(error)
