"""What the bench asks of a peer."""

import importlib
import itertools
from collections.abc import Sequence
from typing import Any, ClassVar

from vocabularies import Vocabulary

ALL = {"gpt2", "cl100k", "o200k", "qwen3"}


class Peer:
    """A tokenizer of one vocabulary. What a peer has no door for falls back on the next best one.

    Texts arrive as `str`, ids as `list[int]` or as an array of `uint32`. `arrays` says whether its encoding ends in
    an array without a list before it, `array_batches` the same of batches, `parallel_text` whether one text runs on
    several threads, `parallel_batch` whether a batch does, `decodes_bytes` whether ids become bytes without a `str`.
    """

    module: ClassVar[str]
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
        """Encode one text to a list."""
        raise NotImplementedError

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
        """The ids of each text in what `batch_to_arrays` returned; not timed."""
        found: Sequence[Any] = result
        return found

    def count(self, text: str) -> int:
        """How many ids a text has."""
        return len(self.to_array(text))

    def to_text(self, ids: list[int]) -> Any:
        """Decode a list to text."""
        raise NotImplementedError

    def to_bytes(self, ids: Any) -> Any:
        """Decode an array to bytes."""
        raise NotImplementedError


def rows_of(ids: Any, starts: Any) -> list[Any]:
    return [ids[a:b] for a, b in itertools.pairwise(starts)]
