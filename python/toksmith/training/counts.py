"""Pretoken counts, from which training starts."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from .. import _core, patterns
from .._internal import arguments
from .._internal.choices import Unmatched
from .._internal.messages import shown
from ..files import text_files
from ..files.tables import arrow
from ..patterns import Pattern
from . import counts_files
from .counts_files import Head

if TYPE_CHECKING:
    from pyarrow import Table
    from typing_extensions import Self

_ROWS = 1 << 12
"""Rows that become Python objects at a time."""


class PretokenCounts:
    """How often each pretoken occurs, with the pattern and the special tokens that it was counted under.

    It reads like a `dict` of pretokens to counts; a pretoken that is not there has the count 0.

    Args:
        mapping: Pretokens (bytes) with their counts, in the order of their first occurrence.
        pattern: What cut the text, as in `Tokenizer`.
        unmatched: As in `Tokenizer`.
        special_tokens: What separated the documents.

    Raises:
        ValueError: A count is negative, or the sum of counts passes 2^63.

    >>> counts = PretokenCounts({b"low": 5, b"lower": 2})
    >>> (counts + counts).most_common(1), len(counts), counts.total
    ([(b'low', 10)], 2, 7)
    >>> list(counts), b"low" in counts, counts[b"high"]
    ([b'low', b'lower'], True, 0)
    """

    __slots__ = ("_core", "_has_order", "_is_temporary", "_pattern", "_special_tokens")

    def __init__(
        self,
        mapping: Mapping[bytes, int],
        *,
        pattern: object = "gpt2",
        unmatched: Unmatched = "keep",
        special_tokens: Iterable[str] = (),
    ) -> None:
        if not isinstance(mapping, Mapping):
            raise TypeError(f"counts are a mapping of pretokens to counts, not {type(mapping).__name__}")
        for pretoken, count in mapping.items():
            if not isinstance(pretoken, bytes):
                raise TypeError(f"a pretoken is bytes, not {type(pretoken).__name__}: {shown(pretoken)}")
            arguments.whole(f"the count of {shown(pretoken)}", count, bits=63)
        items = [(pretoken, operator.index(count)) for pretoken, count in mapping.items() if pretoken]
        self._core = _core.PretokenCounts(items)
        self._pattern = patterns.resolve(pattern, unmatched)
        self._special_tokens, self._has_order = arguments.special_names(special_tokens), True
        self._is_temporary = False

    @classmethod
    def _of(
        cls, core: _core.PretokenCounts, pattern: Pattern, special_tokens: list[str], has_order: bool = True
    ) -> Self:
        counts = cls.__new__(cls)
        counts._core, counts._pattern = core, pattern
        counts._special_tokens, counts._has_order = special_tokens, has_order
        counts._is_temporary = False
        return counts

    @property
    def total(self) -> int:
        """How many pretokens were counted."""
        return self._core.total()

    def items(self) -> list[tuple[bytes, int]]:
        """Return the pretokens with their counts, in the order of their first occurrence."""
        return self._core.items(0, len(self))

    def first_places(self) -> list[int]:
        """Return where each of `items` occurs first: the bytes of text before it, with all documents in one sequence.

        Counts from a mapping are at 0, 1, 2, ….
        """
        return self._core.first_places()

    def most_common(self, n: int | None = None) -> list[tuple[bytes, int]]:
        """Return the `n` most frequent pretokens (default: all); of equal counts, the one seen first comes first."""
        size = len(self) if n is None else min(max(0, arguments.whole("n", n)), len(self))
        return self._core.most_common(size)

    def at_least(self, count: int) -> PretokenCounts:
        """Return the counts without the pretokens that occur less often than `count`."""
        return self._like(self._core.at_least(arguments.whole("count", count, bits=63)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to a file, with the pattern, the special tokens and the first places.

        The format is toksmith's own, some 12 bytes a pretoken, with a checksum; `to_arrow` makes a table for other
        programs. An older file is replaced once the new one is complete.

        Raises:
            OSError: The folder does not exist, the disk is full, …
        """
        counts_files.save(self._core, self._head(), path)

    def _head(self) -> Head:
        head = head_of(self._pattern, self._special_tokens)
        return head if self._has_order else {**head, "ordered": False}

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, min_pretoken_count: int = 1) -> PretokenCounts:
        """Read a file of `save`, without the pretokens that occur less often than `min_pretoken_count`.

        Raises:
            FileNotFoundError: There is no such file.
            ValueError: The file holds no counts, or is damaged; or its pattern is broken.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     PretokenCounts({b"low": 5, b"lower": 2}).save(f"{folder}/counts")
        ...     PretokenCounts.load(f"{folder}/counts").items()
        [(b'low', 5), (b'lower', 2)]
        """
        least = arguments.checked_limit("min_pretoken_count", min_pretoken_count, 0)
        return cls._of_head(*counts_files.load(path, least), f"{path}")

    @classmethod
    def _of_head(cls, core: _core.PretokenCounts, head: Head, where: str) -> PretokenCounts:
        with text_files.naming(where):
            pattern = patterns.of_source(head["pattern"], head["pattern_flags"], head["unmatched"])
        # The Unicode version of the head stays: counts of different versions cannot be added.
        pattern = pattern._replace(unicode=head["unicode"])
        specials = arguments.special_names(head["special_tokens"])
        return cls._of(core, pattern, specials, head.get("ordered") is not False)

    def to_arrow(self) -> Table:
        """Return the counts as a `pyarrow.Table`: columns `pretoken`, `count` and `first`, in the order of `items`.

        The metadata of the schema have the pattern, the special tokens and all else, so `from_arrow` gives the same
        counts.

        Raises:
            ImportError: pyarrow is not installed.

        >>> table = PretokenCounts({b"low": 5, b"lower": 2}).to_arrow()
        >>> table.column_names, table["count"].to_pylist()
        (['pretoken', 'count', 'first'], [5, 2])
        """
        schema = counts_files.schema(counts_files.whole_head(self._core, self._head()))
        return arrow().Table.from_batches(counts_files.batches(self._core, schema), schema)

    @classmethod
    def from_arrow(
        cls,
        table: object,
        *,
        pattern: object = "gpt2",
        unmatched: Unmatched = "keep",
        special_tokens: Iterable[str] = (),
    ) -> PretokenCounts:
        """Return the counts in a table of `to_arrow`, or in one that another program made.

        Args:
            table: A `pyarrow.Table`, or what `pyarrow.table` takes: an object with `__arrow_c_stream__`, such as a
                data frame of Polars or a relation of DuckDB. It has the columns `pretoken` (text or binary) and
                `count` (whole numbers), and may have `first`. Counts of equal pretokens are added. Without `first`
                the rows are taken to be in the order of first occurrence, which `ties="first"` and `items` use.
            pattern: What cut the text, where the schema has none of the metadata of `to_arrow`, which many programs
                drop. With these metadata, arguments other than the defaults must agree with them.
            unmatched: As `pattern`.
            special_tokens: As `pattern`.

        Raises:
            ImportError: pyarrow is not installed.
            ValueError: A column is missing or of another type, a value is null or negative, or rows are missing; or
                the metadata do not agree with the arguments.

        >>> counts = PretokenCounts({b"low": 5, b"lower": 2})
        >>> PretokenCounts.from_arrow(counts.to_arrow()).items()
        [(b'low', 5), (b'lower', 2)]
        """
        rows = arrow().table(table)
        line = (rows.schema.metadata or {}).get(counts_files.KEY)
        if line is None:
            core = counts_files.counts_of(rows, 0)
            return cls._of(core, patterns.resolve(pattern, unmatched), arguments.special_names(special_tokens))
        metadata = "the metadata of the table"
        head = counts_files.parse(line, metadata, metadata)
        core = counts_files.counts_of(rows, head["bytes"])
        counts_files.check_whole(core, head, "the table")
        counts = cls._of_head(core, head, metadata)
        if names := arguments.special_names(special_tokens):
            check_specials(counts, names)
            counts._special_tokens = names
        resolved = patterns.resolve(pattern, unmatched)
        if (pattern, unmatched) != ("gpt2", "keep") and resolved != counts._pattern:
            raise ValueError(f"the counts were made under {counts._pattern}, not {resolved}: leave the pattern out")
        return counts

    def _like(self, core: _core.PretokenCounts, has_order: bool = True) -> PretokenCounts:
        return PretokenCounts._of(core, self._pattern, self._special_tokens, has_order and self._has_order)

    def __getitem__(self, pretoken: bytes) -> int:
        """Return the count of a pretoken, 0 if it is not there."""
        return self._count(pretoken) or 0

    def __contains__(self, pretoken: object) -> bool:
        return self._count(pretoken) is not None

    def _count(self, pretoken: object) -> int | None:
        if not isinstance(pretoken, bytes):
            raise TypeError(f"a pretoken is bytes, not {type(pretoken).__name__}: {shown(pretoken)}")
        return self._core.get(pretoken)

    def __iter__(self) -> Iterator[bytes]:
        """Return an iterator over the pretokens, in the order of their first occurrence."""
        return (pretoken for pretoken, _ in rows_of(self._core))

    def keys(self) -> list[bytes]:
        """Return the pretokens, in the order of their first occurrence."""
        return list(self)

    def values(self) -> list[int]:
        """Return the counts of `keys`."""
        return [count for _, count in self.items()]

    def __len__(self) -> int:
        return len(self._core)

    def __add__(self, other: PretokenCounts) -> PretokenCounts:
        """Add counts made under the same pattern and special tokens; the text of `other` comes after this text."""
        if not isinstance(other, PretokenCounts):
            return NotImplemented
        if self._pattern != other._pattern:
            raise ValueError(f"counts of different patterns cannot be added: {self._pattern} and {other._pattern}")
        if set(self._special_tokens) != set(other._special_tokens):
            raise ValueError(
                "counts with different special tokens cannot be added: "
                f"{shown(self._special_tokens)} and {shown(other._special_tokens)}"
            )
        return self._like(self._core.plus(other._core), other._has_order)

    def __eq__(self, other: object) -> bool:
        """Return whether counts, pattern and special tokens are the same, in whatever order."""
        if not isinstance(other, PretokenCounts):
            return NotImplemented
        if len(self) != len(other) or self._pattern != other._pattern:
            return False
        if set(self._special_tokens) != set(other._special_tokens):
            return False
        return all(other._core.get(pretoken) == count for pretoken, count in rows_of(self._core))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<PretokenCounts of {len(self)} pretokens, {self.total} in all>"


def rows_of(core: _core.PretokenCounts) -> Iterator[tuple[bytes, int]]:
    """Yield the pretokens with their counts, in the order of their first occurrence."""
    for start in range(0, len(core), _ROWS):
        yield from core.items(start, _ROWS)


def head_of(pattern: Pattern, special_tokens: list[str]) -> Head:
    """Return what counts are made under."""
    return {**pattern.fields(), "special_tokens": special_tokens}


def check_specials(counts: PretokenCounts, names: list[str]) -> None:
    """Check that counts were made with these special tokens."""
    if set(names) != set(counts._special_tokens):
        raise ValueError(
            f"the counts were made with the special tokens {shown(counts._special_tokens)}, not {shown(names)}: "
            "leave special_tokens out, or count anew"
        )
