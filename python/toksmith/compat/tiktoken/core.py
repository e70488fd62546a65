"""tiktoken's module `core`: `Encoding`, method for method, on toksmith's core.

It keeps tiktoken's contract, which is not that of `Tokenizer`: special tokens in a text are an error unless they are
allowed, text that the pattern does not match is lost, and lone surrogates are replaced.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, TypeVar

from ... import patterns
from ..._core import Tokenizer as CoreTokenizer
from ..._internal import arguments
from ...files import reading, text_files
from ...formats.published.encodings import warn_of_published
from ...tokenizer import Tokenizer
from ._tiktoken import Allowed, CoreBPE, Decoding, Disallowed, error_of_ids, names_of, without_surrogates
from ._tiktoken import raise_disallowed_special_token as raise_disallowed_special_token

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Self

_NONE: AbstractSet[str] = frozenset()
_CONTINUATIONS = bytes(range(0x80, 0xC0))
"""The bytes inside a character of UTF-8."""
_Item = TypeVar("_Item")


class Encoding(Decoding):
    r"""A byte-level BPE encoding under tiktoken's rules.

    Args:
        name: The name of the encoding.
        pat_str: The regular expression that cuts text, in the dialect of tiktoken's engine (fancy-regex).
        mergeable_ranks: Tokens and their ranks, which are their ids; any adjacent pair whose bytes are a token
            merges, the lowest rank first. All 256 single bytes must be there. Or the content of a rank file.
        special_tokens: Special tokens and their ids.
        explicit_n_vocab: If given, the number of all tokens, which is checked.

    Raises:
        ValueError: The pattern is broken or has a part without an equal in toksmith (names the part); a byte has no
            token; two tokens have one rank.
        AssertionError: `explicit_n_vocab` is not the number of tokens.

    >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"th": 256, b"the": 257}
    >>> encoding = Encoding("tiny", pat_str=r"\w+|\s+", mergeable_ranks=ranks, special_tokens={"<|end|>": 258})
    >>> encoding.encode("the thing<|end|>", allowed_special="all")
    [257, 32, 256, 105, 110, 103, 258]
    """

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: dict[bytes, int] | bytes,
        special_tokens: dict[str, int],
        explicit_n_vocab: int | None = None,
    ) -> None:
        self.name, self._pat_str, self._special_tokens = name, pat_str, special_tokens
        if not isinstance(mergeable_ranks, bytes):
            self._mergeable_ranks = mergeable_ranks
        self._core_bpe = CoreBPE(mergeable_ranks, special_tokens, pat_str)
        self._special_token_values = {*special_tokens.values()}
        self.max_token_value = self._core.max_id()
        if explicit_n_vocab:
            count = self._core.vocab_size() - len(self._core.special_tokens()) + len(special_tokens)
            if not count == explicit_n_vocab == self.n_vocab:
                what = f"there are {count} tokens, the highest with the id {self.max_token_value}"
                raise AssertionError(f"explicit_n_vocab is {explicit_n_vocab}, but {what}")

    @classmethod
    def from_tiktoken(
        cls,
        path: str | os.PathLike[str],
        *,
        pattern: str,
        special_tokens: Mapping[str, int] | None = None,
        name: str | None = None,
    ) -> Self:
        """Load a rank file of tiktoken's, which holds no pattern and no special tokens.

        Warns if the file is a published one and special tokens of it are missing, unless `special_tokens` is empty.

        Args:
            path: The file.
            pattern: A name (`toksmith.patterns.NAMED`, or a published encoding), or a regular expression in
                tiktoken's dialect.
            special_tokens: Names and ids.
            name: The name of the encoding; by default, the name of the file without its suffix.

        Raises:
            ValueError: The file is malformed (names file and line), or as for the class.
        """
        data = reading.read(path)
        with text_files.naming(path):
            encoding = cls(
                name or os.path.splitext(os.path.basename(os.fspath(path)))[0],  # noqa: PTH119, PTH122
                pat_str=patterns.expression(pattern),
                mergeable_ranks=data,
                special_tokens={**(special_tokens or {})},
            )
        warn_of_published(path, data, encoding._core_bpe._pattern, special_tokens is not None, stacklevel=2)
        return encoding

    def __getattr__(self, name: str) -> Any:
        if name != "_mergeable_ranks":
            raise AttributeError(f"Encoding has no attribute {name!r}")
        self._mergeable_ranks = self._core_ranks()  # of a rank file, when a program first asks
        return self._mergeable_ranks

    @property
    def _core(self) -> CoreTokenizer:  # type: ignore[override]
        return self._core_bpe._core

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    # Text to ids

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of `text`, with special tokens read as ordinary text; lone surrogates become U+FFFD."""
        try:
            return self._core_bpe._core.encode(text, False)
        except ValueError:
            return self._core.encode(without_surrogates(text), False)

    def encode(
        self, text: str, *, allowed_special: Allowed = _NONE, disallowed_special: Disallowed = "all"
    ) -> list[int]:
        """Return the ids of `text`. A long one is encoded on all cores.

        Allow no special tokens in text that you do not trust: its author could end a document, or speak for another
        role of a chat. By default they are an error; `disallowed_special=()` encodes them as ordinary text.

        Args:
            text: Surrogate pairs in it are joined, lone surrogates become U+FFFD.
            allowed_special: Special tokens that become their ids; "all" for all of them.
            disallowed_special: Special tokens, or any strings, that are an error where they stand in the text;
                "all" for all that are not allowed. A special token in neither set is read as ordinary text.

        Raises:
            ValueError: A disallowed special token is in the text.
        """
        core, rules = self._core_bpe._core, self._core_bpe._rules
        if allowed_special is _NONE and disallowed_special == "all":
            specials = rules.default
        else:
            disallowed_special = names_of(disallowed_special)
            specials = rules.special_set(allowed_special, disallowed_special, [text])
        try:
            return core.encode(text, specials)
        except ValueError:
            rules.check(text, allowed_special, disallowed_special)
            return core.encode(without_surrogates(text), rules.allowed(allowed_special))

    def encode_to_numpy(
        self, text: str, *, allowed_special: Allowed = _NONE, disallowed_special: Disallowed = "all"
    ) -> npt.NDArray[np.uint32]:
        """Return the ids of `text` as an array of `uint32`. Unlike in `encode`, lone surrogates are an error."""
        rules, disallowed_special = self._core_bpe._rules, names_of(disallowed_special)
        specials = rules.special_set(allowed_special, disallowed_special, [text])
        try:
            return self._core.encode_to_numpy(text, specials)
        except ValueError:
            rules.check(text, allowed_special, disallowed_special)
            text.encode()  # raises the UnicodeEncodeError
            raise

    def encode_ordinary_batch(self, text: list[str], *, num_threads: int | None = 8) -> list[list[int]]:
        """Return the ids of each text as `encode_ordinary` does, on up to `num_threads` threads."""
        workers, texts = _checked_threads(num_threads), _listed(text, "encode_ordinary_batch")
        try:
            return self._core.encode_batch(texts, False, workers)
        except ValueError:
            return [self.encode_ordinary(each) for each in texts]

    def encode_batch(
        self,
        text: list[str],
        *,
        num_threads: int | None = 8,
        allowed_special: Allowed = _NONE,
        disallowed_special: Disallowed = "all",
    ) -> list[list[int]]:
        """Return the ids of each text as `encode` does, on up to `num_threads` threads."""
        workers, texts = _checked_threads(num_threads), _listed(text, "encode_batch")
        disallowed_special = names_of(disallowed_special)
        specials = self._core_bpe._rules.special_set(allowed_special, disallowed_special, texts)
        try:
            return self._core.encode_batch(texts, specials, workers)
        except ValueError:  # a text has surrogates, or a disallowed special token
            return [
                self.encode(each, allowed_special=allowed_special, disallowed_special=disallowed_special)
                for each in texts
            ]

    def encode_with_unstable(
        self, text: str, *, allowed_special: Allowed = _NONE, disallowed_special: Disallowed = "all"
    ) -> tuple[list[int], list[list[int]]]:
        """Return the ids that no text after `text` can change, and the sequences of ids that may come next.

        Each sequence begins with the bytes of the rest of the text. The sequences are distinct, and in no particular
        order. Lone surrogates are an error.
        """
        self._core_bpe._rules.check(text, allowed_special, disallowed_special)
        return self._core_bpe.encode_with_unstable(text, allowed_special)

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Return the id of one token, ordinary or special; `KeyError` if there is no such token."""
        return self._core_bpe.encode_single_token(_as_bytes(text_or_bytes))

    # Ids to text

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """Return the text of ids; bytes that are not UTF-8 follow `errors`, as in `bytes.decode`."""
        try:
            return self._core_bpe._core.decode(tokens, errors)
        except KeyError as error:
            raise error_of_ids(error, tokens) from None

    def decode_tokens_bytes(self, tokens: Sequence[int]) -> list[bytes]:
        """Return the bytes of each id."""
        try:
            return [*map(self._core.token_bytes, tokens)]
        except KeyError as error:
            raise error_of_ids(error) from None

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """Return the text of ids, and the index of the character in which each id starts.

        >>> ranks = {bytes([byte]): byte for byte in range(256)}
        >>> encoding = Encoding("bytes", pat_str=".", mergeable_ranks=ranks, special_tokens={})
        >>> encoding.decode_with_offsets([97, 0xC3, 0xA9, 98])
        ('aéb', [0, 1, 1, 2])
        """
        parts, starts, characters = self.decode_tokens_bytes(tokens), [], 0
        for token in parts:
            is_inside = len(token) > 0 and token[0] in _CONTINUATIONS
            starts.append(max(0, characters - is_inside))
            characters += len(token.translate(None, _CONTINUATIONS))
        return b"".join(parts).decode(), starts

    def decode_batch(
        self, batch: Sequence[Sequence[int]], *, errors: str = "replace", num_threads: int | None = 8
    ) -> list[str]:
        """Return the text of each list of ids. Decoding is fast on one thread: `num_threads` is only checked."""
        _checked_threads(num_threads)
        rows = arguments.checked_batch(batch, "decode_batch", "lists of ids")
        return [self.decode(tokens, errors) for tokens in rows]

    def decode_bytes_batch(self, batch: Sequence[Sequence[int]], *, num_threads: int | None = 8) -> list[bytes]:
        """Return the bytes of each list of ids. `num_threads` is only checked."""
        _checked_threads(num_threads)
        return [*map(self.decode_bytes, arguments.checked_batch(batch, "decode_bytes_batch", "lists of ids"))]

    # Looking inside

    @property
    def eot_token(self) -> int:
        """The id of `<|endoftext|>`; `KeyError` if there is none."""
        return self._special_tokens["<|endoftext|>"]

    @property
    def special_tokens_set(self) -> set[str]:
        """The special tokens."""
        return set(self._special_tokens.keys())

    def is_special_token(self, token: int) -> bool:
        """Return whether an id is that of a special token."""
        if not isinstance(token, int):
            raise AssertionError(f"an id is an int, not {type(token).__name__}")
        return token in self._special_token_values

    @property
    def n_vocab(self) -> int:
        """The highest id + 1: more than there are tokens where ids have gaps."""
        return self.max_token_value + 1

    # Names that begin with an underscore, but that programs use

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        return self._core_bpe.encode_single_piece(_as_bytes(text_or_bytes))

    def _encode_only_native_bpe(self, text: str) -> list[int]:
        pieces = self._core_bpe._pattern.searched().finditer(text)
        return [id for piece in pieces for id in self._core.encode_pretoken(piece.group().encode())]

    # What tiktoken does not have

    @property
    def tokenizer(self) -> Tokenizer:
        """The `Tokenizer` of the same tokens and pattern, which shares the memory of this object.

        By default it encodes special tokens in a text to their ids. Of several special tokens that have one id
        (`o200k_harmony` has two), it has the first. It lacks a special token that has the id of a rank.
        """
        return self._core_bpe.tokenizer

    # Pickled by its arguments; the registry pickles the encodings that it made by their names

    def __getstate__(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "pat_str": self._pat_str,
            "mergeable_ranks": self._mergeable_ranks,
            "special_tokens": self._special_tokens,
        }

    def __setstate__(self, value: dict[str, Any]) -> None:
        Encoding.__init__(self, **value)


def _as_bytes(text_or_bytes: str | bytes) -> bytes:
    return text_or_bytes.encode() if isinstance(text_or_bytes, str) else text_or_bytes


def _listed(items: Iterable[_Item], function: str) -> Sequence[_Item]:
    """Return a batch as a list. As in tiktoken a `str` is one of characters, but a mapping is not one of its keys."""
    if isinstance(items, (list, tuple)):
        return items
    batch: Iterable[Any] = items if isinstance(items, str) else arguments.checked_batch(items, function)
    return list(batch)


def _checked_threads(num_threads: float | None) -> int:
    """Return how many threads may be used; for None, those that a `ThreadPoolExecutor` would have."""
    if num_threads is None:
        return min(32, (os.cpu_count() or 1) + 4)
    if num_threads <= 0:
        raise ValueError(f"num_threads is at least 1, not {num_threads}")
    return max(1, int(min(num_threads, 1024)))
