"""`toksmith decode`."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .._internal.messages import counted
from .._internal.progress import Report, reporter
from ..formats import sources
from ..tokenizer import Tokenizer
from . import options, streams
from .command_line import Progress, UsageError, command, option

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ids = NDArray[np.integer[Any]]
    IdType = np.dtype[np.integer[Any]]

EXAMPLES = """\
  toksmith decode -t tokenizer.json book.ids -o book.txt
  toksmith decode -t gpt-4o --ids '13225 2375'
  echo 72 101 108 108 111 | toksmith decode -t tokenizer.json
  toksmith decode -t gpt-4o corpus.npy -o corpus.txt
  toksmith encode -t tokenizer.json book.txt \\
      | toksmith decode -t tokenizer.json | cmp - book.txt

FILE is what encode writes: ids with spaces or line ends between them, a JSON
list, a NumPy file, or little-endian numbers. The output is the bytes that the
ids stand for, without a newline added: decode is the exact inverse of encode."""

_SUFFIXES: dict[str, Format] = {".npy": "npy", ".bin": "bin"}
_SPACES = b" \t\n\r\v\f"
_NPY_MAGIC = b"\x93NUMPY"
_MAX_HEAD = 1 << 16
_LIST_MARKS = bytes.maketrans(b"[,]", b"   ")
_LONGEST = 20  # digits of an id, with room for leading zeros


Format = Literal["text", "npy", "bin"]


@command(EXAMPLES)
@options.tokenizer
@options.file
@option("--ids IDS", "The ids themselves, in place of a file: '15496 995'.")
@options.out
@option(
    "--format",
    "text: numbers in text or a JSON list; npy: a NumPy file; bin: little-endian numbers, of 16 bits if every id "
    "of the tokenizer fits into them, else of 32, as encode writes them. Default: npy or bin if FILE has that "
    "suffix, npy if it begins as a NumPy file, else text.",
    Format,
)
@options.parts
@options.progress
def decode(
    tokenizer: str,
    parts: options.Parts,
    out: str,
    file: str | None = None,
    ids: str | None = None,
    format: Format | None = None,
    progress: Progress | None = None,
) -> None:
    """Turn ids into text."""
    source = streams.Input(file, ids, "--ids")
    streams.check(out, [*sources.files_of(tokenizer), *source.files])
    loaded = options.load(tokenizer, parts)
    if ids is not None and format not in (None, "text"):
        raise UsageError(f"--format {format} is for a file, and --ids are text")
    format = format or ("text" if source.path is None else _SUFFIXES.get(Path(source.path).suffix))
    with reporter(streams.progress_of(progress, out)) as report:
        size = streams.write(out, _decoded(loaded, source, format, report))
    streams.say_written(out, counted(size, "byte"), progress)


def _decoded(
    tokenizer: Tokenizer, source: streams.Input, format: Format | None, report: Report | None
) -> Iterator[bytes]:
    """Yield the bytes of the ids, part by part; an error names the first invalid id."""
    name, windows, done = source.name, source.windows("decode", report), 0
    if format is None:
        first = next(windows, b"")
        format = "npy" if first.startswith(_NPY_MAGIC) else "text"
        windows = itertools.chain([first], windows)
    parts: Iterator[list[bytes] | Ids] = _words(windows)
    if format != "text":
        parts = _numbers(windows, name, None if format == "npy" else tokenizer.max_id >= 2**16)
    for part in parts:
        words = b"".join(part) if isinstance(part, list) else b""
        try:
            if words and not words.isdigit():
                raise ValueError("not all of these are integers")
            yield tokenizer.decode_bytes(map(int, part) if isinstance(part, list) else part)
        except (KeyError, ValueError, OverflowError):
            _name_the_first_bad(tokenizer, part, name, done)
            raise
        done += len(part)


def _words(windows: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Yield lists of words, none of them cut in two."""
    partial = b""
    for window in windows:
        data = partial + window.translate(_LIST_MARKS)
        words = data.split()
        whole = data[-1:] in _SPACES
        # A word that is too long for an id is passed on even if it is cut: it is refused anyway.
        partial = b"" if whole or len(words[-1]) > _LONGEST else words.pop()
        yield words
    yield partial.split()


def _name_the_first_bad(tokenizer: Tokenizer, part: list[bytes] | Ids, name: str, done: int) -> None:
    """Raise a `ValueError` that says which word or number of a part is no id; `done` of them came before it."""
    for number, id in enumerate(part, done + 1):
        place = f"{name}: number {number}"
        word = id if isinstance(id, bytes) else str(id).encode()
        shown = word[:40].decode("ascii", "backslashreplace")
        if not word.isdigit():
            raise ValueError(f"{place} is {shown!r}, not an id")
        try:
            tokenizer.token_bytes(int(word))
        except (KeyError, ValueError):
            raise ValueError(f"{place} is {shown}: no token has this id") from None


def _numbers(windows: Iterator[bytes], name: str, wide: bool | None) -> Iterator[Ids]:
    """Yield the ids of a NumPy file, window by window; or of bare little-endian numbers, which are `wide` or not."""
    import numpy as np

    dtype: IdType = np.dtype("<u4" if wide else "<u2")
    count, partial = None, b""
    if wide is None:
        dtype, count, partial = _header(windows, name)
    read = 0
    for window in itertools.chain([b""], windows):
        data = partial + window
        whole = len(data) - len(data) % dtype.itemsize
        partial = data[whole:]
        read += whole // dtype.itemsize
        yield np.frombuffer(data[:whole], dtype).astype(dtype.newbyteorder("="), copy=False)
    if partial:
        raise ValueError(f"{name}: the file ends inside a number of {8 * dtype.itemsize} bits")
    if count not in (None, read):
        raise ValueError(
            f"{name}: the file has {read:,} ids, but its header says {count:,}: it is corrupt or truncated"
        )


def _header(windows: Iterator[bytes], name: str) -> tuple[IdType, int, bytes]:
    """Return the type and the number of the ids in a NumPy file, and what was read of its data."""
    import numpy as np
    from numpy.lib import format as npy

    data = b""
    while len(data) < _MAX_HEAD and (window := next(windows, b"")):
        data += window
    file = io.BytesIO(data)
    try:
        read = npy.read_array_header_1_0 if npy.read_magic(file) == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read(file)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{name}: not a NumPy file: {error}") from None
    if len(shape) != 1 or not np.issubdtype(dtype, np.integer):
        raise ValueError(f"{name}: ids are a one-dimensional array of integers, not {dtype} of shape {shape}")
    return dtype, shape[0], data[file.tell() :]
