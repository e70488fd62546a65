"""`toksmith.tokenize`: encoding documents into a folder of ids for training."""

from __future__ import annotations

import itertools
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import _core
from ...files import inputs
from ...tokenizer import Tokenizer
from . import manifest, parquet_texts, repair
from .folder import Folder
from .options import DEFAULT_BUFFER, DEFAULT_SHARD, Options
from .progress import Watch
from .sources import found, named

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..._internal.choices import Errors, OnError, ShardFormat
    from ..._internal.progress import Report
    from .sources import Given

# Bytes of text that a thread takes at a time, and seconds between two states. Tests change both.
CHUNK_BYTES = 1 << 20
SNAPSHOT_SECONDS = 5.0

_Snapshot = tuple[Any, ...]


def tokenize(
    sources: Any,
    tokenizer: Any,
    out: str | os.PathLike[str],
    *,
    format: ShardFormat = "bin",
    dtype: Any = None,
    shard_size: int = DEFAULT_SHARD,
    split: Any = None,
    seed: int = 0,
    append: str | int | Iterable[str | int] | None = None,
    prepend: str | int | Iterable[str | int] = (),
    shuffle: int | None = None,
    shuffle_buffer: int = DEFAULT_BUFFER,
    special: bool = True,
    field: str | None = None,
    column: str | None = None,
    document_separator: str | None = None,
    errors: Errors = "strict",
    on_error: OnError = "stop",
    verify: bool = False,
    workers: int | None = None,
    progress: bool | str | Report = False,
) -> dict[str, Any]:
    """Encode documents into a folder of shards, which training programs read as they are.

    The same sources and options give the same bytes, for any number of workers. If the call ends early, for whatever
    reason, the same call continues where it stopped and gives the same bytes. In a finished folder, files that are
    missing or damaged are written again, as the manifest says, and all others are left as they are.

    Memory does not grow with the size of the sources: some chunks of a megabyte of text for each worker, with their
    ids. A record of JSON lines, a text of an iterable, and a document that cannot be cut are held whole in addition;
    with `shuffle` also the buffer, and the ids of the longest document.

    Args:
        sources: A path, a glob, a folder, a URL that `fsspec` opens, or "-" for standard input; a list or tuple of
            them; or any other iterable, of texts. The suffix of a name decides how a file is read, as for `train`.
        tokenizer: A `Tokenizer`, an `Encoding`, or what `Tokenizer.from_pretrained` takes.
        out: The folder. It is made; or it is the folder of an unfinished run, which the call continues.
        format: "bin" (bare ids), "nanogpt" (the same in one file for each split, train.bin and val.bin), "llm.c",
            "megatron", "npy" or "parquet".
        dtype: `uint16` or `uint32`; default: `uint16` if no id of the tokenizer needs more.
        shard_size: A shard is closed when it has so many ids. No document is in two shards.
        split: Names with their shares of the documents, as {"val": 0.01} or "val=0.01". All other documents are
            "train". The hash of a document decides its split, so its place among the others does not matter.
        seed: The seed of that hash.
        append: Special tokens that end each document. "none" or () is none; without a choice, a tokenizer with a
            token that ends a text gives a warning.
        prepend: Special tokens that begin each document.
        shuffle: A seed. Documents are then shuffled within a buffer.
        shuffle_buffer: Ids that the buffer holds.
        special: Whether special tokens in the text become their ids. Pass False for text that you do not trust.
        field: The name of the text in the lines of `.jsonl` files; default "text". With it, "-" is read as such a
            file.
        column: The column of the text in Parquet files; default "text".
        document_separator: A string that separates documents in files of text; it becomes no id. Without it each such
            file is a document.
        errors: "strict" refuses text that is not UTF-8, "replace" reads invalid bytes as U+FFFD.
        on_error: "stop" ends the call at a document that cannot be read; "skip" leaves it out, and lists it.
        verify: Whether to compare the files of a finished folder with their checksums, too, not only with their
            sizes. Every byte is read.
        workers: Threads at the most; default: all cores.
        progress: True shows a bar on standard error, "json" writes lines of JSON there; a callable gets (stage, done,
            total) in bytes of the sources.

    Returns:
        The content of `manifest.json` in the folder: shards with their sizes and checksums, documents and tokens of
        each split and source, totals, documents that were left out.

    Raises:
        FileNotFoundError: A file is missing, or a glob or folder holds none.
        FileExistsError: The folder has other contents.
        ValueError: An option is wrong; a document cannot be read (names file and place); the folder holds a run with
            other sources, another tokenizer or other options (names what differs); a damaged file cannot be repaired,
            because the sources now give another one.
        OSError: A file cannot be read or written, or has changed meanwhile; the disk is full. Afterwards the same
            call continues the run.
        ImportError: A file needs pyarrow or fsspec, which is not installed.
    """
    loaded = loaded_tokenizer(tokenizer)
    options = Options(
        loaded,
        format=format,
        dtype=dtype,
        shard_size=shard_size,
        split=split,
        seed=seed,
        prepend=prepend,
        append=append,
        shuffle=shuffle,
        shuffle_buffer=shuffle_buffer,
        special=special,
        document_separator=document_separator,
        errors=errors,
        on_error=on_error,
        workers=workers,
    )
    manifest.check_format(options)
    given = found(sources, field, column, Path(out))
    if options.replace:
        inputs.check_plain(_plain(given))
    plan = {
        "tokenizer": loaded.fingerprint,
        "options": options.told | {"field": field, "column": column},
        "sources": [[one.name, *(one.seen or (None, None))] for one in given],
    }
    whole = Folder(Path(out), plan, options.form, options.splits, options.width)
    finished, folder = repair.to_write(whole, loaded, verify, progress)
    if finished is not None and folder is None:
        return finished
    assert folder is not None
    if options.unseparated is not None:
        warnings.warn(options.unseparated, stacklevel=2)
    with folder.locked(), Watch(progress, given) as watch, folder.saving(loaded) as wait:
        run = _Run(loaded, given, options, folder, watch)
        try:
            snapshot = run.run()
        except ValueError as error:
            raise named(inputs.explained(error, _plain(given)), given) from None
        except OSError as error:
            raise named(error, given) from None
        told = manifest.manifest(loaded, options, folder, _outcome(given, snapshot, run.skipped))
        wait()
        folder.write_manifest(told)
        watch.end(told)
    if finished is not None:
        return finished
    if told["totals"]["skipped"]:
        warnings.warn(manifest.left_out(told, folder), stacklevel=2)
    return told


