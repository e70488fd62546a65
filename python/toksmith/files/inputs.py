"""Files of texts: paths, globs, folders and URLs, each file with its format and compression."""

import errno
import functools
import glob
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

from .. import _core
from .._internal.messages import shown
from .reading import Stamp, stamp

STANDARD_INPUT = "-"
DEVICE = "/dev/stdin"
"""Standard input as a file."""
_FACTS = {"state.json", "dataset_info.json", "dataset_dict.json"}
"""What `datasets` writes beside its Arrow files."""
_VERSIONS = (
    *("ETag", "etag", "blob_id", "sha", "CRC", "mtime", "LastModified", "last_modified", "Last-Modified"),
    *("modified", "created"),
)
"""What tells the states of a file apart: each system of `fsspec` has some of these facts, surest first."""
_HEAD_BYTES = 1 << 12
_MAX_NAME = 255
"""Characters of a name in an error: no longer one can be a file's."""
_TEXTS_HINT = "texts are given as an iterator, as iter([text])"


FIELD_SEPARATOR = "\n\n"
"""What joins the texts of several fields."""
MAX_RECORD_BYTES = _core.MAX_RECORD_BYTES
"""The default of the option of this name: a few bytes of a compressed file may stand for any number of bytes."""


class Source(NamedTuple):
    """A file, or an iterable of texts.

    `compression` is "gzip", "zstd", "xz", "bzip2" or None. `format` is one of `choices.InputFormat`; None is text
    that is checked when it is read. `fields` are the names of the text in records, and `field_separator` joins
    them; without a name the text is the whole record, as JSON. `seen` is the size and the time of change of a file
    (at a URL: what tells its states apart); None for a pipe or texts, which have neither. `open` opens a file that is
    not on this machine. `texts` stands in place of a file. `problem` is why the file is not read. `max_record_bytes`
    is the option of `Corpus`.
    """

    path: str
    compression: str | None = None
    format: str | None = None
    fields: tuple[str, ...] = ("text",)
    field_separator: str = FIELD_SEPARATOR
    seen: Stamp | None = None
    open: Callable[[], IO[bytes]] | None = None
    texts: Iterable[object] | None = None
    problem: ValueError | None = None
    max_record_bytes: int = MAX_RECORD_BYTES

    @property
    def name(self) -> str:
        """What to call the source in a message."""
        return "standard input" if self.path == DEVICE else self.path

    @property
    def field(self) -> str:
        """What to call the fields in a message."""
        return ", ".join(self.fields)

    @property
    def kind(self) -> str:
        """Who reads it: "texts" and "column" come through Python, "file" is read by the core."""
        if self.texts is not None:
            return "texts"
        return "column" if self.format in ("parquet", "arrow") else "file"

    @property
    def is_text(self) -> bool:
        """Whether the file is plain text."""
        return self.format in (None, "text")

    @property
    def size(self) -> int | None:
        """The number of bytes, if it is known."""
        return None if self.seen is None else self.seen.size

    @property
    def is_regular(self) -> bool:
        """Whether this is a regular file of this machine."""
        return self.open is None and self.seen is not None


class Reading(NamedTuple):
    """How files are read: the options of `Corpus`."""

    field: tuple[str, ...] | None
    column: tuple[str, ...] | None
    format: str | None
    field_separator: str = FIELD_SEPARATOR
    max_record_bytes: int = MAX_RECORD_BYTES

    def source(self, path: str, open: Callable[[], IO[bytes]] | None = None) -> Source:
        """Return a file with its compression and format, which are found from its beginning."""
        try:
            compression, format = _core.file_format(path, open, self.format)
        except ValueError as problem:
            return Source(path, open=open, problem=problem)
        if format is None and self.field is not None:
            format = "jsonl"
        source = Source(
            path,
            compression,
            format,
            field_separator=self.field_separator,
            open=open,
            max_record_bytes=self.max_record_bytes,
        )
        names = (self.column, self.field) if source.kind == "column" else (self.field, self.column)
        return source._replace(fields=next((name for name in names if name is not None), ("text",)))


def find(paths: Iterable[str | bytes | os.PathLike[str]], reading: Reading) -> list[Source]:
    """Return the files that paths, globs, folders, URLs and "-" stand for, in a fixed order."""
    sources = [source for path in paths for source in _sources_of(path, reading)]
    if not sources:
        raise ValueError("no source is given")
    for name, value in (("field", reading.field), ("column", reading.column)):
        if value is not None and all(source.is_text and source.problem is None for source in sources):
            raise ValueError(
                f"{name}={shown(', '.join(value))} is for files of records: there is none, or name its input_format"
            )
    if sum(source.path == DEVICE for source in sources) > 1:
        raise ValueError("standard input is given twice")
    return sources


