"""The files of a shard in each format, as training programs read them.

The core writes two files for a shard: its ids, with room for a head, and the places where its documents begin. This
module writes the heads of both, and makes the other files of a format from them.
"""

from __future__ import annotations

import contextlib
import os
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ... import _core
from ...encoding.file_encoding import npy_head

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

INDEX_HEAD_BYTES = _NPY_HEAD = 128
_LLM_C_HEAD = 1024
# Magic number and version by the bytes of an id: those of GPT-2's and of Llama 3's data.
_LLM_C_KINDS = {2: (20240520, 1), 4: (20240801, 7)}
_MEGATRON_MAGIC = b"MMIDIDX\x00\x00"
# Megatron's codes of types; it has no uint32, and reads ids below 2^31 as int32.
_MEGATRON_TYPES = {2: 8, 4: 4}
_DOCUMENTS = 1 << 16


class Raw(NamedTuple):
    """The files that the core has written for a shard."""

    ids: Path
    starts_file: Path
    tokens: int
    documents: int
    width: int

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each document begins, and the end of the last."""
        import numpy as np

        shape = (self.documents + 1,)
        return np.memmap(self.starts_file, "<i8", "r", _NPY_HEAD, shape)


class Format(NamedTuple):
    """A format of shards.

    `suffix` is that of the file with the ids, `head_bytes` the room before the ids. `complete` takes the files that
    the core wrote, and returns the file with the ids, and the other files by their suffixes. `most` is the greatest
    number of ids in a shard. With `is_single` a split is one shard, whose files have no number.
    """

    name: str
    suffix: str
    head_bytes: int
    complete: Callable[[Raw], tuple[Path, dict[str, Path]]]
    most: int = 2**62
    is_single: bool = False

    def stem(self, split: str, number: int) -> str:
        """Return the names of the files of a shard without their suffixes."""
        return split if self.is_single else f"{split}-{number:05}"


def _bare(raw: Raw) -> tuple[Path, dict[str, Path]]:
    return raw.ids, {}


def _with_head(raw: Raw, head: bytes) -> tuple[Path, dict[str, Path]]:
    with naming(raw.ids), raw.ids.open("rb+") as file:
        file.write(head)
    return raw.ids, {}


def _npy(raw: Raw) -> tuple[Path, dict[str, Path]]:
    return _with_head(raw, npy_head(raw.tokens, f"<u{raw.width}"))


def _llm_c(raw: Raw) -> tuple[Path, dict[str, Path]]:
    magic, version = _LLM_C_KINDS[raw.width]
    return _with_head(raw, struct.pack("<3i", magic, version, raw.tokens).ljust(_LLM_C_HEAD, b"\0"))


def _megatron(raw: Raw) -> tuple[Path, dict[str, Path]]:
    """Write Megatron's index: for each sequence, here a document, its length and its place in bytes."""
    import numpy as np

    path = raw.ids.with_suffix(".idx")
    starts = raw.starts
    with naming(path), path.open("wb") as file:
        file.write(_MEGATRON_MAGIC + struct.pack("<QB", 1, _MEGATRON_TYPES[raw.width]))
        file.write(struct.pack("<QQ", raw.documents, raw.documents + 1))
        for window in _windows(raw.documents):
            file.write(np.diff(starts[window.start : window.stop + 1]).astype("<i4").tobytes())
        for window in _windows(raw.documents):
            file.write((starts[window.start : window.stop] * raw.width).astype("<i8").tobytes())
        for window in _windows(raw.documents + 1):
            file.write(np.arange(window.start, window.stop, dtype="<i8").tobytes())
    return raw.ids, {".idx": path}


def _windows(count: int) -> Iterator[range]:
    for start in range(0, count, _DOCUMENTS):
        yield range(start, min(start + _DOCUMENTS, count))


