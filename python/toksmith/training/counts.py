"""Pretoken counts: what training starts from.

A training imports this: what takes long to import (files of counts, processes) is imported on first use.
"""

from __future__ import annotations

import operator
import os

from .. import _core, patterns
from ..common import arguments, memory
from ..common.messages import shown
from ..common.progress import reporter
from ..files import temporary
from . import inputs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, Literal

    from typing_extensions import Self

    from ..common.progress import Report
    from ..patterns import Pattern, Unmatched

    Path_ = str | os.PathLike[str]
    Files = Path_ | Iterable[Path_]
    Errors = Literal["strict", "replace"]


class PretokenCounts:
    """How often each pretoken occurs, with the pattern and the special tokens that it was counted under.

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
    """

    __slots__ = ("_core", "_pattern", "_special_tokens")

    def __init__(
        self,
        mapping: Mapping[bytes, int],
        *,
        pattern: Any = "gpt2",
        unmatched: Unmatched = "keep",
        special_tokens: Iterable[str] = (),
    ) -> None:
        from collections.abc import Mapping

        if not isinstance(mapping, Mapping):
            raise TypeError(f"counts are a mapping of pretokens to counts, not {type(mapping).__name__}")
        for pretoken, count in mapping.items():
            if not isinstance(pretoken, bytes):
                raise TypeError(f"a pretoken is bytes, not {type(pretoken).__name__}: {shown(pretoken)}")
            if not 0 <= operator.index(count) <= 2**63:
                raise ValueError(f"the count of {shown(pretoken)} is {count}, not between 0 and 2^63")
        items = ((pretoken, operator.index(count)) for pretoken, count in mapping.items() if pretoken)
        core = _core.PretokenCounts([(pretoken, count, first) for first, (pretoken, count) in enumerate(items)])
        self._fill(core, patterns.resolve(pattern, unmatched), arguments.special_names(special_tokens))

    def _fill(self, core: _core.PretokenCounts, pattern: Pattern, special_tokens: list[str]) -> Self:
        self._core, self._pattern, self._special_tokens = core, pattern, special_tokens
        return self

    @property
    def total(self) -> int:
        """How many pretokens were counted."""
        return self._core.total()

    def items(self) -> list[tuple[bytes, int]]:
        """Return the pretokens with their counts, in the order of their first occurrence."""
        return self._core.items()

    def first_places(self) -> list[int]:
        """Return where each of `items` occurs first: bytes of text before it in all documents, one behind the other.

        Counts from a mapping are at 0, 1, 2, ….
        """
        return [first for _, _, first in self._core.rows(0, len(self))]

    def most_common(self, n: int | None = None) -> list[tuple[bytes, int]]:
        """Return the `n` most frequent pretokens (default: all), the first-seen first of equals."""
        most = len(self)
        return self._core.most_common(most if n is None else min(max(0, operator.index(n)), most))

    def at_least(self, count: int) -> PretokenCounts:
        """Return the counts without the pretokens that occur less often than `count`."""
        number = operator.index(count)
        if not 0 <= number <= 2**63:
            raise ValueError(f"a count is between 0 and 2^63, not {number}")
        return self._like(self._core.at_least(number))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to a file, with the pattern, the special tokens and the first places.

        A name that ends in `.parquet`, `.arrow` or `.feather` makes a table (columns `pretoken`, `count`, `first`),
        which needs pyarrow; any other a file of toksmith's own, some 12 bytes a pretoken, with a checksum. An older
        file is replaced once the new one is complete.

        Raises:
            OSError: The folder does not exist, the disk is full, …
            ImportError: A table is asked for and pyarrow is not installed.
        """
        from . import counts_file as counts_files

        counts_files.save(self._core, self._head(), path)

    def _head(self) -> dict[str, Any]:
        pattern = self._pattern
        return {
            "pattern": pattern.text,
            "pattern_flags": pattern.flags,
            "unmatched": pattern.unmatched,
            "unicode": pattern.unicode,
            "special_tokens": self._special_tokens,
        }

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PretokenCounts:
        """Read a file of `save`, of any kind.

        Raises:
            FileNotFoundError: There is no such file.
            ValueError: It holds no counts, or is damaged; or its pattern is broken.
            ImportError: It is a table and pyarrow is not installed.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     PretokenCounts({b"low": 5, b"lower": 2}).save(f"{folder}/counts")
        ...     PretokenCounts.load(f"{folder}/counts").items()
        [(b'low', 5), (b'lower', 2)]
        """
        from . import counts_file as counts_files

        core, head = counts_files.load(path)
        # The Unicode version that was counted under stays: with counts under another one there is no sum.
        pattern = patterns.of_source(head["pattern"], head["pattern_flags"], head["unmatched"])
        pattern = pattern._replace(unicode=head["unicode"])
        return cls.__new__(cls)._fill(core, pattern, arguments.special_names(head["special_tokens"]))

    def _like(self, core: _core.PretokenCounts) -> PretokenCounts:
        return PretokenCounts.__new__(PretokenCounts)._fill(core, self._pattern, self._special_tokens)

    def __getitem__(self, pretoken: bytes) -> int:
        return self._core.get(pretoken)

    def __len__(self) -> int:
        return len(self._core)

    def __add__(self, other: PretokenCounts) -> PretokenCounts:
        """Add counts made under the same pattern and special tokens; all of `other` comes after all of this."""
        if not isinstance(other, PretokenCounts):
            return NotImplemented
        if self._pattern != other._pattern:
            raise ValueError(f"counts of different patterns cannot be added: {self._pattern} and {other._pattern}")
        if set(self._special_tokens) != set(other._special_tokens):
            raise ValueError(
                "counts with different special tokens cannot be added: "
                f"{self._special_tokens} and {other._special_tokens}"
            )
        return self._like(self._core.plus(other._core))

    def __repr__(self) -> str:
        return f"<PretokenCounts of {len(self)} pretokens, {self.total} in all>"


def count_pretokens(
    files: Files,
    *,
    special_tokens: Iterable[str] = (),
    pattern: Any = "gpt2",
    unmatched: Unmatched = "keep",
    workers: int | None = None,
    memory_limit: int | str | None = None,
    min_pretoken_count: int = 1,
    field: str | None = None,
    column: str | None = None,
    document_separator: str | None = None,
    progress: bool | Report = False,
    errors: Errors = "strict",
    _chunk_bytes: int | None = None,
    _window_bytes: int | None = None,
    _table_bytes: int | None = None,
) -> PretokenCounts:
    """Count the pretokens of files, in parallel and in bounded memory.

    Args:
        files: A path, a glob, a folder, or a list of them. What a name ends in says what it is: `.gz`, `.zst` and
            `.xz` are read through their decompressors; each line of a `.jsonl` (or `.ndjson`, also compressed) is a
            JSON object and each row of a `.parquet` (which needs pyarrow) a record, and each record a document; all
            else is text, a document each. Nothing is read whole; pipes are read as they come.
        special_tokens: They separate documents and are not counted.
        pattern: What cuts text into pretokens, as in `Tokenizer`.
        unmatched: As in `Tokenizer`.
        workers: Threads at the most; default: all cores. A pattern that `regex` runs is counted in as many processes,
            where the files are large enough to make up for their start.
        memory_limit: Bytes, or a text such as "2GB", for the tables, the buffers and the result of counting; default:
            half of what the machine, or the process's cgroup, has. What does not fit goes to a temporary file (in
            `tempfile.gettempdir()`) meanwhile; the result is the same, and has to fit into half of the limit. This
            is no limit of the process. What it held before comes on top, and so does a single document, or a single
            pretoken, without a place to cut it. Tables and buffers are never smaller than for a limit of 32 MB: so
            the peak of a smaller one is up to 30 MB above it.
        min_pretoken_count: Pretokens that occur less often are left out of the result.
        field: The name of the text in the lines of `.jsonl` files; default "text".
        column: The column of the text in Parquet files; default "text".
        document_separator: A string that separates documents in files of text, as a special token does, and is none.
        progress: True shows a bar on standard error; a callable gets (stage, done, total), in bytes of the files.
        errors: "strict" refuses text that is not UTF-8, "replace" reads invalid bytes as U+FFFD.

    Raises:
        FileNotFoundError: A file is missing, or a glob or folder holds none.
        ValueError: An option is wrong; a file is not UTF-8, is damaged, or a record has no text (names file and
            place).
        OSError: A file cannot be read, or its size or its time of change becomes another while it is read: what
            grows, such as a log, is counted from a copy. Or the temporary file cannot be written, because the disk
            is full.
        MemoryError: The different pretokens do not fit into the limit: says how many there are, and what would fit.
        ImportError: A file is Parquet and pyarrow is not installed.
    """
    specials = arguments.special_names(special_tokens)
    options: dict[str, Any] = {
        "special_tokens": specials,
        "separator": arguments.checked_separator(document_separator),
        "pattern": patterns.resolve(pattern, unmatched),
        "workers": arguments.checked_workers(workers),
        "replace": arguments.replaces_invalid(errors),
        "memory_limit": memory.limit(memory_limit),
        "min_count": arguments.checked_limit("min_pretoken_count", min_pretoken_count, 0),
    }
    found = inputs.of_files(files, field, column)
    sizes: dict[str, Any] = {"chunk_bytes": _chunk_bytes, "window_bytes": _window_bytes, "table_bytes": _table_bytes}
    with reporter(progress) as report:
        return of_sources(found, **options, report=report, **sizes)


def of_sources(
    found: list[inputs.Source],
    *,
    special_tokens: list[str],
    separator: str | None,
    pattern: Pattern,
    workers: int,
    replace: bool,
    memory_limit: int,
    min_count: int = 1,
    report: Report | None = None,
    **sizes: int | None,
) -> PretokenCounts:
    """Count files under options that are checked."""
    cut_at = _separators(special_tokens, separator)
    counting = _counting(
        cut_at,
        pattern,
        workers=workers,
        replace=replace,
        memory_limit=memory_limit,
        min_count=min_count,
        **sizes,
    )
    parts = [found]
    if workers > 1 and pattern.text is not None and pattern.name is None:
        from . import subprocesses

        most = max(memory_limit // subprocesses.LEAST_LIMIT - 1, 1)
        parts = subprocesses.parts(found, min(workers, most), [name.encode() for name in cut_at])
    if len(parts) > 1:
        job = {
            "special_tokens": special_tokens,
            "separator": separator,
            "pattern": pattern.text,
            "flags": pattern.flags,
            "unmatched": pattern.unmatched,
            "replace": replace,
            "memory_limit": max(memory_limit // (len(parts) + 1), 1),
        }
        for counts in subprocesses.count(parts, job, report):
            counting.add(counts._core)
    else:
        inputs.count(counting, found, replace, report)
    return PretokenCounts.__new__(PretokenCounts)._fill(counting.finish(), pattern, special_tokens)


def count_pretokens_from_iterator(
    texts: Iterable[str | bytes],
    *,
    special_tokens: Iterable[str] = (),
    pattern: Any = "gpt2",
    unmatched: Unmatched = "keep",
    workers: int | None = None,
    memory_limit: int | str | None = None,
    min_pretoken_count: int = 1,
    document_separator: str | None = None,
    progress: bool | Report = False,
    errors: Errors = "strict",
    _table_bytes: int | None = None,
) -> PretokenCounts:
    """Count the pretokens of texts, each a document of its own. A bare str or bytes is one text.

    The texts are taken one by one, and only a few are held at a time. Options and errors are those of
    `count_pretokens`.
    """
    specials = arguments.special_names(special_tokens)
    resolved = patterns.resolve(pattern, unmatched)
    replace = arguments.replaces_invalid(errors)
    counting = _counting(
        _separators(specials, arguments.checked_separator(document_separator)),
        resolved,
        workers=arguments.checked_workers(workers),
        replace=replace,
        memory_limit=memory.limit(memory_limit),
        min_count=arguments.checked_limit("min_pretoken_count", min_pretoken_count, 0),
        table_bytes=_table_bytes,
    )
    items = [texts] if isinstance(texts, (str, bytes)) else texts
    with reporter(progress) as report:
        counting.texts(items, replace=replace, progress=report)
        core = counting.finish()
    return PretokenCounts.__new__(PretokenCounts)._fill(core, resolved, specials)


def _separators(special_tokens: list[str], separator: str | None) -> list[str]:
    return special_tokens if separator is None else list(dict.fromkeys([*special_tokens, separator]))


def _counting(separators: list[str], pattern: Pattern, **options: Any) -> _core.Counting:
    return _core.Counting(separators, pattern.core(), temporary=temporary.folder(), **options)


def with_options_of(
    counts: PretokenCounts, special_tokens: Iterable[str], pattern: Any, unmatched: Unmatched
) -> PretokenCounts:
    """Check that options beside counts are those that the counts were made under, or the defaults."""
    if names := arguments.special_names(special_tokens):
        if set(names) != set(counts._special_tokens):
            raise ValueError(
                f"the counts were made with the special tokens {counts._special_tokens}, not {names}: "
                "leave special_tokens out, or count anew"
            )
        counts = PretokenCounts.__new__(PretokenCounts)._fill(counts._core, counts._pattern, names)
    given = patterns.resolve(pattern, unmatched)
    if (pattern, unmatched) != ("gpt2", "keep") and given != counts._pattern:
        raise ValueError(f"the counts were made under {counts._pattern}, not {given}: leave the pattern out")
    return counts
