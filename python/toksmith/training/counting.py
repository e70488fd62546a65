"""Counting pretokens: the public functions. Patterns of `regex` are counted in processes, all others on threads."""

from __future__ import annotations

import os

from .. import _core, patterns
from .._internal import arguments, memory
from .._internal.progress import reporter
from ..files import inputs
from . import counter, coverage
from .counts import PretokenCounts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .._internal.choices import Errors, Unmatched
    from .._internal.progress import Report
    from ..patterns import Pattern

    Path_ = str | os.PathLike[str]
    Files = Path_ | Iterable[Path_]


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
) -> PretokenCounts:
    """Count the pretokens of files, in parallel and in bounded memory.

    Args:
        files: A path, a glob, a folder, or a list of them. The suffix of a name decides how a file is read: `.gz`,
            `.zst` and `.xz` are decompressed; each line of a `.jsonl` (or `.ndjson`, also compressed) is a JSON
            object and each row of a `.parquet` (which needs pyarrow) a record, and each record is a document; every
            other file is text, a document each. No file is read whole; pipes are read as they come.
        special_tokens: They separate documents and are not counted.
        pattern: What cuts text into pretokens, as in `Tokenizer`.
        unmatched: As in `Tokenizer`.
        workers: Threads at the most; default: all cores. A pattern that `regex` runs is counted in as many processes,
            where the files are large enough to make up for their start.
        memory_limit: Bytes, or a text such as "2GB", for the tables, the buffers and the result of counting; default:
            half of what the machine, or the process's cgroup, has. Counts that do not fit go to a temporary file (in
            `tempfile.gettempdir()`) meanwhile; the result is the same, and has to fit into half of the limit. This
            does not limit the whole process: the memory that it held before comes in addition, and so does a single
            document, or a single pretoken, without a place to cut it. Tables and buffers are never smaller than for
            a limit of 32 MB, so with a smaller limit the peak is up to 30 MB above it.
        min_pretoken_count: Pretokens that occur less often are left out of the result.
        field: The name of the text in the lines of `.jsonl` files; default "text".
        column: The column of the text in Parquet files; default "text".
        document_separator: A string that separates documents in files of text like a special token, but is no token.
        progress: True shows a bar on standard error; a callable gets (stage, done, total), in bytes of the files.
        errors: "strict" refuses text that is not UTF-8, "replace" reads invalid bytes as U+FFFD.

    Raises:
        FileNotFoundError: A file is missing, or a glob or folder holds none.
        ValueError: An option is wrong; a file is not UTF-8, is damaged, or a record has no text (names file and
            place).
        OSError: A file cannot be read, or its size or its time of change differs after reading: count a growing
            file, such as a log, from a copy. Or the temporary file cannot be written, because the disk is full.
        MemoryError: The different pretokens do not fit into the limit: says how many there are, and what would fit.
        ImportError: A file is Parquet and pyarrow is not installed.

    Warns:
        UserWarning: The pattern matches almost nothing of the text.
    """
    _check_uncounted(files)
    specials = arguments.special_names(special_tokens)
    separator = arguments.checked_separator(document_separator)
    resolved = patterns.resolve(pattern, unmatched)
    options: dict[str, Any] = {
        "workers": arguments.checked_workers(workers),
        "replace": arguments.replaces_invalid(errors),
        "memory_limit": memory.limit(memory_limit),
        "min_count": arguments.checked_limit("min_pretoken_count", min_pretoken_count, 0),
    }
    found = inputs.of_files(files, field, column, inputs.TEXTS_TO_TRAIN)
    counting = counter.counter(specials, separator, resolved, **options)
    # The core runs a pattern of `regex` on one thread at a time: only more processes are faster.
    in_processes = options["workers"] > 1 and resolved.engine().engine == "regex"
    if options["replace"]:
        inputs.check_plain(found)
    with reporter(progress) as report:
        try:
            if not in_processes or not _count_in_processes(
                counting, found, specials, separator, resolved, options, report
            ):
                inputs.count(counting, found, options["replace"], report)
        except ValueError as error:
            raise inputs.explained(error, found) from None
        core = counting.finish()
    coverage.warn_if_hardly_any(core, resolved)
    return PretokenCounts._of(core, resolved, specials)


def _count_in_processes(
    counting: _core.Counting,
    found: list[inputs.Source],
    specials: list[str],
    separator: str | None,
    pattern: Pattern,
    options: dict[str, Any],
    report: Report | None,
) -> bool:
    """Count files in several processes, if they are large enough to make up for the start of one."""
    from . import subprocesses

    limit = options["memory_limit"]
    most = max(limit // subprocesses.LEAST_LIMIT - 1, 1)
    cut_at = [name.encode() for name in counter.separators(specials, separator)]
    parts = subprocesses.parts(found, min(options["workers"], most), cut_at)
    if len(parts) == 1:
        return False
    job = {
        "special_tokens": specials,
        "separator": separator,
        "pattern": pattern.text,
        "flags": pattern.flags,
        "unmatched": pattern.unmatched,
        "replace": options["replace"],
        "memory_limit": max(limit // (len(parts) + 1), 1),
    }
    for counts in subprocesses.count(parts, job, report):
        counting.add(counts._core)
    return True


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
) -> PretokenCounts:
    """Count the pretokens of texts, each a document of its own. A bare str or bytes is one text.

    The texts are taken one by one, and only a few are held at a time. Options and errors are those of
    `count_pretokens`.
    """
    _check_uncounted(texts)
    specials = arguments.special_names(special_tokens)
    resolved = patterns.resolve(pattern, unmatched)
    replace = arguments.replaces_invalid(errors)
    counting = counter.counter(
        specials,
        arguments.checked_separator(document_separator),
        resolved,
        workers=arguments.checked_workers(workers),
        replace=replace,
        memory_limit=memory.limit(memory_limit),
        min_count=arguments.checked_limit("min_pretoken_count", min_pretoken_count, 0),
    )
    items = [texts] if isinstance(texts, (str, bytes)) else texts
    with reporter(progress) as report:
        counting.texts(items, replace=replace, progress=report)
        core = counting.finish()
    coverage.warn_if_hardly_any(core, resolved)
    return PretokenCounts._of(core, resolved, specials)


def _check_uncounted(documents: Any) -> None:
    """Refuse counts, which could be taken for an iterable of bytes."""
    if isinstance(documents, PretokenCounts):
        raise TypeError("PretokenCounts are counted already; give them to train")
