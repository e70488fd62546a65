"""Columns of Arrow: texts to lists of ids, in the memory of Arrow's own arrays."""

from __future__ import annotations

from .. import _core
from .._internal import arguments
from ..definition import Definition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .batch_function import BatchFunction


class ArrowColumns(Definition):
    """The methods of `Tokenizer` that take and give columns of Arrow."""

    __slots__ = ()

    def encode_arrow(
        self,
        texts: Any,
        *,
        dtype: Any = None,
        large: bool = False,
        special: bool = True,
        workers: int | None = None,
    ) -> Any:
        """Return the ids of each text of an Arrow column, as an Arrow array of lists; null for a null text.

        Texts are read in place, and ids are written to the memory of the result, without Python objects. Bytes that
        are not UTF-8 are encoded as by `encode_bytes`.

        Args:
            texts: An object with `__arrow_c_array__` or `__arrow_c_stream__`: an array or chunked array of pyarrow, a
                series of Polars or pandas (3 and later), a relation of DuckDB with one column. Its type is `string`,
                `large_string`, `string_view`, `binary`, `large_binary` or `binary_view`. A stream is read to its end
                before the first text is encoded.
            dtype: Type of the ids: `uint32`, the default, or `uint16`.
            large: Whether the lists have offsets of 64 bits, which count more than 2^31 - 1 ids: a `large_list`.
            special: Whether special tokens become their ids.
            workers: Threads; default: all cores.

        Returns:
            One array, also for a column in chunks: a `pyarrow.ListArray` or `LargeListArray` for texts of pyarrow.
            For all others an object with `__arrow_c_array__`, which `polars.Series`, `pyarrow.array` and others take.

        Raises:
            TypeError: `texts` is no Arrow array, or one of another type.
            ValueError: The array is broken; an id of the tokenizer does not fit into `dtype`; or there are more than
                2^31 - 1 ids, without `large`.

        >>> import pyarrow as pa
        >>> from toksmith import Tokenizer
        >>> Tokenizer().encode_arrow(pa.array(["ab", None, ""])).to_pylist()
        [[97, 98], None, []]
        """
        wide = _is_wide(self._core, dtype)
        column, count = _core.ArrowColumn(texts), arguments.checked_workers(workers)
        return _like(texts, column.encode(self._core, special, count, wide, large))

    def count_arrow(self, texts: Any, *, special: bool = True, workers: int | None = None) -> Any:
        """Return how many ids each text of an Arrow column has, as an Arrow array of `int64`; null for a null text.

        No ids are kept. Arguments and errors are those of `encode_arrow`.

        >>> import pyarrow as pa
        >>> from toksmith import Tokenizer
        >>> Tokenizer().count_arrow(pa.array(["ab", None, ""])).to_pylist()
        [2, None, 0]
        """
        column, count = _core.ArrowColumn(texts), arguments.checked_workers(workers)
        return _like(texts, column.count(self._core, special, count))

    def batch(
        self,
        column: str = "text",
        *,
        out: str = "input_ids",
        dtype: Any = None,
        keep: bool = True,
        special: bool = True,
        workers: int | None = 1,
    ) -> BatchFunction:
        """Return a function of batches for `datasets.Dataset.map(…, batched=True)` and its like.

        Its pickle is the same in every process for an equal tokenizer and equal arguments, so that `datasets` finds
        in its cache what another process has made.

        Args:
            column: The name of the column of texts.
            out: The name of the column of ids.
            dtype: Type of the ids: `uint32`, the default, or `uint16`.
            keep: Whether a returned table also has the columns of the given table. `datasets` adds them to a dict by
                itself.
            special: Whether special tokens become their ids.
            workers: Threads for each batch; None: all cores. Use one if `num_proc` or an engine starts a process for
                each core.

        Returns:
            A function that takes a dict of lists and returns a dict with `out`, a list of arrays of ids; or takes a
            `pyarrow.Table` or `RecordBatch`, as `with_format("arrow")` gives it, and returns one of the same kind
            with `out` as a column of lists.

        >>> from toksmith import Tokenizer
        >>> ids = Tokenizer().batch("text")({"text": ["ab", ""]})["input_ids"]
        >>> [each.tolist() for each in ids]
        [[97, 98], []]
        """
        from .batch_function import BatchFunction

        wide = _is_wide(self._core, dtype)
        if workers is not None:
            workers = arguments.checked_workers(workers)
        return BatchFunction(self, column, out, wide, bool(keep), bool(special), workers)


def _is_wide(core: Any, dtype: Any) -> bool:
    """Return whether ids are `uint32`, not `uint16`.

    Raises:
        ValueError: `dtype` is another type, or an id of the tokenizer does not fit into it.
    """
    if dtype is None:
        return True
    from .file_encoding import is_wide

    wide = is_wide(dtype, True)
    if not wide and core.max_id() >= 2**16:
        raise ValueError(
            f'the tokenizer has ids up to {core.max_id()}, which do not fit into uint16: give dtype="uint32"'
        )
    return wide


def _like(texts: Any, array: _core.ArrowArray) -> Any:
    """Return an array as one of pyarrow, if the texts are of pyarrow."""
    if type(texts).__module__.partition(".")[0] != "pyarrow":
        return array
    import pyarrow as pa

    return pa.array(array)
