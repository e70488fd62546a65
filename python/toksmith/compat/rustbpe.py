"""rustbpe's `Tokenizer`, on toksmith: `import toksmith.compat.rustbpe as rustbpe`.

The same methods and merges as rustbpe 0.1.0, which nanochat trains its tokenizer with.

>>> tokenizer = Tokenizer()
>>> tokenizer.train_from_iterator(["low low lower lowest"], vocab_size=258)
>>> tokenizer.get_mergeable_ranks()[256:]
[(b'lo', 256), (b'low', 257)]
"""

import operator
from collections.abc import Iterable, Sequence

from .. import patterns
from ..files import text_files
from . import _merges, aliases
from ._merges import GPT4_PATTERN

__all__ = ["GPT4_PATTERN", "Tokenizer"]


class Tokenizer:
    """A tokenizer that is trained once, and then encodes and decodes; before, it has 256 bytes and no pattern.

    Text that the pattern does not match is lost; so an untrained tokenizer has no ids for any text, as in rustbpe.
    The tokenizer that encodes is the attribute `tokenizer`: an immutable `toksmith.Tokenizer`, which training
    replaces.
    """

    def __init__(self) -> None:
        self._pattern = ""
        self.tokenizer = _merges.tokenizer_of({}, {}, _resolved(""))

    def train_from_iterator(
        self, iterator: Iterable[str], vocab_size: int, buffer_size: int = 8192, pattern: str | None = None
    ) -> None:
        """Learn `vocab_size - 256` merges, or fewer if no pair is left; of equally frequent pairs, the smallest ids.

        Args:
            iterator: Texts. No pair is counted across two texts.
            vocab_size: Tokens of the result, of which 256 are the bytes.
            buffer_size: Has no effect: texts are counted as they come.
            pattern: A regular expression in the dialect of Rust's `fancy-regex`; by default GPT-4's as rustbpe
                spells it, toksmith's `cl100k_old`.

        Raises:
            ValueError: `vocab_size` is less than 256, `buffer_size` is less than 1, or the pattern is broken.
        """
        if isinstance(iterator, (str, bytes)):
            raise TypeError(f"expected an iterable of texts, got one {type(iterator).__name__}: pass [text]")
        if operator.index(buffer_size) < 1:
            raise ValueError(f"buffer_size is {buffer_size}, less than 1")
        spelling = GPT4_PATTERN if pattern is None else pattern
        resolved = _resolved(spelling)
        merges, _ = _merges.learn(iterator, vocab_size, resolved, "smallest_ids")
        self._pattern, self.tokenizer = spelling, _merges.tokenizer_of(merges, {}, resolved)

    def get_pattern(self) -> str:
        """Return the pattern as it was given; "" before training."""
        return self._pattern

    @property
    def vocab_size(self) -> int:
        """How many tokens there are: 256 bytes and the merges."""
        return self.tokenizer.vocab_size

    def get_mergeable_ranks(self) -> list[tuple[bytes, int]]:
        """Return the tokens with their ids, in order; `tiktoken.Encoding` takes them as a dict."""
        return [(token, id) for id, token in self.tokenizer.vocab.items()]

    def encode(self, text: str) -> list[int]:
        """Return the ids of `text`."""
        return self.tokenizer.encode(text, special=False)

    def batch_encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of each text, encoded on all cores."""
        return self.tokenizer.encode_batch(texts, special=False)

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of `ids`; `ValueError` if an id has no token, or the bytes are not UTF-8."""
        try:
            return self.tokenizer.decode(ids, errors="strict")
        except KeyError as error:
            raise ValueError(f"Unknown token id: {error.args[0]}") from None


def install() -> aliases.Installation:
    """Make `import rustbpe` import this module until `uninstall` of the result, or the end of a `with` block."""
    return aliases.Installation("rustbpe")


def _resolved(spelling: str) -> patterns.Pattern:
    if not isinstance(spelling, str):
        raise TypeError(f"a pattern is a regular expression as str, not {type(spelling).__name__}")
    with text_files.naming("Invalid regex pattern"):
        return patterns.of_tiktoken_source(spelling, "drop")
