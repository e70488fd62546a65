"""New files: a file gets its name when it is complete, and a killed process leaves nothing behind."""

import contextlib
import errno
import functools
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_DIGITS = 8
_UNLOCKED_SECONDS = 60
"""Age at which a temporary file counts as abandoned where files cannot be locked."""


class NewFile(contextlib.AbstractContextManager["NewFile"]):
    """A new, empty file in a folder. `publish` gives it its name; without that, `close` removes it.

    On Linux the file has no name before it is published (`O_TMPFILE`): however the process ends, the system removes
    it. Where the system has no such files, it is called `.NAME.toksmith-XXXXXXXX.tmp`, with random digits, and is
    locked (`flock`) as long as its writer lives. A killed process leaves such a file; the next writer of a file of
    the same name in that folder removes it. Two writers never have the same temporary file.

    Args:
        folder: Where the file is made. Its final name must be on the same file system.
        name: The final name of the file.
        old: The status of the file that it replaces, whose permissions it gets.

    Raises:
        OSError: There is no such folder, or it cannot be written to; names the file.
    """

    path: Path
    """The path that opens the file, in this process and its children, until it is published or closed."""
    file: IO[bytes]
    """The open file."""

    def __init__(self, folder: Path, name: str, old: os.stat_result | None = None) -> None:
        self._folder, self._begin, self._old = folder, f".{name[:40]}.toksmith-", old
        self._temporary: Path | None = None
        _remove_abandoned(folder, self._begin)
        # Never readable for more users than the old file was; `finish` sets the rest.
        mode = 0o666 if old is None else old.st_mode & 0o666 | 0o600
        self.file = self._without_name(mode) or self._with_name(mode)
        if self._temporary is None:
            self.path = Path(_opened(self.file))

    def __exit__(self, *_: object) -> None:
        self.close()

    def finish(self) -> None:
        """Sync all bytes to the disk, and set the permissions of the old file."""
        self.file.flush()
        if self._old is not None and hasattr(os, "fchmod"):
            os.fchmod(self.file.fileno(), stat.S_IMODE(self._old.st_mode))
        os.fsync(self.file.fileno())

    def give_name(self) -> None:
        """Give the file a temporary name, if it has none, so that it can replace another file."""
        if self._temporary is not None:
            return
        path = self._free_name()
        self._temporary = path  # set before the name exists: an interrupt may come in between
        try:
            self._link(path)
        except OSError:  # the system refuses: become a file with a name and the same content
            nameless = self.file
            self.file = self._with_name(0o600)
            with nameless:
                nameless.seek(0)
                self.file.writelines(pieces(nameless))
                os.fchmod(self.file.fileno(), stat.S_IMODE(os.fstat(nameless.fileno()).st_mode))
            self.finish()

    def publish(self, target: Path, *, replaces: bool = True) -> None:
        """Give the file its name, after `finish`, in one step.

        A file of this name is replaced; without `replaces` it is a `FileExistsError`.
        """
        if self._temporary is None:
            try:
                self._link(target)  # fails if there is a file
                return
            except OSError as error:
                if not replaces and isinstance(error, FileExistsError):
                    raise
                self.give_name()
        assert self._temporary is not None
        if not replaces:
            try:
                target.hardlink_to(self._temporary)
                return
            except OSError:  # a file, or a file system without links: then the check and the renaming are two steps
                if target.exists():
                    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        if os.name == "nt":  # an open file cannot be renamed there
            self.file.close()
        self._temporary.replace(target)
        self._temporary = None

    def close(self) -> None:
        """Close the file, and remove it if it was not published."""
        with contextlib.suppress(OSError):  # bytes that were not written yet are not needed any more
            self.file.close()
        if self._temporary is not None:
            with contextlib.suppress(OSError):
                self._temporary.unlink()
            self._temporary = None

    def _without_name(self, mode: int) -> IO[bytes] | None:
        if not hasattr(os, "O_TMPFILE"):
            return None
        try:
            descriptor = os.open(self._folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, mode)
        except OSError:  # the file system has none; for every other reason a file with a name fails too
            return None
        file = os.fdopen(descriptor, "w+b")
        with contextlib.suppress(OSError):
            if os.path.samestat(Path(_opened(file)).stat(), os.fstat(descriptor)):
                _lock(descriptor)
                return file
        file.close()  # without /proc it could get no name
        return None

    def _with_name(self, mode: int) -> IO[bytes]:
        while True:
            path = self._free_name()
            try:
                file = open(path, "x+b", opener=functools.partial(os.open, mode=mode))  # noqa: SIM115
            except FileExistsError:
                continue
            except BaseException:
                with contextlib.suppress(OSError):
                    path.unlink()
                raise
            # Before the file is locked, another writer may take it for an abandoned one.
            if _lock(file.fileno()) and (os.name == "nt" or os.fstat(file.fileno()).st_nlink):
                self._temporary = self.path = path
                return file
            file.close()

    def _free_name(self) -> Path:
        return self._folder / f"{self._begin}{os.urandom(_DIGITS // 2).hex()}.tmp"

    def _link(self, path: Path) -> None:
        # Only with a folder's descriptor does Python follow the link in /proc; the path is absolute, so it is unused.
        os.link(_opened(self.file), path, src_dir_fd=self.file.fileno())


