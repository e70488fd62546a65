"""The documents of files, as text: of all kinds of files that training reads, for uses that need more than counts."""

from __future__ import annotations

import codecs
import itertools

from .. import _core
from . import inputs, parquet, text_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from .inputs import Source

    # The name of another field or column of a record, and a callable that gets its text before the record is yielded.
    Label = tuple[str, Callable[[str], object]]


def of(
    source: Source,
    errors: str,
    read: Callable[[int], object] | None = None,
    separator: str | None = None,
    label: Label | None = None,
) -> Iterator[Iterable[str]]:
    """Yield the documents of a file, each as the pieces of its text; a piece is some megabytes at the most.

    Take all pieces of a document before the next document.

    Memory does not grow with the size of a file of text. A record and its line are each held whole.

    Args:
        source: The file.
        errors: "strict" refuses bytes that are not UTF-8, "replace" reads them as U+FFFD.
        read: Gets the number of bytes of the file that were read, before each piece.
        separator: A string between two documents of a file of text. With it, documents without text are left out.
        label: The name of a second field, or column, that must hold text, and a callable that gets this text before
            each document is yielded. A file of plain text has none.

    Raises:
        OSError: The file cannot be read, or changes meanwhile.
        ValueError: The file is not UTF-8, is damaged, or a record has no text; names file and place.
        ImportError: The file is Parquet, and pyarrow is not installed.
    """
    if source.column is not None:
        yield from _rows(source, errors, label)
    elif source.field is not None:
        yield from _records(source, source.field, errors, read, label)
    else:
        text = _text(source, errors, read)
        yield from [text] if separator is None else split(text, separator)


def split(pieces: Iterable[str], separator: str) -> Iterator[Iterable[str]]:
    """Yield the documents between separators that are not empty, as pieces, of a text that comes in pieces.

    >>> [list(document) for document in split(["a<", "e>b", "c<e><e>", "d<"], "<e>")]
    [['a'], ['b', 'c'], ['d', '<']]
    """
    for _, document in itertools.groupby(_numbered(pieces, separator), lambda numbered: numbered[0]):
        yield (piece for _, piece in document)


def _numbered(pieces: Iterable[str], separator: str) -> Iterator[tuple[int, str]]:
    """Yield the pieces of documents, each with the number of its document."""
    number, held = 0, ""
    for piece in pieces:
        *ended, rest = (held + piece).split(separator)
        for text in ended:
            if text:
                yield number, text
            number += 1
        # The end of a piece may be the beginning of a separator.
        kept = next((size for size in range(len(separator) - 1, 0, -1) if rest.endswith(separator[:size])), 0)
        held = rest[len(rest) - kept :]
        if len(rest) > kept:
            yield number, rest[: len(rest) - kept]
    if held:
        yield number, held


def _blocks(source: Source, read: Callable[[int], object] | None) -> Iterator[bytes]:
    stream = _core.ByteStream(source.path, source.compression)
    while block := stream.read():
        if read:
            read(stream.take_progress())
        yield block


def _text(source: Source, errors: str, read: Callable[[int], object] | None) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")(errors)
    done = held = 0
    try:
        for block in _blocks(source, read):
            yield decoder.decode(block)
            done += len(block)
            held = len(decoder.getstate()[0])
        yield decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise inputs.explained(text_files.not_utf8(source.path, done - held + error.start), [source]) from None


def _rows(source: Source, errors: str, label: Label | None) -> Iterator[Iterable[str]]:
    texts = parquet.texts([source], errors)
    if label is None:
        for text in texts:
            yield [text]
        return
    name, take = label
    for text, named in zip(texts, parquet.texts([source._replace(column=name)], errors), strict=True):
        take(named)
        yield [text]


def _records(
    source: Source, field: str, errors: str, read: Callable[[int], object] | None, label: Label | None
) -> Iterator[Iterable[str]]:
    offset = 0
    for number, line in enumerate(_lines(_blocks(source, read)), 1):
        json = _checked(line, errors, source.path, offset)
        if number == 1:
            json = json.removeprefix(codecs.BOM_UTF8)
        if json.strip():
            try:
                text = _core.record_text(json, field, errors == "replace")
                if label is not None:
                    _take_label(json, errors, *label)
            except ValueError as error:
                raise ValueError(f"{source.path}: line {number} (byte {offset}): {error}") from None
            yield [text]
        offset += len(line)


def _take_label(json: bytes, errors: str, name: str, take: Callable[[str], object]) -> None:
    try:
        label = _core.record_text(json, name, errors == "replace")
    except ValueError as error:
        # The rest of the message tells how to name the field of the text.
        raise ValueError(str(error).partition(": name ")[0]) from None
    take(label)


def _lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a stream, with their ends; the last one may have none."""
    held: list[bytes] = []
    for block in blocks:
        first, *others = block.split(b"\n")
        held.append(first)
        for line in others:
            yield b"".join(itertools.chain(held, [b"\n"]))
            held = [line]
    if rest := b"".join(held):
        yield rest


def _checked(line: bytes, errors: str, name: str, offset: int) -> bytes:
    """Return the line as UTF-8."""
    try:
        text = line.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        raise text_files.not_utf8(name, offset + error.start) from None
    return text.encode() if errors == "replace" else line
