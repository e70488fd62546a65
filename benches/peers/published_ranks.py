"""Published rank files, read without toksmith, and Hugging Face's tokenizer of one: the tests use them too."""

import base64
import importlib
import json
from pathlib import Path
from typing import Any


def rank_file(data: Path, name: str) -> Path:
    return data / "vocabs" / f"{name}.tiktoken"


def read_ranks(data: Path, name: str) -> dict[bytes, int]:
    lines = rank_file(data, name).read_bytes().split(b"\n")
    return {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines if line)}


def read_specials(data: Path, name: str) -> dict[str, int]:
    specials: dict[str, int] = json.loads((data / "vocabs" / f"{name}.special.json").read_text())
    return specials


def spelled_bytes() -> list[str]:
    """GPT-2's printable character for each byte."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    characters = {byte: chr(byte) for byte in printable} | {byte: chr(256 + i) for i, byte in enumerate(others)}
    return [characters[byte] for byte in range(256)]


def merged_below(ranks: dict[bytes, int], token: bytes, limit: int) -> list[bytes]:
    """The parts of a token after all merges of a rank below `limit`."""
    parts = [token[i : i + 1] for i in range(len(token))]
    found = [ranks.get(token[i : i + 2], limit) for i in range(len(token) - 1)]
    while found and (rank := min(found)) < limit:
        i = found.index(rank)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
        del found[i]
        for near in (i - 1, i):
            if 0 <= near < len(found):
                found[near] = ranks.get(parts[near] + parts[near + 1], limit)
    return parts


def merges_of(ranks: dict[bytes, int]) -> list[tuple[bytes, bytes]]:
    """The pair that makes each token, where there is one."""
    found = []
    for token, rank in sorted(ranks.items(), key=lambda item: item[1]):
        parts = merged_below(ranks, token, rank) if len(token) > 1 else []
        if len(parts) == 2:
            found.append((parts[0], parts[1]))
    return found


def huggingface(
    ranks: dict[bytes, int], specials: dict[str, int], pattern: str | None, *, ignore_merges: bool = False
) -> Any:
    """Hugging Face's tokenizer of ranks, without a normalizer; no `pattern` is the one that its `ByteLevel` has."""
    hf = importlib.import_module("tokenizers")
    characters = spelled_bytes()

    def spell(token: bytes) -> str:
        return "".join(characters[byte] for byte in token)

    vocab = {spell(token): rank for token, rank in ranks.items()} | specials
    merges = [(spell(left), spell(right)) for left, right in merges_of(ranks)]
    made = hf.Tokenizer(hf.models.BPE(vocab=vocab, merges=merges, ignore_merges=ignore_merges))
    made.pre_tokenizer = hf.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=pattern is None)
    if pattern is not None:
        split = hf.pre_tokenizers.Split(hf.Regex(pattern), "isolated")
        made.pre_tokenizer = hf.pre_tokenizers.Sequence([split, made.pre_tokenizer])
    made.decoder = hf.decoders.ByteLevel()
    made.add_special_tokens(sorted(specials, key=specials.__getitem__))
    return made
