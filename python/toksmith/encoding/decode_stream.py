"""Decoding ids that arrive one by one, never half a character."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol

from .. import formats
from .._core import TextStream
from .._core import Tokenizer as CoreTokenizer

if TYPE_CHECKING:
    from ..formats.huggingface.pipeline import Pipeline


class Decoder(Protocol):
    """What a stream needs of a `Tokenizer`."""

    _core: CoreTokenizer

    @property
    def special_tokens(self) -> Mapping[str, int]:
        """Ids of the special tokens by name."""

    @property
    def pipeline(self) -> Pipeline | None:
        """The other steps of a Hugging Face tokenizer."""


class DecodeStream:
    """Decodes ids as they come; holds back the bytes of a character that has not all arrived.

    The texts of all pushes and the flush, joined, are `tokenizer.decode` of all ids. A stream can be pickled at any
    point.

    Args:
        tokenizer: The tokenizer of the ids.
        prompt: Ids that came before. Their text is not returned again; a character that they leave unfinished is
            returned as soon as it is complete.
        errors: What becomes of bytes that are not UTF-8, as in `bytes.decode`.
        skip_special_tokens: Whether special tokens have no text.
        unknown: What becomes of an id without a token: "error" raises, "skip" takes it for an empty text. Models with
            padded embeddings produce such ids.

    >>> from toksmith import Tokenizer
    >>> stream = DecodeStream(Tokenizer())
    >>> [stream.push(id) for id in "é!".encode()], stream.flush()
    (['', 'é', '!'], '')
    """

    __slots__ = ("_decoder", "_errors", "_skipped", "_spaces", "_stages", "_tokenizer", "_unknown")

    def __init__(
        self,
        tokenizer: Decoder,
        *,
        prompt: Iterable[int] = (),
        errors: str = "replace",
        skip_special_tokens: bool = False,
        unknown: Literal["error", "skip"] = "error",
    ) -> None:
        if unknown not in ("error", "skip"):
            raise ValueError(f'unknown is "error" or "skip", not {unknown!r}')
        self._tokenizer, self._errors, self._unknown = tokenizer, errors, unknown
        self._skipped = _special_ids(tokenizer) if skip_special_tokens else frozenset()
        # The incremental decoder of Python defines what a stream of bytes returns, and when.
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors)
        self._begin()
        if self._stages is None and not (self._spaces or self._skipped or unknown == "skip"):
            self._decoder.decode(tokenizer._core.decode_bytes(prompt))
        else:
            for id in prompt:
                self.push(id)
            if self._stages is not None:
                self._stages.mark_shown()

    def _begin(self) -> None:
        stages, spaces = self._tokenizer._core.decode_stream()
        joins_bytes = stages is not None and stages.joins_bytes and self._errors != "replace"
        self._stages: TextStream | None = None if joins_bytes else stages
        # How many spaces may still be taken off the front of the text, as some Hugging Face tokenizers do.
        self._spaces = spaces

    def push(self, id: int) -> str:
        """Add one id; return the text that is complete now, often "".

        Raises:
            KeyError: No token has this id, and `unknown` is "error"; nothing is lost, and the stream can continue.
            UnicodeDecodeError: The bytes are not UTF-8, under `errors="strict"`.
        """
        if self._skipped and id in self._skipped:
            return ""
        try:
            if self._stages is not None:
                return self._stages.push(id)
            data = self._tokenizer._core.token_bytes(id)
        except KeyError:
            if self._unknown == "error":
                raise
            return ""
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
        text = self._decoder.decode(b"", final=True) if self._stages is None else self._stages.finish()
        self._begin()
        return text

    def pieces(self, ids: Iterable[int]) -> Iterator[str]:
        """Yield the text of `ids`, piece by piece, and end it."""
        yield from filter(None, map(self.push, ids))
        if tail := self.flush():
            yield tail

    def __getstate__(self) -> tuple[Decoder, tuple[Any, ...], str]:
        stages = None if self._stages is None else self._stages.state
        skips = bool(self._skipped)
        values = self._errors, skips, self._unknown, self._spaces, self._decoder.getstate(), stages
        return self._tokenizer, values, formats.identity.digest_of_values(*values)

    def __setstate__(self, state: tuple[Decoder, tuple[Any, ...], str]) -> None:
        tokenizer, values, digest = state
        formats.identity.check("DecodeStream", formats.identity.digest_of_values(*values) == digest)
        errors, skips, unknown, spaces, decoder, stages = values
        self.__init__(tokenizer, errors=errors, skip_special_tokens=skips, unknown=unknown)  # type: ignore[misc]
        self._decoder.setstate(decoder)
        self._spaces = spaces
        if self._stages is not None:
            self._stages.state = stages


def _special_ids(tokenizer: Decoder) -> frozenset[int]:
    """Return the ids of the tokens that are special."""
    ids = dict.fromkeys(tokenizer.special_tokens.values(), True)
    if tokenizer.pipeline is not None:
        ids |= {token.id: token.special for token in tokenizer.pipeline.added_tokens}
    return frozenset(id for id, is_special in ids.items() if is_special)
