"""Names of tiktoken's `Encoding` that begin with an underscore, but that programs use."""

from __future__ import annotations

from .core_bpe import CoreBPE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..._core import Encoding as CoreEncoding
    from ..._core import Tokenizer as CoreTokenizer
    from ...patterns import Pattern
    from .special_policy import Rules


class PrivateNames:
    """The base of `Encoding` with these names. `_mergeable_ranks` and `_core_bpe` can be assigned, as in tiktoken."""

    _core: CoreTokenizer
    _encoding: CoreEncoding
    _pattern: Pattern
    _rules: Rules
    _ranks: dict[bytes, int] | None
    _special_tokens: dict[str, int]
    _special_names: set[str]

    @property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        if self._ranks is None:
            self._ranks = self._encoding.ranks()
        return self._ranks

    @_mergeable_ranks.setter
    def _mergeable_ranks(self, ranks: dict[bytes, int]) -> None:
        """Change the ranks that are pickled. Encoding does not change until `_core_bpe` is assigned too."""
        self._ranks = ranks

    @property
    def _core_bpe(self) -> CoreBPE:
        return CoreBPE.of(self._core, self._encoding, self._pattern, self._special_tokens, self._rules)

    @_core_bpe.setter
    def _core_bpe(self, made: CoreBPE) -> None:
        """Encode and decode with another vocabulary from now on."""
        if not isinstance(made, CoreBPE):
            raise TypeError(f"_core_bpe is a CoreBPE, not {type(made).__name__}")
        if self._ranks is None:  # ranks are made of the core, which is replaced now
            self._ranks = self._encoding.ranks()
        self._core, self._encoding, self._pattern = made._core, made._encoding, made._pattern
        self._rules, self._default = made._rules, made._rules.default
        self._special_names = set(self._special_tokens.keys())
        self._special_token_values = set(self._special_tokens.values())

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        piece = text_or_bytes.encode() if isinstance(text_or_bytes, str) else text_or_bytes
        return self._core_bpe.encode_single_piece(piece)

    def _encode_only_native_bpe(self, text: str) -> list[int]:
        pieces: Iterable[Any] = self._pattern.searched().finditer(text)
        return [id for piece in pieces for id in self._encoding.encode_piece(piece.group().encode())]

    def _encode_bytes(self, text: bytes) -> list[int]:
        return self._encoding.encode_broken(text)
