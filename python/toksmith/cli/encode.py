"""`toksmith encode`."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from .._internal.choices import Errors
from .._internal.messages import counted
from .._internal.progress import Report, reporter
from ..formats import sources
from ..tokenizer import Tokenizer
from . import options, streams
from .command_line import Progress, UsageError, command, option

EXAMPLES = """\
  toksmith encode -t tokenizer.json book.txt -o book.ids
  toksmith encode -t tokenizer.json --text 'the lowest price'
  echo 'Hello' | toksmith encode -t tokenizer.json
  toksmith encode -t tokenizer.json book.txt --format lines | wc -l
  toksmith encode -t tokenizer.json corpus.txt -o corpus.npy
  toksmith encode -t gpt-4o book.txt --format json
  toksmith encode -t my.tiktoken --pattern gpt2 book.txt \\
      --special-token '<|end|>=50256'

FILE is UTF-8 text. It is encoded as it is: newlines are not translated, and a
byte order mark stays. The memory does not grow with the size of the file, but
a pattern that cannot be compiled needs the text between two special tokens in
memory."""

_BATCH = 1 << 16


Format = Literal["text", "lines", "json", "npy", "bin"]
_SUFFIXES: dict[str, Format] = {".npy": "npy", ".bin": "bin"}
_FRAMES = {"text": ("", " ", "\n"), "lines": ("", "\n", "\n"), "json": ("[", ", ", "]\n")}
"""What stands before, between and after ids in text."""


@command(EXAMPLES)
@options.tokenizer
@options.file
@options.text
@options.out
@option(
    "--format",
    "text: ids on one line; lines: one id on each line; json: a JSON list; npy: a NumPy file; bin: little-endian "
    "numbers, of 16 bits if every id of the tokenizer fits into them, else of 32. Default: npy or bin if OUT has "
    "that suffix, else text.",
    Format,
)
@options.special
@options.errors
@options.parts
@options.progress
def encode(
    tokenizer: str,
    parts: options.Parts,
    out: str,
    special: bool,
    file: str | None = None,
    text: str | None = None,
    format: Format | None = None,
    errors: Errors = "strict",
    progress: Progress | None = None,
) -> None:
    """Turn text into ids."""
    source = streams.Input(file, text)
    streams.check(out, [*sources.files_of(tokenizer), *source.files])
    loaded = options.load(tokenizer, parts)
    format = format or _SUFFIXES.get(Path(out).suffix, "text")
    how = streams.progress_of(progress, out)
    if format in _FRAMES:
        count = _write_text(loaded, source, out, format, special, errors, how)
    else:
        if source.path is None or "-" in (source.path, out):
            raise UsageError(f"{format} goes from a file to a file: give FILE and -o OUT")
        if (Path(out).suffix == ".npy") is not (format == "npy"):
            raise UsageError(f"{format} does not go with the name {out}: a NumPy file ends in .npy, and only that")
        count = loaded.encode_file(source.path, out, special=special, errors=errors, progress=how)
    streams.say_written(out, counted(count, "id"), progress)


def _write_text(
    tokenizer: Tokenizer,
    source: streams.Input,
    out: str,
    format: Format,
    special: bool,
    errors: Errors,
    progress: bool | Report,
) -> int:
    """Write the ids as text, and return how many there are; no ids are no text, and an empty list in JSON."""
    before, between, after = _FRAMES[format]
    count = 0

    def parts(report: Report | None) -> Iterator[bytes]:
        nonlocal count
        ids = tokenizer.encode_iterable(source.text(errors, report), special=special)
        while batch := list(itertools.islice(ids, _BATCH)):
            yield ((between if count else before) + between.join(map(str, batch))).encode()
            count += len(batch)
        if count or before:
            yield (after if count else before + after).encode()

    with reporter(progress) as report:
        streams.write(out, parts(report))
    return count
