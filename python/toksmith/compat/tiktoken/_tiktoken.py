"""tiktoken's extension: `CoreBPE`, which does the work of an `Encoding`, and its rules for special tokens."""

from __future__ import annotations

import contextlib
import functools
import operator
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Literal, NoReturn

from ... import patterns
from ..._core import Continuations, SpecialSet, tokens_of_ranks
from ..._core import Tokenizer as CoreTokenizer
from ..._internal import arguments
from ..._internal.arguments import checked_text
from ..._internal.messages import shown
from ...formats.sources import one_name_each
from ...formats.verification import ordinary
from ...tokenizer import Tokenizer

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


Allowed = Literal["all"] | AbstractSet[str]
Disallowed = Literal["all"] | Collection[str] | None

# Sets of special tokens that are kept, since programs pass the same ones with each call.
_MAX_SETS = 64


def raise_disallowed_special_token(token: str) -> NoReturn:
    """Raise the error of a special token in a text where none is allowed."""
    name = shown(token)
    raise ValueError(
        f"the text has the disallowed special token {name}.\n"
        f"To turn it into its id, pass allowed_special={{{name}, ...}}.\n"
        f"To read it as ordinary text, pass disallowed_special=(enc.special_tokens_set - {{{name}}}).\n"
        "To read all special tokens as ordinary text, pass disallowed_special=()."
    )


def without_surrogates(text: str) -> str:
    """Return `text` with surrogate pairs joined and every other surrogate replaced by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Rules:
    """The rules of one encoding: the sets that the arguments `allowed_special` and `disallowed_special` stand for."""

    def __init__(self, special_tokens: Mapping[str, int]) -> None:
        @functools.lru_cache(_MAX_SETS)
        def special_set(allowed: frozenset[str], disallowed: frozenset[str]) -> SpecialSet:
            "".join((*allowed, *disallowed))  # a TypeError for what is no str
            "".join(allowed).encode()  # a UnicodeEncodeError for a surrogate
            tokens = [(name, id) for name, id in special_tokens.items() if name in allowed]
            # The core looks for what is in UTF-8 and is not empty.
            return SpecialSet(
                tokens, [name for name in disallowed if name and name == name.encode(errors="ignore").decode()]
            )

        self._names, self._special_set = frozenset(special_tokens), special_set
        self.default = special_set(frozenset(), self._names)

    def allowed(self, allowed_special: Allowed) -> SpecialSet:
        """Return the set to look for, which refuses nothing."""
        return self._special_set(self._allowed_names(allowed_special), frozenset())

    def special_set(
        self, allowed_special: Allowed, disallowed_special: Disallowed, texts: Iterable[str]
    ) -> SpecialSet:
        """Return the set to look for and to refuse. The empty string is refused here, since it is in every text."""
        allowed = self._allowed_names(allowed_special)
        disallowed = self._disallowed_names(allowed, disallowed_special)
        if "" in disallowed:
            for text in texts:
                _check(text, disallowed)
        return self._special_set(allowed, disallowed)

    def check(self, text: str, allowed_special: Allowed, disallowed_special: Disallowed) -> None:
        """Refuse disallowed strings in a text, which may have surrogates."""
        _check(text, self._disallowed_names(self._allowed_names(allowed_special), disallowed_special))

    def _allowed_names(self, allowed_special: Allowed) -> frozenset[str]:
        if isinstance(allowed_special, str) and allowed_special == "all":
            return self._names
        if not isinstance(allowed_special, (set, frozenset)):
            raise TypeError(f"allowed_special is a set or 'all', not {type(allowed_special).__name__}")
        return frozenset(allowed_special)

    def _disallowed_names(self, allowed: frozenset[str], disallowed_special: Disallowed) -> frozenset[str]:
        if isinstance(disallowed_special, str) and disallowed_special == "all":
            return self._names - allowed
        return frozenset(disallowed_special or ())


def names_of(disallowed_special: Disallowed) -> Disallowed:
    """Return the names of an iterator as a set, which can be read more than once."""
    return frozenset(disallowed_special) if isinstance(disallowed_special, Iterator) else disallowed_special


def _check(text: str, disallowed: AbstractSet[str]) -> None:
    """Raise if one of the strings is in the text, which may be any `str`: the leftmost, and there the longest."""
    checked_text(text)
    "".join(disallowed)  # a TypeError for what is no str
    matches = [(text.index(name), -len(name), name) for name in disallowed if name in text]
    if matches:
        raise_disallowed_special_token(min(matches)[2])


__all__ = ["CoreBPE"]


class Decoding:
    """What an `Encoding` and its `CoreBPE` have in common."""

    __slots__ = ()
    _core: CoreTokenizer

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Return the bytes of ids; `KeyError` for an id that has no token."""
        try:
            return self._core.decode(tokens, None)
        except KeyError as error:
            raise error_of_ids(error, tokens) from None

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Return the bytes of one id; `KeyError` if it has no token."""
        try:
            return self._core.token_bytes(token)
        except KeyError as error:
            raise error_of_ids(error) from None

    def token_byte_values(self) -> list[bytes]:
        """Return the bytes of all ordinary tokens, sorted."""
        return sorted(self._core_ranks())

    def _core_ranks(self) -> dict[bytes, int]:
        """Return the ordinary tokens and their ids."""
        ranks: dict[bytes, int] = {}
        for id, token in ordinary(self._core).items():
            ranks.setdefault(token, id)
        return ranks

    def _encode_bytes(self, text: bytes) -> list[int]:
        return self._core.encode_broken(text)


class CoreBPE(Decoding):
    r"""Encodes and decodes for an `Encoding`, whose attribute `_core_bpe` it is.

    It knows no `disallowed_special`, replaces no surrogates, and takes bytes where `Encoding` also takes a str.

    Args:
        encoder: Tokens and their ranks, or the content of a rank file, as `mergeable_ranks` of `Encoding`.
        special_tokens_encoder: Special tokens and their ids.
        pattern: The regular expression that cuts text, in tiktoken's dialect.

    >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"th": 256}
    >>> CoreBPE(ranks, {}, r"\w+").encode_single_piece(b"the thing")
    [256, 101, 32, 256, 105, 110, 103]
    """

    __slots__ = ("_continuations", "_core", "_pattern", "_rules", "_special_tokens", "tokenizer")

    def __init__(
        self, encoder: Mapping[bytes, int] | bytes, special_tokens_encoder: Mapping[str, int], pattern: str
    ) -> None:
        arguments.special_list({**special_tokens_encoder})
        tokens = encoder if isinstance(encoder, bytes) else _tokens_of({**encoder})
        if not isinstance(pattern, str):
            raise TypeError(f"pat_str is a str, not {type(pattern).__name__}")
        self._pattern = patterns.of_tiktoken_source(pattern)
        self._core = _core_of(tokens, special_tokens_encoder, self._pattern)
        self.tokenizer = Tokenizer._of(self._core)
        self._continuations: Continuations | None = None
        self._special_tokens, self._rules = special_tokens_encoder, Rules(special_tokens_encoder)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a CoreBPE cannot be pickled: pickle its Encoding")

    # Text to ids

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of `text`, with special tokens read as ordinary text."""
        with _surrogates_named(text):
            return self._core.encode(text, False)

    def encode(self, text: str, allowed_special: AbstractSet[str]) -> list[int]:
        """Return the ids of `text`; allowed special tokens become their ids, all others are read as ordinary text."""
        allowed = self._rules.allowed(allowed_special)
        with _surrogates_named(text):
            return self._core.encode(text, allowed)

    def encode_to_tiktoken_buffer(self, text: str, allowed_special: AbstractSet[str]) -> npt.NDArray[np.uint32]:
        """Return the ids as an array, which like tiktoken's buffer gives a `memoryview` of `uint32`."""
        allowed = self._rules.allowed(allowed_special)
        with _surrogates_named(text):
            ids = self._core.encode_to_numpy(text, allowed)
        ids.flags.writeable = False
        return ids

    def encode_with_unstable(self, text: str, allowed_special: Allowed) -> tuple[list[int], list[list[int]]]:
        """Return the ids that no text after `text` can change, and the sequences of ids that may come next."""
        allowed = self._rules.allowed(allowed_special)
        text.encode()
        if self._continuations is None:
            self._continuations = Continuations(self._core)
        return self._continuations._of_text(text, allowed)

    def encode_single_token(self, piece: bytes) -> int:
        """Return the id of one token, ordinary or special; `KeyError` if there is no such token."""
        try:
            return self._core.token_id(piece)
        except KeyError:
            # Of several special tokens with the same id, the core has only the first.
            name = piece.decode("utf-8", "surrogateescape")
            if name not in self._special_tokens:
                raise KeyError(piece) from None
            return self._special_tokens[name]

    def encode_single_piece(self, piece: bytes) -> list[int]:
        """Return the ids of bytes that are taken as one pretoken, without the pattern."""
        if not isinstance(piece, bytes):
            raise TypeError(f"a piece is bytes, not {type(piece).__name__}")
        if not piece:
            with contextlib.suppress(KeyError):
                return [self._core.token_id(b"")]
        return self._core.encode_pretoken(piece)


