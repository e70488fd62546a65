"""A folder of training data: the ids of a split as one sequence, its documents, and windows for a training loop."""

from __future__ import annotations

import bisect
import functools
import hashlib
import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from .._internal import arguments
from .._internal.choices import LongDocument
from .._internal.messages import shown
from ..files import reading
from ..tokenizer import Tokenizer
from . import manifest as manifests
from . import shards
from .manifest import JsonObject, Manifest
from .order import Order, checked_index
from .rows import PackedRows, Rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike, NDArray

    from .shards import Integers, IntegerType

_MAX_OPEN = 128
"""Shards that stay mapped: each takes a file of the process, which may have 1,024 or fewer."""


def open(folder: str | os.PathLike[str], split: str = "train") -> TrainingData:
    """Open a folder of training data that `toksmith tokenize` wrote.

    The sizes of all files are compared with the manifest; nothing else is read. `differences` compares the content.

    Args:
        folder: The folder, in any of the formats.
        split: Which part: "train", or the name of another one, such as "val".

    Raises:
        FileNotFoundError: There is no such folder; it has no manifest, since the run that writes it has not
            finished; or a file that the manifest names is missing.
        NotADirectoryError: `folder` is a file.
        ValueError: The manifest is malformed or of a later version, a shard is too short or too long, or there is
            no such split.
    """
    return TrainingData(folder, split)


