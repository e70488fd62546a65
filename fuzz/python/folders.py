"""Fuzz targets for what `toksmith tokenize` writes: unfinished runs, and folders of training data."""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import shutil
from pathlib import Path
from typing import Any, BinaryIO

from blake3 import blake3
from checks import FOLDER
from choices import Input, changed_bytes, changed_value

import toksmith
from toksmith import Corpus, Tokenizer
from toksmith.data import tokenize as tokenizing

TEXTS = [f"low lower {number} é中" * (number % 5) for number in range(12)]
OPTIONS: list[dict[str, Any]] = [
    {"format": "bin", "shard_size": 60},
    {"format": "npy", "shard_size": 90, "split": "val=0.4"},
    {"format": "megatron", "shuffle": 3, "shuffle_buffer": 2},
    {"format": "llm.c"},
    {"format": "parquet", "shard_size": 60},
    {"format": "nanogpt"},
]


@functools.cache
def _texts() -> list[Path]:
    paths = []
    for number in range(3):
        paths.append(FOLDER / f"texts-{number}.jsonl")
        some = TEXTS[number * 4 : number * 4 + 4]
        paths[-1].write_text("".join(json.dumps({"text": text}) + "\n" for text in some))
    return paths


def _run(out: Path, options: dict[str, Any], sources: Any = None) -> None:
    toksmith.tokenize(sources or _texts(), Tokenizer(), out, workers=1, **options)


def _content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


@functools.cache
def _good(number: int) -> tuple[Path, Path]:
    """Return a folder whose run was stopped after a few documents, and one whose run is finished."""
    begun, whole = FOLDER / f"begun-{number}", FOLDER / f"whole-{number}"
    _run(whole, OPTIONS[number])
    corpus, seconds, chunk_bytes = Corpus(_texts()), tokenizing.SNAPSHOT_SECONDS, tokenizing.CHUNK_BYTES
    corpus.sources[1] = corpus.sources[1]._replace(open=_stopped)
    tokenizing.SNAPSHOT_SECONDS, tokenizing.CHUNK_BYTES = 0.0, 64
    try:
        with contextlib.suppress(OSError):
            _run(begun, OPTIONS[number], corpus)
    finally:
        tokenizing.SNAPSHOT_SECONDS, tokenizing.CHUNK_BYTES = seconds, chunk_bytes
    assert (begun / ".toksmith-unfinished/state.json").exists()
    return begun, whole


def _stopped() -> BinaryIO:
    raise OSError("the run is stopped here")


def unfinished(data: bytes) -> None:
    """A run that goes on from a changed folder: a refusal, or the files of an undisturbed run.

    A forged state decides what is written.
    """
    input = Input(data)
    number = input.below(len(OPTIONS))
    begun, whole = _good(number)
    folder = FOLDER / "copy"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(begun, folder)
    inside = folder / ".toksmith-unfinished"
    is_state = input.below(4) == 0
    path = inside / "state.json"
    if not is_state:
        path = input.pick(sorted(path for path in folder.rglob("*") if path.is_file()))
    before = path.read_bytes()
    is_forged = is_state and input.below(4) > 0
    if is_forged:
        state = json.loads(before)
        kept = changed_value(json.dumps(state["state"]), input)
        digest = blake3(json.dumps(kept).encode()).hexdigest()
        path.write_text(json.dumps({**state, "blake3": digest, "state": kept}))
    else:
        path.write_bytes(changed_bytes(before, input))
    is_same = path.read_bytes() == before
    with contextlib.suppress(ValueError, OSError):
        _run(folder, OPTIONS[number])
        assert (is_forged and not is_same) or _content(folder) == _content(whole)
        toksmith.data.open(folder)


def folder(data: bytes) -> None:
    """`toksmith.data`: a changed folder is refused, or its ids and documents can be read."""
    input = Input(data)
    whole = _good(input.below(len(OPTIONS)))[1]
    path = input.pick(sorted(whole.iterdir()))
    before = path.read_bytes()
    if path.name == "manifest.json" and input.below(4):
        changed = json.dumps(changed_value(before.decode(), input)).encode()
    else:
        changed = changed_bytes(before, input)
    _replace(path, changed)
    try:
        _read(whole, input.byte())
    finally:
        _replace(path, before)


def _replace(path: Path, content: bytes) -> None:
    """Write a new file of that name: the pages of the old one may be mapped."""
    path.unlink()
    path.write_bytes(content)


def _read(folder: Path, seed: int) -> None:
    with contextlib.suppress(ValueError, OSError):
        for _ in toksmith.data.differences(folder):
            pass
    with contextlib.suppress(ValueError, OSError):
        opened = toksmith.data.open(folder)
        assert len(opened[:]) == len(opened)
        assert sum(len(opened.documents[at]) for at in range(len(opened.documents))) == len(opened)
        for window in itertools.islice(opened.windows(7, seed=seed), 10):
            assert len(window) == 7
        with contextlib.suppress(KeyError):
            opened.documents.text(0)
