"""Counting pretokens, with a warning for a pattern that matches almost nothing."""

import heapq
import itertools
import tempfile
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from .. import _core, patterns
from .._internal import arguments, memory
from .._internal.choices import Unmatched
from .._internal.messages import shown
from .._internal.progress import Report, reporter
from ..corpus import Corpus, TextSources
from ..files import tables
from ..patterns import Pattern
from .counts import PretokenCounts, rows_of

_MIN_SHARE = 0.001
"""Share of the text, by bytes, that a pattern should match."""
_MIN_TEXT = 1000
"""Bytes of text below which a share says little."""
_MAX_TRIED = 1000
"""Maximum number of pretokens that are tried: those that make up most of the text."""
# Bytes that are read and held at a time; None leaves the sizes to the core. Tests make them small, so that little
# text meets every border.
CHUNK_BYTES: int | None = None
TABLE_BYTES: int | None = None


@arguments.naming_keywords
def count_pretokens(
    sources: Corpus | TextSources,
    *,
    special_tokens: Iterable[str] = (),
    pattern: object = "gpt2",
    unmatched: Unmatched = "keep",
    workers: int | None = None,
    memory_limit: int | str | None = None,
    min_pretoken_count: int = 1,
    progress: bool | Report = False,
) -> PretokenCounts:
    """Count the pretokens of texts, in parallel and in bounded memory.

    Args:
        sources: A path, a glob, a folder, "-" for standard input, or a list of them; any other iterable, of texts; or
            a `Corpus`. No file is read whole; pipes are read as they come. Texts are taken one by one.
        special_tokens: They separate documents and are not counted.
        pattern: What cuts the text into pretokens, as in `Tokenizer`.
        unmatched: As in `Tokenizer`.
        workers: Maximum number of threads; default: all cores. A pattern that `regex` runs takes one.
        memory_limit: Bytes, or a text such as "2GB", for the tables, the buffers and the result of counting; default:
            half of what the machine, or the process's cgroup, has. Counts that do not fit go to a temporary file (in
            `tempfile.gettempdir()`) meanwhile; the result is the same, and has to fit into three quarters of it. In
            addition comes what the process held before, and a document or a pretoken without a place to cut it.
        min_pretoken_count: Pretokens that occur less often are left out of the result.
        progress: True shows a bar on standard error; a callable gets (stage, done, total), in bytes of the files.

    Raises:
        FileNotFoundError: A file is missing, or a glob or folder has none.
        ValueError: An option is wrong; a file is not UTF-8, is damaged, or a record has no text (names file and
            place).
        OSError: A file cannot be read, or its size or its time of change differs after reading: count a growing
            file, such as a log, from a copy. Or the temporary file cannot be written, because the disk is full.
        MemoryError: The different pretokens do not fit into the limit: says how many there are, and what would fit.
        ImportError: A file is Parquet or Arrow, and pyarrow is not installed.

    Warns:
        UserWarning: The pattern matches almost nothing of the text.
    """
    if isinstance(sources, PretokenCounts):
        raise TypeError("PretokenCounts are counted already; give them to train")
    names, resolved = arguments.special_names(special_tokens), patterns.resolve(pattern, unmatched)
    threads, limit = arguments.checked_workers(workers), memory.limit(memory_limit)
    min_count = arguments.checked_limit("min_pretoken_count", min_pretoken_count, 0)
    return counted(Corpus.of(sources), names, resolved, threads, limit, min_count, progress, memory.Use(limit))


def counted(
    texts: Corpus,
    special_tokens: list[str],
    pattern: Pattern,
    workers: int,
    memory_limit: int,
    min_count: int,
    progress: bool | Report,
    use: memory.Use,
    refuse: Callable[[_core.OversizedCounts], object] | None = None,
) -> PretokenCounts:
    """Count the pretokens of texts. `refuse` may save counts that do not fit into the limit, and raise an error."""
    texts.check_local()
    with reporter(progress, use.facts) as report, texts.naming():
        limits = {"workers": workers, "memory_limit": memory_limit, "min_count": min_count}
        counting = begun(texts, special_tokens, pattern.core(), report, **limits)
        core = counting.finish(refuse)
    _warn_if_hardly_any(core, pattern)
    return PretokenCounts._of(core, pattern, special_tokens)


def counter(special_tokens: list[str], cuts: _core.Pretokenizer, **options: Any) -> _core.Counting:
    """Return a counter that has counted nothing yet. The options are those of the core, checked."""
    sizes: Any = {"chunk_bytes": CHUNK_BYTES, "table_bytes": TABLE_BYTES}
    return _core.Counting(special_tokens, cuts, temporary=tempfile.gettempdir(), **sizes, **options)


def begun(
    texts: Corpus, special_tokens: list[str], cuts: _core.Pretokenizer, report: Report | None, **options: Any
) -> _core.Counting:
    """Return a counter that has counted all texts of a corpus, and is not finished."""
    replace, separator = texts.replaces_invalid, texts.document_separator
    counting = counter(special_tokens, cuts, replace=replace, separator=separator, **options)
    for kind, group in itertools.groupby(texts.sources, lambda source: source.kind):
        if kind == "file":
            counting.files(list(group), progress=report)
        elif kind == "column":
            counting.texts(tables.texts(group, texts.errors), progress=report)
        else:
            for source in group:
                own = source.texts or ()
                counting.texts(own if separator is None else texts.texts_of(own), replace=replace, progress=report)
    return counting


def _warn_if_hardly_any(counts: _core.PretokenCounts, pattern: Pattern) -> None:
    """Warn if a pattern of `regex` matched less than a thousandth of the text: the user hardly meant this pattern.

    Cost: a pass over the counts, after `regex` has matched all of the text. Patterns that have a name match all text.
    """
    if pattern.text is None or pattern.name is not None:
        return
    if pattern.unmatched == "keep":
        rows = ((len(pretoken) * count, pretoken) for pretoken, count in rows_of(counts))
        largest = heapq.nlargest(_MAX_TRIED, rows)
        match, matched, total = pattern.searched().match, 0, sum(size for size, _ in largest)
        for size, pretoken in largest:
            prefix = match(pretoken.decode("utf-8", "surrogateescape"))
            matched += size if prefix and prefix.end() else 0
    else:  # text that was not matched is not in the pretokens
        matched, total = sum(len(pretoken) * count for pretoken, count in rows_of(counts)), counts.end_place()
    if total < _MIN_TEXT or matched >= _MIN_SHARE * total:
        return
    unmatched = "kept as pieces of its own" if pattern.unmatched == "keep" else "lost"
    share = f"{100 * matched / total:.2g}%"
    warnings.warn(
        f"the pattern {shown(pattern.text)} matches {share} of the text, and all other text is {unmatched}: "
        "is it the expression that you mean? toksmith.patterns.NAMED has the patterns that have names",
        stacklevel=5,
    )
