"""`Encoding`: tiktoken's class, method for method, on toksmith's core.

It keeps tiktoken's contract, which is not that of `Tokenizer`: special tokens in a text are an error unless they are
allowed, text that the pattern does not match is lost, and lone surrogates are replaced.
"""

from __future__ import annotations

from ..._core import Encoding as CoreEncoding
from ..._core import Tokenizer as CoreTokenizer
from ..._internal import arguments
from ...formats import identity, load_ranks
from . import checks, special_policy
from .additions import Additions
from .checks import raise_disallowed_special_token
from .private_names import PrivateNames
from .token_bytes import TokenBytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from collections.abc import Set as AbstractSet
    from typing import Any, Literal

    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Self

    from ...patterns import Pattern

    Allowed = Literal["all"] | AbstractSet[str]
    Disallowed = Literal["all"] | Collection[str] | None

_NONE: AbstractSet[str] = frozenset()


class Encoding(TokenBytes, Additions, PrivateNames):
    r"""A byte-level BPE encoding under tiktoken's rules.

    Args:
        name: The name of the encoding.
        pat_str: The regular expression that cuts text, in the dialect of tiktoken's engine (fancy-regex).
        mergeable_ranks: Tokens and their ranks, which are their ids; any adjacent pair whose bytes are a token
            merges, the lowest rank first. All 256 single bytes must be there.
        special_tokens: Special tokens and their ids.
        explicit_n_vocab: If given, the number of all tokens, which is checked.

    Raises:
        ValueError: The pattern is broken or has a part without an equal in toksmith (names the part); a byte has no
            token; two tokens have one rank.
        AssertionError: `explicit_n_vocab` is not the number of tokens.

    If one special token begins with another, the longest is found (tiktoken: either).

    >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"th": 256, b"the": 257}
    >>> encoding = Encoding("tiny", pat_str=r"\w+|\s+", mergeable_ranks=ranks, special_tokens={"<|end|>": 258})
    >>> encoding.encode("the thing<|end|>", allowed_special="all")
    [257, 32, 256, 105, 110, 103, 258]
    """

    name: str
    max_token_value: int
    _ranks: dict[bytes, int] | None

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: dict[bytes, int],
        special_tokens: dict[str, int],
        explicit_n_vocab: int | None = None,
    ) -> None:
        vocab = checks.vocabulary_of(mergeable_ranks, special_tokens)
        pattern = checks.pattern_of(pat_str)
        core = CoreTokenizer(vocab, None, special_policy.beside(special_tokens, vocab), pattern.core())
        self._fill(name, pat_str, core, pattern, special_tokens)
        self._ranks = mergeable_ranks
        checks.check_count(explicit_n_vocab, core, special_tokens)

    @classmethod
    def _of_ranks(
        cls,
        data: bytes,
        name: str,
        *,
        pat_str: str,
        special_tokens: dict[str, int],
        explicit_n_vocab: int | None = None,
    ) -> Self:
        """Return the encoding of a rank file. Its ranks as a `dict` are made when they are first asked for."""
        pattern = checks.pattern_of(pat_str)
        core = load_ranks.core_from(data, special_policy.beside(special_tokens, {}), pattern)
        encoding = cls.__new__(cls)
        if core is None:  # an unusual or faulty file, or a special token has the id of a rank
            from ...formats import rank_file

            vocab = rank_file.parse(data)
            core = CoreTokenizer(vocab, None, special_policy.beside(special_tokens, vocab), pattern.core())
        encoding._fill(name, pat_str, core, pattern, special_tokens)
        checks.check_count(explicit_n_vocab, core, special_tokens)
        return encoding

    def _fill(
        self, name: str, pat_str: str, core: CoreTokenizer, pattern: Pattern, special_tokens: dict[str, int]
    ) -> None:
        self.name, self._pat_str, self._pattern = name, pat_str, pattern
        self._special_tokens, self._special_names = special_tokens, set(special_tokens.keys())
        self._special_token_values = set(special_tokens.values())
        self._rules = special_policy.Rules(special_tokens)
        self._default = self._rules.default
        self._core, self._encoding, self._ranks = core, CoreEncoding(core), None
        self.max_token_value = core.max_id()

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    # Text to ids

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of `text`, with special tokens read as ordinary text; lone surrogates become U+FFFD."""
        try:
            return self._core.encode(text, False)
        except ValueError:
            return self._core.encode(special_policy.without_surrogates(text), False)

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
        if allowed_special is _NONE and disallowed_special == "all":
            allowed, refused = self._default
        else:
            allowed, refused, odd = self._rules.of(allowed_special, disallowed_special)
            special_policy.check(text, odd)
        try:
            found = self._encoding.encode(text, allowed, refused)
        except ValueError:
            fixed = special_policy.without_surrogates(text)
            self._rules.check_surrogates(text, allowed_special, disallowed_special)
            found = self._encoding.encode(fixed, allowed, None)
        if isinstance(found, str):
            raise_disallowed_special_token(found)
        return found

    def encode_to_numpy(
        self, text: str, *, allowed_special: Allowed = _NONE, disallowed_special: Disallowed = "all"
    ) -> npt.NDArray[np.uint32]:
        """Return the ids of `text` as an array of `uint32`. Unlike in `encode`, lone surrogates are an error.

        Raises:
            ValueError: A disallowed special token is in the text.
            UnicodeEncodeError: The text has a surrogate.
        """
        allowed, refused, odd = self._rules.of(allowed_special, disallowed_special)
        special_policy.check(text, odd)
        try:
            found = self._encoding.encode_to_numpy(text, allowed, refused)
        except ValueError:
            self._rules.check_surrogates(text, allowed_special, disallowed_special)
            text.encode()  # raises the UnicodeEncodeError
            raise
        if isinstance(found, str):
            raise_disallowed_special_token(found)
        return found

    def encode_ordinary_batch(self, text: list[str], *, num_threads: int | None = 8) -> list[list[int]]:
        """Return the ids of each text as `encode_ordinary` does, on up to `num_threads` threads."""
        workers = checks.checked_threads(num_threads)
        texts = text if isinstance(text, (list, tuple)) else list(text)
        try:
            return self._core.encode_batch(texts, False, workers)
        except ValueError:
            return [self.encode_ordinary(one) for one in texts]

    def encode_batch(
        self,
        text: list[str],
        *,
        num_threads: int | None = 8,
        allowed_special: Allowed = _NONE,
        disallowed_special: Disallowed = "all",
    ) -> list[list[int]]:
        """Return the ids of each text as `encode` does, on up to `num_threads` threads."""
        allowed, refused, odd = self._rules.of(allowed_special, disallowed_special)
        workers = checks.checked_threads(num_threads)
        texts = text if isinstance(text, (list, tuple)) else list(text)
        for one in texts if odd else ():
            special_policy.check(one, odd)
        try:
            found = self._encoding.encode_batch(texts, allowed, refused, workers)
        except ValueError:  # a text has surrogates
            options: Any = {"allowed_special": allowed_special, "disallowed_special": disallowed_special}
            found = [self.encode(one, **options) for one in texts]
        if isinstance(found, str):
            raise_disallowed_special_token(found)
        return found

    def encode_with_unstable(
        self, text: str, *, allowed_special: Allowed = _NONE, disallowed_special: Disallowed = "all"
    ) -> tuple[list[int], list[list[int]]]:
        """Return the ids that no text after `text` can change, and the sequences of ids that may come next.

        The rules are tiktoken's, which calls them unstable themselves. Each sequence begins with the bytes of the
        rest of the text. The sequences are distinct, and in no particular order.

        Raises:
            ValueError: A disallowed special token is in the text.
            UnicodeEncodeError: The text has a surrogate.
        """
        arguments.checked_text(text)
        allowed, refused, odd = self._rules.of(allowed_special, disallowed_special)
        special_policy.check(text, odd)
        self._rules.check_surrogates(text, allowed_special, disallowed_special)
        text.encode()
        if refused is not None and (token := refused.first_in(text)) is not None:
            raise_disallowed_special_token(token)
        return self._encoding.encode_with_unstable(text, allowed)

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Return the id of one token, ordinary or special; `KeyError` if there is no such token."""
        return self._id_of(text_or_bytes.encode() if isinstance(text_or_bytes, str) else text_or_bytes)

    # Ids to text

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """Return the text of ids; bytes that are not UTF-8 follow `errors`, as in `bytes.decode`."""
        try:
            return self._core.decode(tokens, errors)
        except KeyError as error:
            raise checks.of_range(tokens, error) from None

    def decode_tokens_bytes(self, tokens: Sequence[int]) -> list[bytes]:
        """Return the bytes of each id."""
        try:
            return self._encoding.tokens_bytes(tokens)
        except (KeyError, TypeError, OverflowError) as error:
            raise checks.first_error(self.decode_single_token_bytes, tokens, error) from None

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """Return the text of ids, and the index of the character in which each id starts.

        Raises:
            UnicodeDecodeError: The bytes of all ids are not UTF-8.

        >>> ranks = {bytes([byte]): byte for byte in range(256)}
        >>> encoding = Encoding("bytes", pat_str=".", mergeable_ranks=ranks, special_tokens={})
        >>> encoding.decode_with_offsets([97, 0xC3, 0xA9, 98])
        ('aéb', [0, 1, 1, 2])
        """
        # Ids that are not in a list are kept while they are decoded: the first wrong id ends the call.
        seen: Any = tokens if isinstance(tokens, (list, tuple)) else []
        ids: Any = tokens if tokens is seen else checks.kept(tokens, seen)
        try:
            return self.decode(ids, "strict"), self._encoding.offsets(seen)
        except (KeyError, TypeError, OverflowError) as error:
            raise checks.first_error(self.decode_single_token_bytes, tokens, error) from None

    def decode_batch(
        self, batch: Sequence[Sequence[int]], *, errors: str = "replace", num_threads: int | None = 8
    ) -> list[str]:
        """Return the text of each list of ids. Decoding is fast on one thread: `num_threads` is only checked."""
        checks.checked_threads(num_threads)
        return [self.decode(tokens, errors) for tokens in batch]

    def decode_bytes_batch(self, batch: Sequence[Sequence[int]], *, num_threads: int | None = 8) -> list[bytes]:
        """Return the bytes of each list of ids. `num_threads` is only checked."""
        checks.checked_threads(num_threads)
        return [self.decode_bytes(tokens) for tokens in batch]

    # Looking inside

    @property
    def eot_token(self) -> int:
        """The id of `<|endoftext|>`; `KeyError` if there is none."""
        return self._special_tokens["<|endoftext|>"]

    @property
    def special_tokens_set(self) -> set[str]:
        """The special tokens."""
        return self._special_names

    def is_special_token(self, token: int) -> bool:
        """Return whether an id is that of a special token."""
        if not isinstance(token, int):
            raise AssertionError(f"an id is an int, not {type(token).__name__}")
        return token in self._special_token_values

    @property
    def n_vocab(self) -> int:
        """The highest id + 1: more than there are tokens where ids have gaps."""
        return self.max_token_value + 1

    # Pickle by arguments; the registry pickles the encodings that it made by their names

    def __getstate__(self) -> object:
        return {
            "name": self.name,
            "pat_str": self._pat_str,
            "mergeable_ranks": self._mergeable_ranks,
            "special_tokens": self._special_tokens,
        }

    def __setstate__(self, value: Any) -> None:
        Encoding.__init__(self, **checks.checked_state(value))

    def __reduce__(self) -> tuple[Any, ...]:
        state = self.__getstate__()
        return identity.restore_encoding, (type(self), state, identity.digest_of_encoding(state))
