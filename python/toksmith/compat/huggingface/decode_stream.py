"""`DecodeStream`: the text of ids that arrive one by one, as `tokenizers.decoders.DecodeStream` gives it."""

from __future__ import annotations

from collections.abc import Sequence

from . import ids_of
from .tokenizers import Tokenizer


class DecodeStream:
    """Decodes ids as they come, in the pieces of the original: a piece ends where no character is unfinished.

    Args:
        ids: Ids that came before; their text is not returned again.
        skip_special_tokens: Whether special tokens have no text.
    """

    __slots__ = ("_ids", "_prefix", "_prefix_index", "_skips")

    def __init__(self, ids: Sequence[int] | None = None, skip_special_tokens: bool = False) -> None:
        self._ids, self._skips = ids_of.checked(ids or []), skip_special_tokens
        self._prefix, self._prefix_index = "", 0

    def step(self, tokenizer: Tokenizer, id: int | list[int]) -> str | None:
        """Add an id, or several; return the text that is complete now, None if there is none.

        Raises:
            ValueError: The text of the ids so far does not begin with what was returned.
        """
        new = ids_of.checked(id if isinstance(id, list) else [id])
        if not self._prefix and self._ids:
            text = tokenizer.decode(self._ids, skip_special_tokens=self._skips)
            if not text.endswith("\ufffd"):
                self._prefix, self._prefix_index = text, len(self._ids)
        self._ids += new
        text = tokenizer.decode(self._ids, skip_special_tokens=self._skips)
        if len(text.encode()) <= len(self._prefix.encode()) or text.endswith("\ufffd"):
            return None
        if not text.startswith(self._prefix):
            raise ValueError("Invalid prefix encountered while decoding stream")
        piece = text[len(self._prefix) :]
        read = len(self._ids) - self._prefix_index
        del self._ids[: self._prefix_index]
        self._prefix = tokenizer.decode(self._ids, skip_special_tokens=self._skips)
        self._prefix_index = read
        return piece
