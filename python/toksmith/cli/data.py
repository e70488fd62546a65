"""`toksmith data`."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from .._internal import choices
from .._internal.messages import aligned, counted, printable
from .._internal.progress import reporter
from ..data import checking, dataset
from ..data import manifest as manifests
from . import options, streams
from .command_line import Progress, UsageError, command, option

EXAMPLES = """\
  toksmith data tokens/
  toksmith data tokens/ --check
  toksmith data tokens/ --document 3
  toksmith data tokens/ --document 0 --split val
  toksmith data tokens/ --pack 4096 -o packed.parquet

FOLDER is what toksmith tokenize writes. --check reads every byte; the exit
status is 1 if a file is not what it was written as. On a terminal the tokens of
a document have two colours in turn, and special tokens a third; those that a
model is trained on are underlined. In a pipe, or if NO_COLOR is set, each token
is a line: its place, its id, its text, and whether it is special, and trained
on. Control characters are shown as escapes, and a byte that is not part of a
character as \\xNN."""


@command(EXAMPLES)
@click.argument("folder", help="A folder of training data.")
@option("--check", "Compare sizes and checksums of all files with the manifest.")
@option("--document N", "Show the tokens of document N, the first of which is 0.")
@option("--pack N", "Put whole documents into rows of N ids, and write these to a Parquet file for a trainer.")
@option("-o, --output OUT", "The Parquet file to write.", name="out")
@option("--long", "What becomes of a document longer than a row. Default: split.", choices.LongDocument)
@option("--seed SEED", "The seed of the order of the rows. Default: 0.")
@option("--split NAME", "The split of the document, or of the rows. Default: train.")
@options.progress
def data(
    folder: str,
    check: bool,
    document: int | None = None,
    split: str | None = None,
    pack: int | None = None,
    out: str | None = None,
    progress: Progress | None = None,
    **packing: Any,
) -> None:
    """Show, check or pack a folder of training data, or show a document of it."""
    if check + (document is not None) + (pack is not None) > 1:
        raise UsageError("--check, --document and --pack are mutually exclusive")
    if split is not None and document is None and pack is None:
        raise UsageError("--split says where the document, or the rows, are: give --document N or --pack N")
    split = "train" if split is None else split
    if pack is None and (out is not None or packing):
        raise UsageError("--output, --long and --seed are options of --pack N")
    if check:
        _check(folder, progress)
    elif pack is not None:
        _pack(folder, split, pack, out, progress, packing)
    elif document is not None:
        streams.write("-", _document(folder, split, document))
    else:
        streams.write("-", [_summary(manifests.read(folder)).encode()])


def _check(folder: str, progress: Progress | None) -> None:
    with reporter(streams.progress_of(progress, folder)) as report:
        lines = list(checking.differences(folder, report))
    is_whole = not lines
    if is_whole:
        sizes = [shard.bytes for shard in manifests.read(folder).shards]
        lines = [f"{folder}: all files are intact (shards: {len(sizes):,}, bytes: {sum(sizes):,})"]
    streams.write("-", (f"{printable(line)}\n".encode() for line in lines))
    if is_whole:
        return
    if progress != "json":
        advice = "copy these files again, or run the same toksmith tokenize with --verify, which repairs them"
        print(f"toksmith: {printable(folder)}: {advice}", file=sys.stderr)
    raise click.exceptions.Exit(1)


def _pack(
    folder: str, split: str, length: int, out: str | None, progress: Progress | None, packing: dict[str, Any]
) -> None:
    if out is None or out == "-":
        raise UsageError("--pack writes a file: give -o FILE")
    if Path(os.path.realpath(out)).is_relative_to(os.path.realpath(folder)):
        raise UsageError(f"{printable(out)} is in the folder that is read: choose another place")
    rows = dataset.open(folder, split).rows(length, **({"seed": 0} | packing))
    rows.to_parquet(out)
    streams.say_written(
        out, f"{counted(len(rows), 'row')} of up to {length:,} ids, {rows.padding:.2%} padding", progress
    )


def _summary(manifest: manifests.Manifest) -> str:
    rows: list[tuple[str, ...]] = [("split", "shards", "documents", "tokens", "bytes")]
    for name, split in manifest.splits.items():
        size = sum(shard.bytes for shard in split.shards)
        numbers = (len(split.shards), split.documents, split.tokens, size)
        rows.append((printable(name), *(f"{number:,}" for number in numbers)))
    sections = [
        f"{printable(str(manifest.folder))}: training data, {manifest.file_format}, {manifest.dtype}\n"
        f"tokenizer: {printable(manifest.tokenizer_file)}, {manifest.vocab_size:,} tokens, "
        f"fingerprint {printable(manifest.fingerprint[:16])}\n",
        aligned(rows) + "\n",
        *_totals(manifest.content.get("totals")),
    ]
    return "\n".join(sections)


def _totals(totals: object) -> Iterator[str]:
    """Yield what a manifest says of the whole run; it may be a stranger's."""
    totals = totals if isinstance(totals, dict) else {}
    size, tokens, trained, special, skipped = (
        count if isinstance(count := totals.get(name), int) else 0
        for name in ("text_bytes", "tokens", "trained_tokens", "special_tokens", "skipped")
    )
    if tokens > 0:
        yield f"text: {size:,} bytes, {size / tokens:.2f} for each token\n"
    if trained > 0:
        yield f"trained on: {trained:,} tokens, {trained / max(tokens, 1):.1%}\n"
    if special > 0:
        yield f"special tokens in the text: {special:,}\n"
    if skipped > 0:
        yield f"skipped documents, which {manifests.NAME} lists: {skipped:,}\n"


def _document(folder: str, split: str, number: int) -> Iterator[bytes]:
    from ..lab import terminal
    from ..lab.spans import Spans

    opened = dataset.open(folder, split)
    try:
        start, stop = opened.documents.bounds(number)
    except IndexError as error:
        raise ValueError(f"{folder}: {error}") from None
    spans, ids = Spans(opened.tokenizer), opened.read(start, stop).tolist()
    for place, id in enumerate(ids, start):
        try:
            spans[id]
        except KeyError:
            message = f"the id at {place:,} is {id}, and the tokenizer of the folder has none"
            raise ValueError(message) from None
    mask = opened.read_mask(start, stop).tolist() if opened.has_mask else [False] * len(ids)
    if terminal.has_colours():
        yield from map(str.encode, terminal.drawn(spans, ids, colours=True, underlined=mask))
        return
    for (place, id), is_trained in zip(enumerate(ids, start), mask, strict=True):
        marks = "\tspecial" * spans[id].special + "\ttrained" * is_trained
        yield f"{place}\t{id}\t{spans[id].text}{marks}\n".encode()
