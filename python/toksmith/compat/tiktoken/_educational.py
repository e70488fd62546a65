"""tiktoken's module `_educational`: BPE in plain Python that shows its steps, here by `toksmith.reference`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ... import patterns, reference
from .core import Encoding
from .registry import get_encoding

# The output equals tiktoken's, byte for byte: its colours, and text as it is. toksmith's own views are in `viewing`.
_BACKGROUNDS = (167, 179, 185, 77, 80, 68, 134)  # colours of a terminal that has 256


class SimpleBytePairEncoding:
    """An encoding of ranks, a pattern of the `regex` package, and no special tokens."""

    def __init__(self, *, pat_str: str, mergeable_ranks: dict[bytes, int]) -> None:
        self.pat_str, self.mergeable_ranks = pat_str, mergeable_ranks
        self._decoder = {rank: token for token, rank in mergeable_ranks.items()}
        self._pat = patterns.of_source(pat_str, 0, "drop").compiled()

    def encode(self, text: str, visualise: str | None = "colour") -> list[int]:
        """Return the ids of `text`, and print each step: "colour", "simple", or None for nothing."""
        words = reference.pretokenize(text, self._pat, "drop")
        return [id for word in words for id in bpe_encode(self.mergeable_ranks, word.encode(), visualise)]

    def decode_bytes(self, tokens: Iterable[int]) -> bytes:
        """Return the bytes of ids; `KeyError` for an id that has no token."""
        return b"".join(self.decode_tokens_bytes(tokens))

    def decode(self, tokens: Iterable[int]) -> str:
        """Return the text of ids, with U+FFFD for bytes that are not UTF-8."""
        return self.decode_bytes(tokens).decode(errors="replace")

    def decode_tokens_bytes(self, tokens: Iterable[int]) -> list[bytes]:
        """Return the bytes of each id."""
        return [self._decoder[token] for token in tokens]

    @staticmethod
    def train(
        training_data: str, vocab_size: int, pat_str: str, visualise: str | None = "colour"
    ) -> SimpleBytePairEncoding:
        """Return the encoding of a training, which prints its steps as `bpe_train` does."""
        ranks = bpe_train(training_data, vocab_size, pat_str, visualise)
        return SimpleBytePairEncoding(pat_str=pat_str, mergeable_ranks=ranks)

    @staticmethod
    def from_tiktoken(encoding: str | Encoding) -> SimpleBytePairEncoding:
        """Return the encoding of this name, or of this `Encoding`, without its special tokens."""
        whole = get_encoding(encoding) if isinstance(encoding, str) else encoding
        return SimpleBytePairEncoding(pat_str=whole._pat_str, mergeable_ranks=whole._mergeable_ranks)


def bpe_encode(mergeable_ranks: dict[bytes, int], input: bytes, visualise: str | None = "colour") -> list[int]:
    """Return the ids of one pretoken, and print its pieces before the first merge and after each."""
    pieces = [bytes([byte]) for byte in input]
    _show(pieces, visualise)
    for step in reference.encode_steps(input, mergeable_ranks):
        pieces = list(step.pieces)
        _show(pieces, visualise)
    if visualise:
        print()
    return [mergeable_ranks[piece] for piece in pieces]


def bpe_train(data: str, vocab_size: int, pat_str: str, visualise: str | None = "colour") -> dict[bytes, int]:
    """Return the ranks that training on a text makes, and print each merge with the first pretokens after it.

    Of equally frequent pairs, the first in the text merges.
    """
    if vocab_size < 256:
        raise ValueError(f"vocab_size must be at least 256, the single bytes, not {vocab_size}")
    pattern = patterns.of_source(pat_str, 0, "drop").compiled()
    words = [tuple(bytes([byte]) for byte in word.encode()) for word in reference.pretokenize(data, pattern, "drop")]
    counts = reference.count_pretokens(data, pattern=pattern, unmatched="drop")
    ranks = {bytes([byte]): byte for byte in range(256)}
    for merge in reference.naive_merges(counts, vocab_size - 256, ties="first"):
        token = merge.left + merge.right
        ranks[token] = len(ranks)
        if visualise:
            words = [reference.merge_pair(word, merge.pair) for word in words[:50]]
            print(f"{merge.left!r} + {merge.right!r}, {merge.count} times: {token!r} is token {ranks[token]}")
            _show([piece for word in words for piece in word], visualise)
            print()
    if len(ranks) < vocab_size:
        raise ValueError(f"no pair is left after {len(ranks) - 256} merges: vocab_size can be {len(ranks)} at most")
    return ranks


def _show(pieces: list[bytes], visualise: str | None) -> None:
    if visualise in ("colour", "color"):
        visualise_tokens(pieces)
    elif visualise == "simple":
        print(pieces)


def visualise_tokens(token_values: Iterable[bytes]) -> None:
    """Print tokens side by side, each on a background that differs from its neighbours'."""
    length, last = 0, -1
    for token in token_values:
        text = token.decode(errors="replace")
        place = length % len(_BACKGROUNDS)
        if place == last:
            place = (place + 1) % len(_BACKGROUNDS)
        print(f"\x1b[48;5;{_BACKGROUNDS[place]}m{text}", end="")
        length, last = length + len(text), place
    print("\x1b[0m")


def train_simple_encoding() -> SimpleBytePairEncoding:
    """Train an encoding of 600 tokens on the source of `toksmith.reference`, and show how it encodes two words."""
    data = Path(reference.__file__).read_text(encoding="utf-8")
    encoding = SimpleBytePairEncoding.train(data, 600, reference.GPT2_PATTERN)
    print("The merges that encode 'hello world':")
    encoding.encode("hello world")
    return encoding
