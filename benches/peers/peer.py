"""What the bench asks of a peer."""

import importlib
import itertools
from collections.abc import Sequence
from typing import Any, ClassVar

from vocabularies import Vocabulary

ALL = {"gpt2", "cl100k", "o200k", "qwen3"}


class Peer:
    """A tokenizer of one vocabulary. What a peer has no door for falls back on the next best one.

    By default a door is the method that most peers have. `name` is for a second version of a module.

    Texts arrive as `str`, ids as `list[int]` or as an array of `uint32`. `arrays` says whether its encoding ends in
    an array without a list before it, `array_batches` the same of batches, `parallel_text` whether one text runs on
    several threads, `parallel_batch` whether a batch does, `decodes_bytes` whether ids become bytes without a `str`.
    """

    module: ClassVar[str]
    name: ClassVar[str] = ""
    vocabularies: ClassVar[set[str]] = ALL
    arrays: ClassVar[bool] = False
    array_batches: ClassVar[bool] = False
    parallel_text: ClassVar[bool] = False
    parallel_batch: ClassVar[bool] = True
    counts: ClassVar[bool] = False
    decodes_bytes: ClassVar[bool] = True

    def __init__(self, vocabulary: Vocabulary, threads: int) -> None:
        self.threads = threads
        self.package: Any = importlib.import_module(self.module)
        self.tokenizer: Any = self.load(vocabulary)

    def load(self, vocabulary: Vocabulary) -> Any:
        """Load the vocabulary from the files of this peer's kind."""
        raise NotImplementedError

    def ready(self) -> None:
        """Do what the first call of a process does besides encoding; neither timed nor counted as loading."""
        self.to_list("a")

    def to_list(self, text: str) -> Any:
        """Encode one text to a list: `encode_ordinary`."""
        return self.tokenizer.encode_ordinary(text)

    def to_array(self, text: str) -> Any:
        """Encode one text to an array."""
        return self.to_list(text)

    def batch_to_lists(self, texts: list[str]) -> Any:
        """Encode texts to a list each."""
        raise NotImplementedError

    def batch_to_arrays(self, texts: list[str]) -> Any:
        """Encode texts to one array and where each starts, or what the peer has in its place."""
        return self.batch_to_lists(texts)

    def rows(self, result: Any) -> Sequence[Any]:
        """The ids of each text in what `batch_to_arrays` returned, cut at the starts; not timed."""
        return rows_of(*result) if self.array_batches else result

    def count(self, text: str) -> int:
        """How many ids a text has: `count`, where there is one."""
        number: int = self.tokenizer.count(text) if self.counts else len(self.to_array(text))
        return number

    def to_text(self, ids: list[int]) -> Any:
        """Decode a list to text: `decode`."""
        return self.tokenizer.decode(ids)

    def to_bytes(self, ids: Any) -> Any:
        """Decode an array to bytes: `decode_bytes`, which takes a list in less time than an array."""
        return self.tokenizer.decode_bytes(ids.tolist())


def openai_pattern(vocabulary: Vocabulary) -> str:
    """The pattern, in tiktoken's own spelling of GPT-2's."""
    if vocabulary.name == "gpt2":
        spelling: str = importlib.import_module("tiktoken_ext.openai_public").r50k_pat_str
        return spelling
    return vocabulary.pattern


def rows_of(ids: Any, starts: Any) -> list[Any]:
    return [ids[a:b] for a, b in itertools.pairwise(starts)]
