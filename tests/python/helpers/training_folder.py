"""A small writer of folders of training data, straight from the description of the layout in docs/data.md.

It uses no part of the package but `Tokenizer.save` and `Tokenizer.fingerprint`: it checks readers and writers.
"""

import itertools
import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from blake3 import blake3

from toksmith import Tokenizer

Document = Sequence[int]
CODES = {"uint16": "H", "uint32": "I"}
LLM_C = {"uint16": (20240520, 1), "uint32": (20240801, 7)}
MEGATRON = {"uint16": 8, "uint32": 4}
FORMATS = ("bin", "llm.c", "megatron", "npy", "parquet")


def write_folder(
    folder: Path,
    splits: Mapping[str, Sequence[Document]],
    *,
    file_format: str = "bin",
    dtype: str = "uint16",
    shard_size: int = 1000,
    tokenizer: Tokenizer | None = None,
) -> None:
    """Write documents of ids as a folder; a shard is closed when it has at least `shard_size` ids."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(special_tokens=["<|endoftext|>"]) if tokenizer is None else tokenizer
    tokenizer.save(folder / "tokenizer.toksmith")
    found = {
        name: split(folder, name, documents, file_format, dtype, shard_size) for name, documents in splits.items()
    }
    totals = {what: sum(one[what] for one in found.values()) for what in ("documents", "tokens")}
    manifest = {
        "format": "toksmith training data",
        "version": 2,
        "tokenizer": {
            "file": "tokenizer.toksmith",
            "fingerprint": tokenizer.fingerprint,
            "vocab_size": tokenizer.vocab_size,
        },
        "file_format": file_format,
        "dtype": dtype,
        "options": {"append": [], "prepend": [], "shard_size": shard_size, "split": {}, "seed": 0, "shuffle": None},
        "splits": found,
        "sources": [{"name": "a.jsonl", "bytes": 4000, "documents": totals["documents"]}],
        "skipped": [],
        "totals": {**totals, "text_bytes": 4000},
        "a key that no reader knows": 1,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1))


def split(
    folder: Path, name: str, documents: Sequence[Document], file_format: str, dtype: str, shard_size: int
) -> dict[str, Any]:
    """Write the shards of a split; return its part of the manifest."""
    shards: list[list[Document]] = []
    for document in documents:
        if not shards or sum(map(len, shards[-1])) >= shard_size:
            shards.append([])
        shards[-1].append(document)
    written = [
        shard(folder, f"{name}-{number:05}", documents, file_format, dtype) for number, documents in enumerate(shards)
    ]
    return {
        "documents": sum(one["documents"] for one in written),
        "tokens": sum(one["tokens"] for one in written),
        "shards": written,
    }


def shard(folder: Path, stem: str, documents: Sequence[Document], file_format: str, dtype: str) -> dict[str, Any]:
    """Write a shard with its index; return its part of the manifest."""
    ids = [id for document in documents for id in document]
    starts = [0]
    for document in documents:
        starts.append(starts[-1] + len(document))
    suffix = {"npy": "npy", "parquet": "parquet"}.get(file_format, "bin")
    path, index = folder / f"{stem}.{suffix}", folder / f"{stem}.index.npy"
    bare = struct.pack(f"<{len(ids)}{CODES[dtype]}", *ids)
    if file_format == "parquet":
        write_parquet(path, documents, dtype)
    elif file_format == "npy":
        path.write_bytes(npy(f"<u{struct.calcsize(CODES[dtype])}", len(ids), bare))
    elif file_format == "llm.c":
        path.write_bytes(struct.pack("<256i", *LLM_C[dtype], len(ids), *[0] * 253) + bare)
    else:
        path.write_bytes(bare)
    if file_format == "megatron":
        path.with_suffix(".idx").write_bytes(megatron_index(starts, dtype))
    index.write_bytes(npy("<i8", len(starts), struct.pack(f"<{len(starts)}q", *starts)))
    entry = {
        "file": path.name,
        "index": index.name,
        "documents": len(documents),
        "tokens": len(ids),
        "bytes": path.stat().st_size,
        "blake3": blake3(path.read_bytes()).hexdigest(),
        "index_blake3": blake3(index.read_bytes()).hexdigest(),
    }
    if file_format == "megatron":
        entry["idx_blake3"] = blake3(path.with_suffix(".idx").read_bytes()).hexdigest()
    return entry


def npy(kind: str, count: int, data: bytes) -> bytes:
    """A NumPy file of version 1.0."""
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({count},), }}".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + head.ljust(117) + b"\n" + data


def megatron_index(starts: Sequence[int], dtype: str) -> bytes:
    """What Megatron's `_IndexWriter` writes for documents of one sequence each."""
    count = len(starts) - 1
    lengths = [stop - start for start, stop in itertools.pairwise(starts)]
    pointers = [start * struct.calcsize(CODES[dtype]) for start in starts[:-1]]
    head = b"MMIDIDX\x00\x00" + struct.pack("<QBQQ", 1, MEGATRON[dtype], count, count + 1)
    return head + struct.pack(f"<{count}i{count}q{count + 1}q", *lengths, *pointers, *range(count + 1))


def write_parquet(path: Path, documents: Sequence[Document], dtype: str) -> None:
    """A row for each document, in groups of three."""
    import pyarrow as pa
    from pyarrow import parquet

    kind = pa.list_({"uint16": pa.uint16(), "uint32": pa.uint32()}[dtype])
    table = pa.table({"ids": pa.array([list(document) for document in documents], kind)})
    parquet.write_table(table, path, row_group_size=3)
