"""The formats of shards: how their files are written, and read as arrays that lie on the disk.

The core writes two files for a shard: its ids, with room for a header, and the places where its documents begin. The
functions of a `Format` write the headers of both, and make the other files of the format from them.
"""

from __future__ import annotations

import bisect
import contextlib
import functools
import itertools
import mmap
import os
import struct
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from .. import _core
from .._internal.messages import shown
from ..encoding.file_encoding import npy_head
from . import manifest as manifests
from .manifest import HEADER_BYTES, MEGATRON_HEADER_BYTES, NPY_HEADER_BYTES, WIDTHS, Manifest, Shard

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Magic number and version of llm.c's header by the type of the ids (its `dev/data/data_common.py`).
_LLM_C_KINDS = {"uint16": (20240520, 1), "uint32": (20240801, 7)}
_MEGATRON_MAGIC = b"MMIDIDX\0\0"
# Megatron's numbers of types (its `indexed_dataset.py`); it has no uint32, and reads ids below 2^31 as int32.
_MEGATRON_TYPES = {"uint16": 8, "uint32": 4}
# Documents whose places are in memory at a time.
_DOCUMENTS = 1 << 16
# About how many ids a row group of Parquet has. Lists of lists can hold fewer than 2^31.
_ROW_GROUP_IDS = 1 << 20
# Row groups of a Parquet file that stay decoded: a window that crosses a border needs two.
_DECODED_GROUPS = 4


class Raw(NamedTuple):
    """The files that the core has written for a shard."""

    ids: Path
    starts_file: Path
    tokens: int
    documents: int
    dtype: str

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each document begins, and the end of the last."""
        import numpy as np

        return np.memmap(self.starts_file, "<i8", "r", NPY_HEADER_BYTES, (self.documents + 1,))


class Format(NamedTuple):
    """A format of shards."""

    name: str
    suffix: str
    """That of the file with the ids."""
    header_bytes: int
    """The room before the ids."""
    complete: Callable[[Raw], tuple[Path, dict[str, Path]]]
    """Takes the files that the core wrote; returns the file with the ids, and the other files by their suffixes."""
    max_ids: int = 2**62
    """The maximum number of ids in a shard."""
    is_single: bool = False
    """Whether a split is one shard, whose files have no number."""

    def stem(self, split: str, number: int) -> str:
        """Return the names of the files of a shard without their suffixes."""
        return split if self.is_single else f"{split}-{number:05}"


# Writing


def _bare(raw: Raw) -> tuple[Path, dict[str, Path]]:
    return raw.ids, {}


def _with_header(raw: Raw, header: bytes) -> tuple[Path, dict[str, Path]]:
    with naming(raw.ids), raw.ids.open("rb+") as file:
        file.write(header)
    return raw.ids, {}


def _npy(raw: Raw) -> tuple[Path, dict[str, Path]]:
    return _with_header(raw, npy_head(raw.tokens, f"<u{WIDTHS[raw.dtype]}"))


def _llm_c(raw: Raw) -> tuple[Path, dict[str, Path]]:
    header = struct.pack("<3i", *_LLM_C_KINDS[raw.dtype], raw.tokens)
    return _with_header(raw, header.ljust(HEADER_BYTES["llm.c"], b"\0"))


def _megatron(raw: Raw) -> tuple[Path, dict[str, Path]]:
    """Write Megatron's index: for each sequence, here a document, its length and its place in bytes."""
    import numpy as np

    path = raw.ids.with_suffix(".idx")
    starts = raw.starts
    with naming(path), path.open("wb") as file:
        file.write(_MEGATRON_MAGIC + struct.pack("<QB", 1, _MEGATRON_TYPES[raw.dtype]))
        file.write(struct.pack("<QQ", raw.documents, raw.documents + 1))
        for window in _windows(raw.documents):
            file.write(np.diff(starts[window.start : window.stop + 1]).astype("<i4").tobytes())
        for window in _windows(raw.documents):
            file.write((starts[window.start : window.stop] * WIDTHS[raw.dtype]).astype("<i8").tobytes())
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

    path = raw.ids.with_suffix(".parquet")
    dtype = f"<u{WIDTHS[raw.dtype]}"
    ids = np.memmap(raw.ids, dtype, "r", shape=(raw.tokens,)) if raw.tokens else np.zeros(0, dtype)
    starts = raw.starts
    schema = pa.schema([pa.field("ids", pa.list_(pa.field("element", pa.from_numpy_dtype(raw.dtype))))])
    options = {"compression": "zstd", "use_dictionary": False}
    # pyarrow opens no file whose name is not UTF-8.
    with naming(path), path.open("wb") as file, parquet.ParquetWriter(file, schema, **options) as writer:
        for group in _row_groups(starts):
            low, high = int(starts[group.start]), int(starts[group.stop])
            offsets = (starts[group.start : group.stop + 1] - low).astype(np.int32)
            lists = pa.ListArray.from_arrays(offsets, pa.array(ids[low:high]), type=schema.field(0).type)
            writer.write_table(pa.table([lists], schema=schema))
    return path, {}


