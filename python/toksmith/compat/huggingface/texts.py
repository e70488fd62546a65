"""The tokens, offsets and words of an encoded text, which are computed from the text when they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...huggingface import encoding
from . import words

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...tokenizer import Tokenizer
    from .encoding import Shifted


class Spelling(dict[int, str]):
    """The spelling of each id, made when it is first asked for."""

    def __init__(self, tokenizer: Tokenizer, added: dict[int, str]) -> None:
        super().__init__(added)
        self._tokenizer = tokenizer

    def __missing__(self, id: int) -> str:
        core: Any = self._tokenizer._core
        spelled: str = core.spelled(id)
        self[id] = spelled
        return spelled

    def __reduce__(self) -> tuple[Any, ...]:
        return Spelling, (self._tokenizer, dict(self))


class Text:
    """One text and the ids that it has; a column of its tokens at a time."""

    __slots__ = ("_columns", "_ids", "_special", "_spelling", "_text", "_tokenizer", "_word")

    def __init__(
        self,
        tokenizer: Tokenizer,
        spelling: Spelling,
        text: str,
        ids: list[int],
        special: bool,
        word: int | None = None,
    ) -> None:
        self._tokenizer, self._spelling, self._text, self._ids = tokenizer, spelling, text, ids
        self._special, self._word = special, word
        self._columns: dict[str, list[Any]] = {}

    def column(self, name: str) -> list[Any]:
        """Return "tokens", "offsets" or "word_ids"."""
        if name not in self._columns:
            makers: dict[str, Callable[[], list[Any]]]
            makers = {"tokens": self._tokens, "offsets": self._offsets, "word_ids": self._words}
            make = makers[name]
            self._columns[name] = make()
        return self._columns[name]

    def _tokens(self) -> list[str]:
        pipeline = self._tokenizer.pipeline
        if pipeline is not None and not pipeline.is_plain:
            # The spelling of an added token is the text that was found, normalized and with the whitespace it takes.
            return encoding.encoded(self._tokenizer, self._text, special=self._special).tokens
        return list(map(self._spelling.__getitem__, self._ids))

    def _offsets(self) -> list[tuple[int, int]]:
        _, spans = self._tokenizer.encode_with_offsets(self._text, special=self._special)
        return list(zip(*spans.T.tolist(), strict=True)) if len(spans) else []

    def _words(self) -> list[int]:
        if self._word is not None:
            return [self._word] * len(self._ids)
        return words.word_ids(self._tokenizer, self._text, self._special)


class Trimmed:
    """A text whose tokens leave whitespace at their ends out of their offsets.

    If `prefixed`, one space at the start of the text counts as the one that was put there; `first` is the first token
    of the encoding.
    """

    __slots__ = ("_first", "_offsets", "_prefixed", "_text")

    def __init__(self, text: Text | Trimmed | Shifted, prefixed: bool, first: int | None) -> None:
        self._text, self._prefixed, self._first = text, prefixed, first
        self._offsets: list[tuple[int, int]] | None = None

    def column(self, name: str) -> list[Any]:
        """Return "tokens", "offsets" or "word_ids"."""
        if name != "offsets":
            return self._text.column(name)
        if self._offsets is None:
            tokens, offsets = self._text.column("tokens"), self._text.column("offsets")
            self._offsets = [
                self._trimmed(token, span, i == self._first)
                for i, (token, span) in enumerate(zip(tokens, offsets, strict=True))
            ]
        return self._offsets

    def _trimmed(self, token: str, span: tuple[int, int], is_first: bool) -> tuple[int, int]:
        spaces = token.replace("Ġ", " ")
        start, end = span
        leading, trailing = len(spaces) - len(spaces.lstrip()), len(spaces) - len(spaces.rstrip())
        if leading == 1 and self._prefixed and (is_first or start == 0):
            leading = 0
        start = min(start + leading, end)
        return start, max(end - trailing, start) if end >= trailing else end
