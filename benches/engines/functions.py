"""Functions of the processes of an engine: a batch of texts to one of ids, by each library, on one thread.

An engine starts processes that import this module, so its folder is in their `PYTHONPATH`.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

os.environ["TOKENIZERS_PARALLELISM"] = "false"

RANKS, DOCUMENT = "ranks.tiktoken", "tokenizer.json"
"""Files of the same tokenizer, for tiktoken and for tokenizers."""


def of_tiktoken(folder: str, pattern: str) -> Callable[[list[str]], list[list[int]]]:
    import tiktoken
    from tiktoken.load import load_tiktoken_bpe

    ranks = load_tiktoken_bpe(str(Path(folder, RANKS)))
    encoding = tiktoken.Encoding("same", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return functools.partial(encoding.encode_ordinary_batch, num_threads=1)


def of_tokenizers(folder: str, pattern: str) -> Callable[[list[str]], list[list[int]]]:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(Path(folder, DOCUMENT)))

    def encode(texts: list[str]) -> list[list[int]]:
        return [one.ids for one in tokenizer.encode_batch_fast(texts, add_special_tokens=False)]

    return encode


LIBRARIES: dict[str, Callable[[str, str], Callable[[list[str]], list[list[int]]]]] = {
    "tiktoken": of_tiktoken,
    "tokenizers": of_tokenizers,
}


@functools.cache
def made(library: str, folder: str, pattern: str) -> Callable[[list[str]], list[list[int]]]:
    """Return what encodes with a library; a process makes it once."""
    return LIBRARIES[library](folder, pattern)


def encode_table(table: Any, library: str, folder: str, pattern: str, signed: bool = False) -> Any:
    """Return a table, or a record batch, of the ids of the column `text`."""
    import pyarrow as pa

    ids = made(library, folder, pattern)(table.column("text").to_pylist())
    array = pa.array(ids, pa.list_(pa.int32() if signed else pa.uint32()))
    return type(table).from_arrays([array], names=["input_ids"])


def encode_batches(batches: Iterable[Any], library: str, folder: str, pattern: str) -> Iterator[Any]:
    """Yield the ids of each batch, in the integers of Spark."""
    for batch in batches:
        yield encode_table(batch, library, folder, pattern, signed=True)


def only_read(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield how many texts there are: what the engine takes to give texts to a process."""
    import pyarrow as pa

    yield pa.record_batch({"n": [sum(batch.num_rows for batch in batches)]})


def passed_on(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the texts as they are: what the engine itself takes, with nothing encoded."""
    return iter(batches)