def _row_groups(starts: NDArray[np.int64]) -> Iterator[range]:
    import numpy as np

    start, count = 0, len(starts) - 1
    while start < count:
        stop = int(np.searchsorted(starts, starts[start] + _ROW_GROUP_IDS, "right")) - 1
        stop = min(max(stop, start + 1), start + _DOCUMENTS, count)
        yield range(start, stop)
        start = stop


FORMATS = {
    form.name: form
    for form in (
        Format("bin", ".bin", 0, _bare),
        Format("nanogpt", ".bin", 0, _bare, is_single=True),
        # The number of ids is an int32 there.
        Format("llm.c", ".bin", HEADER_BYTES["llm.c"], _llm_c, 2**31 - 1),
        Format("megatron", ".bin", 0, _megatron),
        Format("npy", ".npy", NPY_HEADER_BYTES, _npy),
        Format("parquet", ".parquet", 0, _parquet),
    )
}
"""All formats by name."""


def complete(
    raw: Raw, form: Format, stem: str, hashes: _core.WrittenHashes | None = None
) -> tuple[dict[Path, str], dict[str, Any]]:
    """Complete the files of a shard, and sync them to the disk.

    Args:
        raw: What the core has written.
        form: The format.
        stem: The final names of the files, without their suffixes.
        hashes: Those of parts of the file of ids, which are not read again for its checksum.

    Returns:
        The files with their final names, and the shard's entry in the manifest, with sizes and BLAKE3.

    Raises:
        OSError: A file cannot be written.
        ValueError: The shard holds more ids than the format has numbers for.
    """
    if raw.tokens > form.max_ids:
        raise ValueError(f"a shard of the format {form.name} holds at most {form.max_ids:,} ids: lower shard_size")
    with naming(raw.starts_file), raw.starts_file.open("rb+") as file:
        file.write(npy_head(raw.documents + 1, "<i8"))
    main, others = form.complete(raw)
    files = {form.suffix: main, ".index.npy": raw.starts_file, **others}
    entry: dict[str, Any] = {"file": f"{stem}{form.suffix}", "index": f"{stem}.index.npy"}
    entry |= {"documents": raw.documents, "tokens": raw.tokens}
    for suffix, path in files.items():
        size, digest = _synced(path, hashes if path == raw.ids else None)
        if suffix == form.suffix:
            entry |= {"bytes": size, "blake3": digest}
        else:
            entry["index_blake3" if suffix == ".index.npy" else f"{suffix[1:]}_blake3"] = digest
    return {path: f"{stem}{suffix}" for suffix, path in files.items()}, entry


def _synced(path: Path, written: _core.WrittenHashes | None) -> tuple[int, str]:
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


# Reading


class Ids(Protocol):
    """The ids of a shard: an array, or an object that reads them part by part."""

    def __len__(self) -> int: ...
    def __getitem__(self, ids: slice) -> NDArray[Any]: ...


