"""Decoding ids that arrive one by one, never half a character."""

from __future__ import annotations

import codecs

from . import identity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from .tokenizer import Tokenizer


class DecodeStream:
    """Decodes ids as they come; holds back the bytes of a character that has not all arrived.

    The texts of all pushes and the flush, joined, are `tokenizer.decode` of all ids. A stream can be pickled at any
    point.

    Args:
        tokenizer: The tokenizer of the ids.
        prompt: Ids that came before. Their text is not returned again; a character that they leave unfinished is
            returned as soon as it is complete.
        errors: What becomes of bytes that are not UTF-8, as in `bytes.decode`.

    >>> from toksmith import Tokenizer
    >>> stream = DecodeStream(Tokenizer())
    >>> [stream.push(id) for id in "é!".encode()], stream.flush()
    (['', 'é', '!'], '')
    """

    __slots__ = ("_decoder", "_errors", "_spaces", "_tokenizer")

    def __init__(self, tokenizer: Tokenizer, *, prompt: Iterable[int] = (), errors: str = "replace") -> None:
        self._tokenizer = tokenizer
        self._errors = errors
        # The incremental decoder of Python defines what a stream returns, and when.
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors)
        # How many spaces may still be taken off the front of the text, as some Hugging Face tokenizers do.
        self._spaces = _stripped_spaces(tokenizer)
        if self._spaces:
            for id in prompt:
                self.push(id)
        else:
            self._decoder.decode(tokenizer.decode_bytes(prompt))

    def push(self, id: int) -> str:
        """Add one id; return the text that is complete now, often "".

        Raises:
            KeyError: No token has this id; nothing is lost, and the stream can continue.
            UnicodeDecodeError: The bytes are not UTF-8, under `errors="strict"`.
        """
        data = self._tokenizer.token_bytes(id)
        return self._decoder.decode(self._stripped(data) if self._spaces else data)

    def _stripped(self, data: bytes) -> bytes:
        """Return the next bytes of the text without spaces at its front."""
        count = 0
        while count < min(self._spaces, len(data)) and data[count] == 0x20:
            count += 1
        self._spaces = self._spaces - count if count == len(data) else 0
        return data[count:]

    def flush(self) -> str:
        """End the text; return the rest of it (U+FFFD for an unfinished character). The stream starts anew."""
        self._spaces = _stripped_spaces(self._tokenizer)
        return self._decoder.decode(b"", final=True)

    def pieces(self, ids: Iterable[int]) -> Iterator[str]:
        """Yield the text of `ids`, piece by piece, and end it."""
        yield from filter(None, map(self.push, ids))
        if rest := self.flush():
            yield rest

    def __getstate__(self) -> tuple[Any, ...]:
        held = self._decoder.getstate()
        values = (self._errors, *held, *((self._spaces,) if self._spaces else ()))
        return self._tokenizer, self._errors, held, identity.digest_of_values(*values), self._spaces

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._tokenizer, self._errors, decoder, digest, *spaces = state
        self._spaces = spaces[0] if spaces else 0
        values = (self._errors, *decoder, *((self._spaces,) if self._spaces else ()))
        identity.check("DecodeStream", identity.digest_of_values(*values) == digest)
        self._decoder = codecs.getincrementaldecoder("utf-8")(self._errors)
        self._decoder.setstate(decoder)


def _stripped_spaces(tokenizer: Tokenizer) -> int:
    """Return how many spaces decoding takes off the front of a text.

    Raises:
        ValueError: Decoding needs all ids of a text.
    """
    if tokenizer.pipeline is None or tokenizer.pipeline.spaces is None:
        return 0
    core: Any = tokenizer._core
    count: int | None = core.stripped_spaces
    if count is None:
        raise ValueError("the decoder of this tokenizer needs all ids of a text: use decode")
    return count
