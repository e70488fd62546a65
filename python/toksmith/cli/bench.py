"""`toksmith bench`."""

from __future__ import annotations

import itertools
import json
import os
import platform
import time
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from .._internal import arguments
from .._internal.tables import aligned
from ..lab.spans import visible
from . import streams
from .options import (
    STRICT,
    ErrorsOption,
    GivenPatternOption,
    GivenSpecialsOption,
    GivenUnmatchedOption,
    InArgument,
    JsonOption,
    SpecialsFileOption,
    TextOption,
    TokenizerOption,
    UsageError,
    load,
    special_tokens_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .peers import Missing, Peer

EXAMPLES = """\
Examples:

  toksmith bench -t gpt-4o book.txt
  toksmith bench -t tokenizer.json book.txt --workers 2 --rounds 3

The text is cut at line ends into pieces of about 64 KB, which each library that
is installed (tiktoken, tokenizers, gigatoken) encodes by its fastest call for
many texts. The ids of all pieces are compared first: a library with other ids
is not timed, and the exit status is 1. Then each encodes them in turn, and the
least time of all rounds counts. Every round has the same text, so caches are
warm. Run nothing else meanwhile. The ratio is the speed of toksmith over that
of the other library."""

PIECE_CHARACTERS = 1 << 16
"""Characters of a piece at the least: a long document, of which there are enough for all threads."""
MAX_CHARACTERS = 1 << 26
"""Most characters that are read, so that the slowest library comes to an end."""
_DIFFERS = "other ids"


class Row(NamedTuple):
    """The result of one library; `seconds` is None if it was not timed."""

    name: str
    seconds: float | None
    note: str


def bench(
    tokenizer: TokenizerOption,
    file: InArgument = None,
    text: TextOption = None,
    errors: ErrorsOption = STRICT,
    workers: Annotated[
        int, typer.Option("--workers", metavar="N", help="The number of threads of each library.")
    ] = 1,
    rounds: Annotated[
        int, typer.Option("--rounds", metavar="N", help="How often each library encodes the text.")
    ] = 5,
    as_json: JsonOption = False,
    pattern: GivenPatternOption = None,
    special_tokens: GivenSpecialsOption = None,
    special_file: SpecialsFileOption = None,
    unmatched: GivenUnmatchedOption = None,
) -> None:
    """Compare the speed of libraries on a file of yours, on this machine."""
    from . import peers

    if rounds < 1:
        raise UsageError(f"--rounds is at least 1, not {rounds}")
    source = streams.Input(file, text)
    threads = arguments.checked_workers(workers)
    loaded = load(tokenizer, pattern, special_tokens_of(special_tokens, special_file), unmatched)
    texts = list(pieces(source.text(errors.value)))
    if not texts:
        raise ValueError(f"{source.name}: there is no text to encode")
    ours = peers.ours(loaded, threads)
    expected = [list(ids) for ids in ours.rows(ours.encode(texts))]
    others = [(peer, _refusal(peer, texts, expected)) for peer in peers.load(loaded, threads)]
    rows = _timed([ours, *(peer for peer, refusal in others if refusal is None)], texts, rounds)
    rows += [refusal for _, refusal in others if refusal is not None]
    about = {
        "file": source.name,
        "bytes": sum(len(text.encode()) for text in texts),
        "texts": len(texts),
        "ids": sum(map(len, expected)),
        "threads": threads,
        "rounds": rounds,
        "machine": machine(),
        "python": platform.python_version(),
    }
    streams.write("-", [(_as_json if as_json else _as_table)(about, rows).encode()])
    if any(row.note.startswith(_DIFFERS) for row in rows):
        raise typer.Exit(1)


def pieces(text: Iterable[str]) -> Iterator[str]:
    r"""Yield pieces of the first `MAX_CHARACTERS` of a text, cut behind line ends.

    >>> [len(piece) for piece in pieces(["a" * 65_540 + "\n", "b\n"])]
    [65541, 2]
    """
    held, read = "", 0
    for window in text:
        held += window[: MAX_CHARACTERS - read]
        read += len(window)
        start = 0
        while (end := held.find("\n", start + PIECE_CHARACTERS - 1) + 1) > 0:
            yield held[start:end]
            start = end
        held = held[start:]
        if read >= MAX_CHARACTERS:
            break
    if held:
        yield held


def _refusal(peer: Peer | Missing, texts: list[str], expected: list[list[int]]) -> Row | None:
    """Return the row of a library that is not timed; None for one with the same ids."""
    from . import peers

    if isinstance(peer, peers.Missing):
        return Row(peer.name, None, peer.reason)
    try:
        found = list(map(list, peer.rows(peer.encode(texts))))
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:  # a panic of a Rust library is no Exception
        said = visible(str(error).partition("\n")[0])
        return Row(peer.name, None, f"failed: {type(error).__name__}: {said}")
    for number, (ids, others) in enumerate(itertools.zip_longest(expected, found)):
        if ids != others:
            return Row(peer.name, None, f"{_DIFFERS}, {_first_difference(number, ids, others)}: not timed")
    return None


def _first_difference(number: int, ids: Sequence[int] | None, others: Sequence[int] | None) -> str:
    pairs = itertools.zip_longest(ids or (), others or ())
    place, (ours, theirs) = next((place, pair) for place, pair in enumerate(pairs) if pair[0] != pair[1])
    return f"first at id {place} of piece {number}, {theirs} in place of {ours}"


def _timed(timed: list[Any], texts: list[str], rounds: int) -> list[Row]:
    """Time the libraries in turn, so that what else the machine does meets all alike."""
    least = [float("inf")] * len(timed)
    for _ in range(rounds):
        for number, peer in enumerate(timed):
            start = time.perf_counter()
            found = peer.encode(texts)
            least[number] = min(least[number], time.perf_counter() - start)
            del found
    return [Row(peer.name, seconds, "") for peer, seconds in zip(timed, least, strict=True)]


def machine() -> str:
    """Return the processor, and how many cores this process may use."""
    name = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123
            models = (line.partition(":")[2].strip() for line in file if line.startswith("model name"))
            name = next(models, name)
    except OSError:
        pass  # not Linux
    cores = arguments.checked_workers(None)
    return f"{name}, {cores} of {os.cpu_count()} cores"


def _as_table(about: dict[str, Any], rows: list[Row]) -> str:
    size, ours = about["bytes"], rows[0].seconds
    table = [("library", "MB/s", "ratio")]
    table += [
        (row.name, f"{size / 1e6 / row.seconds:,.1f}", f"{row.seconds / (ours or 1):.2f}")
        for row in rows
        if row.seconds is not None
    ]
    head = (
        f"{visible(about['file'])}: {size:,} bytes in {about['texts']:,} pieces, {about['ids']:,} ids\n"
        f"{about['machine']}; Python {about['python']}; threads: {about['threads']}; "
        f"the least time of {about['rounds']} rounds\n"
    )
    notes = "".join(f"{row.name}: {row.note}\n" for row in rows if row.note)
    return f"{head}\n{aligned(table)}" + (f"\n{notes}" if notes else "")


def _as_json(about: dict[str, Any], rows: list[Row]) -> str:
    found = [
        {"name": row.name, "seconds": row.seconds, "MB/s": about["bytes"] / 1e6 / row.seconds}
        if row.seconds is not None
        else {"name": row.name, "not timed": row.note}
        for row in rows
    ]
    return json.dumps({**about, "libraries": found}) + "\n"