def _sources_of(item: object, reading: Reading) -> Iterator[Source]:
    if not isinstance(item, (str, bytes, os.PathLike)):
        raise TypeError(f"a source is a path, not {type(item).__name__}; for a list of texts give iter(texts)")
    path = os.fsdecode(item)
    if path == STANDARD_INPUT:
        yield reading.source(DEVICE)
    elif "://" in path and not Path(path).exists():
        yield from _remote(path, reading)
    else:
        for name in expand(path):
            seen = stamp(name)  # before the file is looked at, so that a later change is found
            yield reading.source(name)._replace(seen=seen)


def _remote(url: str, reading: Reading) -> Iterator[Source]:
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
    chain = "".join(url.partition("://")[2].partition("::")[1:])  # such as the archive that the file is in
    for name in names:
        facts = system.info(name)
        size, version = facts.get("size"), next((facts[key] for key in _VERSIONS if facts.get(key)), "")
        yield reading.source(name, functools.partial(system.open, name, "rb"))._replace(
            path=system.unstrip_protocol(name) + chain,
            seen=None if size is None else Stamp(int(size), zlib.crc32(str(version).encode())),
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
        if not glob.has_magic(name):
            raise _with_hint(error, name, _TEXTS_HINT) from None
        files = sorted(file for file in map(Path, glob_matches(name)) if file.is_file())
        if not files:
            raise FileNotFoundError(f"no file matches {shown(name)} ({_TEXTS_HINT})") from None
        return [str(file) for file in files]
    if not is_folder:
        return [name]
    matches = ((file, file.relative_to(place).parts) for file in place.rglob("*"))
    visible = (file for file, parts in matches if not any(part.startswith(".") for part in parts))
    files = sorted(file for file in visible if file.is_file())
    if any(file.suffix == ".arrow" for file in files):
        files = [file for file in files if file.name not in _FACTS]
    if not files:
        raise FileNotFoundError(f"the folder {shown(name)} holds no file")
    return [str(file) for file in files]


def check_plain(path: str, hint: str) -> None:
    """Refuse a file that is no plain text, by its name and by its first bytes. A pipe is not read.

    The error of a missing file has the hint, and a long name is cut in it.
    """
    try:
        mode = Path(path).stat().st_mode
    except OSError as error:
        raise _with_hint(error, path, hint) from None
    head = b""
    if stat.S_ISREG(mode):
        with Path(path).open("rb") as file:
            head = file.read(_HEAD_BYTES)
    _core.check_head(path, head, plain=True)


def _with_hint(error: OSError, name: str, hint: str) -> OSError:
    if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
        return error
    short = name if len(name) <= _MAX_NAME else f"{name[:_MAX_NAME]}… ({len(name)} characters)"
    return OSError(error.errno, f"{error.strerror} ({hint})", short)


# Globs, in which `**` enters each folder once, however many symbolic links lead to it

_SEPARATORS = re.escape(os.sep + (os.altsep or ""))
_RECURSIVE = re.compile(rf"(?:^|(?<=[{_SEPARATORS}]))(?:\*\*[{_SEPARATORS}]+)*\*\*(?:[{_SEPARATORS}]+|$)")


def glob_matches(pattern: str) -> list[str]:
    """Return the files and folders of a glob, in any order; those that begin with a dot only if it names them.

    A file that `**` reaches by several ways through links to folders is there once, without a link if possible.
    `glob.glob` follows a circle of links until the system refuses, and two circles practically for ever.
    """
    if _RECURSIVE.search(pattern) is None:
        return glob.glob(pattern)
    real = functools.cache(os.path.realpath)
    ways: dict[tuple[str, str], list[str]] = {}
    for path in _matches(pattern):
        folder, name = os.path.split(path)
        ways.setdefault((real(folder), name), []).append(path)

    def rank(path: str) -> tuple[bool, str]:
        folder = os.path.dirname(path)
        return real(folder) != os.path.abspath(folder), path

    return [min(paths, key=rank) for paths in ways.values()]


def _matches(pattern: str) -> Iterator[str]:
    stars = _RECURSIVE.search(pattern)
    if stars is None:
        yield from glob.iglob(pattern)
        return
    head, tail = pattern[: stars.start()], pattern[stars.end() :]
    if not tail and stars[0].endswith("*"):
        tail = "*"
    for top in glob.iglob(head) if head else [""]:
        for folder in _folders(top):
            yield from _matches(os.path.join(glob.escape(folder), tail))


def _folders(top: str) -> Iterator[str]:
    """Yield a folder and those inside it, each once. Links are followed last, so that a folder has its own name."""
    seen: set[str] = set()
    links = [top]
    while links:
        start = links.pop(0)
        for folder, names, _ in os.walk(start or os.curdir):
            real = os.path.realpath(folder)
            if real in seen:
                names.clear()
                continue
            seen.add(real)
            place = folder if start else folder[len(os.curdir + os.sep) :]
            yield place
            names[:] = sorted(name for name in names if not name.startswith("."))
            links += (path for name in names if os.path.islink(path := os.path.join(place, name)))
