"""Reading and writing whole files: clear errors, never half a file."""

from __future__ import annotations

import collections
import contextlib
import errno
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


Check = Callable[[list[Path]], None]
"""Reads files back, in the order in which they were given, under temporary names; raises to refuse them."""


def write(path: str | os.PathLike[str], parts: Iterable[bytes], check: Check | None = None) -> None:
    """Write `parts` to a file beside `path`, then rename it: `path` is the old file or all of the new one.

    Raises:
        OSError: The folder does not exist, the disk is full, …; nothing is left behind.
        ValueError: `check` refuses what was written; nothing is left behind.
    """
    write_all([(path, parts)], check)


def write_all(files: Iterable[tuple[str | os.PathLike[str], Iterable[bytes]]], check: Check | None = None) -> None:
    """Write files that belong together, as `write` does: renamed once all are there, and `check` has seen them.

    What is no regular file, a pipe or `/dev/stdout`, is written to as it stands; with `check`, when it has passed.
    """
    staged: list[tuple[Path, Path]] = []
    special: set[Path] = set()
    try:
        for path, parts in files:
            target = Path(path).resolve()
            if target.exists() and not target.is_file():
                if check is None:
                    _pour(parts, target)
                    continue
                special.add(target)
                staged.append((_beside(Path(tempfile.gettempdir(), target.name)), target))
            else:
                staged.append((_beside(target), target))
            _fill(*staged[-1], parts)
        if check is not None:
            check([temporary for temporary, _ in staged])
        for temporary, target in staged:
            if target in special:
                _pour([temporary.read_bytes()], target)
                temporary.unlink()
            else:
                temporary.replace(target)
    except BaseException:
        for temporary, _ in staged:
            with contextlib.suppress(OSError):
                temporary.unlink()
        raise


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a new, empty file beside `path` that takes its place in the end, or is removed after an error.

    Raises:
        OSError: The folder does not exist, …; or `path` is no regular file.
    """
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "this is no regular file, and cannot be replaced by one", str(target))
    temporary = _beside(target)
    try:
        _fill(temporary, target, ())
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _pour(parts: Iterable[bytes], target: Path) -> None:
    with target.open("wb") as file:
        file.writelines(parts)


@contextlib.contextmanager
def replacing_in(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a new, empty folder whose files go into `folder`, made if need be, or are removed after an error.

    Raises:
        OSError: The folder cannot be made, or `folder` is a file.
    """
    target = Path(folder).resolve()
    if target.exists() and not target.is_dir():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    near = next(path for path in (target, *target.parents) if path.exists())
    temporary = Path(tempfile.mkdtemp(prefix=".toksmith.", suffix=".tmp", dir=near))
    try:
        yield temporary
        target.mkdir(parents=True, exist_ok=True)
        for file in sorted(temporary.iterdir()):
            _keep_mode(file, target / file.name)
            file.replace(target / file.name)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name[:40]}.{os.getpid()}.{secrets.token_hex(4)}.tmp")


def _fill(temporary: Path, target: Path, parts: Iterable[bytes]) -> None:
    try:
        file = temporary.open("xb")
    except OSError as error:  # of the file that was asked for
        raise type(error)(error.errno, error.strerror, str(target)) from None
    with file:
        file.writelines(parts)
        file.flush()
        os.fsync(file.fileno())
    _keep_mode(temporary, target)


def _keep_mode(temporary: Path, target: Path) -> None:
    if target.is_file():
        temporary.chmod(target.stat().st_mode & 0o7777)


MAX_BYTES = 1 << 28
"""Of a file that holds a tokenizer: ten times the largest that anybody has published."""
MAX_VALUES = 20_000_000
"""Of a JSON file, as its commas and brackets tell: each is an object in memory."""


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file, which may be a stranger's: never more than `MAX_BYTES` are read.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is larger; names the file.
    """
    # fspath: an int would be a file descriptor.
    with Path(os.fspath(path)).open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError(f"{os.fspath(path)}: larger than {MAX_BYTES} bytes: no file of a tokenizer is")
    return data


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a UTF-8 file, with its line ends as they are.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is not UTF-8; names the file and the byte. Or it is too large.
    """
    data = read_bytes(path)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{os.fspath(path)}: not UTF-8 at byte {error.start}") from None


def lines(text: str) -> list[str]:
    r"""Return the lines of a text, cut at \n and \r\n only, without an empty one at the end.

    >>> lines("a\r\nb\x85c\n")
    ['a', 'b\x85c']
    """
    found = [line.removesuffix("\r") for line in text.split("\n")]
    return found[:-1] if found[-1] == "" else found


def read_object(path: str | os.PathLike[str], kind: str) -> dict[str, Any]:
    """Return the object in a JSON file that should be a `kind`.

    Raises:
        OSError: The file cannot be read.
        ValueError: It holds something else, or a key twice; names the file, and the line if it is no JSON.
    """
    return parse_object(read_text(path), os.fspath(path), kind)


def parse_object(text: str, name: str, kind: str) -> dict[str, Any]:
    """Return the object that the JSON `text` holds, from a file of this name that should be a `kind`.

    Raises:
        ValueError: As `read_object`.
    """
    twice: list[str] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            counts = collections.Counter(key for key, _ in pairs)
            twice.append(counts.most_common(1)[0][0])
        return found

    if sum(map(text.count, ",[{")) > MAX_VALUES:
        raise ValueError(f"{name}: not a {kind}: more than {MAX_VALUES} values")
    try:
        content = json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise ValueError(f"{name}, line {error.lineno}: not JSON: {error.msg}") from None
    except ValueError as error:  # a number of more digits than Python reads
        raise ValueError(f"{name}: {error}") from None
    except RecursionError:
        raise ValueError(f"{name}: not a {kind}: nested too deep") from None
    if not isinstance(content, dict):
        raise ValueError(f"{name}: not a {kind}: expected a JSON object, got {type(content).__name__}")
    if twice:
        raise ValueError(f"{name}: {twice[0]!r} is there twice")
    return content
