"""`Tokenizer.inspect`: a vocabulary at a glance, and how texts use it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..._internal import arguments
from ..._internal.messages import shown
from ..._internal.progress import reporter, summing
from ...files import documents, inputs
from ...formats import records
from . import merging, reach, results, text_figures, usage, vocabulary

if TYPE_CHECKING:
    from ..._internal.choices import Errors
    from ..._internal.progress import Report
    from ...formats.parts import Parts


@dataclass(frozen=True, repr=False)
class Inspection:
    """The result of `Tokenizer.inspect`. `print` shows it, a notebook draws it, and `to_dict` gives plain data.

    Attributes:
        sizes: How large the vocabulary is, and by which rules it encodes.
        special: The special tokens, by id.
        lengths: How long the ordinary tokens are.
        contents: What they are made of.
        partial: Which of them are no whole characters.
        reach: Which of them some text is encoded to, and which ones no text is encoded to.
        merging: How they are merged.
        duplicates: Which of them differ only by case or by a space.
        usage: How the texts use the vocabulary; None without texts.
    """

    sizes: results.Sizes
    special: tuple[results.VocabularyToken, ...]
    lengths: results.Lengths
    contents: results.Contents
    partial: results.Partial
    reach: results.Reach
    merging: results.Merging
    duplicates: results.Duplicates
    usage: results.Usage | None

    def to_dict(self) -> dict[str, Any]:
        r"""Return everything but the arrays as dicts, lists, numbers and str.

        In the str of a token a byte that is not text is `\xNN`, and a backslash is `\\`.
        """
        found: dict[str, Any] = records.plain(self)
        return found

    def __repr__(self) -> str:
        texts = "" if self.usage is None else f", {self.usage.tokens:,} in texts"
        return f"<Inspection of {self.sizes.tokens:,} tokens{texts}; print it>"

    def __str__(self) -> str:
        from . import drawing

        return drawing.as_text(self)

    def _repr_html_(self) -> str:
        from . import drawing

        return drawing.as_html(self)


def inspect(
    parts: Parts,
    on: Any,
    *,
    top: int,
    special: bool,
    field: str | None,
    column: str | None,
    document_separator: str | None,
    errors: Errors,
    workers: int | None,
    progress: bool | Report,
) -> Inspection:
    """See `Tokenizer.inspect`."""
    limit, threads = arguments.checked_limit("top", top, 0), arguments.checked_workers(workers)
    arguments.replaces_invalid(errors)
    separator = arguments.checked_separator(document_separator)
    sources = None if on is None else _sources(on, field, column)
    if isinstance(sources, list) and errors == "replace":
        inputs.check_plain(source for source in sources if source.path != inputs.DEVICE)
    looked_at = vocabulary.Vocabulary(parts)
    found = reach.reach(looked_at, threads)
    tree = merging.Tree(looked_at)
    used = None
    if sources is not None:
        counter = usage.Counter(parts.core, looked_at.ids, special, threads)
        with reporter(progress) as report:
            counter.add(_documents(sources, errors, separator, report))
        used = text_figures.usage(looked_at, tree, found, counter, limit)
    return Inspection(
        sizes=vocabulary.sizes(looked_at),
        special=tuple(looked_at.token(id) for id in sorted(looked_at.special)),
        lengths=vocabulary.lengths(looked_at, limit),
        contents=vocabulary.contents(looked_at),
        partial=vocabulary.partial(looked_at, limit),
        reach=found,
        merging=merging.merging(looked_at, tree, limit),
        duplicates=vocabulary.duplicates(looked_at, limit),
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
    paths = [inputs.DEVICE if one == "-" else one for one in on]
    if paths.count(inputs.DEVICE) > 1:
        raise ValueError("standard input is given twice")
    return inputs.of_files(paths, field, column, inputs.TEXTS_TO_ENCODE)


def _documents(
    sources: list[inputs.Source] | Iterable[str], errors: str, separator: str | None, report: Report | None
) -> Iterator[Iterable[str]]:
    if not isinstance(sources, list):
        for text in sources:
            if not isinstance(text, str):
                raise TypeError(f"a text is a str, not {type(text).__name__}: {shown(text)}; for files give a list")
            yield from [[text]] if separator is None else documents.split([text], separator)
        return
    read = summing(report, "encode", sum(_size(source.path) for source in sources))
    for source in sources:
        yield from documents.of(source, errors, read, separator)


def _size(path: str) -> int:
    return 0 if path == inputs.DEVICE else os.path.getsize(path)  # noqa: PTH202
