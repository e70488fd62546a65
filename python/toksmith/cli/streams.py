"""Reading input in windows, and writing output whole or not at all; "-" is standard input and standard output."""

from __future__ import annotations

import codecs
import contextlib
import errno
import os
import stat
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING

from ..common import progress_lines
from ..common.messages import printable
from ..files import kinds, outputs, watching, whole_files
from .options import Progress

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..common.progress import Report

WINDOW = 1 << 20


def input_name(path: str) -> str:
    """Return what to call an input in a message."""
    return "standard input" if path == "-" else path


def output_name(path: str) -> str:
    """Return what to call an output in a message."""
    return "standard output" if path == "-" else path


def windows(path: str, stage: str = "", report: Report | None = None) -> Iterator[bytes]:
    """Yield the bytes of a file or of standard input as they come, without newline translation.

    Raises:
        OSError: It cannot be read, or is a file that changes meanwhile.
    """
    done, name = 0, input_name(path)
    with naming(name), _open(path) as file, watching.unchanged(file.fileno(), name):
        total = _size(file)
        while window := file.read(WINDOW):
            yield window
            done += len(window)
            if report:
                report(stage, done, total)


@contextlib.contextmanager
def naming(name: str) -> Iterator[None]:
    """Name the file in an error that only says what is wrong, as one of reading or writing does."""
    try:
        yield
    except OSError as error:
        # An error without a number has its file in its message.
        if error.errno is not None and not isinstance(error.filename, (str, os.PathLike)):
            error.filename = name
        raise


def _size(file: IO[bytes]) -> int:
    """Return the size of a file, 0 if it is a pipe or a device."""
    status = os.fstat(file.fileno())
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def _open(path: str) -> IO[bytes]:
    # Unbuffered: a read returns what a pipe has, and does not wait for a whole window.
    if path == "-":
        return open(0, "rb", buffering=0, closefd=False)
    return Path(path).open("rb", buffering=0)


def text(path: str, errors: str = "strict", report: Report | None = None) -> Iterator[str]:
    """Yield the text of a UTF-8 file or of standard input.

    Raises:
        ValueError: It is not UTF-8, and `errors` is "strict"; names the file and the byte. Or it is no plain text.
    """
    if path != "-":
        kinds.check_name(path)
    decoder = codecs.getincrementaldecoder("utf-8")(errors)
    done = held = 0
    try:
        for window in windows(path, "encode", report):
            if done == 0:
                kinds.check_head(input_name(path), window)
            yield decoder.decode(window)
            done += len(window)
            held = len(decoder.getstate()[0])
        yield decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        place = f"{input_name(path)}: not UTF-8 at byte {done - held + error.start}"
        raise ValueError(f"{place}: give --errors replace to read invalid bytes as U+FFFD") from None


def utf8_argument(text: str) -> str:
    """Return a text of the command line, in which Python has a surrogate for each byte that is not UTF-8.

    Raises:
        ValueError: It has such a byte; names the place.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"TEXT is not UTF-8 at character {error.start}") from None
    return text


def check(out: str, inputs: Iterable[str | os.PathLike[str]] = ()) -> None:
    """Check that `out` can be a file to write, and is none of the inputs, before work is done for it."""
    if out == "-":
        return
    folder = Path(out).parent
    if not folder.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder to write into", str(folder))
    if Path(out).is_dir():
        raise IsADirectoryError(errno.EISDIR, "this is a folder: name a file to write", out)
    outputs.check_not_read(out, inputs)


def write(out: str, parts: Iterable[bytes]) -> None:
    """Write `parts` as they come: a file has all of them in the end, or is as it was before.

    Raises:
        BrokenPipeError: The reader of standard output has gone, as `head` does.
        OSError: The output cannot be written; names it.
    """
    with naming(output_name(out)):
        _write(out, parts)


def flush_output() -> None:
    """Write what was printed.

    Raises:
        OSError: As `write`.
    """
    try:
        if sys.stdout is not None:  # it may be closed from the start
            with naming(output_name("-")):
                sys.stdout.flush()
    except OSError:
        drop_output()
        raise


def drop_output() -> None:
    """Forget what was printed and not written: the interpreter would try again at its end."""
    with open(os.devnull, "wb") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 1)


def _write(out: str, parts: Iterable[bytes]) -> None:
    if out == "-":
        # Not sys.stdout: it would try again at exit to write what a closed pipe or a full disk refused.
        with open(1, "wb", closefd=False) as file:
            file.writelines(parts)
    else:
        whole_files.write(out, parts)


@contextlib.contextmanager
def reporting(progress: Progress | None, out: str) -> Iterator[bool | Report]:
    """Yield what the library takes as `progress`: as asked, else a bar if a terminal shows no output beside it."""
    if progress is Progress.json:
        with progress_lines.json_lines() as report:
            yield report
    elif progress is not None:
        yield progress is Progress.bar
    else:
        yield _is_terminal(sys.stderr) and not (out == "-" and _is_terminal(sys.stdout))


@contextlib.contextmanager
def resumable(state: Path, out: str) -> Iterator[None]:
    """Say that the same command goes on, if this one is ended by a signal and has left a state to go on from."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        if state.exists():
            message = f"toksmith: {out}: interrupted; the same command goes on from where it stopped"
            print(printable(message), file=sys.stderr)
        raise


def _is_terminal(stream: IO[str] | None) -> bool:
    return stream is not None and stream.isatty()
