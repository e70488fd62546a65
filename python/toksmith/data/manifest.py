"""`manifest.json`: the content of a folder of training data, as it is written and read."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_args

from .. import _core
from .._internal.choices import ShardFormat
from .._internal.messages import shown
from ..files import text_files, whole_files

_T = TypeVar("_T")

NAME = "manifest.json"
VERSION = 2
"""The version of the format of the folder."""
TOKENIZER = "tokenizer.toksmith"
"""The name of the file with the tokenizer."""
WIDTHS = {"uint16": 2, "uint32": 4}
"""Types of ids, with their bytes."""
MEGATRON_HEADER_BYTES = 34
REPAIR = "copy the folder again, or run the same toksmith tokenize again, which repairs it"
"""What to do about a damaged file; `--verify` also finds those of the right size."""
KIND = "toksmith training data"
_MAX_NAME = 255
"""The maximum length of the name of a file in file systems."""

JsonObject = dict[str, Any]


class Format(NamedTuple):
    """A format of shards."""

    name: str
    suffix: str
    """That of the file with the ids."""
    header_bytes: int
    """Bytes before the ids."""
    max_ids: int
    """The maximum number of ids in a shard."""
    is_single: bool
    """Whether a split is one shard, whose files have no number."""


FORMATS = {row[0]: Format(*row) for row in _core.SHARD_FORMATS}
"""All formats by name."""


class Shard(NamedTuple):
    """A file of ids, with the file that says where its documents begin, and the BLAKE3 of both."""

    file: str
    index_file: str
    documents: int
    tokens: int
    bytes: int
    checksum: str
    index_checksum: str
    idx_checksum: str | None = None
    """That of Megatron's `.idx`."""
    mask_file: str | None = None
    """The file with a byte for each id, which says whether a model is trained on it."""
    mask_checksum: str | None = None


class File(NamedTuple):
    """A file of a shard."""

    name: str
    bytes: int
    checksum: str | None


class Split(NamedTuple):
    """The shards of "train", or of "val"."""

    documents: int
    tokens: int
    shards: list[Shard]


class Manifest(NamedTuple):
    """The content of a folder. `content` is the whole object of the file."""

    folder: Path
    file_format: str
    dtype: str
    tokenizer_file: str
    fingerprint: str
    vocab_size: int
    splits: dict[str, Split]
    content: JsonObject

    @property
    def shards(self) -> Iterator[Shard]:
        """The shards of all splits."""
        return (shard for split in self.splits.values() for shard in split.shards)

    @property
    def has_mask(self) -> bool:
        """Whether each id has a mask, since the documents are conversations."""
        options = self.content.get("options")
        return isinstance(options, dict) and bool(options.get("messages"))

    def files_of(self, shard: Shard) -> list[File]:
        """Return the files of a shard: its ids, its index, and Megatron's index."""
        index_bytes = _core.NPY_HEADER_BYTES + 8 * (shard.documents + 1)
        files = [
            File(shard.file, shard.bytes, shard.checksum),
            File(shard.index_file, index_bytes, shard.index_checksum),
        ]
        if self.file_format == "megatron":
            name = str(Path(shard.file).with_suffix(".idx"))
            size = MEGATRON_HEADER_BYTES + 20 * shard.documents + 8  # length, place and number of each document
            files.append(File(name, size, shard.idx_checksum))
        if shard.mask_file is not None:
            files.append(File(shard.mask_file, shard.tokens, shard.mask_checksum))
        return files


def write(folder: Path, content: JsonObject) -> None:
    """Write the manifest of a folder."""
    text = json.dumps(content, indent=1, ensure_ascii=False)
    # A name that is not UTF-8 has lone surrogates here, which JSON has escapes for: they read back as the name.
    whole_files.write(whole_files.without_link(folder / NAME), [text.encode(errors="backslashreplace"), b"\n"])


def read(folder: str | os.PathLike[str]) -> Manifest:
    """Read the manifest of a folder, and compare the sizes of its shards with it.

    Raises:
        FileNotFoundError: There is no such folder, it has no manifest, or a file that the manifest names is missing.
        NotADirectoryError: `folder` is a file.
        ValueError: The manifest is malformed or of a later version, or a shard has another size.
    """
    path = Path(folder)
    if not path.exists():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(path))
    if not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "not a folder: pass the folder that has manifest.json", str(path))
    if not (path / NAME).is_file():
        advice = "pass a folder that toksmith tokenize wrote"
        if any(path.glob("*.index.npy")) or any(path.glob(".toksmith-*")):
            advice = "the run that writes it has not finished: run the same toksmith tokenize again to continue it"
        raise FileNotFoundError(f"{path}: there is no {NAME}: {advice}")
    manifest = parse(path)
    for shard in manifest.shards:
        check_size(path / shard.file, shard.bytes)
        check_size(path / shard.index_file)
        if shard.mask_file is not None:
            check_size(path / shard.mask_file, shard.tokens)
    return manifest


