"""`toksmith train`."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import patterns, training
from . import streams
from .options import (
    Errors,
    ErrorsOption,
    PatternOption,
    ProgressOption,
    SpecialsOption,
    Unmatched,
    UnmatchedOption,
    UsageError,
    pattern_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..tokenizer import Tokenizer

EXAMPLES = """\
Examples:

  toksmith train corpus.txt --vocab-size 10000 --special-token '<|endoftext|>' -o tokenizer.json
  toksmith train books/ 'more/**/*.md' --vocab-size 32000 --pattern o200k -o tokenizer.json
  zcat corpus.gz | toksmith train - --vocab-size 10000 -o tokenizer.json

Each file is a document; special tokens separate documents in a file. The result depends on the
text and the options alone, not on threads or the machine."""


class Ties(str, Enum):
    """Which of several pairs of equal count merges first."""

    bytes = "bytes"
    ids = "ids"
    smallest_ids = "smallest_ids"
    first = "first"
    huggingface = "huggingface"


class SpecialIds(str, Enum):
    """Where the ids of special tokens are."""

    first = "first"
    after_bytes = "after_bytes"
    last = "last"


class ByteOrder(str, Enum):
    """The order of the ids of the single bytes."""

    value = "value"
    gpt2 = "gpt2"


def train(
    files: Annotated[
        list[str], typer.Argument(metavar="FILES", help="Files, globs and folders; - is standard input.")
    ],
    vocab_size: Annotated[
        int, typer.Option("--vocab-size", metavar="N", help="Tokens in all: 256 bytes, special tokens, merges.")
    ],
    out: Annotated[
        str, typer.Option("-o", "--output", metavar="OUT", help="The tokenizer to write; - is standard output.")
    ],
    special_tokens: SpecialsOption = None,
    pattern: PatternOption = "gpt2",
    unmatched: UnmatchedOption = Unmatched.keep,
    ties: Annotated[
        Ties,
        typer.Option("--ties", help="Which of the pairs of equal count merges first: bytes is the rule of CS336."),
    ] = Ties.bytes,
    special_ids: Annotated[
        SpecialIds, typer.Option("--special-ids", help="Where the ids of special tokens are.")
    ] = SpecialIds.first,
    byte_order: Annotated[
        ByteOrder, typer.Option("--byte-order", help="Ids of the single bytes: by value, or in GPT-2's order.")
    ] = ByteOrder.value,
    min_frequency: Annotated[
        int, typer.Option("--min-frequency", metavar="N", help="A pair that occurs less often is not merged.")
    ] = 1,
    workers: Annotated[
        int | None, typer.Option("--workers", metavar="N", help="Threads for counting; by default all cores.")
    ] = None,
    errors: ErrorsOption = Errors.strict,
    progress: ProgressOption = None,
) -> None:
    """Train a tokenizer on files, and save it."""
    _check_out(out)
    layout: dict[str, Any] = {
        "special_tokens": special_tokens or [],
        "ties": ties.value,
        "special_ids": special_ids.value,
        "byte_order": byte_order.value,
        "min_frequency": min_frequency,
    }
    how: dict[str, Any] = {"pattern": pattern_of(pattern), "unmatched": unmatched.value}
    show = streams.wants_bar(progress, out)
    # Checked before standard input is read to its end.
    training._Plan(vocab_size, **layout)
    patterns.resolve(**how)
    with _documents(files) as paths:
        tokenizer = training.train(
            paths,
            vocab_size,
            **layout,
            **how,
            workers=workers,
            progress=show,
            errors=errors.value,
        )
    _save(tokenizer, out)
    if show:
        size = f"{tokenizer.vocab_size:,} tokens, {len(tokenizer.merges):,} of them merged"
        print(f"{streams.output_name(out)}: {size}", file=sys.stderr)


def _check_out(out: str) -> None:
    streams.check(out)
    if out.endswith(".tiktoken"):
        raise UsageError(
            f"{out}: this command writes toksmith's own files, and -t would read one of this name as a rank file; "
            "Tokenizer.save_tiktoken of the library writes those"
        )


@contextlib.contextmanager
def _documents(files: list[str]) -> Iterator[list[str]]:
    """Yield the files with standard input, where it is among them, as a temporary one.

    So memory does not follow it, and it is counted in parallel like any file.
    """
    with contextlib.ExitStack() as stack:
        folder = ""
        if "-" in files:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="toksmith-"))
            spooled = str(Path(folder) / streams.input_name("-"))
            streams.write(spooled, streams.windows("-"))
            files = [spooled if file == "-" else file for file in files]
        try:
            yield files
        except ValueError as error:
            # In the words of the command line.
            message = str(error).replace(folder + os.sep, "") if folder else str(error)
            raise ValueError(message.replace('errors="replace"', "--errors replace")) from None


def _save(tokenizer: Tokenizer, out: str) -> None:
    if out == "-":
        with tempfile.TemporaryDirectory(prefix="toksmith-") as folder:
            saved = Path(folder) / "tokenizer"
            tokenizer.save(saved)
            streams.write(out, streams.windows(str(saved)))
    else:
        tokenizer.save(out)
