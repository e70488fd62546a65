"""What a tokenizer is made of, to look at: read-only views."""

from __future__ import annotations

import types

from .common import arguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from typing_extensions import Buffer

    from ._core import Tokenizer as CoreTokenizer
    from .common.views import ListView
    from .huggingface.pipeline import Pipeline
    from .huggingface.template import Template
    from .patterns import Pattern
    from .training_record import Record


class Inspected:
    """The part of `Tokenizer` that shows what is inside."""

    __slots__ = ()

    if TYPE_CHECKING:
        _core: CoreTokenizer
        _pattern: Pattern
        _pipeline: Pipeline | None
        _cache: dict[str, Any]

    def token_bytes(self, id: int) -> bytes:
        """Return the bytes of a token; `KeyError` if there is none of this id."""
        return self._core.token_bytes(id)

    def token_id(self, token: Buffer | str) -> int:
        """Return the id of a token by its bytes, the ordinary one where a special token has the same.

        Raises:
            KeyError: There is no such token.
        """
        return self._core.token_id(token.encode() if isinstance(token, str) else arguments.as_bytes(token))

    def _cached(self, name: str, make: Any) -> Any:
        if name not in self._cache:
            self._cache[name] = make()
        return self._cache[name]

    @property
    def vocab(self) -> Mapping[int, bytes]:
        """Token bytes by id, special tokens included; read-only."""
        view: Mapping[int, bytes] = self._cached("vocab", lambda: types.MappingProxyType(self._core.vocab()))
        return view

    @property
    def merges(self) -> Sequence[tuple[bytes, bytes]]:
        """The merges in order; read-only. Under rank semantics, the pair that each token's bytes reach."""
        view: Sequence[tuple[bytes, bytes]] = self._cached("merges", self._merges)
        return view

    def _merges(self) -> ListView[tuple[bytes, bytes]]:
        from .common.views import ListView

        vocab = self.vocab
        return ListView([(vocab[left], vocab[right]) for left, right in self._core.merges()])

    @property
    def merge_counts(self) -> Sequence[int | None] | None:
        """How often the pair of each merge occurred when training chose it; read-only, saved by `save`.

        In the order of `merges`. None for a merge that was not chosen by its count: one of a tokenizer that
        was extended and knows none, or of a forced token. None as a whole for a tokenizer that was not trained here.
        It is no part of the identity.

        >>> import toksmith
        >>> list(toksmith.train(toksmith.PretokenCounts({b"low": 5, b"lower": 2}), 258).merge_counts)
        [7, 7]
        """
        record = self._record
        if record is None:
            return None
        from .common.views import ListView

        tokenizer: Any = self
        view: ListView[int | None] = self._cached("merge_counts", lambda: ListView(record.of(tokenizer)))
        return view

    @property
    def _record(self) -> Record | None:
        record: Record | None = self._cache.get("record")
        return record

    @property
    def special_tokens(self) -> Mapping[str, int]:
        """Ids of the special tokens by name; read-only."""
        return types.MappingProxyType(self._core.special_tokens())

    @property
    def pattern(self) -> Any:
        """The pattern as a compiled `regex` pattern; None for no pretokenization.

        Raises:
            ValueError: It splits in stages, as some Hugging Face tokenizers do: there is no one pattern.
        """
        return self._pattern.compiled()

    @property
    def ignore_merges(self) -> bool:
        """Whether a pretoken that is a token stands for itself before any merge; always under rank semantics."""
        return self._core.ignores_merges()

    @property
    def pipeline(self) -> Pipeline | None:
        """What a Hugging Face tokenizer does beside all that: normalizer, added tokens with conditions, template.

        None for one that has nothing of the kind. See `docs/huggingface.md`.
        """
        return self._pipeline

    @property
    def template(self) -> Template | None:
        """What a Hugging Face tokenizer puts around a text; no method here adds it by itself. None if nothing."""
        return None if self._pipeline is None else self._pipeline.template

    @property
    def vocab_size(self) -> int:
        """How many ids are in use."""
        return self._core.vocab_size()

    @property
    def max_id(self) -> int:
        """The highest id in use."""
        return self._core.max_id()