def open_ids(manifest: Manifest, shard: Shard) -> Ids:
    """Return the ids of a shard, without reading them.

    Raises:
        OSError: A file cannot be read.
        ValueError: The file is not the one that the manifest describes; names the file and what differs.
        ImportError: The shard is a Parquet file, and pyarrow is not installed.
    """
    import numpy as np

    path, dtype = manifest.folder / shard.file, np.dtype(manifest.dtype).newbyteorder("<")
    if manifest.file_format == "parquet":
        return ParquetIds(path, open_index(manifest, shard), dtype)
    if manifest.file_format == "npy":
        return _open_npy(path, dtype, shard.tokens)
    if manifest.file_format == "llm.c":
        _check_llm_c(path, manifest.dtype, shard.tokens)
    return _mapped(path, dtype, HEADER_BYTES[manifest.file_format], shard.tokens)


def open_index(manifest: Manifest, shard: Shard) -> NDArray[np.int64]:
    """Return where each document of a shard begins, and last the number of ids of the shard, without reading it yet.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is no such index, or not that of this shard.
    """
    import numpy as np

    path = manifest.folder / shard.index_file
    starts = _open_npy(path, np.dtype("<i8"), shard.documents + 1)
    if starts[0] != 0 or starts[-1] != shard.tokens:
        raise ValueError(
            f"{path}: the documents are from {starts[0]:,} to {starts[-1]:,}, and {shard.file} has {shard.tokens:,} "
            f"ids: {manifests.REPAIR}"
        )
    return starts


def _open_npy(path: Path, dtype: np.dtype[Any], count: int) -> NDArray[Any]:
    """Return the array in a NumPy file, which must be of this type and length."""
    from numpy.lib import format as npy

    with path.open("rb") as file:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # NumPy warns of versions that it does not know
                version = npy.read_magic(file)
                read: Any = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
                shape, _, stored = read(file)
        except OSError:
            raise
        except Exception as error:  # NumPy passes on the errors of Python's parser, which have many types
            raise ValueError(f"{path}: not a NumPy file: {shown(str(error))}") from None
        start = file.tell()
    if stored != dtype or shape != (count,):
        raise ValueError(
            f"{path}: this is {shown(str(stored))} of shape {shown(shape)}, and {manifests.NAME} says {dtype} of "
            f"shape ({count},): it was replaced; {manifests.REPAIR}"
        )
    manifests.check_size(path, start + count * dtype.itemsize)
    return _mapped(path, dtype, start, count)


def _mapped(path: Path, dtype: np.dtype[Any], start: int, count: int) -> NDArray[Any]:
    import numpy as np

    if count == 0:  # the system refuses to map zero bytes
        return np.empty(0, dtype)
    ids: NDArray[Any] = np.memmap(path, dtype, "r", start, (count,)).view(np.ndarray)
    return ids


def _check_llm_c(path: Path, dtype: str, tokens: int) -> None:
    with path.open("rb") as file:
        header = file.read(12)
    expected = (*_LLM_C_KINDS[dtype], tokens)
    actual = struct.unpack("<3i", header) if len(header) == 12 else ()
    if actual != expected:
        raise ValueError(f"{path}: the header of llm.c begins with {actual}, and not with {expected}")


def check_megatron(manifest: Manifest, shard: Shard, starts: NDArray[np.int64]) -> Iterator[str]:
    """Compare Megatron's `.idx` with our index: lengths of documents, where they begin in bytes, their numbers."""
    import numpy as np

    path = (manifest.folder / shard.file).with_suffix(".idx")
    data, count, start = path.read_bytes(), shard.documents, MEGATRON_HEADER_BYTES
    header = struct.unpack("<9sQBQQ", data[:start]) if len(data) >= start else ()
    expected = (_MEGATRON_MAGIC, 1, _MEGATRON_TYPES[manifest.dtype], count, count + 1)
    if header != expected or len(data) != manifests.megatron_bytes(count):
        yield f"{path}: not an index of Megatron for {count:,} documents of {manifest.dtype}"
        return
    lengths = np.frombuffer(data, "<i4", count, start)
    pointers = np.frombuffer(data, "<i8", count, start + 4 * count)
    numbers = np.frombuffer(data, "<i8", count + 1, start + 12 * count)
    same = (lengths == np.diff(starts)).all() and (pointers == starts[:-1] * WIDTHS[manifest.dtype]).all()
    if not same or (numbers != np.arange(count + 1)).any():
        yield f"{path}: its documents are not those of {shard.index_file}"