class TrainingData:
    """The ids of one split of a folder, shard after shard, as one sequence that lies on the disk.

    `len(data)` is the number of ids. `data[i]` is one id, an `int`. `data[start:stop]` is an array of ids, of the
    type in the files: a read-only view of the file if they are in one shard, else a copy.

    The object can be pickled, and opens the files again where it is unpickled. Several threads, and forked processes,
    may use it.
    """

    def __init__(self, folder: str | os.PathLike[str], split: str = "train") -> None:
        self.folder = Path(folder)
        self.split = split
        self._manifest = manifests.read(self.folder)
        self._digest = hashlib.sha256(reading.read(self.folder / manifests.NAME)).hexdigest()
        if split not in self._manifest.splits:
            known = ", ".join(map(shown, self._manifest.splits)) or "none"
            raise ValueError(f"{self.folder}: there is no split {shown(split)}: the folder has {known}")
        self._shards = self._manifest.splits[split].shards
        self._tokenizer: Tokenizer | None = None
        self._token_starts = [0, *itertools.accumulate(shard.tokens for shard in self._shards)]
        self._document_starts = [0, *itertools.accumulate(shard.documents for shard in self._shards)]
        self._ids = functools.lru_cache(_MAX_OPEN)(functools.partial(shards.open_ids, self._manifest))
        self._mask = functools.lru_cache(_MAX_OPEN)(functools.partial(shards.open_mask, self._manifest))
        self._index = functools.lru_cache(_MAX_OPEN)(functools.partial(shards.open_index, self._manifest))

    def __reduce__(self) -> tuple[object, ...]:
        return _reopened, (str(self.folder), self.split, self._digest)

    def __repr__(self) -> str:
        return f"<TrainingData {str(self.folder)!r}, {self.split!r}: {len(self):,} ids of {self._manifest.dtype}>"

    @property
    def manifest(self) -> JsonObject:
        """The content of `manifest.json`: tokenizer, options, splits, sources."""
        return self._manifest.content

    @property
    def splits(self) -> list[str]:
        """The names of all splits of the folder."""
        return list(self._manifest.splits)

    @property
    def dtype(self) -> IntegerType:
        """The type of the ids in the files, `uint16` or `uint32`."""
        import numpy as np

        return np.dtype(self._manifest.dtype)

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer that made the ids; it is loaded at its first use.

        Raises:
            OSError: Its file cannot be read.
            ValueError: The file is damaged, or holds another tokenizer than the manifest names.
        """
        # No `cached_property`: before Python 3.12 it has a lock, for which a forked child could wait forever.
        if self._tokenizer is None:
            self._tokenizer = load_tokenizer(self._manifest)
        return self._tokenizer

    @property
    def documents(self) -> Documents:
        """The documents of the split, a sequence."""
        return Documents(self)

    def __len__(self) -> int:
        return self._token_starts[-1]

    @overload
    def __getitem__(self, place: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, place: slice) -> Integers: ...

    def __getitem__(self, place: SupportsIndex | slice) -> int | Integers:
        """Return one id, or an array of the ids of a slice."""
        if isinstance(place, slice):
            places = range(len(self))[place]
            if not places:
                return self.read(0, 0)
            stretch = self.read(min(places[0], places[-1]), max(places[0], places[-1]) + 1)
            return stretch if places.step == 1 else stretch[:: places.step]
        at = checked_index(place, len(self), "id")
        return int(self.read(at, at + 1)[0])

    def read(self, start: int, stop: int) -> Integers:
        """Return the ids from `start` to before `stop`, which must be within the split."""
        return shards.read_across(
            self._token_starts, start, stop, lambda number: self._ids(self._shards[number]), self.dtype
        )

    @property
    def has_mask(self) -> bool:
        """Whether the ids have a mask: the documents are conversations, or prompts with a completion."""
        return self._manifest.has_mask

    def read_mask(self, start: int, stop: int) -> NDArray[np.bool_]:
        """Return which of the ids from `start` to before `stop` a model is trained on.

        Raises:
            ValueError: The documents are no conversations: `tokenize` was called without `messages`.
        """
        import numpy as np

        if not self.has_mask:
            raise ValueError(f"{self.folder}: there is no mask: write the folder with messages=True")
        mask = shards.read_across(
            self._token_starts, start, stop, lambda number: self._mask(self._shards[number]), np.dtype(np.uint8)
        )
        return mask.astype(np.bool_)

    def windows(
        self,
        length: int,
        *,
        targets: bool = False,
        seed: int | None = None,
        stride: int | None = None,
        rank: int = 0,
        ranks: int = 1,
        epoch: int = 0,
        dtype: DTypeLike = "int64",
    ) -> Windows:
        """Return windows of `length` ids for a training loop: a sequence of arrays.

        Windows run over the borders of documents and shards; the ids left at the end, fewer than a window, are in no
        window. Every process that gives the same arguments has the same order, and `ranks` processes share it: rank r
        has every `ranks`-th window from number r on. All ranks have the same number of windows, so up to `ranks` - 1
        windows at the end of the order are left out; with a seed these are others in each epoch.

        Cost: a copy of the ids for each window, and no memory that grows with the number of windows.

        Args:
            length: Ids of a window.
            targets: Whether each window has one id more, for inputs `window[:-1]` and targets `window[1:]`.
            seed: Any whole number, which chooses the order of the windows. None: the order of the files.
            stride: Ids from the start of a window to that of the next; default: `length`.
            rank: Which of the processes this is, from 0 on.
            ranks: How many processes share the windows.
            epoch: With a seed, each epoch has another order.
            dtype: The type of the ids in the arrays, a NumPy type: "int64" as PyTorch's embeddings take, or "int32",
                "uint16", ….

        Raises:
            ValueError: A number is out of range, there is no window for every rank, or ids do not fit into `dtype`.
        """
        length = arguments.checked_limit("length", length, 1)
        step = length if stride is None else arguments.checked_limit("stride", stride, 1)
        checked = _checked_type(dtype, self.dtype)
        size = length + bool(targets)
        count = (len(self) - size) // step + 1 if len(self) >= size else 0
        order = Order("window", [count], seed=seed, rank=rank, ranks=ranks, epoch=epoch)
        if not order:
            ids = f"{len(self):,} ids, which are {count:,} windows of {size:,} ids"
            raise ValueError(f"the split {self.split!r} has {ids}: too few for {ranks} ranks")
        return Windows(self, length, size, step, order, checked)

    def rows(
        self,
        length: int,
        *,
        long: LongDocument = "split",
        seed: int | None = None,
        rank: int = 0,
        ranks: int = 1,
        epoch: int = 0,
        dtype: DTypeLike = "int64",
    ) -> Rows:
        """Return rows of whole documents, at most `length` ids each, for a training loop: a sequence of `Row`.

        Documents are put together by best-fit decreasing (`pack`), so that hardly any room is left, and attention
        need not cross them. Ranks share the rows, and a seed orders them, as in `windows`.

        A million documents in a row are packed at a time, so memory does not grow with their number: a seed shuffles
        these groups, and the rows in each.

        Cost: some seconds for ten million documents; up to 400 MB while a group is packed, and 24 bytes for each
        document of it afterwards.

        Args:
            length: Ids of a row at the most.
            long: What becomes of a document that is longer: "split", "truncate" or "drop".
            seed: As in `windows`.
            rank: As in `windows`.
            ranks: As in `windows`.
            epoch: As in `windows`.
            dtype: As in `windows`.

        Raises:
            ValueError: As in `windows`.
        """
        read_mask = self.read_mask if self.has_mask else None
        packed = PackedRows(self.documents._places, len(self.documents), length, long)
        order = Order("row", packed.counts, seed=seed, rank=rank, ranks=ranks, epoch=epoch)
        if not order:
            raise ValueError(f"the split {self.split!r} has {sum(packed.counts):,} rows: too few for {ranks} ranks")
        return Rows(self.read, read_mask, packed, order, _checked_type(dtype, self.dtype))


class Documents:
    """The documents of a split: `len(documents)`, and `documents[i]`, the ids of one as an array.

    A document includes the ids that were prepended and appended to it, such as `<|endoftext|>`.
    """

    def __init__(self, data: TrainingData) -> None:
        self._data = data

    def __len__(self) -> int:
        return self._data._document_starts[-1]

    def __getitem__(self, number: SupportsIndex) -> Integers:
        """Return the ids of document `number`."""
        return self._data.read(*self.bounds(number))

    def bounds(self, number: SupportsIndex) -> tuple[int, int]:
        """Return where in the split the ids of a document begin and end."""
        at = checked_index(number, len(self), "document")
        shard = bisect.bisect_right(self._data._document_starts, at) - 1
        row, first = at - self._data._document_starts[shard], self._data._token_starts[shard]
        entry = self._data._shards[shard]
        start, stop = map(int, self._data._index(entry)[row : row + 2])
        if not 0 <= start <= stop <= entry.tokens:
            name = self._data.folder / entry.index_file
            raise ValueError(f"{name}: document {row:,} of the shard is from {start:,} to {stop:,}: it is damaged")
        return first + start, first + stop

    def _places(self, first: int, end: int) -> NDArray[np.int64]:
        """Return where documents from the number `first` on begin in the split, and where the last one ends."""
        import numpy as np

        places = [np.zeros(1, np.int64)]
        borders = zip(self._data._shards, self._data._document_starts, self._data._token_starts, strict=False)
        for entry, number, start in borders:
            low, high = max(first - number, 0), min(end - number, entry.documents)
            if low < high:
                of_shard = start + np.asarray(self._data._index(entry)[low : high + 1], np.int64)
                if (of_shard[1:] < of_shard[:-1]).any():
                    raise ValueError(f"{self._data.folder / entry.index_file}: documents overlap: it is damaged")
                places[-1] = places[-1][:-1]  # the end of a shard is the beginning of the next
                places.append(of_shard)
        return np.concatenate(places)

    def at(self, place: SupportsIndex) -> int:
        """Return the number of the document that the id at `place` of the split belongs to."""
        at = checked_index(place, len(self._data), "id")
        shard = bisect.bisect_right(self._data._token_starts, at) - 1
        index = self._data._index(self._data._shards[shard])
        row = bisect.bisect_right(index, at - self._data._token_starts[shard]) - 1
        return self._data._document_starts[shard] + row

    def text(self, number: SupportsIndex, errors: str = "replace") -> str:
        """Return the text of a document, decoded by the tokenizer of the folder; special tokens by their names.

        Raises:
            KeyError: The tokenizer has no token of one of the ids.
            OSError, ValueError: As `TrainingData.tokenizer`.
        """
        return self._data.tokenizer.decode(self[number], errors=errors)

    def __repr__(self) -> str:
        return f"<{len(self):,} documents of {self._data!r}>"


class Windows:
    """Windows of a split, as `TrainingData.windows` describes them: `len(windows)`, and `windows[i]`, a new array.

    The object is a data set for PyTorch's `DataLoader`, with any number of workers, and a random-access source for
    JAX's grain. It can be pickled.
    """

    def __init__(
        self, data: TrainingData, length: int, size: int, stride: int, order: Order, dtype: IntegerType
    ) -> None:
        self.data, self.length, self.size, self.stride = data, length, size, stride
        self.targets, self.order, self.dtype = size > length, order, dtype

    def __repr__(self) -> str:
        return (
            f"<{len(self):,} windows of {self.size:,} ids, stride {self.stride:,}, {self.dtype}, {self.order}, "
            f"of {self.data!r}>"
        )

    def __len__(self) -> int:
        return len(self.order)

    def start(self, index: SupportsIndex) -> int:
        """Return where in the split window `index` begins."""
        return self.order.number(index) * self.stride

    def __getitem__(self, index: SupportsIndex) -> Integers:
        """Return the ids of window `index`: a new array of shape (length,), or (length + 1,) with targets."""
        start = self.start(index)
        return self.data.read(start, start + self.size).astype(self.dtype)

    def __getitems__(self, indices: Sequence[int]) -> list[Integers]:
        """Return several windows as rows of one array: PyTorch's `DataLoader` asks for a batch at a time."""
        import numpy as np

        numbers = self.order.numbers(indices)
        rows = np.empty((len(indices), self.size), self.dtype)
        for row, start in zip(rows, (numbers * self.stride).tolist(), strict=True):
            row[:] = self.data.read(start, start + self.size)
        return list(rows)


def load_tokenizer(manifest: Manifest) -> Tokenizer:
    """Load the tokenizer of a folder. See `TrainingData.tokenizer`."""
    path = manifest.folder / manifest.tokenizer_file
    tokenizer = Tokenizer.load(path)
    if tokenizer.fingerprint != manifest.fingerprint:
        raise ValueError(f"{path}: not the tokenizer that {manifests.NAME} names: its fingerprint differs")
    return tokenizer


def _reopened(folder: str, split: str, digest: str) -> TrainingData:
    data = TrainingData(folder, split)
    if data._digest != digest:
        raise ValueError(f"{folder}: the folder has changed since this was pickled: another manifest")
    return data


def _checked_type(requested: DTypeLike, stored: IntegerType) -> IntegerType:
    """Return the type of the ids in windows, which must have room for the ids: below 2^31 in practice."""
    import numpy as np

    dtype: np.dtype[Any] = np.dtype(requested)
    needed = min(np.iinfo(stored).max, 2**31 - 1)
    if not np.issubdtype(dtype, np.integer) or np.iinfo(dtype).max < needed:
        raise ValueError(f"dtype is {shown(str(dtype))}, which cannot hold ids of {stored}: use int64 or int32")
    return dtype
