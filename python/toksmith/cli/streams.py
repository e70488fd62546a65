"""Reading input in windows, and writing output whole or not at all; "-" is standard input and standard output."""

import contextlib
import errno
import glob
import itertools
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from .. import _core
from .._internal.messages import printable, shown
from .._internal.progress import Report
from ..files import reading, text_files, whole_files
from .command_line import Progress, UsageError
from .standard import name_of, naming, say

WINDOW = 1 << 20


class Input:
    """What a command reads: a file, standard input, or the value of an option in its place.

    `path` is "-" for standard input, and None for the value of an option. `name` is what to call it in a message.
    """

    def __init__(self, file: str | None, value: str | None, option: str = "--text") -> None:
        check_inputs([] if file is None else [file], value, option)
        self._value = "" if value is None else value
        self.path = None if value is not None else "-" if file is None else file
        self.files = [] if self.path is None else [self.path]
        self.name = option if self.path is None else name_of(self.path, "input")

    def windows(self, stage: str = "", report: Report | None = None) -> Iterator[bytes]:
        """Yield its bytes as they come, without newline translation."""
        if self.path is None:
            yield self._value.encode()
            return
        done = 0
        with naming(self.name), _open(self.path) as file, reading.unchanged(file.fileno(), self.name):
            status = os.fstat(file.fileno())
            total = status.st_size if stat.S_ISREG(status.st_mode) else 0
            while window := file.read(WINDOW):
                yield window
                done += len(window)
                if report:
                    report(stage, done, total)

    def text(self, errors: str = "strict", report: Report | None = None) -> Iterator[str]:
        """Yield its text, which is plain UTF-8."""
        if self.path is None:
            yield self._value
            return
        if self.path != "-":
            _core.check_head(self.path, b"", plain=True)
        windows = self.windows("encode", report)
        first = next(windows, b"")
        _core.check_head(self.name, first, plain=True)
        yield from text_files.decoded(itertools.chain([first], windows), self.name, errors)


def check_inputs(
    files: Sequence[str], value: str | None, option: str | None = "--text", argument: str = "FILE"
) -> None:
    """Check files, and the option in their place, before a tokenizer is loaded; say if standard input is typed.

    A missing file may be meant as a text, so its error names the option.
    """
    if value is not None:
        if files:
            raise UsageError(f"{argument} and {option} are mutually exclusive")
        try:
            value.encode()
        except UnicodeEncodeError as error:  # Python has a surrogate for each byte that is not UTF-8
            raise ValueError(f"{option} is not UTF-8 at character {error.start}") from None
    kind = "ids are" if option == "--ids" else "a text is"
    hint = f"{kind} given by {option}" if option else f"{kind} read from standard input, as -"
    for file in files:
        if file == "-" or os.path.exists(file) or "://" in file:  # noqa: PTH110 - False for what no path can be
            continue
        if argument == "FILE" or not glob.has_magic(file):  # a single file is no glob
            raise FileNotFoundError(errno.ENOENT, f"{os.strerror(errno.ENOENT)}: {hint}", file)
        if next(glob.iglob(file, recursive=True), None) is None:
            raise FileNotFoundError(f"no file matches {shown(file)}: {hint}")
    if argument != "FILE" and "-" in files:
        tell_of_terminal()


def _open(path: str) -> IO[bytes]:
    # Unbuffered: a read returns what a pipe has, and does not wait for a whole window.
    if path == "-":
        tell_of_terminal()
        return open(0, "rb", buffering=0, closefd=False)
    return Path(path).open("rb", buffering=0)


def check(out: str, inputs: Iterable[str | os.PathLike[str]] = ()) -> None:
    """Check that `out` can be a file to write, and is none of the inputs, before work is done for it."""
    if out == "-":
        return
    folder = Path(out).parent
    if not folder.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder to write into", str(folder))
    if Path(out).is_dir():
        raise IsADirectoryError(errno.EISDIR, "this is a folder: name a file to write", out)
    whole_files.check_not_read(out, inputs)


def write(out: str, parts: Iterable[bytes]) -> int:
    """Write `parts` as they come, and return their size. A file has all of them in the end, or is as before."""
    size = 0

    def measured() -> Iterator[bytes]:
        nonlocal size
        for part in parts:
            size += len(part)
            yield part

    with naming(name_of(out)):
        if out != "-":
            whole_files.write(out, measured())
        else:
            # Not sys.stdout: it would try again at exit to write what a closed pipe or a full disk refused.
            with open(1, "wb", closefd=False) as file:
                file.writelines(measured())
    return size


def say_written(out: str, what: str, progress: Progress | None = None) -> None:
    """Say what an output holds, unless it is standard output, or progress is for programs or turned off."""
    if out != "-" and progress not in ("json", "none"):
        say(f"{printable(out)}: {what}")


def tell_of_terminal() -> None:
    """Say that standard input is read, where somebody must type it."""
    if is_terminal(sys.stdin):
        say(f"toksmith: reading standard input, which {'Ctrl-Z and Enter end' if os.name == 'nt' else 'Ctrl-D ends'}")


def progress_of(progress: Progress | None, out: str) -> Any:
    """Return what the library takes as `progress`: as asked, else a bar if a terminal shows no output beside it."""
    if progress is None:
        return is_terminal(sys.stderr) and not (out == "-" and is_terminal(sys.stdout))
    return progress if progress == "json" else progress == "bar"


@contextlib.contextmanager
def resumable(state: Path | None, out: str, otherwise: str = "") -> Iterator[None]:
    """Say, if a signal ends this command, whether there is a state that the same command goes on from."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        left = "the same command goes on from where it stopped" if state and state.exists() else otherwise
        if left:
            say(printable(f"toksmith: {out}: interrupted; {left}"))
        raise


def is_terminal(stream: IO[str] | None) -> bool:
    """Return whether a standard stream is a terminal."""
    return stream is not None and stream.isatty()