def _tokens_of(ranks: Mapping[bytes, int]) -> dict[int, bytes]:
    tokens: dict[int, bytes] = {}
    for token, rank in ranks.items():
        if tokens.setdefault(rank, token) is not token:
            raise ValueError(
                f"rank {rank} is given to {shown(token)} and to {shown(tokens[rank])}: each token needs its own"
            )
    if not tokens:
        raise ValueError("mergeable_ranks is empty")
    return tokens


def _core_of(
    tokens: dict[int, bytes] | bytes, special_tokens: Mapping[str, int], pattern: patterns.Pattern
) -> CoreTokenizer:
    """Return the core of tokens by rank, or of a rank file. Ids are decoded to ranks before special tokens."""
    specials = one_name_each(special_tokens)
    if isinstance(tokens, bytes):
        try:
            return CoreTokenizer.load(tokens, format="tiktoken", special_tokens=specials, pattern=pattern.core())
        except ValueError:  # a special token may have the id of a rank
            tokens = tokens_of_ranks(tokens)
    beside = [(name, id) for name, id in specials if id not in tokens]
    return CoreTokenizer(tokens, None, beside, pattern.core())


@contextlib.contextmanager
def _surrogates_named(text: str) -> Iterator[None]:
    """Raise tiktoken's error for a text with a surrogate: a UnicodeEncodeError."""
    try:
        yield
    except ValueError:
        text.encode()
        raise


def error_of_ids(error: KeyError, tokens: Iterable[int] = ()) -> Exception:
    """Return the error for ids of which one does not exist: `OverflowError` if a number is out of the range of ids.

    In a list or tuple every number is looked at, as in tiktoken, which converts all ids first. Any other iterable may
    have no end, so only the id that `error` names is looked at.
    """
    match = re.search(r"of id (-?\d+)", str(error))
    unknown = int(match[1]) if match and len(match[1]) < 4000 else -1
    for token in [*(tokens if isinstance(tokens, (list, tuple)) else ()), unknown]:
        if not 0 <= operator.index(token) < 2**32:
            return OverflowError(f"an id is a whole number from 0 to 2^32 - 1, not {shown(token)}")
    return KeyError(f"Invalid token for decoding: {error.args[0]}")