def check_size(path: Path, size: int | None = None) -> None:
    """Check that a file is there, and has so many bytes."""
    if not path.is_file():
        raise FileNotFoundError(f"{path}: the file is missing, and {NAME} lists it: {REPAIR}")
    actual = path.stat().st_size
    if size is not None and actual != size:
        raise ValueError(
            f"{path}: the file has {actual:,} bytes, and {NAME} says {size:,}: it was truncated or replaced; {REPAIR}"
        )


def parse(folder: Path) -> Manifest:
    """Return the manifest of a folder, whose other files are not read; an error names the field."""
    name = str(folder / NAME)
    content = text_files.read_object(name, "manifest")
    if content.get("format") != KIND:
        raise ValueError(f'{name}: not a manifest of training data: it has no "format": "{KIND}"')
    version = content.get("version")
    if type(version) is not int:
        raise ValueError(f"{name}: the version is {shown(version)}, not a whole number")
    if version != VERSION:
        advice = "install a newer one" if version > VERSION else "write the folder again"
        raise ValueError(f"{name}: version {version} of the format, and this toksmith reads {VERSION}: {advice}")
    with text_files.naming(name):
        tokenizer = _field(content, "tokenizer", dict)
        manifest = Manifest(
            folder,
            _choice(content, "file_format", get_args(ShardFormat)),
            _choice(content, "dtype", tuple(WIDTHS)),
            _file_name(tokenizer, "file"),
            _field(tokenizer, "fingerprint", str),
            _field(tokenizer, "vocab_size", int),
            {split: _split(split, value) for split, value in _field(content, "splits", dict).items()},
            content,
        )
        if manifest.file_format != "parquet":
            for shard in manifest.shards:
                if manifest.has_mask and shard.mask_file is None:
                    raise ValueError(f"{shard.file} has no mask, and its documents are conversations")
                needed = FORMATS[manifest.file_format].header_bytes + shard.tokens * WIDTHS[manifest.dtype]
                if shard.bytes != needed:
                    message = f"{shard.tokens:,} ids of {manifest.dtype} take {needed:,}"
                    raise ValueError(f"{shard.file} has {shard.bytes:,} bytes, and {message}")
    return manifest


def _split(name: str, value: object) -> Split:
    if not isinstance(value, dict):
        raise ValueError(f"the split {shown(name)} is {type(value).__name__}, not an object")
    shards = [_shard(shard) for shard in _field(value, "shards", list)]
    split = Split(_count(value, "documents"), _count(value, "tokens"), shards)
    for what in ("documents", "tokens"):
        total, parts = getattr(split, what), sum(getattr(shard, what) for shard in shards)
        if total != parts:
            raise ValueError(f"the split {shown(name)} has {total:,} {what}, and its shards together {parts:,}")
    return split


def _shard(value: object) -> Shard:
    if not isinstance(value, dict):
        raise ValueError(f"a shard is {type(value).__name__}, not an object")
    return Shard(
        _file_name(value, "file"),
        _file_name(value, "index"),
        _count(value, "documents"),
        _count(value, "tokens"),
        _count(value, "bytes"),
        _field(value, "blake3", str),
        _field(value, "index_blake3", str),
        _field(value, "idx_blake3", str) if "idx_blake3" in value else None,
        _file_name(value, "mask") if "mask" in value else None,
        _field(value, "mask_blake3", str) if "mask" in value else None,
    )


def _field(content: JsonObject, name: str, kind: type[_T]) -> _T:
    if name not in content:
        raise ValueError(f"the field {shown(name)} is missing")
    value = content[name]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"the field {shown(name)} is {type(value).__name__}, not {kind.__name__}")
    return value


def _count(content: JsonObject, name: str) -> int:
    value = _field(content, name, int)
    if not 0 <= value < 2**62:
        raise ValueError(f"the field {shown(name)} is {shown(value)}, not a count")
    return value


def _choice(content: JsonObject, name: str, choices: tuple[str, ...]) -> str:
    value = _field(content, name, str)
    if value not in choices:
        raise ValueError(f"the field {shown(name)} is {shown(value)}, and this toksmith reads {', '.join(choices)}")
    return value


def _file_name(content: JsonObject, name: str) -> str:
    """Return the name of a file in the folder: a manifest from a stranger must not lead out of the folder."""
    value = _field(content, name, str)
    if not is_file_name(value) or not value.isprintable() or len(value) > _MAX_NAME:
        raise ValueError(f"the field {shown(name)} is {shown(value)}, not the name of a file in the folder")
    return value


def is_file_name(name: object) -> bool:
    """Return whether this is the name of a file, with no folder before it."""
    return isinstance(name, str) and name not in ("", ".", "..") and not set(name) & set("/\\:\0")
