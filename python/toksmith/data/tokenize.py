"""`toksmith.tokenize`: encoding documents into a folder of ids for training."""

from __future__ import annotations

import itertools
import json
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _core
from .._internal import arguments
from .._internal.choices import LongDocument, OnError, ShardFormat, TrainOn, Untrained
from .._internal.messages import counted
from .._internal.progress import Report
from ..corpus import Corpus, TextSources
from ..files.inputs import Source
from ..tokenizer import Tokenizer, tokenizer_of
from . import manifest as manifests
from . import repair, table_texts
from .conversations import Conversations
from .folder import Folder, date_of, reason_of
from .manifest import JsonObject
from .options import DEFAULT_BUFFER, DEFAULT_SHARD, Options, SpecialTokens
from .progress import Watch, watching

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

# Bytes of text that a thread takes at a time, and seconds between two states. Tests change both.
CHUNK_BYTES = 1 << 20
SNAPSHOT_SECONDS = 5.0


@arguments.naming_keywords
def tokenize(
    sources: Corpus | TextSources,
    tokenizer: object,
    out: str | os.PathLike[str],
    *,
    format: ShardFormat = "bin",
    dtype: DTypeLike | None = None,
    shard_size: int = DEFAULT_SHARD,
    split: str | Iterable[str] | Mapping[str, float] | None = None,
    seed: int = 0,
    append: SpecialTokens | None = None,
    prepend: SpecialTokens = (),
    template: bool | None = None,
    shuffle: int | None = None,
    shuffle_buffer: int = DEFAULT_BUFFER,
    pack: int | None = None,
    long: LongDocument = "split",
    pad: str | int | None = None,
    special: bool = True,
    messages: bool = False,
    train_on: TrainOn = "assistant",
    untrained: Untrained | Iterable[Untrained] = (),
    end_of_turn: bool = True,
    chat: Mapping[str, Any] | None = None,
    on_error: OnError = "stop",
    verify: bool = False,
    workers: int | None = None,
    progress: bool | str | Report = False,
) -> JsonObject:
    """Encode documents into a folder of shards, which training programs read as they are.

    The same sources and options give the same bytes, for any number of workers. If the call ends early, for whatever
    reason, the same call continues where it stopped and gives the same bytes. In a finished folder, files that are
    missing or damaged are written again, as the manifest says, and all others are left as they are.

    Memory does not grow with the size of the sources. A record of JSON lines, a text of an iterable, and a document
    that cannot be cut are held whole; with `shuffle` also the buffer, and the ids of the longest document.

    Args:
        sources: A path, a glob, a folder, a URL that `fsspec` opens, or "-" for standard input; a list or tuple of
            them; any other iterable, of texts; or a `Corpus`, which says how they are read.
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
        template: Whether the tokenizer's own template puts its tokens (BOS, EOS) around each document, instead of
            `append` and `prepend`. Without a choice, a tokenizer that has one gives a warning.
        shuffle: A seed. Documents are then shuffled within a buffer.
        shuffle_buffer: Ids that the buffer holds.
        pack: How many ids a row has. Documents within the buffer are then put into rows of exactly so many ids by
            best-fit decreasing, as `toksmith.data.pack` does, and no row is in two shards: `windows(pack)` gives the
            rows, as any reader of windows of this length does. `shuffle` orders the rows; without it, their first
            documents do. Padding is part of the last document of a row, and no model is trained on it.
        long: What becomes of a document longer than a row: "split" makes several documents of it, "truncate" keeps
            its beginning, "drop" leaves it out.
        pad: The special token that fills rows; default: the last of `append`, or the one that ends a text.
        special: Whether special tokens in the text become their ids. Pass False for text that you do not trust.
        messages: Whether the documents are conversations: records with `messages` (or the field that `field` names),
            and `tools` if there are some, which the chat template of the tokenizer lays out; or records with `prompt`
            and `completion`, both texts or both messages. Each id then has a mask, which says whether a model is
            trained on it: a file `.mask` beside the ids with a byte for each, a column in Parquet.
        train_on: "assistant": all that the assistant says; "last": its last message; "completion": what comes behind
            the last message of the user, or behind the prompt; "all": every id. A completion is all that is trained
            on in a record that has one. A block `{% generation %}` of a template says itself what the assistant says.
        untrained: "thinking" or "tool_calls", or both: not trained on although the assistant says it, where the
            messages keep it in fields of its own (`reasoning_content`, `thinking`, `tool_calls`).
        end_of_turn: Whether to train on the special token that ends what the assistant says, and on `append`. A model
            that never learns it never stops.
        chat: Options of `Tokenizer.encode_messages`: `chat_template`, `trusted`, and other variables of the template,
            all values of JSON. "strftime_now" is the date for templates that write one; default: today.
        on_error: "stop" ends the call at a document that cannot be read; "skip" leaves it out, and lists it.
        verify: Whether to compare the files of a finished folder also with their checksums, not only with their
            sizes. Every byte is read.
        workers: Threads at the most; default: all cores.
        progress: True shows a bar on standard error, "json" writes lines of JSON there; a callable gets (stage, done,
            total) in bytes of the sources.

    Returns:
        The content of `manifest.json` in the folder: shards with their sizes and checksums, documents and tokens of
        each split and source, totals (among them the special tokens that stood in the text, the ids of conversations
        that a model is trained on, and the padding of rows), documents that were left out.

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
    target = Path(arguments.path_of("out", out))
    corpus = Corpus.of(sources).without(target)
    encoder = tokenizer_of(tokenizer)
    if messages:
        chat = {"strftime_now": date_of(target), **(chat or {})}  # that of the first call
    conversations = Conversations.of(
        messages, encoder, corpus, train_on=train_on, untrained=untrained, end_of_turn=end_of_turn, chat=chat
    )
    if conversations is not None:
        corpus = conversations.corpus(corpus)
    options = Options(
        encoder,
        format=format,
        dtype=dtype,
        shard_size=shard_size,
        split=split,
        seed=seed,
        append=append,
        prepend=prepend,
        template=template,
        shuffle=shuffle,
        shuffle_buffer=shuffle_buffer,
        pack=pack,
        long=long,
        pad=pad,
        special=special,
        conversations=conversations,
        document_separator=corpus.document_separator,
        errors=corpus.errors,
        on_error=on_error,
        workers=workers,
    )
    run = {
        "tokenizer": encoder.fingerprint,
        "options": options.settings | corpus.reading,
        "sources": [[source.name, *(source.seen or (None, None))] for source in corpus.sources],
    }
    folder = Folder(target, run, options)
    finished = folder.finished()
    if finished is not None:
        repaired = repair.repair_of(folder, encoder, verify, progress)
        if repaired is None:
            return finished
        folder = repaired
    if options.warning is not None:
        warnings.warn(options.warning, stacklevel=3)
    manifest = _write(folder, encoder, corpus, progress)
    if finished is not None:
        return finished
    warn_of_skipped(manifest, folder, stacklevel=4)
    return manifest


def warn_of_skipped(manifest: JsonObject, folder: Folder, stacklevel: int) -> None:
    """Warn of documents that were left out, if there are any, and of conversations without a trained id."""
    if manifest["totals"]["documents"] and manifest["totals"].get("trained_tokens") == 0:
        message = (
            "a model is trained on none of the ids: no message of the assistant has text that the template shows"
        )
        warnings.warn(message, stacklevel=stacklevel)
    count = manifest["totals"]["skipped"]
    if count:
        were = "was" if count == 1 else "were"
        message = f'{counted(count, "document")} {were} left out: see "skipped" in {folder.path / manifests.NAME}'
        warnings.warn(message, stacklevel=stacklevel)


def _write(folder: Folder, tokenizer: Tokenizer, corpus: Corpus, progress: bool | str | Report) -> JsonObject:
    sources = corpus.sources
    with folder.locked(), watching(progress, sources) as watch:
        with corpus.naming():
            folder.resume()
            options = folder.options.core | {"chunk_bytes": CHUNK_BYTES, "snapshot_seconds": SNAPSHOT_SECONDS}
            encoder, reading = folder.options.encoder, folder.options.reading
            run = _core.ShardRun(encoder, sources, folder.core, json.dumps(options), reading)
            watch.begin(run)
            _encode(run, sources, watch)
            snapshot = json.loads(run.finish())
        manifest = folder.manifest(tokenizer, snapshot, *_named(snapshot, sources))
        folder.write_manifest(manifest, tokenizer)
        watch.end(manifest["totals"]["text_bytes"])
    return manifest


def _encode(run: _core.ShardRun, sources: list[Source], watch: Watch) -> None:
    """Encode all sources from the place of the run on."""
    start, offset = run.at()
    first = 0
    for kind, group in itertools.groupby(sources, lambda source: source.kind):
        end = first + len(list(group))
        report = watch.report_of(first)
        if end <= start:
            pass
        elif kind == "file":
            run.files(end, progress=report)
        elif kind == "column":
            numbers = range(max(first, start), end)
            rows = (table_texts.texts(sources[at], at, offset if at == start else 0) for at in numbers)
            run.columns(end, itertools.chain.from_iterable(rows), progress=report)
        else:
            texts = sources[first].texts
            run.texts([texts] if isinstance(texts, (str, bytes)) else texts or (), progress=report)
        first = end


def _named(snapshot: JsonObject, sources: Sequence[Source]) -> tuple[list[JsonObject], list[JsonObject]]:
    """Return the sources with the number of their documents, and the documents that were left out."""
    documents = snapshot["documents"] + [0] * (len(sources) - len(snapshot["documents"]))
    read = [
        {"name": source.name, "bytes": source.size, "documents": count}
        for source, count in zip(sources, documents, strict=True)
    ]
    skipped = [
        {"source": sources[text["source"]].name, "place": _place(text, sources), "reason": reason_of(text)}
        for text in snapshot["skipped"]
    ]
    return read, skipped


def _place(text: JsonObject, sources: Sequence[Source]) -> str:
    if text["line"] is None:
        return text["member"] or f"byte {text['offset']}"
    is_record = sources[text["source"]].kind == "file"
    return f"line {text['line']}" if is_record else f"text number {text['line']}"
