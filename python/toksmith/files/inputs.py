"""Files of texts: paths, globs, folders and URLs, each file with the kind and compression that its name tells."""

from __future__ import annotations

import errno
import functools
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

from .._internal.messages import shown
from . import globs, kinds, watching

STANDARD_INPUT = "-"
DEVICE = "/dev/stdin"
"""Standard input as a file."""
_COMPRESSIONS = {".gz": "gzip", ".gzip": "gzip", ".zst": "zstd", ".zstd": "zstd", ".xz": "xz"}
_LINES = (".jsonl", ".ndjson")
_PARQUET = (".parquet", ".pq")
_MAX_NAME = 255
"""Characters of a name in an error: no longer one can be a file's."""
_TEXTS_HINT = "texts are given as an iterator, as iter([text])"


class Source(NamedTuple):
    """A file, or an iterable of texts.

    `compression` is "gzip", "zstd", "xz" or None. `field` is the name of the text in each line of JSON, and `column`
    its name in each row of a Parquet file. `seen` is the size and the time of change of a file; None for a pipe or
    texts, which have neither. `open` opens a file that is not on this machine. `texts` stands in place of a file.
    """

    path: str
    compression: str | None = None
    field: str | None = None
    column: str | None = None
    seen: watching.Stamp | None = None
    open: Callable[[], IO[bytes]] | None = None
    texts: Iterable[object] | None = None

    @property
    def name(self) -> str:
        """What to call the source in a message."""
        return "standard input" if self.path == DEVICE else self.path

    @property
    def kind(self) -> str:
        """Who reads it: "texts" and "column" come through Python, "file" is read by the core."""
        if self.texts is not None:
            return "texts"
        return "file" if self.column is None else "column"

    @property
    def size(self) -> int | None:
        """The number of bytes, if it is known."""
        return None if self.seen is None else self.seen.size

    @property
    def is_regular(self) -> bool:
        """Whether this is a regular file of this machine."""
        return self.open is None and self.seen is not None

    def is_in(self, folder: Path) -> bool:
        """Return whether this is a regular file in a folder of this machine."""
        return self.is_regular and folder.absolute() in Path(self.path).absolute().parents


def find(paths: Iterable[str | bytes | os.PathLike[str]], field: str | None, column: str | None) -> list[Source]:
    """Return the files that paths, globs, folders, URLs and "-" stand for, each with its kind, in a fixed order."""
    for name, value in (("field", field), ("column", column)):
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} is a name, not {type(value).__name__}")
    sources = [source for path in paths for source in _sources_of(path, field, column)]
    if not sources:
        raise ValueError("no source is given")
    for name, value, suffixes in (("field", field, _LINES), ("column", column, _PARQUET)):
        if value is not None and not any(getattr(source, name) for source in sources):
            raise ValueError(f"{name}={shown(value)} is for files that end in {' or '.join(suffixes)}: there is none")
    if sum(source.path == DEVICE for source in sources) > 1:
        raise ValueError("standard input is given twice")
    return sources


def _sources_of(item: object, field: str | None, column: str | None) -> Iterator[Source]:
    if not isinstance(item, (str, bytes, os.PathLike)):
        raise TypeError(f"a source is a path, not {type(item).__name__}; for a list of texts give iter(texts)")
    path = os.fsdecode(item)
    if path == STANDARD_INPUT:
        yield Source(DEVICE, field=field)
    elif "://" in path and not Path(path).exists():
        yield from _remote(path, field, column)
    else:
        for name in expand(path):
            yield source_of(name, field, column)._replace(seen=watching.stamp(name))


def source_of(path: str, field: str | None = None, column: str | None = None) -> Source:
    """Return a file with its compression and kind, which its name tells.

    >>> source_of("a/web.jsonl.zst", field="content")[1:4]
    ('zstd', 'content', None)
    """
    stem, suffix = os.path.splitext(path)
    compression = _COMPRESSIONS.get(suffix.lower())
    suffix = (suffix if compression is None else os.path.splitext(stem)[1]).lower()
    if suffix in _LINES:
        return Source(path, compression, field="text" if field is None else field)
    if suffix in _PARQUET and compression is None:
        return Source(path, column="text" if column is None else column)
    return Source(path, compression)


def _remote(url: str, field: str | None, column: str | None) -> Iterator[Source]:
    try:
        import fsspec
    except ImportError:
        raise ImportError(f"reading {shown(url)} needs fsspec: pip install 'toksmith[remote]'") from None
    system, path = fsspec.core.url_to_fs(url)
    if any(mark in path for mark in "*?["):
        matches = (name for name in system.glob(path) if not Path(name).name.startswith("."))
        names = sorted(name for name in matches if system.isfile(name))
    elif system.isdir(path):
        names = sorted(name for name in system.find(path) if not Path(name).name.startswith("."))
    else:
        names = [path]
    if not names:
        raise FileNotFoundError(f"no file matches {shown(url)}")
    for name in names:
        size = system.size(name)
        yield source_of(name, field, column)._replace(
            path=system.unstrip_protocol(name),
            seen=None if size is None else watching.Stamp(int(size), 0),
            open=functools.partial(system.open, name, "rb"),
        )


def expand(path: str | bytes | os.PathLike[str]) -> list[str]:
    """Return the files of a path, a glob or a folder, in a fixed order. It is an error if there is none."""
    name = os.fsdecode(path)
    if not name:
        raise ValueError("a path is empty: for the current folder give '.'")
    if "\0" in name:
        raise ValueError(f"a path cannot hold a null character: {shown(name)}")
    place = Path(name)
    try:
        is_folder = stat.S_ISDIR(place.stat().st_mode)
    except OSError as error:
        if not globs.is_glob(name):
            raise _with_hint(error, name, _TEXTS_HINT) from None
        files = sorted(file for file in map(Path, globs.matches(name)) if file.is_file())
        if not files:
            raise FileNotFoundError(f"no file matches {shown(name)} ({_TEXTS_HINT})") from None
        return [str(file) for file in files]
    if not is_folder:
        return [name]
    matches = ((file, file.relative_to(place).parts) for file in place.rglob("*"))
    visible = (file for file, parts in matches if not any(part.startswith(".") for part in parts))
    files = sorted(file for file in visible if file.is_file())
    if not files:
        raise FileNotFoundError(f"the folder {shown(name)} holds no file")
    return [str(file) for file in files]


def check_exists(name: str, hint: str) -> None:
    """Check that there is a file of this name; the error has the hint, and a long name is cut in it."""
    try:
        Path(name).stat()
    except OSError as error:
        raise _with_hint(error, name, hint) from None


def _with_hint(error: OSError, name: str, hint: str) -> OSError:
    if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
        return error
    short = name if len(name) <= _MAX_NAME else f"{name[:_MAX_NAME]}… ({len(name)} characters)"
    return OSError(error.errno, f"{error.strerror} ({hint})", short)


def check_plain(sources: Iterable[Source]) -> None:
    """Refuse files that have names of plain text, and first bytes of something else.

    Where invalid bytes are replaced, no other check would notice: compressed text would be counted as it is.
    """
    for source in sources:
        if source.is_regular and source.compression is None and source.field is None and source.kind == "file":
            kinds.check_for_training(source.path)


def explained(error: ValueError, sources: Iterable[Source]) -> ValueError:
    """Return the error of a file that is not UTF-8; if the file is no text at all, an error that names its kind."""
    named = [source for source in sources if str(error).startswith(f"{source.path}: not UTF-8")]
    try:
        check_plain(named[:1])
    except (ValueError, OSError) as better:
        return better if isinstance(better, ValueError) else error
    return error
