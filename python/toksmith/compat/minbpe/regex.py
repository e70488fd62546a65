"""minbpe's `RegexTokenizer`: a pattern cuts the text, and special tokens can be registered."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

import regex

from ... import patterns
from ..._internal.messages import shown
from .. import _merges
from .base import Model, Tokenizer

GPT2_SPLIT_PATTERN = patterns.GPT2
GPT4_SPLIT_PATTERN = _merges.GPT4_PATTERN


class RegexTokenizer(Tokenizer):
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

    _has_pattern = True

    def __init__(self, pattern: str | None = None) -> None:
        source = GPT4_SPLIT_PATTERN if pattern is None else pattern
        if not isinstance(source, str):
            raise TypeError(f"a pattern is a regular expression as str, not {type(source).__name__}")
        patterns.warn_of_name(source)
        self._replace(Model(source, {}, {}))

    @property
    def compiled_pattern(self) -> regex.Pattern[str] | None:
        """The pattern, compiled by `regex`."""
        return self.tokenizer.pattern

    @property
    def inverse_special_tokens(self) -> dict[int, str]:
        """Names of the special tokens by id."""
        return {id: name for name, id in self.special_tokens.items()}

    def register_special_tokens(self, special_tokens: Mapping[str, int]) -> None:
        """Replace the special tokens by these, name → id."""
        self._replace(self._model._replace(special_tokens=dict(special_tokens)))

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of `text`, with special tokens read as ordinary text."""
        return self.tokenizer.encode(text, special=False)

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
        if not special:
            return self.encode_ordinary(text)
        ids: list[int] = []
        for part in re.split(f"({'|'.join(map(re.escape, special))})", text):
            ids += [special[part]] if part in special else self.encode_ordinary(part)
        return ids

    def _allowed(self, text: str, allowed_special: str | Collection[str]) -> Mapping[str, int]:
        if allowed_special == "all":
            return self.special_tokens
        if allowed_special == "none":
            return {}
        if allowed_special == "none_raise":
            for name in self.special_tokens:
                if name in text:
                    raise ValueError(
                        f"the special token {shown(name)} is in the text: pass allowed_special='all' (or a set with "
                        "it) for its id, 'none' to read it as ordinary text"
                    )
            return {}
        if isinstance(allowed_special, (set, frozenset, list, tuple)):
            return {name: id for name, id in self.special_tokens.items() if name in allowed_special}
        raise ValueError(
            f"allowed_special={shown(allowed_special)} not understood: it is 'all', 'none', 'none_raise' or a set of "
            "special tokens"
        )

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of `ids`, with U+FFFD for bytes that are not UTF-8; `ValueError` for an unknown id."""
        try:
            return self.tokenizer.decode(ids)
        except KeyError as error:
            raise ValueError(f"invalid token id: {error.args[0]}") from None
