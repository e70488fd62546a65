"""What the tests of published vocabularies share: the peers whose ids are the truth, and comparisons of ids."""

import functools
import hashlib
import importlib
import importlib.metadata
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from toksmith import Tokenizer, _core, patterns

sys.path.append(str(Path(__file__).resolve().parents[3] / "benches/peers"))
import published_ranks
from published_ranks import huggingface, merged_below, rank_file, read_ranks, read_specials, spelled_bytes

__all__ = ["merged_below", "spelled_bytes"]

KEPT = Path(__file__).resolve().parents[3] / "target/published"

EOT = "<|endoftext|>"

# The name of the pattern, and of the files.
VOCABULARIES = {"gpt2": "gpt2", "cl100k": "cl100k_base", "o200k": "o200k_base", "qwen2": "qwen3"}


def load(data: Path, pattern: str) -> Tokenizer:
    return load_as(data, VOCABULARIES[pattern], pattern)


def load_as(data: Path, name: str, pattern: str) -> Tokenizer:
    """A published vocabulary with its special tokens, under any pattern."""
    path, specials = rank_file(data, name), read_specials(data, name)
    if VOCABULARIES.get(pattern) == name:
        return Tokenizer.from_tiktoken(path, pattern=pattern, special_tokens=specials)
    with warnings.catch_warnings():  # another pattern is meant
        warnings.filterwarnings("ignore", ".* is the rank file of .*, whose pattern is")
        return Tokenizer.from_tiktoken(path, pattern=pattern, special_tokens=specials)


@functools.cache
def on(tokenizer: Tokenizer, pattern: str, isa: str | None) -> Tokenizer:
    """The same tokenizer with a scanner for one instruction set; None is what it is made with."""
    if isa is None:
        return tokenizer
    specials = dict(tokenizer.special_tokens)
    ordinary = {id: token for id, token in tokenizer.vocab.items() if id not in specials.values()}
    merges = list(tokenizer.merges) if tokenizer._core.has_merges() else None
    own = patterns.of_core(tokenizer._core)
    pretokenizer = _core.Pretokenizer(pattern, isa=isa, source=own.text, flags=own.flags, unicode=own.unicode)
    return Tokenizer._of(_core.Tokenizer(ordinary, merges, list(specials.items()), pretokenizer))


@functools.cache
def of_tiktoken(data: Path, pattern: str) -> Any:
    name = VOCABULARIES[pattern]
    return importlib.import_module("tiktoken").Encoding(
        name,
        pat_str=patterns.NAMED[pattern],
        mergeable_ranks=read_ranks(data, name),
        special_tokens=read_specials(data, name),
    )


def of_huggingface(data: Path, pattern: str) -> Any:
    """Hugging Face's tokenizer of a rank file: the merges that make its tokens, the pattern, and no normalizer."""
    return importlib.import_module("tokenizers").Tokenizer.from_str(json_of_huggingface(data, pattern))


@functools.cache
def json_of_huggingface(data: Path, pattern: str) -> str:
    """What that tokenizer writes. To find its merges takes seconds, so it is kept in `target` for the next run."""
    name, source = VOCABULARIES[pattern], patterns.NAMED[pattern]
    specials = read_specials(data, name)
    made_of = hashlib.sha256(rank_file(data, name).read_bytes())
    made_of.update(Path(published_ranks.__file__).read_bytes())
    made_of.update(repr((specials, source, importlib.metadata.version("tokenizers"))).encode())
    kept = KEPT / f"{name}-{made_of.hexdigest()[:16]}.json"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        part = kept.with_suffix(f".{os.getpid()}")  # several test processes may be at it
        part.write_text(huggingface(read_ranks(data, name), specials, source).to_str(), encoding="utf-8")
        part.replace(kept)
    return kept.read_text(encoding="utf-8")


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
