"""Columns of Arrow: texts to lists of ids, in the memory of Arrow's own arrays."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._internal import arguments
from ..encoding.file_encoding import is_wide
from ..tokenizer import Tokenizer


def encode_arrow(
    tokenizer: Tokenizer,
    texts: Any,
    *,
    dtype: Any = None,
    large: bool = False,
    special: bool = True,
    workers: int | None = None,
) -> Any:
    """Return the ids of each text of an Arrow column, as an Arrow array of lists; null for a null text.

    Texts are read in place, and ids are written to the memory of the result, without Python objects. Bytes that are
    not UTF-8 are encoded as by `Tokenizer.encode_bytes`.

    Args:
        tokenizer: The tokenizer that encodes them.
        texts: An object with `__arrow_c_array__` or `__arrow_c_stream__`: an array or chunked array of pyarrow, a
            series of Polars or pandas (3 and later), a relation of DuckDB with one column. Its type is `string`,
            `large_string`, `string_view`, `binary`, `large_binary` or `binary_view`. A stream is read to its end
            before the first text is encoded.
        dtype: Type of the ids: `uint32`, the default, or `uint16`.
        large: Whether the lists have offsets of 64 bits, which count more than 2^31 - 1 ids: a `large_list`.
        special: Whether special tokens become their ids.
        workers: Threads; default: all cores.

    Returns:
        One array, also for a column in chunks: a `pyarrow.ListArray` or `LargeListArray` for texts of pyarrow. For
        all others an object with `__arrow_c_array__`, which `polars.Series`, `pyarrow.array` and others take.

    Raises:
        TypeError: `texts` is not an Arrow array, or one of another type.
        ValueError: The array is malformed; an id of the tokenizer does not fit into `dtype`; or there are more than
            2^31 - 1 ids, without `large`.

    >>> import pyarrow as pa
    >>> from toksmith import Tokenizer
    >>> encode_arrow(Tokenizer(), pa.array(["ab", None, ""])).to_pylist()
    [[97, 98], None, []]
    """
    wide = is_wide_for(tokenizer, dtype)
    column = _core.ArrowColumn(texts)
    return _like(texts, column.encode(tokenizer._core, special, arguments.checked_workers(workers), wide, large))


def count_arrow(tokenizer: Tokenizer, texts: Any, *, special: bool = True, workers: int | None = None) -> Any:
    """Return how many ids each text of an Arrow column has, as an Arrow array of `int64`; null for a null text.

    No ids are kept. Arguments and errors are those of `encode_arrow`.

    >>> import pyarrow as pa
    >>> from toksmith import Tokenizer
    >>> count_arrow(Tokenizer(), pa.array(["ab", None, ""])).to_pylist()
    [2, None, 0]
    """
    column = _core.ArrowColumn(texts)
    return _like(texts, column.count(tokenizer._core, special, arguments.checked_workers(workers)))


def is_wide_for(tokenizer: Tokenizer, dtype: Any) -> bool:
    """Return whether ids are `uint32`, not `uint16`.

    Raises:
        ValueError: `dtype` is another type, or an id of the tokenizer does not fit into it.
    """
    wide = is_wide(dtype, True)
    if not wide and tokenizer.max_id >= 2**16:
        raise ValueError(
            f'the tokenizer has ids up to {tokenizer.max_id}, which do not fit into uint16: pass dtype="uint32"'
        )
    return wide


def _like(texts: Any, array: _core.ArrowArray) -> Any:
    """Return an array as one of pyarrow, if the texts are of pyarrow."""
    if type(texts).__module__.partition(".")[0] != "pyarrow":
        return array
    import pyarrow as pa

    return pa.array(array)
