"""Peers whose encoding can end in an array: one class each, with the best door of its package for each job."""

import importlib
import inspect
from collections.abc import Sequence
from typing import Any, ClassVar

from peer import Peer, openai_pattern, rows_of
from vocabularies import Vocabulary


class Toksmith(Peer):
    """This project."""

    module = "toksmith"
    arrays = array_batches = counts = parallel_text = True

    def load(self, vocabulary: Vocabulary) -> Any:
        """Load the rank file; one text takes the number of threads where the method has it."""
        tokenizer = self.package.Tokenizer.from_tiktoken(
            vocabulary.ranks_path, pattern=vocabulary.toksmith_pattern, special_tokens=vocabulary.special_tokens
        )
        taken = inspect.signature(tokenizer.encode_to_numpy).parameters
        self.one_text = {"workers": self.threads} if "workers" in taken else {}
        return tokenizer

    def to_list(self, text: str) -> Any:
        """`encode`."""
        return self.tokenizer.encode(text)

    def to_array(self, text: str) -> Any:
        """`encode_to_numpy`."""
        return self.tokenizer.encode_to_numpy(text, **self.one_text)

    def batch_to_lists(self, texts: list[str]) -> Any:
        """`encode_batch`."""
        return self.tokenizer.encode_batch(texts, workers=self.threads)

    def batch_to_arrays(self, texts: list[str]) -> Any:
        """`encode_batch_to_numpy`."""
        return self.tokenizer.encode_batch_to_numpy(texts, workers=self.threads)

    def to_bytes(self, ids: Any) -> Any:
        """`decode_bytes`, which takes an array."""
        return self.tokenizer.decode_bytes(ids)


class Gigatoken(Peer):
    """gigatoken: arrays everywhere; a text of a batch is an awkward row. Specials are always special."""

    module = "gigatoken"
    arrays = array_batches = parallel_text = True

    def load(self, vocabulary: Vocabulary) -> Any:
        """Load the rank file under the name of a scheme."""
        scheme = {"gpt2": "gpt2", "cl100k": "gpt4", "o200k": "o200k", "qwen3": "qwen2"}[vocabulary.name]
        return self.package.Tokenizer.from_tiktoken(vocabulary.ranks_path, scheme, vocabulary.special_tokens)

    def ready(self) -> None:
        """The first batch of a process imports `awkward`: a quarter of a second that is no encoding."""
        self.tokenizer.encode_batch(["a"], parallel=self.threads > 1)

    def to_list(self, text: str) -> Any:
        """`encode`, and the array's own `tolist`: less per call than `encode_batch_list`."""
        return self.tokenizer.encode(text).tolist()

    def to_array(self, text: str) -> Any:
        """`encode` on one thread; on several, a batch of one text, which it cuts itself."""
        if self.threads == 1:
            return self.tokenizer.encode(text)
        return self.tokenizer.encode_batch([text], parallel=True).layout.content.data

    def batch_to_lists(self, texts: list[str]) -> Any:
        """`encode_batch_list`."""
        return self.tokenizer.encode_batch_list(texts, parallel=self.threads > 1)

    def batch_to_arrays(self, texts: list[str]) -> Any:
        """`encode_batch`, which is an awkward array: one buffer and offsets."""
        return self.tokenizer.encode_batch(texts, parallel=self.threads > 1)

    def rows(self, result: Any) -> Sequence[Any]:
        """Cut the buffer at the offsets."""
        return rows_of(result.layout.content.data, result.layout.offsets.data)

    def to_text(self, ids: list[int]) -> Any:
        """`decode` gives bytes."""
        return self.tokenizer.decode(ids).decode("utf-8", "replace")

    def to_bytes(self, ids: Any) -> Any:
        """`decode` borrows an array of `uint32`."""
        return self.tokenizer.decode(ids)


