"""Stretches of a text on its way through a pipeline, and the places in the text that their bytes come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .. import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from .added import AddedToken


class Places(NamedTuple):
    """Where each byte of a text comes from: the start and the end of its character, in bytes of the original."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    def cut(self, start: int, end: int) -> Places:
        """Return the places of a part of the text."""
        return Places(self.starts[start:end], self.ends[start:end])


class Stretch(NamedTuple):
    """A piece of a text on its way: an added token, or text that is ready to be encoded; with places, if wanted.

    Without places an added token has no text either: with the whitespace that its flags took it can be as long as the
    whole text.
    """

    id: int | None
    text: str
    places: Places | None


class Finder:
    """Added tokens, and the objects that find them."""

    __slots__ = ("_core", "_tokens")

    def __init__(self, tokens: list[tuple[AddedToken, str]]) -> None:
        self._tokens = [token for token, _ in tokens]
        rows = [(text, t.single_word, t.lstrip, t.rstrip, t.special) for t, text in tokens]
        self._core = _core.AddedTokens(rows) if rows else None

    def segments(self, text: str, special: bool) -> Iterator[tuple[AddedToken | None, int, int]]:
        """Yield the found tokens, and the text between them (None), with start and end in characters."""
        if self._core is None:
            return iter([(None, 0, len(text))] if text else [])
        found = self._core.segments(text, special)
        return ((None if index is None else self._tokens[index], start, end) for index, start, end in found)


def identity(text: str) -> tuple[Places, list[int]]:
    """Return the places of a text in itself, and the byte at which each character starts, and the end."""
    import numpy as np

    data = np.frombuffer(text.encode(), np.uint8)
    at = np.append(np.flatnonzero((data & 0xC0) != 0x80), len(data)).astype(np.int64)
    lengths = np.diff(at)
    return Places(np.repeat(at[:-1], lengths), np.repeat(at[1:], lengths)), at.tolist()


def with_prefix(places: Places) -> Places:
    """Return places with one for the space before the text, which has the place of the first character."""
    import numpy as np

    starts, ends = places
    return Places(np.concatenate([starts[:1], starts]), np.concatenate([ends[:1], ends]))


def in_characters(text: str, spans: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return spans in characters of `text` for spans in bytes, which begin and end between two characters."""
    import numpy as np

    data = np.frombuffer(text.encode(), np.uint8)
    before = np.concatenate([[0], np.cumsum((data & 0xC0) != 0x80)]).astype(np.int64)
    found: NDArray[np.int64] = before[spans]
    return found
