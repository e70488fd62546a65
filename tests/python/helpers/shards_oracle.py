"""What a folder of shards must hold: a plain loop over documents."""

import functools
import json
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from blake3 import blake3

from toksmith import Tokenizer

MASK = 2**64 - 1
PRIMES = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


@functools.lru_cache(maxsize=4096)
def xxh64(data: bytes, seed: int) -> int:
    """XXH64, from its specification."""

    def turned(value: int, by: int) -> int:
        return (value << by | value >> 64 - by) & MASK

    def mixed(lane: int, word: int) -> int:
        return turned((lane + word * PRIMES[1]) & MASK, 31) * PRIMES[0] & MASK

    at = 0
    if len(data) >= 32:
        lanes = [(seed + PRIMES[0] + PRIMES[1]) & MASK, (seed + PRIMES[1]) & MASK, seed, (seed - PRIMES[0]) & MASK]
        while at + 32 <= len(data):
            lanes = [mixed(lane, word) for lane, word in zip(lanes, struct.unpack_from("<4Q", data, at), strict=True)]
            at += 32
        found = sum(turned(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)) & MASK
        for lane in lanes:
            found = ((found ^ mixed(0, lane)) * PRIMES[0] + PRIMES[3]) & MASK
    else:
        found = (seed + PRIMES[4]) & MASK
    found = (found + len(data)) & MASK
    while at + 8 <= len(data):
        found = (turned(found ^ mixed(0, *struct.unpack_from("<Q", data, at)), 27) * PRIMES[0] + PRIMES[3]) & MASK
        at += 8
    if at + 4 <= len(data):
        found ^= struct.unpack_from("<I", data, at)[0] * PRIMES[0] & MASK
        found = (turned(found, 23) * PRIMES[1] + PRIMES[2]) & MASK
        at += 4
    for byte in data[at:]:
        found = turned(found ^ (byte * PRIMES[4] & MASK), 11) * PRIMES[0] & MASK
    found = (found ^ found >> 33) * PRIMES[1] & MASK
    found = (found ^ found >> 29) * PRIMES[2] & MASK
    return found ^ found >> 32


def expected(
    tokenizer: Tokenizer,
    documents: Iterable[str],
    *,
    shard_size: int = 100_000_000,
    split: dict[str, float] | None = None,
    seed: int = 0,
    append: Iterable[int] = (),
    prepend: Iterable[int] = (),
    shuffle: int | None = None,
    shuffle_buffer: int = 20_000_000,
    pack: int | None = None,
    long: str = "split",
    pad: int = -1,
    special: bool = True,
) -> dict[str, list[list[list[int]]]]:
    """Return for each split its shards, each a list of documents, each a list of ids."""
    splits = split or {}
    found: list[tuple[str, list[int]]] = []
    for text in documents:
        share = xxh64(text.encode()[: 1 << 16], seed) / 2**64
        name = "train"
        for candidate, part in splits.items():
            if 0 <= share < part:
                name = candidate
                break
            share -= part
        found.append((name, [*prepend, *tokenizer.encode(text, special=special), *append]))
    if shuffle is not None or pack is not None:
        arranged = []
        for buffer in buffers(found, shuffle, shuffle_buffer):
            for name in [*splits, "train"]:
                of_split = [ids for split_name, ids in buffer if split_name == name]
                of_split = of_split if pack is None else packed(of_split, pack, long, pad)
                arranged += [(name, ids) for ids in of_split]
        found = arranged
    shards: dict[str, list[list[list[int]]]] = {name: [] for name in [*splits, "train"]}
    for name, ids in found:
        of_split = shards[name]
        if not of_split or sum(map(len, of_split[-1])) >= shard_size:
            of_split.append([])
        of_split[-1].append(ids)
    return shards


def buffers(
    documents: list[tuple[str, list[int]]], seed: int | None, buffer: int
) -> Iterator[list[tuple[str, list[int]]]]:
    """Yield the documents of each buffer, by the hashes of their numbers if there is a seed."""
    held = []
    for number, document in enumerate(documents):
        held.append((number if seed is None else xxh64(struct.pack("<Q", number), seed), document))
        if sum(len(ids) for _, (_, ids) in held) >= buffer or number + 1 == len(documents):
            yield [document for _, document in sorted(held, key=lambda pair: pair[0])]
            held = []


def packed(documents: list[list[int]], length: int, long: str, pad: int) -> list[list[int]]:
    """Return the documents of rows of one length, the longest part first into the fullest row that has room."""
    parts = []
    for number, ids in enumerate(documents):
        if long == "drop" and len(ids) > length:
            continue
        end = min(len(ids), length) if long == "truncate" else len(ids)
        parts += [(number, start, min(start + length, end)) for start in range(0, end, length)]
    rows: list[list[tuple[int, int, int]]] = []
    for part in sorted(parts, key=lambda part: part[1] - part[2]):
        room = [length - sum(end - start for _, start, end in row) for row in rows]
        enough = [row for row in range(len(rows)) if room[row] >= part[2] - part[1]]
        if enough:
            rows[min(enough, key=room.__getitem__)].append(part)
        else:
            rows.append([part])
    found = []
    for row in sorted(rows, key=min):
        of_row = [documents[number][start:end] for number, start, end in row]
        of_row[-1] = of_row[-1] + [pad] * (length - sum(map(len, of_row)))
        found += of_row
    return found


def check(folder: Path, shards: dict[str, list[list[list[int]]]], dtype: str = "<u2") -> dict[str, Any]:
    """Compare whole files of the format "bin" with what is expected; return the manifest."""
    manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    names = {"manifest.json", "tokenizer.toksmith"}
    for split, expected_shards in shards.items():
        told = manifest["splits"][split]
        assert len(told["shards"]) == len(expected_shards), split
        assert told["documents"] == sum(map(len, expected_shards))
        for number, (shard, documents) in enumerate(zip(told["shards"], expected_shards, strict=True)):
            ids = np.array([id for document in documents for id in document], dtype).tobytes()
            assert shard["file"] == f"{split}-{number:05}.bin"
            data, index = (folder / shard["file"]).read_bytes(), folder / shard["index"]
            assert data == ids, (split, number)
            lengths = [0, *map(len, documents)]
            starts = np.load(index)
            assert starts.dtype == np.dtype("<i8")
            assert starts.tolist() == np.cumsum(lengths).tolist(), (split, number)
            assert shard["bytes"] == len(data)
            assert shard["tokens"] == starts[-1]
            assert shard["documents"] == len(documents)
            assert shard["blake3"] == blake3(data).hexdigest()
            assert shard["index_blake3"] == blake3(index.read_bytes()).hexdigest()
            names |= {shard["file"], shard["index"]}
    assert {path.name for path in folder.iterdir()} == names
    totals = manifest["totals"]
    assert totals["documents"] == sum(len(shard) for of_split in shards.values() for shard in of_split)
    assert totals["tokens"] == sum(told["tokens"] for told in manifest["splits"].values())
    return manifest


def files(folder: Path) -> dict[str, bytes]:
    """Return the contents of a folder by name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
