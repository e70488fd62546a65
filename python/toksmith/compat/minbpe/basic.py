"""minbpe's `BasicTokenizer`: no pattern, no special tokens."""

from collections.abc import Iterable

from .base import Tokenizer


class BasicTokenizer(Tokenizer):
    """BPE over the whole text, which is not cut.

    >>> tokenizer = BasicTokenizer()
    >>> tokenizer.train("low lower lowest", 258)
    >>> dict(tokenizer.merges)
    {(108, 111): 256, (256, 119): 257}
    """

    def encode(self, text: str) -> list[int]:
        """Return the ids of `text`."""
        return self.tokenizer.encode(text, special=False)

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of `ids`, with U+FFFD for bytes that are not UTF-8; `KeyError` for an unknown id."""
        return self.tokenizer.decode(ids)
