"""Encoding a file of text to an array, or to a file, of ids."""

from __future__ import annotations

import functools
from collections.abc import Callable
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
    path: str,
    out: str | None,
    dtype: DTypeLike | None,
    progress: bool | Report,
    **options: Any,
) -> NDArray[Any] | int:
    """Encode a file. See `Tokenizer.encode_file`; the options are those of the core."""
    inputs.check_exists(path, "a text is for encode")
    inputs.check_plain(path)
    options |= {"wide": is_wide(dtype, out is None or core.max_id() >= 2**16), "window_bytes": WINDOW_BYTES}
    with reporter(progress) as report:
        encode: Callable[..., NDArray[Any] | int] = functools.partial(
            core.encode_file, path, progress=report, **options
        )
        if out is None:
            return encode(out=None)
        whole_files.check_not_read(out, [path])
        with whole_files.replacing(out) as temporary:
            return encode(out=(temporary, out))


def is_wide(dtype: DTypeLike | None, default: bool) -> bool:
    """Return whether ids are `uint32`, not `uint16`."""
    if dtype is None:
        return default
    import numpy as np

    ids_dtype = np.dtype(dtype)
    if ids_dtype not in (np.dtype("<u2"), np.dtype("<u4")):
        raise ValueError(f"dtype is uint16 or uint32, not {ids_dtype}")
    return bool(ids_dtype.itemsize == 4)