class Fastokens(Peer):
    """fastokens: `encode_ordinary(...).ids`, and flat batches as the bytes of arrays."""

    module = "fastokens"
    arrays = array_batches = parallel_text = True
    decodes_bytes = False

    def load(self, vocabulary: Vocabulary) -> Any:
        """Load the rank file, with the preset of OpenAI's two."""
        path, specials = str(vocabulary.ranks_path), vocabulary.special_tokens
        self.numpy: Any = importlib.import_module("numpy")
        if vocabulary.name in ("cl100k", "o200k"):
            return self.package.Tokenizer.from_tiktoken(path, encoding=f"{vocabulary.name}_base")
        return self.package.Tokenizer.from_tiktoken(path, pattern=vocabulary.pattern, special_tokens=specials)

    def to_list(self, text: str) -> Any:
        """`encode_ordinary`."""
        return self.tokenizer.encode_ordinary(text).ids

    def to_array(self, text: str) -> Any:
        """A flat batch of one text."""
        return self.numpy.frombuffer(self.tokenizer.encode_batch_flat([text])[0], self.numpy.uint32)

    def batch_to_lists(self, texts: list[str]) -> Any:
        """`encode_batch`."""
        return [encoding.ids for encoding in self.tokenizer.encode_batch(texts)]

    def batch_to_arrays(self, texts: list[str]) -> Any:
        """`encode_batch_flat`."""
        ids, starts = self.tokenizer.encode_batch_flat(texts)
        return self.numpy.frombuffer(ids, self.numpy.uint32), self.numpy.frombuffer(starts, self.numpy.uint64)

    def to_bytes(self, ids: Any) -> Any:
        """There is only `decode` to text."""
        return self.tokenizer.decode(ids).encode()


class Snaptokens(Fastokens):
    """snaptokens: a fork of fastokens that reads a `tokenizer.json` alone, one without unused ids."""

    module = "snaptokens"

    def load(self, vocabulary: Vocabulary) -> Any:
        """Load the `tokenizer.json` whose unused ids have tokens."""
        self.numpy = importlib.import_module("numpy")
        return self.package.Tokenizer.from_file(str(vocabulary.contiguous_json_path))

    def to_list(self, text: str) -> Any:
        """`encode`."""
        return self.tokenizer.encode(text).ids

    def to_bytes(self, ids: Any) -> Any:
        """There is only `decode` of a list to text."""
        return self.tokenizer.decode(ids.tolist()).encode()


class Tuetoken(Peer):
    """tuetoken: the core alone, which knows no special tokens; ids as raw bytes or a flat batch."""

    module = "tuetoken"
    arrays = array_batches = counts = True
    decodes_bytes = False

    def load(self, vocabulary: Vocabulary) -> Any:
        """Load the `tokenizer.json`: its own OpenAI encodings would be fetched."""
        self.numpy: Any = importlib.import_module("numpy")
        return self.package.Tokenizer(str(vocabulary.json_path))

    def to_array(self, text: str) -> Any:
        """`encode_to_bytes`, as an array."""
        return self.numpy.frombuffer(self.tokenizer.encode_to_bytes(text), self.numpy.uint32)

    def batch_to_lists(self, texts: list[str]) -> Any:
        """`encode_ordinary_batch`."""
        return self.tokenizer.encode_ordinary_batch(texts, self.threads)

    def batch_to_arrays(self, texts: list[str]) -> Any:
        """`encode_ordinary_to_buffer`."""
        found = self.tokenizer.encode_ordinary_to_buffer(texts, self.threads)
        return found["data"], found["offsets"]

    def count(self, text: str) -> int:
        """`count_tokens`."""
        number: int = self.tokenizer.count_tokens(text)
        return number

    def to_bytes(self, ids: Any) -> Any:
        """`decode_array`, which gives text."""
        return self.tokenizer.decode_array(ids).encode()


class Toktok(Peer):
    """toktok-rs: OpenAI's two vocabularies, built in, through the tokenizer behind its counts."""

    module = "toktok"
    vocabularies: ClassVar[set[str]] = {"cl100k", "o200k"}
    arrays = array_batches = counts = True

    def load(self, vocabulary: Vocabulary) -> Any:
        """Load by name; its `qwen3.5` is another vocabulary, and it has none of GPT-2's."""
        return self.package._encoding(f"{vocabulary.name}_base")

    def to_array(self, text: str) -> Any:
        """`encode_to_numpy`, with no search for special tokens."""
        return self.tokenizer.encode_to_numpy(text, disallowed_special=())

    def batch_to_lists(self, texts: list[str]) -> Any:
        """Batches are arrays; on one thread a loop is the faster way to lists."""
        if self.threads == 1:
            return [self.tokenizer.encode_ordinary(text) for text in texts]
        return [row.tolist() for row in self.rows(self.batch_to_arrays(texts))]

    def batch_to_arrays(self, texts: list[str]) -> Any:
        """`encode_batch_to_numpy`."""
        return self.tokenizer.encode_batch_to_numpy(texts, self.threads)


