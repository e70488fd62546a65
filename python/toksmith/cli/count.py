"""`toksmith count`."""

import json
from typing import Any, NamedTuple

import click

from .._internal import arguments
from .._internal.messages import aligned, printable
from .._internal.progress import reporter, summing
from ..corpus import Corpus
from ..encoding import text_streaming
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
            size = text_streaming.Size()
            texts = (size.measured(document.pieces) for document in corpus.documents_of(source, read))
            tokens = [text_streaming.count(loaded._core, pieces, special, threads) for pieces in texts]
            name = source.name if text is None else "--text"
            counts.append((name, Count(sum(tokens), len(tokens), size.bytes)))
    total = Count(*(sum(numbers) for numbers in zip(*(count for _, count in counts), strict=True)))
    if as_json:
        entries = [{"name": name} | count._asdict() for name, count in counts]
        shown = json.dumps({"files": entries, "total": total._asdict()})
    else:
        rows = [(*map(str, count), printable(name)) for name, count in counts]
        if len(counts) > 1:
            rows.append((*map(str, total), "total"))
        shown = aligned(rows, words_last=True)
    streams.write("-", [f"{shown}\n".encode()])
