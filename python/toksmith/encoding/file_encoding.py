"""Encoding a file of text to an array, or to a file, of ids."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .._core import Tokenizer as CoreTokenizer
from .._internal.progress import Report, reporter
from ..files import inputs, whole_files

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

# Bytes per read; None leaves it to the core. Tests make it small, so that short texts span several reads.
WINDOW_BYTES: int | None = None


def encode_file(
    core: CoreTokenizer,
    path: str | os.PathLike[str],
    out: str | os.PathLike[str] | None,
    dtype: DTypeLike | None,
    progress: bool | Report,
    **options: Any,
) -> NDArray[Any] | int:
    """Encode a file. See `Tokenizer.encode_file`; the options are those of the core."""
    inputs.check_exists(os.fsdecode(path), "a text is for encode")
    inputs.check_plain(os.fsdecode(path))
    options |= {"wide": is_wide(dtype, out is None or core.max_id() >= 2**16), "window_bytes": WINDOW_BYTES}
    ids: NDArray[Any] | int
    if out is not None:
        whole_files.check_not_read(out, [path])
    with reporter(progress) as report:
        if out is None:
            ids = core.encode_file(os.fspath(path), out=None, progress=report, **options)
            return ids
        with whole_files.replacing(out) as temporary:
            ids = core.encode_file(os.fspath(path), out=(temporary, os.fspath(out)), progress=report, **options)
            return ids


def is_wide(dtype: DTypeLike | None, default: bool) -> bool:
    """Return whether ids are `uint32`, not `uint16`."""
    if dtype is None:
        return default
    import numpy as np

    ids_dtype = np.dtype(dtype)
    if ids_dtype not in (np.dtype("<u2"), np.dtype("<u4")):
        raise ValueError(f"dtype is uint16 or uint32, not {ids_dtype}")
    return bool(ids_dtype.itemsize == 4)
