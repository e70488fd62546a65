"""Standard output and standard error: their names in errors, their encoding, and what to do if nobody reads them."""

import contextlib
import io
import os
import sys
from collections.abc import Iterator


def name_of(path: str, stream: str = "output") -> str:
    """Return what to call an output, or an input, in a message."""
    return f"standard {stream}" if path == "-" else path


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


def say(line: str) -> None:
    """Write a line to standard error, unless that is closed."""
    if sys.stderr is not None:  # print would take standard output in its place
        print(line, file=sys.stderr)


def print_utf8() -> None:
    """Have all that is printed in UTF-8, as `write` has it: Windows has a code page for files and pipes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower() != "utf-8":
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def flush_output() -> None:
    """Write what was printed."""
    try:
        if sys.stdout is not None:  # it may be closed from the start
            with naming(name_of("-")):
                sys.stdout.flush()
    except OSError:
        drop_output()
        raise


def drop_output() -> None:
    """Forget what was printed and not written: the interpreter would try again at its end."""
    with open(os.devnull, "wb") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 1)
