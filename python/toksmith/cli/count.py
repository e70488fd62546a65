"""`toksmith count`."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from .._internal import arguments
from .._internal.progress import reporter, summing
from .._internal.tables import columns
from ..files import inputs
from ..lab.spans import visible
from . import streams
from .options import (
    DOCUMENTS,
    FILES,
    STRICT,
    TOKENIZER,
    ColumnOption,
    Errors,
    ErrorsOption,
    FieldOption,
    GivenPatternOption,
    GivenSpecialsOption,
    GivenUnmatchedOption,
    JsonOption,
    NoSpecialOption,
    ProgressOption,
    SeparatorOption,
    SpecialsFileOption,
    TextOption,
    WorkersOption,
    load,
    special_tokens_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ..tokenizer import Tokenizer

EXAMPLES = f"""\
Examples:

  toksmith count --model gpt-4o book.txt
  toksmith count -t gpt-4o --text 'the lowest price'
  echo 'Hello' | toksmith count -t gpt-4o
  toksmith count -t tokenizer.json books/ 'web/*.jsonl.zst' --field text
  toksmith count -t tokenizer.json books/ --json

{DOCUMENTS} A line has the number of tokens,
of documents and of bytes of text, and the name; the last line of several is the
total. Nothing is added to a document: what tokenize appends comes on top."""


class Count(NamedTuple):
    """The counts of a file: tokens, documents, and bytes of text."""

    tokens: int
    documents: int
    bytes: int


def count(
    tokenizer: Annotated[
        str,
        typer.Option(
            "-t",
            "--tokenizer",
            "--model",
            metavar="TOKENIZER",
            help=TOKENIZER,
        ),
    ],
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILES", help=f"{FILES}, and the default."),
    ] = None,
    text: TextOption = None,
    as_json: JsonOption = False,
    field: FieldOption = None,
    column: ColumnOption = None,
    document_separator: SeparatorOption = None,
    no_special: NoSpecialOption = False,
    errors: ErrorsOption = STRICT,
    workers: WorkersOption = None,
    pattern: GivenPatternOption = None,
    special_tokens: GivenSpecialsOption = None,
    special_file: SpecialsFileOption = None,
    unmatched: GivenUnmatchedOption = None,
    progress: ProgressOption = None,
) -> None:
    """Count the tokens of files, as wc counts words."""
    streams.check_inputs(files or [], text, argument="FILES")
    given = streams.Input(None, text)
    loaded = load(tokenizer, pattern, special_tokens_of(special_tokens, special_file), unmatched)
    threads = arguments.checked_workers(workers)
    separator = arguments.checked_separator(document_separator)
    sources = list(_sources(files or ["-"], field, column))
    if errors.value == "replace":
        inputs.check_plain(source for source in sources if source is not None)
    total = sum(0 if source is None else os.path.getsize(source.path) for source in sources)  # noqa: PTH202
    found: list[tuple[str, Count]] = []
    # A bar is gone before the output comes, so both may be on one terminal.
    with streams.reporting(progress, "") as how, reporter(how) as report:
        read = summing(report, "encode", total)
        for source in sources:
            name = given.name if source is None else source.path
            texts = _documents(source or given, errors, read, separator)
            counted = _count(loaded, texts, not no_special, threads)
            found.append((name, counted))
    streams.write("-", [_as_json(found) if as_json else _as_lines(found)])


def _sources(files: list[str], field: str | None, column: str | None) -> Iterator[inputs.Source | None]:
    """Yield the files; None for what is no file."""
    paths = [path for file in files for path in ([None] if file == "-" else inputs.expand(file))]
    named = [path for path in paths if path is not None]
    # All files are checked together: `field` is no error if one of them has fields.
    found = iter(inputs.of_files(named, field, column) if named else ())
    for path in paths:
        yield None if path is None else next(found)


def _documents(
    source: inputs.Source | streams.Input, errors: Errors, read: Callable[[int], object], separator: str | None
) -> Iterator[Iterable[str]]:
    from ..files import documents

    if isinstance(source, inputs.Source):
        return documents.of(source, errors.value, read, separator)
    text = source.text(errors.value)
    return iter([text]) if separator is None else documents.split(text, separator)


def _count(tokenizer: Tokenizer, texts: Iterable[Iterable[str]], special: bool, workers: int) -> Count:
    from ..encoding import text_streaming

    tokens = number = size = 0

    def measured(pieces: Iterable[str]) -> Iterator[str]:
        nonlocal size
        for piece in pieces:
            size += len(piece.encode())
            yield piece

    for pieces in texts:
        tokens += text_streaming.count(tokenizer._core, measured(pieces), special, workers)
        number += 1
    return Count(tokens, number, size)


def _total(found: list[tuple[str, Count]]) -> Count:
    return Count(*(sum(numbers) for numbers in zip(*(count for _, count in found), strict=True)))


def _as_lines(found: list[tuple[str, Count]]) -> bytes:
    rows = [(*map(str, count), visible(name)) for name, count in found]
    if len(found) > 1:
        rows.append((*map(str, _total(found)), "total"))
    return columns(rows).encode()


def _as_json(found: list[tuple[str, Count]]) -> bytes:
    content = {"files": [{"name": name} | count._asdict() for name, count in found], "total": _total(found)._asdict()}
    return json.dumps(content, ensure_ascii=True).encode() + b"\n"