def _parquet(raw: Raw) -> tuple[Path, dict[str, Path]]:
    """Write a row for each document, with the list of its ids."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import parquet

    kind = {2: pa.uint16(), 4: pa.uint32()}[raw.width]
    path = raw.ids.with_suffix(".parquet")
    ids = (
        np.memmap(raw.ids, f"<u{raw.width}", "r", shape=(raw.tokens,))
        if raw.tokens
        else np.zeros(0, f"<u{raw.width}")
    )
    starts = raw.starts
    schema = pa.schema([pa.field("ids", pa.list_(pa.field("element", kind)))])
    options = {"compression": "zstd", "use_dictionary": False}
    # pyarrow opens no file whose name is not UTF-8.
    with naming(path), path.open("wb") as file, parquet.ParquetWriter(file, schema, **options) as writer:
        for group in _row_groups(starts):
            low, high = int(starts[group.start]), int(starts[group.stop])
            offsets = (starts[group.start : group.stop + 1] - low).astype(np.int32)
            lists = pa.ListArray.from_arrays(offsets, pa.array(ids[low:high]), type=schema.field(0).type)
            writer.write_table(pa.table([lists], schema=schema))
    return path, {}


def _row_groups(starts: NDArray[np.int64], most: int = 1 << 20) -> Iterator[range]:
    """Yield documents of about a million ids together; one list of lists must hold fewer than 2^31 ids."""
    import numpy as np

    start, count = 0, len(starts) - 1
    while start < count:
        stop = int(np.searchsorted(starts, starts[start] + most, "right")) - 1
        stop = min(max(stop, start + 1), start + _DOCUMENTS, count)
        yield range(start, stop)
        start = stop


FORMATS = {
    one.name: one
    for one in (
        Format("bin", ".bin", 0, _bare),
        Format("nanogpt", ".bin", 0, _bare, is_single=True),
        # The number of ids is an int32 there.
        Format("llm.c", ".bin", _LLM_C_HEAD, _llm_c, 2**31 - 1),
        Format("megatron", ".bin", 0, _megatron),
        Format("npy", ".npy", _NPY_HEAD, _npy),
        Format("parquet", ".parquet", 0, _parquet),
    )
}
"""All formats by name."""


def complete(
    raw: Raw, form: Format, hashes: _core.WrittenHashes | None = None
) -> tuple[dict[str, Path], dict[str, Any]]:
    """Complete the files of a shard, and sync them to the disk.

    Args:
        raw: What the core has written.
        form: The format.
        hashes: Those of parts of the file of ids, which are not read again for its checksum.

    Returns:
        The files by their suffixes, and for the manifest their sizes and BLAKE3.

    Raises:
        OSError: A file cannot be written.
        ValueError: The shard holds more ids than the format has numbers for.
    """
    if raw.tokens > form.most:
        raise ValueError(f"a shard of the format {form.name} holds at most {form.most:,} ids: lower shard_size")
    with naming(raw.starts_file), raw.starts_file.open("rb+") as file:
        file.write(npy_head(raw.documents + 1, "<i8"))
    main, others = form.complete(raw)
    files = {form.suffix: main, ".index.npy": raw.starts_file, **others}
    told: dict[str, Any] = {"documents": raw.documents, "tokens": raw.tokens}
    for suffix, path in files.items():
        size, digest = _on_disk(path, hashes if path == raw.ids else None)
        if suffix == form.suffix:
            told |= {"bytes": size, "blake3": digest}
        else:
            told["index_blake3" if suffix == ".index.npy" else f"{suffix[1:]}_blake3"] = digest
    return files, told


def _on_disk(path: Path, written: _core.WrittenHashes | None) -> tuple[int, str]:
    """Sync a file to the disk; return its size and its BLAKE3."""
    size, digest = _core.checksum(path, written=written)
    with naming(path), path.open("rb+", buffering=0) as file:
        os.fsync(file.fileno())
    return size, digest


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Add the name of the file to an error that does not have it."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise
