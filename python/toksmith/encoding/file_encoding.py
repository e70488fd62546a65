"""Encoding a file of text to an array, or to a file, of ids."""

from __future__ import annotations

import functools
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._core import Tokenizer as CoreTokenizer
from .._internal.progress import Report, reporter
from ..files import inputs, whole_files

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

# Bytes of the header of a `.npy` file: a multiple of 64, large enough for any count.
_HEAD = 128
# Bytes per read; None leaves it to the core. Tests make it small, so that short texts span several reads.
WINDOW_BYTES: int | None = None


def encode_file(
    core: CoreTokenizer,
    path: str | os.PathLike[str],
    out: str | os.PathLike[str] | None,
    dtype: DTypeLike | None,
    progress: bool | Report,
    *,
    workers: int,
    special: bool,
    replace: bool,
) -> NDArray[Any] | int:
    """Encode a file. See `Tokenizer.encode_file`."""
    inputs.check_exists(os.fsdecode(path), "a text is for encode")
    inputs.check_plain(os.fsdecode(path))
    encode: Callable[..., NDArray[Any] | int] = functools.partial(
        core.encode_file,
        os.fspath(path),
        workers=workers,
        special=special,
        replace=replace,
        window_bytes=WINDOW_BYTES,
    )
    if out is None:
        wide = is_wide(dtype, True)
        with reporter(progress) as report:
            return encode(out=None, wide=wide, progress=report)
    whole_files.check_not_read(out, [path])
    wide = is_wide(dtype, core.max_id() >= 2**16)
    is_npy = Path(out).suffix == ".npy"
    with reporter(progress) as report, whole_files.replacing(out) as temporary:
        if is_npy:
            temporary.write_bytes(bytes(_HEAD))
        count = encode(out=(temporary, os.fspath(out)), wide=wide, progress=report)
        if is_npy:
            with temporary.open("rb+") as file:
                file.write(npy_head(int(count), "<u4" if wide else "<u2"))
        return count


def is_wide(dtype: DTypeLike | None, default: bool) -> bool:
    """Return whether ids are `uint32`, not `uint16`."""
    if dtype is None:
        return default
    import numpy as np

    ids_dtype = np.dtype(dtype)
    if ids_dtype not in (np.dtype("<u2"), np.dtype("<u4")):
        raise ValueError(f"dtype is uint16 or uint32, not {ids_dtype}")
    return bool(ids_dtype.itemsize == 4)


def npy_head(count: int, dtype: str) -> bytes:
    """Return the header of a `.npy` file of `count` numbers of a type such as "<u2"; 128 bytes."""
    shape = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({count},), }}"
    magic = b"\x93NUMPY\x01\x00" + struct.pack("<H", _HEAD - 10)
    return magic + shape.encode().ljust(_HEAD - 11) + b"\n"
