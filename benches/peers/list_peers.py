"""Peers whose encoding ends in lists: one class each, with the best door of its package for each job."""

import importlib
from typing import Any, ClassVar

from peer import Peer, openai_pattern
from vocabularies import Vocabulary


class Tiktoken(Peer):
    """tiktoken, from ranks and pattern: nothing is fetched."""

    module = "tiktoken"
    arrays = True

    def load(self, vocabulary: Vocabulary) -> Any:
        """Build the encoding, with tiktoken's own spelling of GPT-2's pattern."""
        return self.package.Encoding(
            vocabulary.name,
            pat_str=openai_pattern(vocabulary),
            mergeable_ranks=vocabulary.ranks(),
            special_tokens=vocabulary.special_tokens,
        )

    def to_array(self, text: str) -> Any:
        """`encode_to_numpy`, with no search for special tokens."""
        return self.tokenizer.encode_to_numpy(text, disallowed_special=())

    def batch_to_lists(self, texts: list[str]) -> Any:
        """A loop on one thread, `encode_ordinary_batch` on several."""
        if self.threads == 1:
            return [self.tokenizer.encode_ordinary(text) for text in texts]
        return self.tokenizer.encode_ordinary_batch(texts, num_threads=self.threads)


class Riptoken(Peer):
    """riptoken: tiktoken's interface on its own core; threads by RAYON_NUM_THREADS."""

    module = "riptoken"

    def load(self, vocabulary: Vocabulary) -> Any:
        """Build the core from the rank file and tiktoken's pattern."""
        ranks = self.package.load_tiktoken_bpe(vocabulary.ranks_path)
        return self.package.CoreBPE(ranks, vocabulary.special_tokens, openai_pattern(vocabulary))

    def batch_to_lists(self, texts: list[str]) -> Any:
        """`encode_ordinary_batch`."""
        return self.tokenizer.encode_ordinary_batch(texts)

    def to_text(self, ids: list[int]) -> Any:
        """`decode_bytes`, decoded."""
        return self.tokenizer.decode_bytes(ids).decode("utf-8", "replace")


class RsBpe(Peer):
    """rs-bpe: OpenAI's two vocabularies, built in."""

    module = "rs_bpe"
    vocabularies: ClassVar[set[str]] = {"cl100k", "o200k"}
    counts = True
    decodes_bytes = False

    def load(self, vocabulary: Vocabulary) -> Any:
        """Load by name: the tables are part of the package."""
        openai = importlib.import_module("rs_bpe.bpe").openai
        return getattr(openai, f"{vocabulary.name}_base")()

    def to_list(self, text: str) -> Any:
        """`encode`."""
        return self.tokenizer.encode(text)

    def batch_to_lists(self, texts: list[str]) -> Any:
        """`encode_batch` on one thread, `encode_batch_parallel` on several; the lists come first in both."""
        if self.threads == 1:
            return self.tokenizer.encode_batch(texts)[0]
        return self.tokenizer.encode_batch_parallel(texts, None)[0]

    def to_bytes(self, ids: Any) -> Any:
        """There is only `decode` to text."""
        return self.tokenizer.decode(ids.tolist()).encode()


class Tokenizers(Peer):
    """Hugging Face tokenizers; threads by RAYON_NUM_THREADS and TOKENIZERS_PARALLELISM."""

    module = "tokenizers"
    decodes_bytes = False

    def load(self, vocabulary: Vocabulary) -> Any:
        """Load the `tokenizer.json`."""
        return self.package.Tokenizer.from_file(str(vocabulary.json_path))

    def to_list(self, text: str) -> Any:
        """`encode_batch_fast` of one text: without offsets."""
        return self.tokenizer.encode_batch_fast([text], add_special_tokens=False)[0].ids

    def batch_to_lists(self, texts: list[str]) -> Any:
        """`encode_batch_fast`."""
        return [encoding.ids for encoding in self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)]

    def to_text(self, ids: list[int]) -> Any:
        """`decode`."""
        return self.tokenizer.decode(ids, skip_special_tokens=False)

    def to_bytes(self, ids: Any) -> Any:
        """There is only `decode` to text."""
        return self.tokenizer.decode(ids.tolist(), skip_special_tokens=False).encode()


class Tokie(Peer):
    """tokie: `encode` alone cuts at the pattern (`encode_bytes` does not); it starts threads of its own."""

    module = "tokie"
    parallel_text = counts = True

    def load(self, vocabulary: Vocabulary) -> Any:
        """Load the `tokenizer.json`."""
        return self.package.Tokenizer.from_json(str(vocabulary.json_path))

    def to_list(self, text: str) -> Any:
        """`encode`."""
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def batch_to_lists(self, texts: list[str]) -> Any:
        """`encode_batch`."""
        return [encoding.ids for encoding in self.tokenizer.encode_batch(texts, add_special_tokens=False)]

    def count(self, text: str) -> int:
        """`count_tokens`."""
        number: int = self.tokenizer.count_tokens(text)
        return number


class Morpheme(Peer):
    """morpheme: encodings with offsets; threads by RAYON_NUM_THREADS."""

    module = "morpheme"
    counts = True
    decodes_bytes = False

    def load(self, vocabulary: Vocabulary) -> Any:
        """Load the `tokenizer.json`."""
        return self.package.Tokenizer.from_file(str(vocabulary.json_path))

    def to_list(self, text: str) -> Any:
        """`encode`."""
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def batch_to_lists(self, texts: list[str]) -> Any:
        """`encode_batch`."""
        return [encoding.ids for encoding in self.tokenizer.encode_batch(texts, add_special_tokens=False)]

    def count(self, text: str) -> int:
        """`count`."""
        number: int = self.tokenizer.count(text, add_special_tokens=False)
        return number

    def to_text(self, ids: list[int]) -> Any:
        """`decode`."""
        return self.tokenizer.decode(ids, skip_special_tokens=False)

    def to_bytes(self, ids: Any) -> Any:
        """There is only `decode` to text."""
        return self.tokenizer.decode(ids.tolist(), skip_special_tokens=False).encode()
