"""minbpe's `RegexTokenizer`: a pattern cuts the text, and special tokens can be registered."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from ... import _core, patterns
from ..._internal.messages import shown
from ...regex_dialects import pattern_names
from .backed import BackedTokenizer

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Any

GPT2_SPLIT_PATTERN = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
GPT4_SPLIT_PATTERN = (
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*"""
    r"""|\s*[\r\n]|\s+(?!\S)|\s+"""
)


class RegexTokenizer(BackedTokenizer):
    """BPE of the chunks that a pattern finds; text between its matches is lost, as with `findall`.

    Args:
        pattern: A regular expression for the `regex` package; by default minbpe's GPT-4 pattern, which is
            toksmith's `cl100k_old`. This and the other published patterns run as scanners.

    >>> tokenizer = RegexTokenizer()
    >>> tokenizer.train("low lower lowest", 258)
    >>> tokenizer.register_special_tokens({"<|endoftext|>": 258})
    >>> tokenizer.encode("low<|endoftext|>", allowed_special="all")
    [257, 258]
    """

    def __init__(self, pattern: str | None = None) -> None:
        self._start(GPT4_SPLIT_PATTERN if pattern is None else pattern)

    def _resolved(self, pattern: str) -> patterns.Pattern:
        if not isinstance(pattern, str):
            raise TypeError(f"a pattern is a regular expression as str, not {type(pattern).__name__}")
        pattern_names.warn(pattern, patterns.NAMED)
        return patterns.of_source(pattern, 0, "drop")

    @property
    def compiled_pattern(self) -> Any:
        """The pattern, compiled by `regex`; it follows `pattern`."""
        return self.tokenizer.pattern

    @property
    def inverse_special_tokens(self) -> dict[int, str]:
        """Names of the special tokens by id."""
        return {id: name for name, id in self._special_tokens.items()}

    def train(self, text: str, vocab_size: int, verbose: bool = False) -> None:
        """Learn `vocab_size - 256` merges from `text`; of equally frequent pairs, the first in the text merges.

        Special tokens in the text are read as ordinary text. Registered special tokens stay registered.

        Args:
            text: The text to train on.
            vocab_size: Tokens of the result, of which 256 are the bytes; special tokens are not counted.
            verbose: Print each merge, after training.

        Raises:
            ValueError: `vocab_size` is less than 256, or takes the id of a special token.

        Warns:
            UserWarning: No pair is left: the vocabulary is smaller than asked.
        """
        self._train(text, vocab_size, verbose)

    def register_special_tokens(self, special_tokens: Mapping[str, int]) -> None:
        """Replace the special tokens by these, name → id.

        Raises:
            ValueError: An id belongs to another token, or a name is empty.
        """
        self.special_tokens = special_tokens

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of `text`, with special tokens read as ordinary text.

        If a subclass has its own `_encode_chunk`, it is called for each chunk.
        """
        if not self._has_own("_encode_chunk"):
            return self.tokenizer.encode(text, special=False)
        chunks = self.tokenizer._parts.pattern.searched().finditer(text)
        return [id for chunk in chunks for id in self._encode_chunk(chunk.group().encode())]

    def _encode_chunk(self, text_bytes: bytes) -> list[int]:
        """Return the ids of bytes that the pattern does not cut."""
        return _core.Encoding(self.tokenizer._core).encode_piece(bytes(text_bytes))

    def _has_own(self, name: str) -> bool:
        """Return whether a subclass that is not of this package has a method of its own."""
        return not getattr(type(self), name).__module__.startswith(__package__)

    def encode(self, text: str, allowed_special: str | Collection[str] = "none_raise") -> list[int]:
        """Return the ids of `text`.

        Args:
            text: The text to encode.
            allowed_special: Which special tokens become their ids: "all", "none", or a set of names. By default,
                "none_raise", a special token in the text is an error. Of two that begin at the same place the one
                that was registered first is found.

        Raises:
            ValueError: A special token is in the text, and `allowed_special` is "none_raise".
        """
        special = self._allowed(text, allowed_special)
        if self._has_own("_encode_chunk") or self._has_own("encode_ordinary"):
            return self._encode_parts(text, special)
        if not special:
            return self.tokenizer.encode(text, special=False)
        found: Any = _core.Encoding(self.tokenizer._core).encode(text, _set_of(tuple(special.items())), None)
        return list(found)

    def _encode_parts(self, text: str, special: dict[str, int]) -> list[int]:
        """Return the ids of `text` by the `encode_ordinary` of a subclass, and the ids of special tokens."""
        cuts = f"({'|'.join(map(re.escape, special))})" if special else "(?!)"
        ids: list[int] = []
        for part in re.split(cuts, text):
            if part in special:
                ids.append(special[part])
            else:
                ids += self.encode_ordinary(part)
        return ids

    def _allowed(self, text: str, allowed_special: str | Collection[str]) -> dict[str, int]:
        if allowed_special == "all":
            return self._special_tokens
        if allowed_special == "none":
            return {}
        if allowed_special == "none_raise":
            found = _set_of(tuple(self._special_tokens.items())).first_in(text)
            if found is not None:
                raise ValueError(
                    f"the special token {shown(found)} is in the text: pass allowed_special='all' (or a set with it) "
                    "for its id, 'none' to read it as ordinary text"
                )
            return {}
        if isinstance(allowed_special, (set, frozenset, list, tuple)):
            return {name: id for name, id in self._special_tokens.items() if name in allowed_special}
        raise ValueError(
            f"allowed_special={shown(allowed_special)} not understood: it is 'all', 'none', 'none_raise' or a set of "
            "special tokens"
        )

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of `ids`, with U+FFFD for bytes that are not UTF-8.

        Raises:
            ValueError: There is no token of an id.
        """
        if self._own_vocab is not None:
            return b"".join(map(self._bytes_of, ids)).decode(errors="replace")
        try:
            return self.tokenizer.decode(ids)
        except KeyError as error:
            raise ValueError(f"invalid token id: {error.args[0]}") from None

    def _bytes_of(self, id: int) -> bytes:
        """Return the bytes of an id by the vocabulary that was assigned, else by the special tokens."""
        if id in self.vocab:
            return self.vocab[id]
        name = self.inverse_special_tokens.get(id)
        if name is None:
            raise ValueError(f"invalid token id: {id}")
        return name.encode()

    def _check_kind(self, pattern: str, name: str) -> None:
        if not pattern:
            raise ValueError(f"{name}, line 2: its tokenizer has no pattern: load it with BasicTokenizer")


@functools.lru_cache(maxsize=8)
def _set_of(special: tuple[tuple[str, int], ...]) -> _core.SpecialSet:
    """Return a set that finds, of special tokens that begin at the same place, the one that was registered first.

    The core finds the longest. That is the same token once the tokens are left out that are never found, because they
    begin with one that was registered earlier.
    """
    places = {name: place for place, (name, _) in enumerate(special)}
    found = set()
    # A chain of names, each a prefix of the next, with the earliest place of registration among them so far.
    beginnings: list[tuple[str, int]] = []
    for name in sorted(places):
        while beginnings and not name.startswith(beginnings[-1][0]):
            beginnings.pop()
        first = beginnings[-1][1] if beginnings else len(places)
        if places[name] < first:
            found.add(name)
        beginnings.append((name, min(first, places[name])))
    return _core.SpecialSet([(name, id) for name, id in special if name in found])
