"""`toksmith count`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

import click

from .._internal import arguments
from .._internal.messages import aligned, printable
from .._internal.progress import reporter, summing
from ..corpus import Corpus
from ..encoding import text_streaming
from ..tokenizer import Tokenizer
from . import options, streams
from .command_line import Progress, command, option

EXAMPLES = f"""\
  toksmith count --model gpt-4o book.txt
  toksmith count -t gpt-4o --text 'the lowest price'
  echo 'Hello' | toksmith count -t gpt-4o
  toksmith count -t tokenizer.json books/ 'web/*.jsonl.zst' --field text
  toksmith count -t tokenizer.json books/ --json

{options.DOCUMENTS} A line has the number of tokens,
of documents and of bytes of text, and the name; the last line of several is the
total. Nothing is added to a document: what tokenize appends comes on top."""


class Count(NamedTuple):
    """The counts of a file: tokens, documents, and bytes of text."""

    tokens: int
    documents: int
    bytes: int


@command(EXAMPLES)
@option("-t, --tokenizer, --model TOKENIZER", options.TOKENIZER, name="tokenizer", required=True)
@click.argument("files", nargs=-1, help=f"{options.FILES}, and the default.")
@options.text
@options.as_json
@options.reading
@options.special
@options.workers
@options.parts
@options.progress
def count(
    tokenizer: str,
    parts: options.Parts,
    reading: dict[str, Any],
    as_json: bool,
    special: bool,
    files: list[str] | None = None,
    text: str | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Count the tokens of files, as wc counts words."""
    paths = files or (["-"] if text is None else [])
    streams.check_inputs(paths, text, argument="FILES")
    loaded = options.load(tokenizer, parts)
    threads = arguments.checked_workers(workers)
    corpus = Corpus(paths if text is None else iter([text]), **reading)
    counts: list[tuple[str, Count]] = []
    # A bar is gone before the output comes, so both may be on one terminal.
    with reporter(streams.progress_of(progress, "")) as report:
        read = summing(report, "encode", corpus.total_bytes)
        for source in corpus.sources:
            texts = (document.pieces for document in corpus.documents_of(source, read))
            counts.append((source.name if text is None else "--text", _count(loaded, texts, special, threads)))
    streams.write("-", [_as_json(counts) if as_json else _as_lines(counts)])


def _count(tokenizer: Tokenizer, texts: Iterable[Iterable[str]], special: bool, workers: int) -> Count:
    size = text_streaming.Size()
    tokens = [text_streaming.count(tokenizer._core, size.measured(text), special, workers) for text in texts]
    return Count(sum(tokens), len(tokens), size.bytes)


def _total(counts: list[tuple[str, Count]]) -> Count:
    return Count(*(sum(numbers) for numbers in zip(*(count for _, count in counts), strict=True)))


def _as_lines(counts: list[tuple[str, Count]]) -> bytes:
    rows = [(*map(str, count), printable(name)) for name, count in counts]
    if len(counts) > 1:
        rows.append((*map(str, _total(counts)), "total"))
    return f"{aligned(rows, words_last=True)}\n".encode()


def _as_json(counts: list[tuple[str, Count]]) -> bytes:
    files = [{"name": name} | count._asdict() for name, count in counts]
    return json.dumps({"files": files, "total": _total(counts)._asdict()}).encode() + b"\n"
