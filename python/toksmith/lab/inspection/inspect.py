"""A vocabulary at a glance, and how texts use it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from ..._internal import arguments
from ..._internal.choices import Errors
from ..._internal.progress import Report, reporter, summing
from ...files import documents, inputs
from ...tokenizer import Tokenizer
from ..text import at_least, quoted
from . import vocabulary as figures
from .reach import reach
from .report import Inspection
from .usage import Counter, usage


def inspect(
    tokenizer: Tokenizer,
    on: Any = None,
    *,
    top: int = 10,
    special: bool = True,
    field: str | None = None,
    column: str | None = None,
    document_separator: str | None = None,
    errors: Errors = "strict",
    workers: int | None = None,
    progress: bool | Report = False,
) -> Inspection:
    """Return what the vocabulary is made of, which tokens no text is encoded to, and how texts use it.

    `print` shows it, a notebook draws it, and `to_dict` gives plain data. The figures are defined in
    `docs/inspecting.md`.

    Args:
        tokenizer: The tokenizer.
        on: Texts to count the uses of tokens on: a path, a glob, a folder, or "-" for standard input; a list or
            tuple of these; or any other iterable, of texts. None looks at the vocabulary alone.
        top: How many tokens each list of examples has at most.
        special: Whether special tokens in the texts become their ids.
        field: The name of the text in each line of JSON; "text" by default.
        column: The column of the text in Parquet files; "text" by default.
        document_separator: A string between two documents of a text.
        errors: "strict" refuses files that are not UTF-8, "replace" reads invalid bytes as U+FFFD.
        workers: Threads; default: all cores.
        progress: True shows a bar on standard error; a callable gets (stage, done, total), in bytes.

    Cost: each token is encoded once, and texts are encoded once: some seconds for a vocabulary of 200,000 and
    100 MB. Memory does not grow with the length of texts, beyond the longest record of JSON lines or Parquet.

    Raises:
        OSError: A file cannot be read, or changes meanwhile.
        ValueError: A file is not UTF-8, is damaged, or a record has no text; names file and place.

    >>> import toksmith
    >>> usage = toksmith.inspect(toksmith.Tokenizer(), iter(["low low", "lower"])).usage
    >>> usage.tokens, usage.most_used[0]
    (12, Used(id=108, token=b'l', uses=3))
    """
    top = at_least("top", top, 0)
    arguments.replaces_invalid(errors)
    separator = arguments.checked_separator(document_separator)
    sources = None if on is None else _sources(on, field, column)
    if isinstance(sources, list) and errors == "replace":
        inputs.check_plain(source for source in sources if source.path != inputs.DEVICE)
    vocabulary = figures.Vocabulary(tokenizer)
    reached = reach(vocabulary, workers)
    tree = figures.Tree(vocabulary)
    used = None
    if sources is not None:
        counter = Counter(tokenizer, vocabulary.ids, special, workers)
        with reporter(progress) as report:
            counter.add(_documents(sources, errors, separator, report))
        used = usage(vocabulary, tree, reached, counter, top)
    return Inspection(
        sizes=figures.sizes(vocabulary),
        special=tuple(vocabulary.token(id) for id in sorted(vocabulary.special)),
        lengths=figures.lengths(vocabulary, top),
        contents=figures.contents(vocabulary),
        partial=figures.partial(vocabulary, top),
        reach=reached,
        merging=figures.merging(vocabulary, tree, top),
        duplicates=figures.duplicates(vocabulary, top),
        usage=used,
    )


def _sources(on: Any, field: str | None, column: str | None) -> list[inputs.Source] | Iterable[str]:
    """Return the files that the argument stands for, or its texts."""
    if isinstance(on, (str, bytes, os.PathLike)):
        on = [on]
    if not isinstance(on, (list, tuple)):
        if field is not None or column is not None:
            raise ValueError("field and column are for files; texts were given")
        if not isinstance(on, Iterable):
            raise TypeError(f"on is paths, or an iterable of texts, not {type(on).__name__}")
        return on
    if not on:
        raise ValueError("on names no file")
    paths = [inputs.DEVICE if path == "-" else path for path in on]
    if paths.count(inputs.DEVICE) > 1:
        raise ValueError("standard input is given twice")
    return inputs.of_files(paths, field, column, inputs.TEXTS_TO_ENCODE)


def _documents(
    sources: list[inputs.Source] | Iterable[str], errors: str, separator: str | None, report: Report | None
) -> Iterator[Iterable[str]]:
    if not isinstance(sources, list):
        for text in sources:
            if not isinstance(text, str):
                raise TypeError(f"a text is a str, not {type(text).__name__}: {quoted(text)}; for files give a list")
            yield from [[text]] if separator is None else documents.split([text], separator)
        return
    read = summing(report, "encode", sum(_size(source.path) for source in sources))
    for source in sources:
        yield from documents.of(source, errors, read, separator)


def _size(path: str) -> int:
    return 0 if path == inputs.DEVICE else os.path.getsize(path)  # noqa: PTH202
