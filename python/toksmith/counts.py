"""Pretoken counts: what training starts from."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from . import _core, arguments, patterns, sources
from .progress import reporter

if TYPE_CHECKING:
    from typing_extensions import Self

    from .patterns import Pattern, Unmatched
    from .progress import Report

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
        if not isinstance(mapping, Mapping):
            raise TypeError(f"counts are a mapping of pretokens to counts, not {type(mapping).__name__}")
        for pretoken, count in mapping.items():
            if not isinstance(pretoken, bytes):
                raise TypeError(f"a pretoken is bytes, not {type(pretoken).__name__}: {pretoken!r}")
            if not 0 <= operator.index(count) <= 2**63:
                raise ValueError(f"the count of {pretoken!r} is {count}, not between 0 and 2^63")
        core = _core.PretokenCounts([(pretoken, count) for pretoken, count in mapping.items() if pretoken and count])
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

    def most_common(self, n: int | None = None) -> list[tuple[bytes, int]]:
        """Return the `n` most frequent pretokens (default: all), the first-seen first of equals."""
        return sorted(self.items(), key=lambda item: -item[1])[:n]

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
        core = self._core.plus(other._core)
        return PretokenCounts.__new__(PretokenCounts)._fill(core, self._pattern, self._special_tokens)

    def __repr__(self) -> str:
        return f"<PretokenCounts of {len(self)} pretokens, {self.total} in all>"


def count_pretokens(
    files: Files,
    *,
    special_tokens: Iterable[str] = (),
    pattern: Any = "gpt2",
    unmatched: Unmatched = "keep",
    workers: int | None = None,
    progress: bool | Report = False,
    errors: Errors = "strict",
    _chunk_bytes: int | None = None,
    _window_bytes: int | None = None,
) -> PretokenCounts:
    """Count the pretokens of files, in parallel. Takes and raises what `train` does."""
    specials = arguments.special_names(special_tokens)
    resolved = patterns.resolve(pattern, unmatched)
    with reporter(progress) as report:
        core = _core.PretokenCounts.of_files(
            sources.expand(files),
            specials,
            resolved.core(),
            workers=arguments.checked_workers(workers),
            replace=arguments.replaces_invalid(errors),
            progress=report,
            chunk_bytes=_chunk_bytes,
            window_bytes=_window_bytes,
        )
    return PretokenCounts.__new__(PretokenCounts)._fill(core, resolved, specials)


def count_pretokens_from_iterator(
    texts: Iterable[str | bytes],
    *,
    special_tokens: Iterable[str] = (),
    pattern: Any = "gpt2",
    unmatched: Unmatched = "keep",
    workers: int | None = None,
    progress: bool | Report = False,
    errors: Errors = "strict",
) -> PretokenCounts:
    """Count the pretokens of texts, each a document of its own. A bare str or bytes is one text."""
    specials = arguments.special_names(special_tokens)
    resolved = patterns.resolve(pattern, unmatched)
    arguments.checked_workers(workers)
    items = [texts] if isinstance(texts, (str, bytes)) else texts
    with reporter(progress) as report:
        core = _core.PretokenCounts.of_texts(
            items, specials, resolved.core(), replace=arguments.replaces_invalid(errors), progress=report
        )
    return PretokenCounts.__new__(PretokenCounts)._fill(core, resolved, specials)


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
