"""Shards of each format as arrays of ids that lie on the disk."""

from __future__ import annotations

import contextlib
import functools
import mmap
import struct
from typing import TYPE_CHECKING, Any, Protocol

from .._internal.messages import shown
from . import manifest as manifests

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from .manifest import Manifest, Shard

LLM_C_HEADERS = {"uint16": (20240520, 1), "uint32": (20240801, 7)}
"""The first two numbers of llm.c's header, by the type of the ids (its `dev/data/data_common.py`)."""

# Groups of rows of a Parquet file that stay decoded: a window that crosses a border needs two.
_DECODED_GROUPS = 4


class Ids(Protocol):
    """The ids of a shard: an array, or an object that reads them piece by piece."""

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
        return _of_npy(path, dtype, shard.tokens)
    header = manifests.HEADER_BYTES[manifest.file_format]
    if manifest.file_format == "llm.c":
        _check_llm_c(path, manifest.dtype, shard.tokens)
    return _mapped(path, dtype, header, shard.tokens)


def open_index(manifest: Manifest, shard: Shard) -> NDArray[np.int64]:
    """Return where each document of a shard begins, and last the number of ids of the shard, without reading it yet.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is no such index, or not that of this shard.
    """
    import numpy as np

    path = manifest.folder / shard.index_file
    starts = _of_npy(path, np.dtype("<i8"), shard.documents + 1)
    if starts[0] != 0 or starts[-1] != shard.tokens:
        raise ValueError(
            f"{path}: the documents are from {starts[0]:,} to {starts[-1]:,}, and {shard.file} has {shard.tokens:,} "
            f"ids: {manifests.REPAIR}"
        )
    return starts


def _of_npy(path: Path, dtype: np.dtype[Any], count: int) -> NDArray[Any]:
    """Return the array in a NumPy file, which must be of this type and length."""
    import warnings

    from numpy.lib import format as npy

    with path.open("rb") as file:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # NumPy warns of versions that it does not know
                version = npy.read_magic(file)
                read: Any = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
                shape, _, found = read(file)
        except OSError:
            raise
        except Exception as error:  # NumPy passes on the errors of Python's parser, which have many types
            raise ValueError(f"{path}: not a NumPy file: {shown(str(error))}") from None
        start = file.tell()
    if found != dtype or shape != (count,):
        raise ValueError(
            f"{path}: this is {shown(str(found))} of shape {shown(shape)}, and {manifests.NAME} says {dtype} of "
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
        head = file.read(12)
    expected = (*LLM_C_HEADERS[dtype], tokens)
    found = struct.unpack("<3i", head) if len(head) == 12 else ()
    if found != expected:
        raise ValueError(f"{path}: the header of llm.c begins with {found}, and not with {expected}")


class ParquetIds:
    """The ids of a Parquet file that has a row for each document: groups of rows are decoded when they are needed.

    Args:
        path: The file.
        starts: Where each document begins, `int64` of shape (documents + 1,).
        dtype: The type of the ids.
    """

    def __init__(self, path: Path, starts: NDArray[np.int64], dtype: np.dtype[Any]) -> None:
        import itertools

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
        import bisect

        import numpy as np

        start, stop, _ = ids.indices(self._count)
        pieces = []
        group = max(0, bisect.bisect_right(self._borders, start) - 1)
        while start < stop:
            first, last = self._borders[group], min(stop, self._borders[group + 1])
            if start < last:
                pieces.append(self._decoded(group)[start - first : last - first])
                start = last
            group += 1
        if len(pieces) == 1:
            return pieces[0]
        return np.concatenate(pieces) if pieces else np.empty(0, self._dtype)

    def _decode(self, group: int) -> NDArray[Any]:
        with _named(self._path):
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
    with _named(path):
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
def _named(path: Path) -> Iterator[None]:
    """Turn pyarrow's errors, which have many types, into one that names the file."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, ValueError, OSError) as error:
        if getattr(error, "errno", None):  # an error of the system, not of the content
            raise
        raise ValueError(f"{path}: this is no whole Parquet file: {shown(str(error))}") from None
