"""`CoreBPE`, the class of tiktoken's extension, which programs reach as `encoding._core_bpe`.

It knows no `disallowed_special`, replaces no surrogates, and takes bytes where `Encoding` also takes a str.
"""

from __future__ import annotations

import contextlib

from ..._core import Encoding as CoreEncoding
from ..._core import Tokenizer as CoreTokenizer
from . import checks, special_policy
from .token_bytes import TokenBytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet
    from typing import Any

    import numpy as np
    import numpy.typing as npt

    from ...patterns import Pattern


class CoreBPE(TokenBytes):
    r"""Encodes and decodes for an `Encoding`.

    Args:
        encoder: Tokens and their ranks, as `mergeable_ranks` of `Encoding`.
        special_tokens_encoder: Special tokens and their ids.
        pattern: The regular expression that cuts text, in tiktoken's dialect.

    >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"th": 256}
    >>> CoreBPE(ranks, {}, r"\w+").encode_single_piece(b"the thing")
    [256, 101, 32, 256, 105, 110, 103]
    """

    __slots__ = ("_core", "_encoding", "_pattern", "_rules", "_special_tokens")

    def __init__(self, encoder: dict[bytes, int], special_tokens_encoder: dict[str, int], pattern: str) -> None:
        vocab = checks.vocabulary_of(encoder, special_tokens_encoder)
        resolved = checks.pattern_of(pattern)
        core = CoreTokenizer(vocab, None, special_policy.beside(special_tokens_encoder, vocab), resolved.core())
        self._fill(
            core, CoreEncoding(core), resolved, special_tokens_encoder, special_policy.Rules(special_tokens_encoder)
        )

    @classmethod
    def of(
        cls,
        core: CoreTokenizer,
        encoding: CoreEncoding,
        pattern: Pattern,
        special_tokens: dict[str, int],
        rules: special_policy.Rules,
    ) -> CoreBPE:
        """Return the object that an `Encoding` uses."""
        made = cls.__new__(cls)
        made._fill(core, encoding, pattern, special_tokens, rules)
        return made

    def _fill(
        self,
        core: CoreTokenizer,
        encoding: CoreEncoding,
        pattern: Pattern,
        special_tokens: dict[str, int],
        rules: special_policy.Rules,
    ) -> None:
        self._core, self._encoding, self._pattern = core, encoding, pattern
        self._special_tokens, self._rules = special_tokens, rules

    def __reduce__(self) -> Any:
        raise TypeError("a CoreBPE cannot be pickled: pickle its Encoding")

    # Text to ids

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of `text`, with special tokens read as ordinary text.

        Raises:
            UnicodeEncodeError: The text has a surrogate.
        """
        with _surrogates_named(text):
            return self._core.encode(text, False)

    def encode(self, text: str, allowed_special: AbstractSet[str]) -> list[int]:
        """Return the ids of `text`; allowed special tokens become their ids, all others are read as ordinary text.

        Raises:
            UnicodeEncodeError: The text has a surrogate.
        """
        allowed = self._rules.of(allowed_special, ())[0]
        with _surrogates_named(text):
            found: Any = self._encoding.encode(text, allowed, None)
        return list(found)

    def encode_to_tiktoken_buffer(self, text: str, allowed_special: AbstractSet[str]) -> npt.NDArray[np.uint32]:
        """Return the ids as an array, which like tiktoken's buffer gives a `memoryview` of `uint32`.

        Raises:
            UnicodeEncodeError: The text has a surrogate.
        """
        allowed = self._rules.of(allowed_special, ())[0]
        with _surrogates_named(text):
            found: Any = self._encoding.encode_to_numpy(text, allowed, None)
        found.flags.writeable = False
        return found  # type: ignore[no-any-return]

    def encode_with_unstable(self, text: str, allowed_special: AbstractSet[str]) -> tuple[list[int], list[list[int]]]:
        """Return the ids that no text after `text` can change, and the sequences of ids that may come next.

        Raises:
            UnicodeEncodeError: The text has a surrogate.
        """
        allowed = self._rules.of(allowed_special, ())[0]
        text.encode()
        return self._encoding.encode_with_unstable(text, allowed)

    def encode_single_token(self, piece: bytes) -> int:
        """Return the id of one token, ordinary or special; `KeyError` if there is no such token."""
        return self._id_of(checked_bytes(piece))

    def encode_single_piece(self, piece: bytes) -> list[int]:
        """Return the ids of bytes that are taken as one pretoken, without the pattern."""
        if not checked_bytes(piece):
            try:
                return [self._core.token_id(b"")]
            except KeyError:
                return []
        return self._encoding.encode_piece(piece)

    def _encode_bytes(self, bytes: bytes) -> list[int]:
        return self._encoding.encode_broken(checked_bytes(bytes))


@contextlib.contextmanager
def _surrogates_named(text: str) -> Iterator[None]:
    """Raise tiktoken's error for a text with a surrogate: a UnicodeEncodeError."""
    try:
        yield
    except ValueError:
        text.encode()
        raise


def checked_bytes(piece: Any) -> bytes:
    """Return `piece` if it is bytes."""
    if not isinstance(piece, bytes):
        raise TypeError(f"a piece is bytes, not {type(piece).__name__}")
    return piece
