"""`toksmith data`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from .._internal.progress import reporter
from .._internal.tables import aligned
from ..lab import terminal
from ..lab.spans import Spans, visible
from . import streams
from .options import Progress, ProgressOption, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from ..data.manifest import Manifest

EXAMPLES = """\
Examples:

  toksmith data tokens/
  toksmith data tokens/ --check
  toksmith data tokens/ --document 3
  toksmith data tokens/ --document 0 --split val

FOLDER is what toksmith tokenize writes. --check reads every byte; the exit
status is 1 if a file is not what it was written as. On a terminal the tokens of
a document have two colours in turn, and special tokens a third. In a pipe, or
if NO_COLOR is set, each token is a line: its place, its id and its text.
Control characters are shown as escapes, and a byte that is not part of a
character as \\xNN."""

MAX_SOURCES = 20
"""Sources that are listed; if there are more, the first ones."""


def data(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="A folder of training data.")],
    check: Annotated[
        bool, typer.Option("--check", help="Compare sizes and checksums of all files with the manifest.")
    ] = False,
    document: Annotated[
        int | None,
        typer.Option("--document", metavar="N", help="Show the tokens of document N, the first of which is 0."),
    ] = None,
    split: Annotated[
        str | None, typer.Option("--split", metavar="NAME", help="The split of the document. Default: train.")
    ] = None,
    progress: ProgressOption = None,
) -> None:
    """Show what is in a folder of training data, check it, or show a document of it."""
    if check and document is not None:
        raise UsageError("--check and --document are two things to do: give one of them")
    if split is not None and document is None:
        raise UsageError("--split says where the document is: give --document N")
    from ..data import checking, manifest

    if check:
        with streams.reporting(progress, folder) as how, reporter(how) as report:
            found = list(checking.differences(folder, report))
        streams.write("-", _checked(folder, found))
        if found:
            advice = "copy these files again, or run the same toksmith tokenize with --verify, which repairs them"
            if progress is not Progress.json:
                print(f"toksmith: {visible(folder)}: {advice}", file=sys.stderr)
            raise typer.Exit(1)
    elif document is not None:
        streams.write("-", _document(folder, split or "train", document))
    else:
        streams.write("-", [_summary(manifest.read(folder)).encode()])


def _checked(folder: str, found: list[str]) -> Iterator[bytes]:
    for line in found:
        yield f"{visible(line)}\n".encode()
    if not found:
        from ..data import manifest

        shards = list(manifest.read(folder).shards)
        size = sum(shard.bytes for shard in shards)
        yield f"{visible(folder)}: all is as it was written (shards: {len(shards):,}, bytes: {size:,})\n".encode()


# What is in it


def _summary(manifest: Manifest) -> str:
    rows: list[tuple[str, ...]] = [("split", "shards", "documents", "tokens", "bytes")]
    for name, split in manifest.splits.items():
        size = sum(shard.bytes for shard in split.shards)
        numbers = (len(split.shards), split.documents, split.tokens, size)
        rows.append((visible(name), *(f"{number:,}" for number in numbers)))
    sections = [
        f"{visible(str(manifest.folder))}: training data, {manifest.file_format}, {manifest.dtype}\n"
        f"tokenizer: {visible(manifest.tokenizer_file)}, {manifest.vocab_size:,} tokens, "
        f"fingerprint {visible(manifest.fingerprint[:16])}\n",
        aligned(rows),
        *_totals(manifest.content),
        *_sources(manifest.content),
    ]
    return "\n".join(sections)


def _totals(content: Mapping[str, Any]) -> Iterator[str]:
    totals = content.get("totals")
    size, tokens = (totals.get(name) if isinstance(totals, dict) else None for name in ("text_bytes", "tokens"))
    if isinstance(size, int) and isinstance(tokens, int) and tokens > 0:
        yield f"text: {size:,} bytes, {size / tokens:.2f} for each token\n"


def _sources(content: Mapping[str, Any]) -> Iterator[str]:
    sources, skipped = (_objects(content.get(name)) for name in ("sources", "skipped"))
    if sources:
        rows = [("source", "bytes", "documents")]
        rows += [
            (visible(str(one.get("name"))), _number(one.get("bytes")), _number(one.get("documents")))
            for one in sources[:MAX_SOURCES]
        ]
        more = f"and {len(sources) - MAX_SOURCES:,} more\n" if len(sources) > MAX_SOURCES else ""
        yield aligned(rows) + more
    if skipped:
        lines = [f"skipped documents: {len(skipped):,}\n"]
        for one in skipped[:MAX_SOURCES]:
            lines.append(visible(f"  {one.get('source')}, {one.get('place')}: {one.get('reason')}") + "\n")
        if len(skipped) > MAX_SOURCES:
            lines.append(f"  and {len(skipped) - MAX_SOURCES:,} more\n")
        yield "".join(lines)


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else "?"


# A document


def _document(folder: str, split: str, number: int) -> Iterator[bytes]:
    from ..data import dataset

    opened = dataset.open(folder, split)
    try:
        start, stop = opened.documents.bounds(number)
    except IndexError as error:
        raise ValueError(f"{folder}: {error}") from None
    tokenizer, ids = opened.tokenizer, opened.read(start, stop).tolist()
    spans = Spans(tokenizer)
    try:
        drawn = terminal.drawn(spans, [ids], colours=True) if terminal.has_colours() else _lines(spans, ids, start)
        yield from map(str.encode, drawn)
    except KeyError:
        place = next(place for place, id in enumerate(ids) if not _is_there(spans, id))
        raise ValueError(
            f"the id at {start + place:,} is {ids[place]}, and the tokenizer of the folder has none"
        ) from None


def _lines(spans: Spans, ids: list[int], start: int) -> Iterator[str]:
    for place, id in enumerate(ids, start):
        mark = "\tspecial" if spans[id].special else ""
        yield f"{place}\t{id}\t{spans[id].text}{mark}\n"


def _is_there(spans: Spans, id: int) -> bool:
    try:
        return bool(spans[id])
    except KeyError:
        return False
