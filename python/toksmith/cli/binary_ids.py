"""Ids in binary files: the NumPy files and the bare numbers that `toksmith encode` writes."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAGIC = b"\x93NUMPY"
"""How a NumPy file begins."""
_MAX_HEAD = 1 << 16


def of_npy(windows: Iterable[bytes], name: str) -> Iterator[NDArray[Any]]:
    """Yield the ids of a NumPy file, window by window.

    Args:
        windows: Its bytes.
        name: What to call it in an error.

    Raises:
        ValueError: It is not a one-dimensional NumPy array of integers, or its length is not that of its header.
    """
    remaining = iter(windows)
    dtype, count, data = _header(remaining, name)
    read = 0
    for ids in _numbers(itertools.chain([data], remaining), dtype, name):
        read += len(ids)
        yield ids
    if read != count:
        raise ValueError(
            f"{name}: the file has {read:,} ids, but its header says {count:,}: it is corrupt or truncated"
        )


def of_bare(windows: Iterable[bytes], wide: bool, name: str) -> Iterator[NDArray[Any]]:
    """Yield the ids of a file of bare little-endian numbers, of 32 bits if they are `wide`, else of 16.

    Raises:
        ValueError: It ends inside a number.
    """
    import numpy as np

    yield from _numbers(windows, np.dtype("<u4" if wide else "<u2"), name)


def _numbers(windows: Iterable[bytes], dtype: np.dtype[Any], name: str) -> Iterator[NDArray[Any]]:
    import numpy as np

    partial = b""
    for window in windows:
        data = partial + window
        whole = len(data) - len(data) % dtype.itemsize
        partial = data[whole:]
        yield np.frombuffer(data[:whole], dtype).astype(dtype.newbyteorder("="), copy=False)
    if partial:
        raise ValueError(
            f"{name}: the file ends inside a number of {8 * dtype.itemsize} bits: give --dtype if its numbers have "
            "another size"
        )


def _header(windows: Iterator[bytes], name: str) -> tuple[np.dtype[Any], int, bytes]:
    """Return the type and the number of the ids in a NumPy file, and what was read of its data."""
    import numpy as np
    from numpy.lib import format as npy

    data = b""
    while True:
        file = io.BytesIO(data)
        try:
            version = npy.read_magic(file)
            read: Any = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, _, dtype = read(file)
            break
        except (ValueError, EOFError) as error:
            window = next(windows, b"") if len(data) < _MAX_HEAD else b""
            if not window:
                raise ValueError(f"{name}: not a NumPy file: {error}") from None
            data += window
    if len(shape) != 1 or not np.issubdtype(dtype, np.integer):
        raise ValueError(f"{name}: ids are a one-dimensional array of integers, not {dtype} of shape {shape}")
    return dtype, shape[0], data[file.tell() :]
