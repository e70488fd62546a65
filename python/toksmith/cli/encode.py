"""`toksmith encode`."""

from __future__ import annotations

import itertools
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from ..progress import reporter
from . import streams
from .options import (
    Errors,
    ErrorsOption,
    GivenPatternOption,
    GivenSpecialsOption,
    GivenUnmatchedOption,
    InArgument,
    NoSpecialOption,
    OutOption,
    ProgressOption,
    TokenizerOption,
    load,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES = """\
Examples:

  toksmith encode -t tokenizer.json book.txt -o book.ids
  echo 'Hello' | toksmith encode -t tokenizer.json
  toksmith encode -t tokenizer.json book.txt --format lines | wc -l
  toksmith encode -t gpt2.tiktoken --pattern gpt2 --special-token '<|endoftext|>=50256' book.txt

The text is UTF-8 and is taken as it is: no newline is translated, a byte order mark stays. Memory
does not follow the size of the file (a pattern that has no name holds the text between two special
tokens)."""

_BATCH = 1 << 16


class Format(str, Enum):
    """How ids are written: what stands before, between and after them."""

    text = "text"
    lines = "lines"
    json = "json"


_FRAMES = {Format.text: ("", " ", "\n"), Format.lines: ("", "\n", "\n"), Format.json: ("[", ", ", "]\n")}


def encode(
    tokenizer: TokenizerOption,
    file: InArgument = "-",
    out: OutOption = "-",
    format: Annotated[
        Format, typer.Option("--format", help="Ids on one line, one id a line, or a JSON list.")
    ] = Format.text,
    no_special: NoSpecialOption = False,
    errors: ErrorsOption = Errors.strict,
    pattern: GivenPatternOption = None,
    special_tokens: GivenSpecialsOption = None,
    unmatched: GivenUnmatchedOption = None,
    progress: ProgressOption = None,
) -> None:
    """Turn text into ids."""
    streams.check(out)
    loaded = load(tokenizer, pattern, special_tokens, unmatched)
    with reporter(streams.wants_bar(progress, out)) as report:
        text = streams.text(file, errors.value, report)
        ids = loaded.encode_iterable(text, special=not no_special)
        streams.write(out, _written(ids, format))


def _written(ids: Iterator[int], format: Format) -> Iterator[bytes]:
    """Yield the ids as text; no ids are no text, and an empty list in JSON."""
    before, between, after = _FRAMES[format]
    lead = before
    while batch := list(itertools.islice(ids, _BATCH)):
        yield (lead + between.join(map(str, batch))).encode()
        lead = between
    if lead == between:
        yield after.encode()
    elif before:
        yield (before + after).encode()