def pieces(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the rest of a file."""
    while piece := file.read(1 << 20):
        yield piece


def _opened(file: IO[bytes]) -> str:
    """Return the path of an open file in /proc; with the process's number, not `self`, so that children find it."""
    return f"/proc/{os.getpid()}/fd/{file.fileno()}"


_locked_descriptors: set[int] = set()
"""The descriptors of `locked`, which a child closes."""


def _unlock_in_child() -> None:
    # A child keeps the locks of its parent as long as it has these descriptors open, even if the parent is gone.
    while _locked_descriptors:
        os.close(_locked_descriptors.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock_in_child)


@contextlib.contextmanager
def locked(path: str | os.PathLike[str], *, needed: bool = False) -> Iterator[bool]:
    """Lock a file or folder; yields whether nobody else has locked it. A child that is forked meanwhile has no lock.

    With `needed` it yields False where nothing can be locked.
    """
    if fcntl is None:
        yield not needed
        return
    mode = os.O_RDONLY if Path(path).is_dir() else os.O_RDWR  # some network file systems lock what is open to write
    descriptor = os.open(path, mode | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    _locked_descriptors.add(descriptor)
    try:
        yield _lock(descriptor, needed)
    finally:
        if descriptor in _locked_descriptors:  # else this is a child
            with contextlib.suppress(OSError):  # a child that another thread forks at this moment has no lock either
                fcntl.flock(descriptor, fcntl.LOCK_UN)
            _locked_descriptors.remove(descriptor)
            os.close(descriptor)


def _lock(descriptor: int, needed: bool = False) -> bool:
    """Lock a file for as long as it is open here; returns whether nobody else has locked it."""
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks: nobody can take the file for an abandoned one either
        return not needed
    return True


def _remove_abandoned(folder: Path, begin: str) -> None:
    """Remove the temporary files of killed writers, whose names begin with `begin`."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            digits = path.name.removeprefix(begin).removesuffix(".tmp")
            if len(digits) == _DIGITS and path.name == f"{begin}{digits}.tmp":
                with contextlib.suppress(OSError):
                    _remove_unlocked(path)


def _remove_unlocked(path: Path) -> None:
    """Remove a file of this user that no writer holds."""
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode) or (hasattr(os, "geteuid") and status.st_uid != os.geteuid()):
        return
    if fcntl is None:  # Windows, where an open file cannot be removed, and is closed only just before it is renamed
        if time.time() - status.st_mtime > _UNLOCKED_SECONDS:
            path.unlink()
        return
    with locked(path, needed=True) as is_abandoned:
        if is_abandoned:
            path.unlink()
