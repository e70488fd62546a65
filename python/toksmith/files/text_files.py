"""Reading files of text and JSON, with clear errors."""

import codecs
import collections
import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .. import _core
from .._internal.messages import shown
from . import reading

MAX_VALUES = 20_000_000
"""Maximum number of values in a JSON file, counted by its commas and brackets: each becomes an object in memory."""


def decoded(blocks: Iterable[bytes], name: str, errors: str) -> Iterator[str]:
    """Yield the text of a source of documents that comes in blocks, which may end inside a character."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors)
    done = pending = 0
    try:
        for block in blocks:
            yield decoder.decode(block)
            done += len(block)
            pending = len(decoder.getstate()[0])
        yield decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        place = done - pending + error.start
        raise ValueError(f"{name}: not UTF-8 at byte {place}: {_core.NOT_UTF8_ADVICE}") from None


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a UTF-8 file, with its line ends as they are."""
    return text_of(reading.read(path), path)


def text_of(data: bytes, path: str | os.PathLike[str]) -> str:
    """Return the text of the content of a file; the error of other bytes names the file and the place."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{os.fspath(path)}: not UTF-8 at byte {error.start}") from None


def read_object(path: str | os.PathLike[str], kind: str) -> dict[str, Any]:
    """Return the object in a JSON file that should be a `kind`."""
    return parse_object(reading.read(path), os.fspath(path), kind)


def parse_object(text: str | bytes, name: str, kind: str) -> dict[str, Any]:
    """Return the object that the JSON `text` holds, from a file of this name that should be a `kind`.

    An error names the file, and a key that is there twice, or the line of a text that is no JSON.
    """
    repeated: list[str] = []

    def checked(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            counts = collections.Counter(key for key, _ in pairs)
            repeated.append(counts.most_common(1)[0][0])
        return value

    content = parse(text, name, kind, checked)
    if not isinstance(content, dict):
        raise ValueError(f"{name}: not a {kind}: expected a JSON object, got {type(content).__name__}")
    if repeated:
        raise ValueError(f"{name}: {shown(repeated[0])} is there twice")
    return content


def parse(
    text: str | bytes, name: str, kind: str, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None
) -> Any:
    """Return the value of the JSON `text`, of a file of this name that should be a `kind`.

    All JSON from strangers is parsed here. `pairs` makes an object of its keys and values; by default a `dict`, where
    the last of equal keys counts.
    """
    text = text_of(text, name) if isinstance(text, bytes) else text
    # A shorter text cannot have so many values, and counting takes time.
    if len(text) > MAX_VALUES and sum(map(text.count, ",[{")) > MAX_VALUES:
        raise ValueError(f"{name}: not a {kind}: more than {MAX_VALUES} values")
    try:
        return json.loads(text, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        raise ValueError(f"{name}, line {error.lineno}: not JSON: {error.msg}") from None
    except ValueError as error:  # a number of more digits than Python reads
        raise ValueError(f"{name}: {error}") from None
    except RecursionError:
        raise ValueError(f"{name}: not a {kind}: nested too deep") from None


@contextlib.contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Put the file's name before the message of an error in its content."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None