class Quicktok(Peer):
    """quicktok-v1: bundled vocabularies, and imported ones; none of GPT-2's pattern."""

    module = "quicktok"
    vocabularies: ClassVar[set[str]] = {"cl100k", "o200k", "qwen3"}
    arrays = array_batches = counts = True

    def load(self, vocabulary: Vocabulary) -> Any:
        """Load OpenAI's two by name, Qwen's as it was imported (`vocabularies.py`)."""
        if vocabulary.name == "qwen3":
            return self.package.Tokenizer(vocabulary.quicktok_name, str(vocabulary.folder))
        return self.package.Tokenizer(f"{vocabulary.name}_base", "")

    def to_array(self, text: str) -> Any:
        """A batch of one text."""
        return self.tokenizer.encode_batch([text], 1)[0]

    def batch_to_lists(self, texts: list[str]) -> Any:
        """Batches are arrays; on one thread a loop is the faster way to lists."""
        if self.threads == 1:
            return [self.tokenizer.encode_ordinary(text) for text in texts]
        return [row.tolist() for row in self.rows(self.batch_to_arrays(texts))]

    def batch_to_arrays(self, texts: list[str]) -> Any:
        """`encode_batch`."""
        return self.tokenizer.encode_batch(texts, self.threads)


class TokenizersNext(Peer):
    """The release candidate of Hugging Face tokenizers, whose encodings have arrays."""

    module = "tokenizers"
    name = "tokenizers_next"
    arrays = parallel_text = True
    decodes_bytes = False

    def load(self, vocabulary: Vocabulary) -> Any:
        """Load the `tokenizer.json`."""
        return self.package.Tokenizer.from_file(str(vocabulary.json_path))

    def to_list(self, text: str) -> Any:
        """`encode`."""
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def to_array(self, text: str) -> Any:
        """`encode`, as an array."""
        return self.tokenizer.encode(text, add_special_tokens=False).ids_array

    def batch_to_lists(self, texts: list[str]) -> Any:
        """`encode_batch`."""
        return [encoding.ids for encoding in self.tokenizer.encode_batch(texts, add_special_tokens=False)]

    def to_text(self, ids: list[int]) -> Any:
        """`decode`."""
        return self.tokenizer.decode(ids, skip_special_tokens=False)

    def to_bytes(self, ids: Any) -> Any:
        """There is only `decode` to text."""
        return self.tokenizer.decode(ids, skip_special_tokens=False).encode()


class Basetenkenizer(Peer):
    """basetenkenizer, through its own conversion of OpenAI's encodings."""

    module = "basetenkenizer"
    vocabularies: ClassVar[set[str]] = {"gpt2", "cl100k", "o200k"}
    arrays = True
    decodes_bytes = False

    def load(self, vocabulary: Vocabulary) -> Any:
        """Convert tiktoken's encoding to a `tokenizer.json`, and load that."""
        encoding = importlib.import_module("tiktoken").Encoding(
            vocabulary.name,
            pat_str=openai_pattern(vocabulary),
            mergeable_ranks=vocabulary.ranks(),
            special_tokens=vocabulary.special_tokens,
        )
        return self.package.Tokenizer.from_json_str(self.package.tiktoken_to_tokenizer_json(encoding))

    def to_list(self, text: str) -> Any:
        """`encode`, special tokens as text."""
        return self.tokenizer.encode(text, split_special_tokens=True).ids

    def to_array(self, text: str) -> Any:
        """`encode`, as an array."""
        return self.tokenizer.encode(text, split_special_tokens=True).into_numpy()["ids"]

    def batch_to_lists(self, texts: list[str]) -> Any:
        """`encode_batch`."""
        return [encoding.ids for encoding in self.tokenizer.encode_batch(texts, split_special_tokens=True)]

    def to_bytes(self, ids: Any) -> Any:
        """There is only `decode` to text."""
        return self.tokenizer.decode(ids.tolist()).encode()
