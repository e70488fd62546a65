"""The files of shards, read as arrays that lie on the disk; and Parquet, which the core does not write."""

from __future__ import annotations

import bisect
import functools
import itertools
import mmap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from .. import _core
from .._internal.messages import shown
from ..files import reading, tables, whole_files
from . import manifest as manifests
from .manifest import FORMATS, Manifest, Shard

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pyarrow.parquet import ParquetFile

    IntegerType = np.dtype[np.integer[Any]]
    Integers = NDArray[np.integer[Any]]

_Number = TypeVar("_Number", bound="np.integer[Any]")

# Documents of a row group of Parquet, at the most.
_DOCUMENTS = 1 << 16
ROW_GROUP_IDS = 1 << 20
"""About how many ids a row group of Parquet has. Lists of lists can hold fewer than 2^31."""
_INCOMPLETE = "not a complete Parquet file"
# Row groups of a Parquet file that stay decoded: a window that crosses a border needs two.
_DECODED_GROUPS = 4


def write_parquet(
    ids_file: str, starts_file: str, mask_file: str | None, tokens: int, documents: int, wide: bool, path: str
) -> None:
    """Write a row for each document, with the lists of its ids and their mask, from the files of the core."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import parquet

    Path(path).unlink(missing_ok=True)
    dtype = "uint32" if wide else "uint16"
    numbers = {"ids": _mapped(Path(ids_file), np.dtype(dtype).newbyteorder("<"), 0, tokens)}
    if mask_file is not None:
        numbers["mask"] = _mapped(Path(mask_file), np.dtype("uint8"), 0, tokens)
    starts = open_starts(starts_file, documents)
    if starts[0] != 0 or starts[-1] != tokens or (starts[1:] < starts[:-1]).any():
        raise ValueError(f"{starts_file}: damaged: the documents do not follow one another up to {tokens:,} ids")
    element = {name: pa.field("element", pa.from_numpy_dtype(array.dtype)) for name, array in numbers.items()}
    schema = pa.schema([pa.field(name, pa.list_(element[name])) for name in numbers])
    options = {"compression": "zstd", "use_dictionary": False}
    # pyarrow opens no file whose name is not UTF-8.
    with (
        whole_files.naming(Path(path), only_unnamed=True),
        Path(path).open("wb") as file,
        parquet.ParquetWriter(file, schema, **options) as writer,
    ):
        start = 0
        while start < documents:
            stop = int(np.searchsorted(starts, starts[start] + ROW_GROUP_IDS, "right")) - 1
            stop = min(max(stop, start + 1), start + _DOCUMENTS, documents)
            low, high = int(starts[start]), int(starts[stop])
            offsets = (starts[start : stop + 1] - low).astype(np.int32)
            lists = [
                pa.ListArray.from_arrays(offsets, pa.array(array[low:high]), type=schema.field(name).type)
                for name, array in numbers.items()
            ]
            writer.write_table(pa.table(lists, schema=schema))
            start = stop


def open_starts(path: str | Path, documents: int) -> NDArray[np.int64]:
    """Return where each document begins, and the end of the last, from the file of the core."""
    import numpy as np

    return np.memmap(path, "<i8", "r", _core.NPY_HEADER_BYTES, (documents + 1,))


class Ids(Protocol):
    """The ids of a shard: an array, or an object that reads them part by part."""

    def __len__(self) -> int: ...
    def __getitem__(self, ids: slice) -> Integers: ...


def open_ids(manifest: Manifest, shard: Shard) -> Ids:
    """Return the ids of a shard, without reading them; an error names the file, and what the manifest says of it."""
    import numpy as np

    path, dtype = manifest.folder / shard.file, np.dtype(manifest.dtype).newbyteorder("<")
    if manifest.file_format == "parquet":
        return ParquetIds(path, open_index(manifest, shard), dtype)
    if manifest.file_format == "npy":
        return _open_npy(path, dtype, shard.tokens)
    if manifest.file_format == "llm.c":
        with reading.open_regular(path) as file:
            header = file.read(_core.LLM_C_HEADER_BYTES)
        if header != _core.llm_c_header(shard.tokens, dtype.itemsize == 4):
            raise ValueError(f"{path}: the header of llm.c is not that of {shard.tokens:,} ids of {manifest.dtype}")
    return _mapped(path, dtype, FORMATS[manifest.file_format].header_bytes, shard.tokens)


def open_mask(manifest: Manifest, shard: Shard) -> Ids:
    """Return the mask of a shard, a byte for each id, without reading it."""
    import numpy as np

    if shard.mask_file is not None:
        path = manifest.folder / shard.mask_file
        manifests.check_size(path, shard.tokens)
        return _mapped(path, np.dtype(np.uint8), 0, shard.tokens)
    return ParquetIds(manifest.folder / shard.file, open_index(manifest, shard), np.dtype(np.uint8), "mask")


def open_index(manifest: Manifest, shard: Shard) -> NDArray[np.int64]:
    """Return where each document of a shard begins, and last the number of its ids, without reading them."""
    import numpy as np

    path = manifest.folder / shard.index_file
    starts = _open_npy(path, np.dtype("<i8"), shard.documents + 1)
    if starts[0] != 0 or starts[-1] != shard.tokens:
        raise ValueError(
            f"{path}: the documents are from {starts[0]:,} to {starts[-1]:,}, and {shard.file} has {shard.tokens:,} "
            f"ids: {manifests.REPAIR}"
        )
    return starts


def _open_npy(path: Path, dtype: np.dtype[_Number], count: int) -> NDArray[_Number]:
    """Return the array in a NumPy file, which must be of this type and length."""
    with reading.open_regular(path) as file:
        header = file.read(_core.NPY_HEADER_BYTES)
    if header != _core.npy_header(count, dtype.str):
        raise ValueError(
            f"{path}: not the NumPy file that {manifests.NAME} describes, of {count:,} numbers of {dtype}: it was "
            f"replaced; {manifests.REPAIR}"
        )
    manifests.check_size(path, _core.NPY_HEADER_BYTES + count * dtype.itemsize)
    return _mapped(path, dtype, _core.NPY_HEADER_BYTES, count)


def _mapped(path: Path, dtype: np.dtype[_Number], start: int, count: int) -> NDArray[_Number]:
    import numpy as np

    if count == 0:  # the system refuses to map zero bytes
        return np.empty(0, dtype)
    numbers: NDArray[_Number] = np.memmap(path, dtype, "r", start, (count,)).view(np.ndarray)
    return numbers


def read_across(
    borders: list[int], start: int, stop: int, array: Callable[[int], Ids], dtype: IntegerType
) -> Integers:
    """Return the ids from `start` to before `stop` of arrays that begin at these borders: a view, if one has all.

    `array` returns the array of a number.
    """
    import numpy as np

    if start < 0 or stop > borders[-1]:
        raise IndexError(f"{start:,} to {stop:,} is not within the {borders[-1]:,} ids of the split")
    parts = []
    number = max(0, bisect.bisect_right(borders, start) - 1)
    while start < stop:
        first, end = borders[number], min(stop, borders[number + 1])
        if start < end:
            parts.append(array(number)[start - first : end - first])
            start = end
        number += 1
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.empty(0, dtype)


class ParquetIds:
    """The ids, or masks, of a Parquet file with a row for each document: row groups are decoded when they are needed.

    `starts` says where each document begins.
    """

    def __init__(self, path: Path, starts: NDArray[np.int64], dtype: IntegerType, column: str = "ids") -> None:
        self._path, self._dtype, self._column, self._count = path, dtype, column, int(starts[-1])
        self._file = _parquet_file(path, dtype, column)
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

    def __getitem__(self, ids: slice) -> Integers:
        """Return the ids of a slice, whose step is 1."""
        start, stop, _ = ids.indices(self._count)
        return read_across(self._borders, start, stop, self._decoded, self._dtype)

    def _decode(self, group: int) -> Integers:
        with tables.naming(str(self._path), _INCOMPLETE, ValueError):
            # Without pyarrow's threads, which would be missing in a process that is forked later.
            column = self._file.read_row_group(group, columns=[self._column], use_threads=False).column(0)
        flat: Integers = column.combine_chunks().flatten().to_numpy(zero_copy_only=False)
        expected = self._borders[group + 1] - self._borders[group]
        if len(flat) != expected:
            raise ValueError(
                f"{self._path}: row group {group} has {len(flat):,} ids, and the index says {expected:,}"
            )
        return flat.astype(self._dtype, copy=False)


def _parquet_file(path: Path, dtype: IntegerType, column: str) -> ParquetFile:
    pa = tables.arrow()
    with tables.naming(str(path), _INCOMPLETE, ValueError):
        # Mapped here: pyarrow opens no file whose name is not UTF-8.
        with reading.open_regular(path) as opened:
            mapped = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        file = pa.parquet.ParquetFile(pa.BufferReader(pa.py_buffer(mapped)))
        schema = file.schema_arrow
    kind = schema.field(column).type if column in schema.names else "missing"
    if getattr(kind, "value_type", None) != pa.from_numpy_dtype(dtype):
        raise ValueError(
            f"{path}: the column {column!r} is {shown(str(kind))}, and {manifests.NAME} says lists of {dtype}"
        )
    return file
