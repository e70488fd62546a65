"""`Tokenizer`: text to ids and back.

The parts of a tokenizer, its files and its identity are in its bases `Definition` and
`ArrowColumns`. Modules that take long to import (files) are imported on first use.
"""

from __future__ import annotations

import itertools
import os

from . import patterns
from ._core import Tokenizer as CoreTokenizer
from ._internal import arguments
from ._internal.messages import shown
from .encoding.arrow_columns import ArrowColumns
from .encoding.decode_stream import DecodeStream
from .formats.parts import Parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any, Literal, overload

    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer

    from ._internal.choices import Errors, Unmatched
    from ._internal.progress import Report

    Ids = Iterable[int] | NDArray[Any]
    Pairs = Iterable[tuple[bytes, bytes]]
    Specials = Iterable[str] | Mapping[str, int]


class Tokenizer(ArrowColumns):
    """A byte-level BPE tokenizer: a vocabulary, merges, special tokens and a pattern. Immutable.

    The constructor is that of Stanford CS336's assignment 1; `Tokenizer()` is the bare 256 bytes.

    Special tokens in a text become their ids: every method that takes text has `special=False` to read them as
    ordinary text instead. No method raises because of a special token.

    Args:
        vocab: Token bytes by id. All 256 single bytes must be there.
        merges: Pairs of tokens in the order in which they merge. None means rank semantics, as in
            tiktoken's files: any adjacent pair whose bytes are a token merges, the lowest id first, and
            a pretoken that is a token is encoded to that token.
        special_tokens: Names, or name → id. A name that the vocabulary has keeps its id (the lower of two); a new
            name gets the next id above all others, in order. A name that equals a token that merging needs gets an
            id of its own. A token of the vocabulary that is not listed is ordinary. Each name has at most 4,096
            bytes, all together at most 16 MiB.
        pattern: What cuts text into pretokens: a name (see `toksmith.patterns.NAMED`), a regular expression for the
            `regex` package, a compiled one, or None to cut only at special tokens.
        unmatched: What becomes of text that the pattern does not match: "keep" makes it pieces of its
            own, "drop" loses it, as `re.findall` does.
        ignore_merges: Whether, with merges, a pretoken that is a token is encoded to that token before any merge
            (`ignore_merges` of Hugging Face's models). Without merges it always is.

    Raises:
        ValueError: The vocabulary, the merges, the special tokens or the pattern are not consistent; the
            message names the token or the merge.

    >>> vocab = {i: bytes([i]) for i in range(256)} | {256: b"th", 257: b"the"}
    >>> tokenizer = Tokenizer(vocab, [(b"t", b"h"), (b"th", b"e")])
    >>> tokenizer.encode("the thing")
    [257, 32, 256, 105, 110, 103]
    >>> tokenizer.decode([257, 32, 256])
    'the th'
    """

    __slots__ = ()

    def __init__(
        self,
        vocab: Mapping[int, bytes] | None = None,
        merges: Pairs | None = None,
        special_tokens: Specials | None = None,
        *,
        pattern: Any = "gpt2",
        unmatched: Unmatched = "keep",
        ignore_merges: bool = False,
    ) -> None:
        if vocab is None:
            vocab, merges = {byte: bytes([byte]) for byte in range(256)}, merges or []
        resolved = patterns.resolve(pattern, unmatched)
        core = CoreTokenizer(
            dict(vocab),
            None if merges is None else arguments.checked_merges(merges),
            arguments.special_list(special_tokens),
            resolved.core(),
            ignore_merges,
        )
        self._fill(Parts(core, resolved))

    # Text to ids

    def encode(self, text: str, *, special: bool = True, workers: int | None = None) -> list[int]:
        """Return the ids of `text`. A long text is encoded on up to `workers` threads (default: all cores).

        For text that you do not trust pass `special=False`, or use `encode_parts`: the author of a text with special
        tokens in it could end a document, or speak for another role of a chat.

        Raises:
            ValueError: The text has a lone surrogate, which has no UTF-8; names the place.
        """
        return self._core.encode(text, special, None if workers is None else arguments.checked_workers(workers))

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of `text`, with special tokens read as ordinary text."""
        return self._core.encode(text, False)

    def encode_bytes(self, data: Buffer, *, special: bool = True, workers: int | None = None) -> list[int]:
        r"""Return the ids of bytes that need not be UTF-8; `decode_bytes` gives them back.

        A byte that is not part of valid UTF-8 is a character of its own that is no letter, number or
        space, as in `data.decode("utf-8", "surrogateescape")`.

        >>> Tokenizer().encode_bytes(b"\xff")
        [255]
        """
        return self._core.encode_bytes(
            arguments.as_bytes(data), special, None if workers is None else arguments.checked_workers(workers)
        )

    def encode_to_numpy(self, text: str, *, special: bool = True, workers: int | None = None) -> NDArray[np.uint32]:
        """Return the ids of `text` as an array of `uint32`, shape (n,); on threads as `encode` does."""
        return self._core.encode_to_numpy(
            text, special, None if workers is None else arguments.checked_workers(workers)
        )

    def encode_batch(
        self, texts: Iterable[str], *, special: bool = True, workers: int | None = None
    ) -> list[list[int]]:
        """Return the ids of each text, encoded on up to `workers` threads (default: all cores)."""
        return self._core.encode_batch(arguments.checked_texts(texts), special, arguments.checked_workers(workers))

    def encode_batch_to_numpy(
        self, texts: Iterable[str], *, special: bool = True, workers: int | None = None
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Return the ids of all texts in one array, and where each text starts in it.

        Returns:
            `ids`, `uint32` of shape (total,), and `starts`, `int64` of shape (number of texts + 1,): text `i`
            is `ids[starts[i]:starts[i + 1]]`.
        """
        return self._core.encode_batch_to_numpy(
            arguments.checked_texts(texts), special, arguments.checked_workers(workers)
        )

    if TYPE_CHECKING:

        @overload
        def encode_file(
            self,
            path: str | os.PathLike[str],
            out: None = None,
            *,
            dtype: Any = None,
            workers: int | None = None,
            special: bool = True,
            errors: Errors = "strict",
            progress: bool | Report = False,
        ) -> NDArray[Any]: ...
        @overload
        def encode_file(
            self,
            path: str | os.PathLike[str],
            out: str | os.PathLike[str],
            *,
            dtype: Any = None,
            workers: int | None = None,
            special: bool = True,
            errors: Errors = "strict",
            progress: bool | Report = False,
        ) -> int: ...

    def encode_file(
        self,
        path: str | os.PathLike[str],
        out: str | os.PathLike[str] | None = None,
        *,
        dtype: Any = None,
        workers: int | None = None,
        special: bool = True,
        errors: Errors = "strict",
        progress: bool | Report = False,
    ) -> NDArray[Any] | int:
        """Return the ids of a UTF-8 file as an array, or write them to a file.

        The ids are those of `encode` of the whole file, whose bytes are taken as they are: no newline is translated,
        a byte order mark stays. The file is read in windows, and memory does not grow with its size; but under a
        pattern that has no name, and under no pattern, it is read and encoded in one piece.

        Args:
            path: The file. It must not change while it is read.
            out: The file to write. With the suffix `.npy` it is a file for `numpy.load`, else the bare numbers,
                little-endian, for `numpy.fromfile` and `numpy.memmap`. In the end it has all ids, or is as it was
                before.
            dtype: `uint16` or `uint32`. By default an array is `uint32`, and a file `uint16` if no id of the
                tokenizer needs more.
            workers: Threads; default: all cores.
            special: Whether special tokens become their ids.
            errors: "strict" refuses a file that is not UTF-8, "replace" reads invalid bytes as U+FFFD.
            progress: True shows a bar on standard error; a callable gets (stage, done, total).

        Returns:
            The array, of shape (n,); with `out`, n.

        Raises:
            OSError: A file cannot be read or written, or its size or its time of change changes while it is read.
            ValueError: The file is not UTF-8 (names file and byte); it is JSON lines, Parquet, compressed or
                otherwise no plain text; `out` is the file itself; or an id does not fit into `dtype`.
        """
        from .encoding import file_encoding

        ids: NDArray[Any] | int = file_encoding.encode_file(
            self._core,
            path,
            out,
            dtype,
            progress,
            workers=arguments.checked_workers(workers),
            special=special,
            replace=arguments.replaces_invalid(errors),
        )
        return ids

    def encode_iterable(self, iterable: Iterable[str], *, special: bool = True) -> Iterator[int]:
        """Yield the ids of the joined pieces, wherever they are cut, without ever joining them.

        For the named patterns at most the longest pretoken and the longest special token are held back (twice that
        for pretokens over 4 KB, and a quarter more for special tokens over 128 bytes). For a compiled pattern all
        text since the last place where it may be cut is held back: for most patterns, a word that a space follows.
        For a pattern that runs in `regex` (`patterns.explain` says why), and for no pattern, all text since the last
        special token is held back.

        >>> list(Tokenizer().encode_iterable(["a", "b"]))
        [97, 98]
        """
        return itertools.chain.from_iterable(self._encode_pieces(iterable, special))

    def _encode_pieces(self, iterable: Iterable[str], special: bool) -> Iterator[list[int]]:
        stream = self._core.stream(special)
        for text in iterable:
            yield stream.push(text)
        yield stream.finish()

    def encode_chunks(
        self, iterable: Iterable[str], *, special: bool = True, workers: int | None = None
    ) -> Iterator[NDArray[np.uint32]]:
        """Yield the ids of the joined pieces in arrays of `uint32`, on all threads.

        Pieces are gathered until they are some megabytes, and encoded on up to `workers` threads (default: all
        cores). The arrays joined are the ids of `encode` of the joined pieces, wherever these are cut. Under a
        pattern that runs in `regex`, and under no pattern, text is encoded on one thread, and held back as by
        `encode_iterable`.

        >>> [ids.tolist() for ids in Tokenizer().encode_chunks(["a", "b"])]
        [[97, 98]]
        """
        from .encoding import text_streaming

        return text_streaming.arrays(self._core, iterable, special, arguments.checked_workers(workers))

    def encode_with_offsets(
        self, text: str, *, unit: Literal["characters", "bytes"] = "characters", special: bool = True
    ) -> tuple[list[int], NDArray[np.int64]]:
        """Return the ids of `text`, and the place of each.

        Returns:
            `ids`, and `spans`, `int64` of shape (n, 2): start and end of each id. In characters, an id that starts
            inside a character starts at that character, and an id that ends inside a character ends after it; in
            bytes (of the UTF-8) both are exact.
        """
        if unit not in ("characters", "bytes"):
            raise ValueError(f'unit is "characters" or "bytes", not {shown(unit)}')
        return self._core.encode_with_offsets(text, special, unit == "characters")

    def encode_parts(self, parts: Iterable[tuple[str, bool]]) -> list[int]:
        """Return the ids of the joined parts, with special tokens only where the text is trusted.

        Args:
            parts: (text, trusted) pairs. Neighbouring trusted parts count as one. A special token becomes its id
                only if it lies wholly inside a trusted part; all other text is ordinary.

        >>> chat = Tokenizer(None, None, ["<|end|>"])
        >>> chat.encode_parts([("<|end|>", False), ("<|end|>", True)]) == [*b"<|end|>", 256]
        True
        """
        return self._core.encode_parts([(text, bool(trusted)) for text, trusted in parts])

    def count(self, text: str, *, special: bool = True, workers: int | None = None) -> int:
        """Return how many ids `text` has, without building them; on up to `workers` threads, as `encode` does."""
        return self._core.count(text, special, None if workers is None else arguments.checked_workers(workers))

    def truncate(self, text: str, max_tokens: int, *, special: bool = True) -> str:
        """Return the longest prefix of at most `max_tokens` whole tokens of `encode(text)`.

        The prefix ends on a character boundary, and is shortened until it has no more tokens on its own.
        """
        return self._core.truncate(text, arguments.checked_limit("max_tokens", max_tokens, 0), special)

    def split(self, text: str, max_tokens: int, overlap: int = 0, *, special: bool = True) -> list[str]:
        """Cut `text` into successive pieces; each is the result of `truncate` on the rest.

        Each piece starts at most `overlap` tokens before the end of the previous one; without overlap the pieces join
        to the text.

        Raises:
            ValueError: One character alone has more than `max_tokens` tokens; names its place.
        """
        limit, back = (
            arguments.checked_limit("max_tokens", max_tokens, 1),
            arguments.checked_limit("overlap", overlap, 0),
        )
        if back >= limit:
            raise ValueError(f"overlap ({back}) must be less than max_tokens ({limit}), or no piece would be new")
        return self._core.split(text, limit, back, special)

    # Ids to text

    def decode(self, ids: Ids, errors: str = "replace") -> str:
        """Return the text of `ids`; bytes that are not UTF-8 follow `errors`, as in `bytes.decode`.

        Args:
            ids: A list, any iterable of int, or an array of integers.
            errors: "replace" gives U+FFFD for such bytes, "strict" raises `UnicodeDecodeError`, …

        Raises:
            KeyError: An id has no token; names the id and its index.
        """
        return self._core.decode(ids, errors)

    def decode_bytes(self, ids: Ids) -> bytes:
        """Return the bytes of `ids`: the exact inverse of encoding."""
        return self._core.decode_bytes(ids)

    def decode_batch(
        self, batch: Iterable[Ids] | Ids, errors: str = "replace", *, starts: Iterable[int] | None = None
    ) -> list[str]:
        """Return the text of each list of ids.

        Args:
            batch: Lists, or arrays, of ids; with `starts`, one array of ids.
            errors: As in `decode`.
            starts: Where each text starts in the array, and where the last one ends, as `encode_batch_to_numpy`
                returns them.

        Raises:
            KeyError: An id has no token; names the id and its index in its text.
            ValueError: `starts` do not rise, or are not within the array.

        >>> tokenizer = Tokenizer()
        >>> ids, starts = tokenizer.encode_batch_to_numpy(["ab", "c"])
        >>> tokenizer.decode_batch([[97, 98], [99]]) == tokenizer.decode_batch(ids, starts=starts)
        True
        """
        return self._core.decode_batch(batch, errors, starts)

    if TYPE_CHECKING:

        @overload
        def decode_stream(self, ids: None = None, *, prompt: Ids = (), errors: str = "replace") -> DecodeStream: ...
        @overload
        def decode_stream(
            self, ids: Iterable[int], *, prompt: Ids = (), errors: str = "replace"
        ) -> Iterator[str]: ...

    def decode_stream(
        self, ids: Iterable[int] | None = None, *, prompt: Ids = (), errors: str = "replace"
    ) -> DecodeStream | Iterator[str]:
        """Decode ids that arrive one by one, never half a character.

        Args:
            ids: Ids whose text is yielded piece by piece. Without them, the call returns a `DecodeStream` to push ids
                into.
            prompt: Ids that came before; their text is not returned again.
            errors: As in `decode`. `DecodeStream` has more options.

        >>> list(Tokenizer().decode_stream(iter("é!".encode())))
        ['é', '!']
        """
        stream = DecodeStream(self, prompt=prompt, errors=errors)
        return stream if ids is None else stream.pieces(ids)
