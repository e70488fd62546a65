"""Counting pretokens: the public functions."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .. import _core, patterns
from .._internal import arguments, memory
from .._internal.progress import reporter
from ..corpus import Corpus, TextSources
from ..files import parquet
from . import counter, coverage
from .counts import PretokenCounts

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._internal.choices import Unmatched
    from .._internal.progress import Report
    from ..corpus import CorpusOptions


def count_pretokens(
    sources: Corpus | TextSources,
    *,
    special_tokens: Iterable[str] = (),
    pattern: Any = "gpt2",
    unmatched: Unmatched = "keep",
    workers: int | None = None,
    memory_limit: int | str | None = None,
    min_pretoken_count: int = 1,
    progress: bool | Report = False,
    **corpus: Unpack[CorpusOptions],
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
            `tempfile.gettempdir()`) meanwhile; the result is the same, and has to fit into half of the limit. This
            does not limit the whole process: the memory that it held before comes in addition, and so does a single
            document, or a single pretoken, without a place to cut it. Tables and buffers are never smaller than for
            a limit of 32 MB, so with a smaller limit the peak is up to 30 MB above it.
        min_pretoken_count: Pretokens that occur less often are left out of the result.
        progress: True shows a bar on standard error; a callable gets (stage, done, total), in bytes of the files.
        corpus: How the texts are read: the options `field`, `column`, `document_separator` and `errors` of `Corpus`.

    Raises:
        FileNotFoundError: A file is missing, or a glob or folder has none.
        ValueError: An option is wrong; a file is not UTF-8, is damaged, or a record has no text (names file and
            place).
        OSError: A file cannot be read, or its size or its time of change differs after reading: count a growing
            file, such as a log, from a copy. Or the temporary file cannot be written, because the disk is full.
        MemoryError: The different pretokens do not fit into the limit: says how many there are, and what would fit.
        ImportError: A file is Parquet and pyarrow is not installed.

    Warns:
        UserWarning: The pattern matches almost nothing of the text.
    """
    if isinstance(sources, PretokenCounts):
        raise TypeError("PretokenCounts are counted already; give them to train")
    names, resolved = arguments.special_names(special_tokens), patterns.resolve(pattern, unmatched)
    threads, limit = arguments.checked_workers(workers), memory.limit(memory_limit)
    min_count = arguments.checked_limit("min_pretoken_count", min_pretoken_count, 0)
    texts = Corpus.of(sources, **corpus)
    texts.check_local()
    counting = counter.counter(
        names,
        texts.document_separator,
        resolved,
        workers=threads,
        replace=texts.replaces_invalid,
        memory_limit=limit,
        min_count=min_count,
    )
    with reporter(progress) as report, texts.naming():
        _count(counting, texts, report)
        core = counting.finish()
    coverage.warn_if_hardly_any(core, resolved)
    return PretokenCounts._of(core, resolved, names)


def _count(counting: _core.Counting, texts: Corpus, report: Report | None) -> None:
    replace = texts.replaces_invalid
    for kind, group in itertools.groupby(texts.sources, lambda source: source.kind):
        if kind == "file":
            counting.files(list(group), progress=report)
        elif kind == "column":
            counting.texts(parquet.texts(group, texts.errors), replace=replace, progress=report)
        else:
            for source in group:
                counting.texts(source.texts or (), replace=replace, progress=report)


def count_pretokens_from_iterator(texts: Iterable[str | bytes], **options: Any) -> PretokenCounts:
    """Count the pretokens of texts, each a document. A bare str or bytes is one text. See `count_pretokens`."""
    return count_pretokens(as_iterator(texts), **options)


def as_iterator(texts: Iterable[str | bytes]) -> Iterator[str | bytes]:
    """Return an iterator over texts. It is never taken for paths, as a list would be."""
    if isinstance(texts, PretokenCounts):
        raise TypeError("PretokenCounts are counted already; give them to train")
    return iter([texts] if isinstance(texts, (str, bytes)) else texts)
