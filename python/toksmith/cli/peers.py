"""Other libraries with the same tokens, as `toksmith bench` runs them: each by its fastest call for many texts."""

from __future__ import annotations

import importlib
import importlib.metadata
import itertools
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..files import temporary
from ..formats import ranks as rank_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ..tokenizer import Tokenizer

NAMES = ("tiktoken", "tokenizers", "gigatoken")
# gigatoken's names of the patterns that it has.
_SCHEMES = {"gpt2": "gpt2", "cl100k": "gpt4", "o200k": "o200k", "qwen2": "qwen2"}


class Peer(NamedTuple):
    """A library: `encode` is what is timed, and `rows` makes of its result the ids of each text."""

    name: str
    encode: Callable[[list[str]], Any]
    rows: Callable[[Any], Iterable[Sequence[int]]]


class Missing(NamedTuple):
    """A library that is not compared, with the reason."""

    name: str
    reason: str


def ours(tokenizer: Tokenizer, threads: int) -> Peer:
    """Return toksmith itself."""
    from .. import __version__

    def encode(texts: list[str]) -> Any:
        return tokenizer.encode_batch_to_numpy(texts, workers=threads)

    return Peer(f"toksmith {__version__}", encode, lambda found: _cut(*found))


def load(tokenizer: Tokenizer, threads: int) -> Iterator[Peer | Missing]:
    """Yield each library with the tokens of `tokenizer`, or why it is not there.

    The libraries must not have been imported yet: two of them learn the number of threads from the environment.
    """
    os.environ["RAYON_NUM_THREADS"] = str(threads)
    os.environ["TOKENIZERS_PARALLELISM"] = "true" if threads > 1 else "false"
    for name, make in zip(NAMES, (_tiktoken, _tokenizers, _gigatoken), strict=True):
        try:
            module = importlib.import_module(name)
        except ImportError:
            yield Missing(name, f"not installed: pip install {name}")
            continue
        full = f"{name} {importlib.metadata.version(name)}"
        try:
            encode, rows = make(module, tokenizer, threads)
        except ValueError as error:
            yield Missing(full, f"left out: {error}")
        else:
            yield Peer(full, encode, rows)


def _tiktoken(module: Any, tokenizer: Tokenizer, threads: int) -> tuple[Any, Any]:
    pattern = tokenizer._pattern.text
    if pattern is None:
        raise ValueError("it needs a pattern")
    with temporary.own_folder() as folder:
        ranks = _ranks(tokenizer, folder)
        vocab = rank_file.read(ranks)
    encoding = module.Encoding(
        "bench",
        pat_str=pattern,
        mergeable_ranks={token: id for id, token in vocab.items()},
        special_tokens=dict(tokenizer.special_tokens),
    )

    def encode(texts: list[str]) -> Any:
        if threads == 1:
            return [encoding.encode(text, allowed_special="all") for text in texts]
        return encoding.encode_batch(texts, allowed_special="all", num_threads=threads)

    return encode, lambda found: found


def _tokenizers(module: Any, tokenizer: Tokenizer, threads: int) -> tuple[Any, Any]:
    with temporary.own_folder() as folder:
        tokenizer.save_huggingface(folder, verify=False)
        loaded = module.Tokenizer.from_file(str(Path(folder, "tokenizer.json")))

    def encode(texts: list[str]) -> Any:
        return [found.ids for found in loaded.encode_batch_fast(texts, add_special_tokens=False)]

    return encode, lambda found: found


def _gigatoken(module: Any, tokenizer: Tokenizer, threads: int) -> tuple[Any, Any]:
    scheme = _SCHEMES.get(tokenizer._pattern.name or "")
    if scheme is None:
        raise ValueError("it does not have the pattern")
    with temporary.own_folder() as folder:
        ranks = _ranks(tokenizer, folder)
        loaded = module.Tokenizer.from_tiktoken(str(ranks), scheme, dict(tokenizer.special_tokens))

    def encode(texts: list[str]) -> Any:
        return loaded.encode_batch(texts, parallel=threads > 1)

    encode(["a"])  # the first batch imports a library of arrays
    return encode, lambda found: _cut(found.layout.content.data, found.layout.offsets.data)


def _ranks(tokenizer: Tokenizer, folder: str) -> Path:
    path = Path(folder, "ranks.tiktoken")
    tokenizer.save_tiktoken(path, verify=False)
    return path


def _cut(ids: Any, starts: Any) -> Iterator[Sequence[int]]:
    for start, stop in itertools.pairwise(starts):
        yield ids[start:stop].tolist()
