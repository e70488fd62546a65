"""`toksmith encode`."""

from __future__ import annotations

import itertools
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..common.progress import reporter
from . import streams
from .options import (
    STRICT,
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
    UsageError,
    load,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..tokenizer import Tokenizer

EXAMPLES = """\
Examples:

  toksmith encode -t tokenizer.json book.txt -o book.ids
  echo 'Hello' | toksmith encode -t tokenizer.json
  toksmith encode -t tokenizer.json book.txt --format lines | wc -l
  toksmith encode -t tokenizer.json corpus.txt -o corpus.npy
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
    npy = "npy"
    bin = "bin"


_BINARY = (Format.npy, Format.bin)
_FRAMES = {Format.text: ("", " ", "\n"), Format.lines: ("", "\n", "\n"), Format.json: ("[", ", ", "]\n")}


def encode(
    tokenizer: TokenizerOption,
    file: InArgument = "-",
    out: OutOption = "-",
    format: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="Ids on one line, one id a line, a JSON list; or binary, a NumPy file or bare little-endian numbers "
            "(of 16 bits if all ids fit, else of 32).",
            show_default="npy or bin for an OUT of that suffix, else text",
        ),
    ] = None,
    no_special: NoSpecialOption = False,
    errors: ErrorsOption = STRICT,
    pattern: GivenPatternOption = None,
    special_tokens: GivenSpecialsOption = None,
    unmatched: GivenUnmatchedOption = None,
    progress: ProgressOption = None,
) -> None:
    """Turn text into ids."""
    streams.check(out)
    loaded = load(tokenizer, pattern, special_tokens, unmatched)
    format = format or _by_suffix(out)
    if format in _BINARY:
        _encode_binary(loaded, file, out, format, not no_special, errors, streams.wants_bar(progress, out))
        return
    with reporter(streams.wants_bar(progress, out)) as report:
        text = streams.text(file, errors.value, report)
        ids = loaded.encode_iterable(text, special=not no_special)
        streams.write(out, _written(ids, format))


def _by_suffix(out: str) -> Format:
    return next((format for format in _BINARY if Path(out).suffix == f".{format.value}"), Format.text)


def _encode_binary(
    tokenizer: Tokenizer, file: str, out: str, format: Format, special: bool, errors: Errors, bar: bool
) -> None:
    if "-" in (file, out):
        raise UsageError(f"{format.value} goes from a file to a file: give FILE and -o OUT")
    if (Path(out).suffix == ".npy") is not (format is Format.npy):
        raise UsageError(f"{format.value} does not go with the name {out}: a NumPy file ends in .npy, and only that")
    replaced: Any = errors.value
    tokenizer.encode_file(file, out, special=special, errors=replaced, progress=bar)


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
