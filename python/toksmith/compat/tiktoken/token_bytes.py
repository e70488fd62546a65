"""Tokens and their bytes by id: the methods that `Encoding` and `CoreBPE` have in common."""

from __future__ import annotations

from . import checks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._core import Encoding as CoreEncoding
    from ..._core import Tokenizer as CoreTokenizer


class TokenBytes:
    """Decoding to bytes, and the ids of single tokens."""

    __slots__ = ()

    if TYPE_CHECKING:
        _core: CoreTokenizer
        _encoding: CoreEncoding
        _special_tokens: dict[str, int]

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
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

    def _id_of(self, piece: bytes) -> int:
        """Return the id of one token, ordinary or special; `KeyError` if there is no such token."""
        try:
            return self._core.token_id(piece)
        except KeyError:
            # Of several special tokens with the same id, the core has only the first.
            special = self._special_tokens.get(piece.decode("utf-8", "surrogateescape"))
            if special is None:
                raise KeyError(piece) from None
            return special
