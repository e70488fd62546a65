"""tiktoken's extension, `_tiktoken`: `CoreBPE`, the class that does the work of an `Encoding`."""

from __future__ import annotations

import contextlib
from collections.abc import Container, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, NoReturn

from ... import patterns
from ..._core import Encoding as CoreEncoding
from ..._core import Tokenizer as CoreTokenizer
from ..._core import tokens_of_ranks
from . import checks
from .special_rules import Rules

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["CoreBPE"]


class CoreBPE:
    r"""Encodes and decodes for an `Encoding`, whose attribute `_core_bpe` it is.

    It knows no `disallowed_special`, replaces no surrogates, and takes bytes where `Encoding` also takes a str.

    Args:
        encoder: Tokens and their ranks, as `mergeable_ranks` of `Encoding`.
        special_tokens_encoder: Special tokens and their ids.
        pattern: The regular expression that cuts text, in tiktoken's dialect.

    >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"th": 256}
    >>> CoreBPE(ranks, {}, r"\w+").encode_single_piece(b"the thing")
    [256, 101, 32, 256, 105, 110, 103]
    """

    __slots__ = ("_core", "_encoding", "_pattern", "_rules", "_special_tokens")

    def __init__(self, encoder: Mapping[bytes, int], special_tokens_encoder: Mapping[str, int], pattern: str) -> None:
        vocab = checks.vocabulary_of(encoder, special_tokens_encoder)
        self._fill(vocab, special_tokens_encoder, checks.pattern_of(pattern))

    @classmethod
    def _of_ranks(cls, data: bytes, special_tokens: Mapping[str, int], pattern: str) -> CoreBPE:
        """Return the object for a rank file."""
        made = cls.__new__(cls)
        made._fill(data, special_tokens, checks.pattern_of(pattern))
        return made

    def _fill(
        self, tokens: dict[int, bytes] | bytes, special_tokens: Mapping[str, int], pattern: patterns.Pattern
    ) -> None:
        self._core = _core_of(tokens, special_tokens, pattern)
        self._encoding, self._pattern = CoreEncoding(self._core), pattern
        self._special_tokens, self._rules = special_tokens, Rules(special_tokens)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a CoreBPE cannot be pickled: pickle its Encoding")

    # Text to ids

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of `text`, with special tokens read as ordinary text."""
        with _surrogates_named(text):
            return self._core.encode(text, False)

    def encode(self, text: str, allowed_special: AbstractSet[str]) -> list[int]:
        """Return the ids of `text`; allowed special tokens become their ids, all others are read as ordinary text."""
        allowed = self._rules.of(allowed_special, ())[0]
        with _surrogates_named(text):
            ids = self._encoding.encode(text, allowed, None)
        assert isinstance(ids, list)  # no special token is refused
        return ids

    def encode_to_tiktoken_buffer(self, text: str, allowed_special: AbstractSet[str]) -> npt.NDArray[np.uint32]:
        """Return the ids as an array, which like tiktoken's buffer gives a `memoryview` of `uint32`."""
        allowed = self._rules.of(allowed_special, ())[0]
        with _surrogates_named(text):
            ids = self._encoding.encode_to_numpy(text, allowed, None)
        assert not isinstance(ids, str)  # no special token is refused
        ids.flags.writeable = False
        return ids

    def encode_with_unstable(self, text: str, allowed_special: AbstractSet[str]) -> tuple[list[int], list[list[int]]]:
        """Return the ids that no text after `text` can change, and the sequences of ids that may come next."""
        allowed = self._rules.of(allowed_special, ())[0]
        text.encode()
        return self._encoding.encode_with_unstable(text, allowed)

    def encode_single_token(self, piece: bytes) -> int:
        """Return the id of one token, ordinary or special; `KeyError` if there is no such token."""
        token = _checked_bytes(piece)
        try:
            return self._core.token_id(token)
        except KeyError:
            # Of several special tokens with the same id, the core has only the first.
            special = self._special_tokens.get(token.decode("utf-8", "surrogateescape"))
            if special is None:
                raise KeyError(piece) from None
            return special

    def encode_single_piece(self, piece: bytes) -> list[int]:
        """Return the ids of bytes that are taken as one pretoken, without the pattern."""
        if not _checked_bytes(piece):
            try:
                return [self._core.token_id(b"")]
            except KeyError:
                return []
        return self._encoding.encode_piece(piece)

    def _encode_bytes(self, bytes: bytes) -> list[int]:
        return self._encoding.encode_broken(_checked_bytes(bytes))

    # Ids to bytes

    def decode_bytes(self, tokens: Iterable[int]) -> bytes:
        """Return the bytes of ids; `KeyError` for an id that has no token."""
        try:
            return self._core.decode_bytes(tokens)
        except KeyError as error:
            raise checks.of_range(tokens, error) from None

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Return the bytes of one id; `KeyError` if it has no token."""
        try:
            return self._core.token_bytes(token)
        except KeyError as error:
            raise checks.of_range([token], error) from None

    def token_byte_values(self) -> list[bytes]:
        """Return the bytes of all ordinary tokens, sorted."""
        return self._encoding.token_byte_values()


def _core_of(
    tokens: dict[int, bytes] | bytes, special_tokens: Mapping[str, int], pattern: patterns.Pattern
) -> CoreTokenizer:
    """Return the core of tokens by rank, or of a rank file."""
    if isinstance(tokens, bytes):
        try:
            return CoreTokenizer.from_ranks(tokens, _specials_beside((), special_tokens), pattern.core())
        except ValueError:  # a special token may have the id of a rank
            tokens = tokens_of_ranks(tokens)
    return CoreTokenizer(tokens, None, _specials_beside(tokens, special_tokens), pattern.core())


def _specials_beside(ranks: Container[int], special_tokens: Mapping[str, int]) -> list[tuple[str, int | None]]:
    """Return the special tokens to which ids are decoded: the first of each id that no rank has."""
    names: dict[int, str] = {}
    for name, id in special_tokens.items():
        if id not in ranks:
            names.setdefault(id, name)
    return [(name, id) for id, name in names.items()]


@contextlib.contextmanager
def _surrogates_named(text: str) -> Iterator[None]:
    """Raise tiktoken's error for a text with a surrogate: a UnicodeEncodeError."""
    try:
        yield
    except ValueError:
        text.encode()
        raise


def _checked_bytes(piece: object) -> bytes:
    if not isinstance(piece, bytes):
        raise TypeError(f"a piece is bytes, not {type(piece).__name__}")
    return piece
