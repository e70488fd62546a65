"""Where documents come from: files of all kinds, here or elsewhere, standard input, texts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._internal.messages import shown
from ...files import inputs, watching

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...files.watching import Stamp

STANDARD_INPUT = "-"


class Given(NamedTuple):
    """A source of documents.

    `seen` is the size and the time of change of a file; None for a pipe or texts, which have neither. `open` opens a
    source that is no file of this machine. `texts` is an iterable of texts in place of a file.
    """

    name: str
    path: str
    compression: str | None = None
    field: str | None = None
    column: str | None = None
    seen: Stamp | None = None
    open: Callable[[], Any] | None = None
    texts: Iterable[str | bytes] | None = None

    @property
    def kind(self) -> str:
        """Who reads it: "texts" and "column" come through Python, "file" is read by the core."""
        if self.texts is not None:
            return "texts"
        return "file" if self.column is None else "column"

    @property
    def for_core(self) -> tuple[Any, ...]:
        """The description of the source that the core takes."""
        return (inputs.Source(self.path, self.compression, self.field, None, self.seen), self.open)


def found(sources: Any, field: str | None, column: str | None, out: Path | None = None) -> list[Given]:
    """Return the sources that an argument stands for, in a fixed order.

    Args:
        sources: A path, glob, folder, URL, or "-"; a list or tuple of them; or any other iterable, of texts.
        field: The name of the text in each line of JSON; if it is given for "-", the lines of "-" are JSON.
        column: The name of the column of the text in Parquet.
        out: The folder that is written, if any. Its files are no sources, even inside a folder of sources.

    Raises:
        OSError: There is no such file, or a glob or a folder has none.
        TypeError: `sources` is none of these.
        ValueError: Nothing is given, or no source has a use for `field` or `column`.
    """
    for name, value in (("field", field), ("column", column)):
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} is a name, not {type(value).__name__}")
    if isinstance(sources, (str, bytes, os.PathLike)):
        sources = [sources]
    if not isinstance(sources, (list, tuple)):
        return [_texts(sources)]
    given: list[Given] = []
    for one in sources:
        if not isinstance(one, (str, bytes, os.PathLike)):
            raise TypeError(f"a source is a path, not {type(one).__name__}; for a list of texts give iter(texts)")
        given += (found for found in _of_path(os.fsdecode(one), field, column) if not _is_in(found, out))
    if not given:
        raise ValueError("no source is given")
    for name, value, what in (("field", field, ".jsonl or .ndjson"), ("column", column, ".parquet or .pq")):
        if value is not None and not any(getattr(one, name) for one in given):
            raise ValueError(f"{name}={shown(value)} is for files that end in {what}: there is none")
    if sum(one.path == inputs.DEVICE for one in given) > 1:
        raise ValueError("standard input is given twice")
    return given


def _is_in(given: Given, folder: Path | None) -> bool:
    is_file = given.open is None and given.seen is not None
    return folder is not None and is_file and folder.absolute() in Path(given.path).absolute().parents


def _texts(texts: Any) -> Given:
    try:
        iter(texts)
    except TypeError:
        raise TypeError(f"sources are paths, or an iterable of texts, not {type(texts).__name__}") from None
    return Given("texts", "texts", texts=texts)


def _of_path(path: str, field: str | None, column: str | None) -> Iterator[Given]:
    if path == STANDARD_INPUT:
        yield Given("standard input", inputs.DEVICE, field=field)
    elif "://" in path and not Path(path).exists():
        yield from _remote(path, field, column)
    else:
        for name in inputs.expand(path):
            source = inputs.source_of(name, field, column)
            seen = watching.stamp(name)
            yield Given(name, name, source.compression, source.field, source.column, seen)


def _remote(url: str, field: str | None, column: str | None) -> Iterator[Given]:
    try:
        import fsspec
    except ImportError:
        raise ImportError(f"reading {shown(url)} needs fsspec: pip install 'toksmith[remote]'") from None
    system, path = fsspec.core.url_to_fs(url)
    if any(mark in path for mark in "*?["):
        found = (name for name in system.glob(path) if not Path(name).name.startswith("."))
        names = sorted(name for name in found if system.isfile(name))
    elif system.isdir(path):
        names = sorted(name for name in system.find(path) if not Path(name).name.startswith("."))
    else:
        names = [path]
    if not names:
        raise FileNotFoundError(f"no file matches {shown(url)}")
    for name in names:
        size = system.size(name)
        source = inputs.source_of(name, field, column)
        full = system.unstrip_protocol(name)
        seen = None if size is None else watching.Stamp(int(size), 0)
        opener = _opener(system, name)
        yield Given(full, full, source.compression, source.field, source.column, seen, opener)


def _opener(system: Any, name: str) -> Callable[[], Any]:
    return lambda: system.open(name, "rb")


def named(error: Exception, given: list[Given]) -> Exception:
    """Return an error of the core with the names of sources that the user knows."""
    text = str(error)
    is_of_device = inputs.DEVICE in text and any(one.path == inputs.DEVICE for one in given)
    if is_of_device and not getattr(error, "filename", None):
        return type(error)(text.replace(inputs.DEVICE, "standard input"))
    return error
