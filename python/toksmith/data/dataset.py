"""A folder of training data: the ids of a split as one sequence, and its documents."""

from __future__ import annotations

import bisect
import functools
import hashlib
import itertools
import operator
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from .._internal.messages import shown
from ..tokenizer import Tokenizer
from . import formats
from . import manifest as manifests
from .manifest import Manifest, Split
from .windows import Windows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike, NDArray

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

    def __init__(self, folder: str | os.PathLike[str], split: str = "train", *, _digest: str | None = None) -> None:
        self.folder = Path(folder)
        self.split = split
        self._manifest = manifests.read(self.folder)
        self._digest = _digest_of(self.folder)
        if _digest is not None and _digest != self._digest:
            raise ValueError(f"{self.folder}: the folder has changed since this was pickled: another manifest")
        self._tokenizer: Tokenizer | None = None
        self._part = _split_of(self._manifest, split)
        self._token_starts = [0, *itertools.accumulate(shard.tokens for shard in self._part.shards)]
        self._document_starts = [0, *itertools.accumulate(shard.documents for shard in self._part.shards)]
        self._ids = functools.lru_cache(_MAX_OPEN)(self._open_ids)
        self._index = functools.lru_cache(_MAX_OPEN)(self._open_index)

    def _open_ids(self, number: int) -> formats.Ids:
        return formats.open_ids(self._manifest, self._part.shards[number])

    def _open_index(self, number: int) -> NDArray[np.int64]:
        return formats.open_index(self._manifest, self._part.shards[number])

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, (str(self.folder), self.split, self._digest)

    def __repr__(self) -> str:
        return f"<TrainingData {str(self.folder)!r}, {self.split!r}: {len(self):,} ids of {self._manifest.dtype}>"

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The content of `manifest.json`: tokenizer, options, splits, sources."""
        return self._manifest.content

    @property
    def splits(self) -> list[str]:
        """The names of all splits of the folder."""
        return list(self._manifest.splits)

    @property
    def dtype(self) -> np.dtype[Any]:
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
    def __getitem__(self, place: slice) -> NDArray[Any]: ...

    def __getitem__(self, place: SupportsIndex | slice) -> int | NDArray[Any]:
        """Return one id, or an array of the ids of a slice."""
        if isinstance(place, slice):
            chosen = range(len(self))[place]
            if not chosen:
                return self.read(0, 0)
            low, high = min(chosen[0], chosen[-1]), max(chosen[0], chosen[-1]) + 1
            stretch = self.read(low, high)
            return stretch if chosen.step == 1 else stretch[:: chosen.step]
        at = _checked_index(place, len(self), "id")
        return int(self.read(at, at + 1)[0])

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return the ids from `start` to before `stop`, which must be within the split."""
        parts = formats.parts_of(self._token_starts, start, stop)
        return formats.joined([self._ids(part.number)[part.start : part.stop] for part in parts], self.dtype)

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

        The windows that training programs read, and the calls that give them:

        - llm.c and Megatron read windows of length + 1 ids, each of which begins with the last id of the one before;
          inputs are all but the last id, targets all but the first, and so each id is a target once.
          `windows(length, targets=True)` gives these; llm.c has them in order or shuffled, Megatron shuffled.
        - nanoGPT reads length + 1 ids from random places: `windows(length, targets=True, seed=…, stride=1)` has every
          place once in an epoch, while nanoGPT draws them with repetition.

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
        return Windows(
            self,
            length,
            targets=targets,
            seed=seed,
            stride=stride,
            rank=rank,
            ranks=ranks,
            epoch=epoch,
            dtype=dtype,
        )


class Documents:
    """The documents of a split: `len(documents)`, and `documents[i]`, the ids of one as an array.

    A document includes the ids that were prepended and appended to it, such as `<|endoftext|>`.
    """

    def __init__(self, data: TrainingData) -> None:
        self._data = data

    def __len__(self) -> int:
        return self._data._document_starts[-1]

    def __getitem__(self, number: SupportsIndex) -> NDArray[Any]:
        """Return the ids of document `number`."""
        return self._data.read(*self.bounds(number))

    def bounds(self, number: SupportsIndex) -> tuple[int, int]:
        """Return where in the split the ids of a document begin and end."""
        at = _checked_index(number, len(self), "document")
        shard = bisect.bisect_right(self._data._document_starts, at) - 1
        row, first = at - self._data._document_starts[shard], self._data._token_starts[shard]
        index = self._data._index(shard)
        start, stop = int(index[row]), int(index[row + 1])
        if not 0 <= start <= stop <= self._data._part.shards[shard].tokens:
            name = self._data.folder / self._data._part.shards[shard].index_file
            raise ValueError(f"{name}: document {row:,} of the shard is from {start:,} to {stop:,}: it is damaged")
        return first + start, first + stop

    def at(self, place: SupportsIndex) -> int:
        """Return the number of the document that the id at `place` of the split belongs to."""
        at = _checked_index(place, len(self._data), "id")
        shard = bisect.bisect_right(self._data._token_starts, at) - 1
        index = self._data._index(shard)
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


def load_tokenizer(manifest: Manifest) -> Tokenizer:
    """Load the tokenizer of a folder. See `TrainingData.tokenizer`."""
    path = manifest.folder / manifest.tokenizer_file
    tokenizer = Tokenizer.load(path)
    if tokenizer.fingerprint != manifest.fingerprint:
        raise ValueError(f"{path}: not the tokenizer that {manifests.NAME} names: its fingerprint differs")
    return tokenizer


def _reopened(folder: str, split: str, digest: str) -> TrainingData:
    return TrainingData(folder, split, _digest=digest)


def _digest_of(folder: Path) -> str:
    return hashlib.sha256((folder / manifests.NAME).read_bytes()).hexdigest()


def _split_of(manifest: Manifest, name: str) -> Split:
    if name not in manifest.splits:
        known = ", ".join(map(shown, manifest.splits)) or "none"
        raise ValueError(f"{manifest.folder}: there is no split {shown(name)}: the folder has {known}")
    return manifest.splits[name]


def _checked_index(index: SupportsIndex, count: int, what: str) -> int:
    number = operator.index(index)
    if not -count <= number < count:
        raise IndexError(f"there is no {what} {number:,}: there are {count:,}, numbered from 0")
    return number + count if number < 0 else number
