"""Where texts to train on come from: paths, globs and folders; plain, compressed, or in records.

Paths are str: training on one file need not wait for the import of `pathlib` and `glob`.
"""

from __future__ import annotations

import collections
import errno
import itertools
import os

from .._internal.messages import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from typing import Any, NamedTuple

    from .. import _core

    class _Fields(NamedTuple):
        path: str
        compression: str | None = None
        field: str | None = None
        column: str | None = None
        span: tuple[int, int] | None = None
        seen: tuple[int, int] | None = None

else:
    _Fields = collections.namedtuple("_Fields", "path compression field column span seen", defaults=(None,) * 5)

_COMPRESSIONS = {".gz": "gzip", ".gzip": "gzip", ".zst": "zstd", ".zstd": "zstd", ".xz": "xz"}
_LINES = (".jsonl", ".ndjson")
_PARQUET = (".parquet", ".pq")
_MAX_NAME = 255
"""Characters of a name in an error: no longer one can be a file's."""
DEVICE = "/dev/stdin"
"""Standard input as a file."""


class Source(_Fields):
    """A file, with the facts that its name tells.

    `compression` is "gzip", "zstd", "xz" or None. `field` is the name of the text in each line of JSON, and `column`
    its name in each row of a Parquet file. `span` is the range of bytes to read, None for all. `seen` is the size and
    the time of change of the file when it was first looked at, None if that happens when it is opened.
    """

    __slots__ = ()


TEXTS_TO_TRAIN = "texts are for train_from_iterator and count_pretokens_from_iterator"
TEXTS_TO_ENCODE = "texts are given as an iterator, as iter([text])"


def of_files(files: Any, field: str | None, column: str | None, hint: str = "") -> list[Source]:
    """Return the files that `files` stands for, in a fixed order, with the kind of each.

    Raises:
        OSError: There is no such file, or a glob or a folder holds none.
        ValueError: `field` or `column` is given, and no file has fields or columns.
    """
    sources = [source_of(path, field, column) for path in expand(files, hint)]
    for name, given, suffixes in (("field", field, _LINES), ("column", column, _PARQUET)):
        if given is not None and not isinstance(given, str):
            raise TypeError(f"{name} is a name, not {type(given).__name__}")
        if given is not None and not any(getattr(source, name) for source in sources):
            raise ValueError(f"{name}={shown(given)} is for files that end in {' or '.join(suffixes)}: there is none")
    return sources


def source_of(path: str, field: str | None = None, column: str | None = None) -> Source:
    """Return a file with its compression and kind, which its name tells.

    >>> source_of("a/web.jsonl.zst", field="content")[1:4]
    ('zstd', 'content', None)
    """
    stem, kind = os.path.splitext(path)
    compression = _COMPRESSIONS.get(kind.lower())
    kind = (kind if compression is None else os.path.splitext(stem)[1]).lower()
    if kind in _LINES:
        return Source(path, compression, field="text" if field is None else field)
    if kind in _PARQUET and compression is None:
        return Source(path, column="text" if column is None else column)
    return Source(path, compression)


def check_plain(sources: Iterable[Source]) -> None:
    """Refuse files that have names of plain text, and first bytes of something else.

    Where invalid bytes are replaced, no other check would notice: compressed text would be counted as it is.
    """
    from . import kinds

    for source in sources:
        if source.compression is None and source.field is None and source.column is None:
            kinds.check_for_training(source.path)


def explained(error: ValueError, sources: Iterable[Source]) -> ValueError:
    """Return the error of a file that is not UTF-8; if the file is no text at all, an error that names its kind."""
    named = [source for source in sources if str(error).startswith(f"{source.path}: not UTF-8")]
    try:
        check_plain(named[:1])
    except (ValueError, OSError) as better:
        return better if isinstance(better, ValueError) else error
    return error


def count(counting: _core.Counting, sources: Iterable[Source], replace: bool, report: Any) -> None:
    """Count files, in order."""
    for is_table, group in itertools.groupby(sources, lambda source: source.column is not None):
        if is_table:
            from . import parquet

            texts = parquet.texts(group, "replace" if replace else "strict")
            counting.texts(texts, replace=replace, progress=report)
        else:
            counting.files(
                [(one.path, one.compression, one.field, one.span, one.seen) for one in group], progress=report
            )


def expand(files: Any, hint: str = "") -> list[str]:
    """Return the files of a path, a glob, a folder, or a list of them, in a fixed order.

    Args:
        files: The files.
        hint: What takes texts, for the error of a file that does not exist: it may be a text.
    """
    if isinstance(files, (str, bytes, os.PathLike)):
        return _one(files, hint)
    try:
        given = iter(files)
    except TypeError:
        raise TypeError(f"files are paths, not {type(files).__name__}; for text use train_from_iterator") from None
    found = [path for one in given for path in _one(one, hint)]
    if not found:
        raise ValueError("no file is given to train on")
    return found


def _one(file: Any, hint: str) -> list[str]:
    if not isinstance(file, (str, bytes, os.PathLike)):
        raise TypeError(f"files are paths, not {type(file).__name__}; for text use train_from_iterator")
    name = os.fsdecode(file)
    if not name:
        raise ValueError("a path is empty: for the current folder give '.'")
    if "\0" in name:
        raise ValueError(f"a path cannot hold a null character: {shown(name)}")
    if os.path.isfile(name):
        return [name]
    from pathlib import Path

    if os.path.isdir(name):
        folder = Path(name)
        found = sorted(p for p in folder.rglob("*") if p.is_file() and not _is_hidden(p.relative_to(folder)))
        if not found:
            raise FileNotFoundError(f"the folder {shown(name)} holds no file")
        return [str(path) for path in found]
    from . import globs

    if os.path.exists(name):
        return [name]
    if not globs.is_glob(name):
        check_exists(name, hint)
        return [name]
    found = sorted(path for path in map(Path, globs.matches(name)) if path.is_file())
    if not found:
        raise FileNotFoundError(f"no file matches {shown(name)}{_behind(hint)}")
    return [str(path) for path in found]


def check_exists(name: str, hint: str) -> None:
    """Check that there is a file of this name; the error has the hint, and a long name is cut in it."""
    try:
        os.stat(name)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
            short = name if len(name) <= _MAX_NAME else f"{name[:_MAX_NAME]}… ({len(name)} characters)"
            raise OSError(error.errno, f"{error.strerror}{_behind(hint)}", short) from None


def _behind(hint: str) -> str:
    return f" ({hint})" if hint else ""


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
