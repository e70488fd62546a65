"""Writing whole files: a file is the old one or all of the new one, whatever happens meanwhile.

All code that writes a file uses this module. A new file is complete, and on the disk, before it takes its name in one
step. So after an error, a full disk, a signal, a kill or a crash of the machine the old file is as it was, or the new
one is there; of several writers of one file the last one wins. `NewFile` says what a killed process can leave behind.
"""

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from .new_file import NewFile, pieces

Check = Callable[[list[Path]], None]
"""A function that reads files back, given their temporary names in order; it raises to refuse them."""


def write(path: str | os.PathLike[str], parts: Iterable[bytes], check: Check | None = None) -> None:
    """Write `parts` to a new file that then takes the place of `path`.

    Raises:
        OSError: The folder does not exist, the disk is full, …; names the file. Nothing is left behind.
        ValueError: `check` refuses the new file; nothing is left behind.
    """
    write_all([(path, parts)], check)


def write_all(
    files: Iterable[tuple[str | os.PathLike[str], Iterable[bytes]]],
    check: Check | None = None,
    *,
    make_folder: bool = False,
) -> None:
    """Write files that belong together, as `write` does.

    All are complete, and `check` has seen them, before the first takes its name; then they take their names one right
    after the other. A process that is killed between two of these steps leaves new files beside old ones, each whole.

    A pipe, `/dev/stdout`, or any other path that is no regular file is written to directly; with `check`, after it
    has passed. With `make_folder`, folders that are missing are made; they stay empty if the process is killed.
    """
    with contextlib.ExitStack() as stack:
        staged: list[tuple[NewFile, Path, bool]] = []
        for path, parts in files:
            if make_folder:
                stack.enter_context(_made(Path(path).parent))
            target, old, is_stream = _target(path)
            if is_stream and check is None:
                _pour(parts, target)
                continue
            if is_stream and target.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
            file = stack.enter_context(_new(target, old, is_stream))
            staged.append((file, target, is_stream))
            _fill(file, target, parts)
        if check is not None:
            check([file.path for file, _, _ in staged])
        for file, target, is_stream in staged:
            if is_stream:
                with file.path.open("rb") as content:
                    _pour(pieces(content), target)
        _publish([(file, target) for file, target, is_stream in staged if not is_stream])


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path of a new, empty file that takes the place of `path` in the end, or is removed after an error.

    Raises:
        OSError: The folder does not exist, the disk is full, …; or `path` is no regular file.
    """
    target, old, is_stream = _target(path)
    if is_stream:
        raise OSError(errno.EINVAL, "this is no regular file, and cannot be replaced by one", str(target))
    with _new(target, old) as file:
        try:
            yield file.path
        except OSError as error:  # name the file that was asked for
            if str(error.filename) == str(file.path) or (error.filename is None and error.errno in _OF_WRITING):
                error.filename = str(target)
            raise
        _publish([(file, target)])


def create(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file as `write` does, if there is none: of several processes one does, and the others get an error."""
    target, old, _ = _target(path)
    with _new(target, old) as file:
        _fill(file, target, parts)
        with naming(target):
            file.finish()
            file.publish(target, replaces=False)


def without_link(path: Path) -> Path:
    """Return `path`, after a link, pipe or device of this name is removed: what is written then goes through none."""
    with contextlib.suppress(FileNotFoundError):
        mode = path.lstat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            path.unlink()
    return path


_OF_WRITING = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO) if os.name == "posix" else (errno.ENOSPC,)


def _target(path: str | os.PathLike[str]) -> tuple[Path, os.stat_result | None, bool]:
    """Return the target of a path through links, the status of the file there, and whether it is written directly."""
    link = Path(path)
    if os.fspath(path).endswith(("/", os.sep)) and not link.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), os.fspath(path))
    try:
        target = link.resolve()  # fails in a folder that was removed
        try:
            old = link.stat()
        except FileNotFoundError:
            return target, None, False
    except RuntimeError:  # some versions of Python raise this for a circle of links
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(link)) from None
    # `/dev/stdout` may lead to an open file that has no name any more, which `resolve` marks as Linux does.
    is_nameless = target.name.endswith(" (deleted)") and not target.exists()
    is_stream = is_nameless or not stat.S_ISREG(old.st_mode)
    return link if is_stream else target, old, is_stream


def make_folder(folder: Path) -> None:
    """Make a folder and the missing ones above it, where there is none."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        Path(error.filename).stat()  # raises the proper error for a link that leads nowhere, or in a circle
        raise


@contextlib.contextmanager
def _made(folder: Path) -> Iterator[None]:
    """Make a folder and the missing ones above it; in the end remove those of them that are empty."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    make_folder(folder)
    try:
        yield
    finally:
        for each in missing:
            with contextlib.suppress(OSError):
                each.rmdir()


def _new(target: Path, old: os.stat_result | None, is_stream: bool = False) -> NewFile:
    folder = Path(tempfile.gettempdir()) if is_stream else target.parent
    with naming(target):
        return NewFile(folder, target.name, None if is_stream else old)


def _fill(file: NewFile, target: Path, parts: Iterable[bytes]) -> None:
    with naming(target, only_unnamed=True):
        file.file.writelines(parts)
        file.file.flush()


def _publish(files: list[tuple[NewFile, Path]]) -> None:
    for file, target in files:
        with naming(target):
            file.finish()
    # From here on a kill can leave temporary names behind. Only renaming is left to do.
    for file, target in files:
        if target.exists():
            with naming(target):
                file.give_name()
    for file, target in files:
        with naming(target):
            file.publish(target)


def _pour(parts: Iterable[bytes], target: Path) -> None:
    with naming(target, only_unnamed=True), target.open("wb") as file:
        file.writelines(parts)


@contextlib.contextmanager
def naming(target: Path, only_unnamed: bool = False) -> Iterator[None]:
    """Make an error name the file that was asked for, not a temporary one."""
    try:
        yield
    except OSError as error:
        if error.filename is None or not only_unnamed:
            error.filename = str(target)
            del error.filename2  # None would be shown as "-> None"
        if isinstance(error, FileNotFoundError) and not target.parent.is_dir():
            error.strerror = f"there is no folder {target.parent}"
        raise


def check_not_read(out: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Refuse an output that is one of the inputs, also by another name: a link, symbolic or hard.

    "-" among the inputs is standard input. They are looked at only where `out` is a regular file already.
    """
    written = _regular(out)
    if written is None:
        return
    for path in inputs:
        read = _regular(path)
        if read is not None and os.path.samestat(written, read):
            name = "standard input" if path == "-" else os.fspath(path)
            other_name = "" if name == os.fspath(out) else f", as {name}"
            raise ValueError(f"{os.fspath(out)}: this file is read too{other_name}: name another one to write")


def check_different(outs: Iterable[str | os.PathLike[str]]) -> None:
    """Refuse outputs of which two are the same file."""
    seen: set[str] = set()
    for out in outs:
        if (real := os.path.realpath(out)) in seen:
            raise ValueError(f"{os.fspath(out)}: two outputs have this name: give each a file of its own")
        seen.add(real)


def _regular(path: str | os.PathLike[str]) -> os.stat_result | None:
    """Return the status of a regular file; None for any other: a device or a pipe may be both read and written."""
    try:
        status = os.fstat(0) if path == "-" else Path(path).stat()
    except (OSError, ValueError):
        return None
    return status if stat.S_ISREG(status.st_mode) else None