class Part(NamedTuple):
    """Consecutive ids of one of several arrays that are read as one."""

    number: int
    start: int
    stop: int


def parts_of(borders: list[int], start: int, stop: int) -> Iterator[Part]:
    """Yield where the ids from `start` to before `stop` are, in arrays that begin at these borders.

    >>> list(parts_of([0, 10, 20], 8, 11))
    [Part(number=0, start=8, stop=10), Part(number=1, start=0, stop=1)]
    """
    number = max(0, bisect.bisect_right(borders, start) - 1)
    while start < stop:
        first, end = borders[number], min(stop, borders[number + 1])
        if start < end:
            yield Part(number, start - first, end - first)
            start = end
        number += 1


def joined(arrays: list[NDArray[Any]], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the arrays as one: the array itself, if there is one."""
    import numpy as np

    if len(arrays) == 1:
        return arrays[0]
    return np.concatenate(arrays) if arrays else np.empty(0, dtype)


class ParquetIds:
    """The ids of a Parquet file that has a row for each document: row groups are decoded when they are needed.

    Args:
        path: The file.
        starts: Where each document begins, `int64` of shape (documents + 1,).
        dtype: The type of the ids.
    """

    def __init__(self, path: Path, starts: NDArray[np.int64], dtype: np.dtype[Any]) -> None:
        self._path, self._dtype, self._count = path, dtype, int(starts[-1])
        self._file = _parquet_file(path, dtype)
        meta = self._file.metadata
        rows = [meta.row_group(group).num_rows for group in range(meta.num_row_groups)]
        borders = list(itertools.accumulate(rows, initial=0))
        if borders[-1] != len(starts) - 1:
            raise ValueError(
                f"{path}: the file has {borders[-1]:,} rows, and its index {len(starts) - 1:,} documents"
            )
        self._borders = [int(starts[border]) for border in borders]
        self._decoded = functools.lru_cache(_DECODED_GROUPS)(self._decode)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, ids: slice) -> NDArray[Any]:
        """Return the ids of a slice, whose step is 1."""
        start, stop, _ = ids.indices(self._count)
        parts = parts_of(self._borders, start, stop)
        return joined([self._decoded(part.number)[part.start : part.stop] for part in parts], self._dtype)

    def _decode(self, group: int) -> NDArray[Any]:
        with _readable(self._path):
            # Without pyarrow's threads, which would be missing in a process that is forked later.
            column = self._file.read_row_group(group, columns=["ids"], use_threads=False).column("ids")
        flat: NDArray[Any] = column.combine_chunks().flatten().to_numpy(zero_copy_only=False)
        expected = self._borders[group + 1] - self._borders[group]
        if len(flat) != expected:
            raise ValueError(
                f"{self._path}: row group {group} has {len(flat):,} ids, and the index says {expected:,}"
            )
        return flat.astype(self._dtype, copy=False)


def _parquet_file(path: Path, dtype: np.dtype[Any]) -> Any:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise ImportError("reading Parquet needs pyarrow: pip install 'toksmith[parquet]'") from None
    with _readable(path):
        # Mapped here: pyarrow opens no file whose name is not UTF-8.
        with path.open("rb") as opened:
            mapped = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        file = parquet.ParquetFile(pa.BufferReader(pa.py_buffer(mapped)))
        schema = file.schema_arrow
    if "ids" not in schema.names:
        raise ValueError(f"{path}: there is no column 'ids', only {shown(schema.names)}")
    kind = schema.field("ids").type
    if getattr(kind, "value_type", None) != pa.from_numpy_dtype(dtype):
        raise ValueError(
            f"{path}: the column 'ids' is {shown(str(kind))}, and {manifests.NAME} says lists of {dtype}"
        )
    return file


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn pyarrow's errors, which have many types, into one that names the file."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, ValueError, OSError) as error:
        if getattr(error, "errno", None):  # an error of the system, not of the content
            raise
        raise ValueError(f"{path}: not a complete Parquet file: {shown(str(error))}") from None