def loaded_tokenizer(given: Any) -> Tokenizer:
    """Return the tokenizer of an argument: a `Tokenizer`, an `Encoding`, or what `Tokenizer.from_pretrained` takes.

    Raises:
        TypeError: It is none of these.
    """
    if isinstance(given, Tokenizer):
        return given
    if isinstance(given, (str, os.PathLike)):
        return Tokenizer.from_pretrained(given)
    inner = getattr(given, "tokenizer", None)
    if isinstance(inner, Tokenizer):
        return inner
    raise TypeError(f"tokenizer is a Tokenizer, an Encoding, or a name or path of one, not {type(given).__name__}")


def _plain(given: list[Given]) -> list[inputs.Source]:
    """Return the files of this machine, as the checks of training take them."""
    return [
        inputs.Source(one.path, one.compression, one.field, one.column, one.seen)
        for one in given
        if one.kind == "file" and one.open is None and one.seen is not None
    ]


class _Run:
    """The core's run, and what Python adds to it."""

    def __init__(
        self, tokenizer: Tokenizer, given: list[Given], options: Options, folder: Folder, watch: Watch
    ) -> None:
        self.given, self.options, self.folder, self.watch = given, options, folder, watch
        state = folder.state()
        # Rows of tables that were left out: number of the source, texts before it, what is wrong.
        self.skipped: list[tuple[int, int, str]] = [] if state is None else state.skipped
        self.at = (0, 0) if state is None else state.snapshot[0][:2]
        self.core = _core.ShardRun(
            tokenizer._core,
            [one.for_core for one in given],
            folder.unfinished,
            chunk_bytes=CHUNK_BYTES,
            snapshot_seconds=SNAPSHOT_SECONDS,
            snapshot=None if state is None else state.snapshot,
            **options.for_core,
        )
        watch.begin(self.core, self.at)

    def finish(self, split: int, number: int, tokens: int, documents: int, hashes: _core.WrittenHashes) -> None:
        """Make a shard whole; the core calls it from its threads."""
        self.folder.finish(split, number, tokens, documents, hashes)

    def save(self, snapshot: _Snapshot) -> None:
        """Save a state; the core calls it, never twice at once."""
        place = snapshot[0][:2]
        self.folder.save(snapshot, [one for one in self.skipped if one[:2] < place])

    def run(self) -> _Snapshot:
        """Encode all sources; return the last snapshot."""
        first = 0
        for kind, group in itertools.groupby(self.given, lambda one: one.kind):
            members = list(group)
            end = first + len(members)
            if end > self.at[0]:
                self._group(kind, members, first, end)
            first = end
        return self.core.finish(self)

    def _group(self, kind: str, members: list[Given], first: int, end: int) -> None:
        with self.watch.group(first, end) as report:
            if kind == "file":
                self.core.files(end, self, progress=report)
            elif kind == "column":
                texts = parquet_texts.texts(members, first, self.at, self.options.skip, self._note)
                self.core.texts(end, texts, self, is_checked=False, progress=report)
            else:
                self.core.texts(end, _checked(members[0].texts, first), self, is_checked=True, progress=report)

    def _note(self, source: int, text: int, why: str) -> None:
        self.skipped.append((source, text, why))


def _checked(texts: Any, number: int) -> Iterator[Any]:
    """Yield the number of the source, then its texts."""
    yield number
    for index, text in enumerate([texts] if isinstance(texts, (str, bytes)) else texts):
        if not isinstance(text, (str, bytes)):
            raise TypeError(f"text number {index} is {type(text).__name__}: texts are str or bytes")
        yield text


def _outcome(given: list[Given], snapshot: _Snapshot, rows: list[tuple[int, int, str]]) -> manifest.Outcome:
    """Return the outcome of all sources. `rows` are the rows of tables that were left out."""
    totals, documents, text_bytes, skipped, skipped_count = snapshot[4:9]
    counts = [*documents, *[0] * (len(given) - len(documents))]
    listed = [_skipped(given, *one) for one in skipped]
    listed += [
        {"source": given[number].name, "place": why.partition(": ")[0], "reason": why.partition(": ")[2]}
        for number, _, why in rows
    ]
    sources = [
        {"name": one.name, "bytes": one.seen and one.seen[0], "documents": count}
        for one, count in zip(given, counts, strict=True)
    ]
    return manifest.Outcome(totals, sources, text_bytes, listed, skipped_count + len(rows))


def _skipped(given: list[Given], source: int, line: int | None, offset: int, reason: str | None) -> dict[str, str]:
    """Return the manifest's entry for a document that was left out."""
    one = given[source]
    is_line = one.field is not None
    place = f"byte {offset}" if line is None else f"line {line}" if is_line else f"text number {line}"
    return {"source": one.name, "place": place, "reason": reason or f"not UTF-8 at byte {offset}"}
