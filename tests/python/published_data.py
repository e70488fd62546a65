"""What the tests of published vocabularies share: the peers whose ids are the truth, and comparisons of ids."""

import base64
import importlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tiktoken

from toksmith import Tokenizer, _core, patterns

EOT = "<|endoftext|>"

# The name of the pattern, and of the files.
VOCABULARIES = {"gpt2": "gpt2", "cl100k": "cl100k_base", "o200k": "o200k_base", "qwen2": "qwen3"}


def read_ranks(shared_data: Path, name: str) -> dict[bytes, int]:
    """Read a rank file without toksmith."""
    lines = (shared_data / f"vocabs/{name}.tiktoken").read_bytes().split(b"\n")
    return {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines if line)}


def read_specials(shared_data: Path, name: str) -> dict[str, int]:
    specials: dict[str, int] = json.loads((shared_data / f"vocabs/{name}.special.json").read_text())
    return specials


def load(shared_data: Path, pattern: str) -> Tokenizer:
    name = VOCABULARIES[pattern]
    path, specials = shared_data / f"vocabs/{name}.tiktoken", read_specials(shared_data, name)
    return Tokenizer.from_tiktoken(path, pattern=pattern, special_tokens=specials)


def on(tokenizer: Tokenizer, pattern: str, isa: str | None) -> Tokenizer:
    """The same tokenizer with a scanner for one instruction set; None is what it is made with."""
    if isa is None:
        return tokenizer
    specials = dict(tokenizer.special_tokens)
    ordinary = {id: token for id, token in tokenizer.vocab.items() if id not in specials.values()}
    merges = list(tokenizer.merges) if tokenizer._core.has_merges() else None
    pretokenizer = _core.Pretokenizer(pattern, isa=isa)
    made = Tokenizer.__new__(Tokenizer)
    made._fill(_core.Tokenizer(ordinary, merges, list(specials.items()), pretokenizer), tokenizer._pattern)
    return made


def of_tiktoken(shared_data: Path, pattern: str) -> tiktoken.Encoding:
    name = VOCABULARIES[pattern]
    return tiktoken.Encoding(
        name,
        pat_str=patterns.NAMED[pattern],
        mergeable_ranks=read_ranks(shared_data, name),
        special_tokens=read_specials(shared_data, name),
    )


def merged_below(ranks: dict[bytes, int], token: bytes, limit: int) -> list[bytes]:
    """The parts of a token after all merges of a rank below `limit`."""
    parts = [token[i : i + 1] for i in range(len(token))]
    while True:
        pairs = ((ranks.get(parts[i] + parts[i + 1], limit), i) for i in range(len(parts) - 1))
        rank, i = min(pairs, default=(limit, 0))
        if rank >= limit:
            return parts
        parts[i : i + 2] = [parts[i] + parts[i + 1]]


def of_huggingface(shared_data: Path, pattern: str) -> Any:
    """Hugging Face's tokenizer of a rank file: the merges that make its tokens, the pattern, and no normalizer."""
    hf = importlib.import_module("tokenizers")
    name = VOCABULARIES[pattern]
    ranks, specials = read_ranks(shared_data, name), read_specials(shared_data, name)
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = (byte for byte in range(256) if byte not in printable)
    spelled = {byte: chr(byte) for byte in printable} | {byte: chr(256 + i) for i, byte in enumerate(others)}

    def spell(token: bytes) -> str:
        return "".join(spelled[byte] for byte in token)

    merges = []
    for token, rank in sorted(ranks.items(), key=lambda item: item[1]):
        parts = merged_below(ranks, token, rank) if len(token) > 1 else []
        if len(parts) == 2:
            merges.append((spell(parts[0]), spell(parts[1])))
    vocab = {spell(token): rank for token, rank in ranks.items()} | specials
    made = hf.Tokenizer(hf.models.BPE(vocab=vocab, merges=merges))
    split = hf.pre_tokenizers.Split(hf.Regex(patterns.NAMED[pattern]), "isolated")
    rest = hf.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.pre_tokenizer = hf.pre_tokenizers.Sequence([split, rest])
    made.add_special_tokens(sorted(specials, key=specials.__getitem__))
    return made


def documents_of(text: str) -> list[str]:
    """Cut a text before each end of a document: alone each has the ids that it has in the whole."""
    return [EOT + rest for rest in text.split(EOT)]


def assert_ids(ours: Any, theirs: Any, decode: Tokenizer, what: str = "") -> None:
    """Compare two arrays or lists of ids, and name the first difference."""
    ours, theirs = np.asarray(ours, np.uint32), np.asarray(theirs, np.uint32)
    if np.array_equal(ours, theirs):
        return
    shorter = min(len(ours), len(theirs))
    unequal = np.flatnonzero(ours[:shorter] != theirs[:shorter])
    at = int(unequal[0]) if len(unequal) else shorter
    near = decode.decode_bytes(theirs[max(0, at - 4) : at + 6])
    raise AssertionError(
        f"{what}: {len(ours)} ids for {len(theirs)}, first at {at}: {ours[at : at + 5]} for {theirs[at : at + 5]}, "
        f"in {near!r}"
    )


def cut(text: str, size: int) -> Sequence[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]
