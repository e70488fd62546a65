"""The options of a training, checked before any text is read."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

from .. import patterns
from .._internal import arguments, choices
from .._internal.choices import ByteOrder, SpecialIds, TieRule, Ties, Unmatched
from .._internal.messages import shown
from ..patterns import Pattern
from ..tokenizer import Tokenizer


@dataclass(frozen=True)
class IdOrder:
    """The order of the ids of a new tokenizer; merges have theirs in the order in which they are learned.

    Args:
        special_tokens: Where the ids of special tokens are: "first", "after_bytes" or "last".
        single_bytes: The order of the 256 bytes: by "value", or as "gpt2" prints them.

    >>> IdOrder(special_tokens="last")
    IdOrder(special_tokens='last', single_bytes='value')
    """

    special_tokens: SpecialIds = "first"
    single_bytes: ByteOrder = "value"

    def __post_init__(self) -> None:
        arguments.one_of("special_tokens", self.special_tokens, choices.SpecialIds)
        arguments.one_of("single_bytes", self.single_bytes, choices.ByteOrder)


@dataclass(frozen=True)
class Options:
    """The options that decide the merges of a training and its ids, as `train` describes them.

    `new_specials` are the special tokens that the base does not have.
    """

    vocab_size: int
    base: Tokenizer | None
    new_specials: list[str]
    pattern: Pattern
    ties: Ties
    ids: IdOrder
    min_frequency: int
    max_token_length: int | None
    forced_tokens: list[bytes]

    def __post_init__(self) -> None:
        if self.max_merges < 0:
            tokens = f"the {self.base.vocab_size} of the base" if self.base else "256 bytes"
            raise ValueError(
                f"vocab_size is {self.vocab_size}, less than the {self.min_vocab_size} tokens that are always there: "
                f"{tokens} and {len(self.new_specials)} special tokens"
            )
        first_id = self.base.max_id + 1 if self.base else 256
        if self.max_merges + len(self.new_specials) + first_id > 2**32 - 1:
            raise ValueError(f"vocab_size is {self.vocab_size}, more than the 2^32 - 1 ids there are")
        specials = {name.encode() for name in self.special_tokens}
        for token in self.forced_tokens:
            if self.max_token_length is not None and len(token) > self.max_token_length:
                raise ValueError(
                    f"the forced token {shown(token)} has {len(token)} bytes, more than "
                    f"max_token_length={self.max_token_length}"
                )
            if token in specials:
                raise ValueError(
                    f"{shown(token)} is both a special and a forced token: text never reaches the forced one"
                )

    @property
    def special_tokens(self) -> list[str]:
        """All special tokens, which separate documents."""
        return [*(self.base.special_tokens if self.base else ()), *self.new_specials]

    @property
    def min_vocab_size(self) -> int:
        """The number of tokens before the first merge."""
        return (self.base.vocab_size if self.base else 256) + len(self.new_specials)

    @property
    def max_merges(self) -> int:
        """The number of tokens that merges add."""
        return self.vocab_size - self.min_vocab_size

    def for_core(self) -> dict[str, Any]:
        """Return the options of learning merges, as the core has them."""
        return {
            "ties": self.tie_rule,
            "max_merges": self.max_merges,
            "min_frequency": self.min_frequency,
            "max_token_length": min(self.max_token_length or 2**32 - 1, 2**32 - 1),
        }

    @property
    def tie_rule(self) -> TieRule:
        """The rule for ties as the core has it, where the ids of bytes are their values."""
        if self.ids.single_bytes == "gpt2" and self.ties == "ids":
            return "printable_ids"
        if self.ids.single_bytes == "gpt2" and self.ties == "smallest_ids":
            return "huggingface"
        return self.ties

    def fingerprint(self) -> dict[str, object]:
        """Return all options that the merges depend on, besides the counts, for a checkpoint."""
        return {
            "base": self.base.fingerprint if self.base else None,
            "vocab_size": self.vocab_size,
            "special_tokens": sorted(self.special_tokens),
            **self.pattern.fields(),
            "ties": self.tie_rule,
            "min_frequency": self.min_frequency,
            "max_token_length": self.max_token_length,
            "forced_tokens": [token.hex() for token in self.forced_tokens],
        }


def check_base(base: Tokenizer, has_superwords: bool) -> None:
    """Check that a tokenizer can be extended."""
    if has_superwords and base.pipeline is not None:
        raise ValueError(
            "the base has steps of a Hugging Face file, which hold its pattern alone, and superwords need another: "
            "train them from the beginning, without a base"
        )
    if base.pipeline is not None and not base.pipeline.is_plain:
        reasons = " and ".join(base.pipeline.reasons())
        raise ValueError(f"the base has {reasons}, which training does not have: it cannot be extended")
    if base._core.is_spelled():
        reason = "leaves merges out at random, or merges by the names of its tokens"
        raise ValueError(f"the base {reason}, which training does not: it cannot be extended")


def pattern_of(base: Tokenizer | None, pattern: object, unmatched: Unmatched | None) -> Pattern:
    """Return the pattern, which a base decides."""
    if base is None:
        return patterns.resolve("gpt2" if pattern is ... else pattern, "keep" if unmatched is None else unmatched)
    own = patterns.of_core(base._core)
    unmatched = own.unmatched if unmatched is None else unmatched
    if pattern is ...:
        resolved = patterns.of_source(own.text, own.flags, unmatched)
    else:
        resolved = patterns.resolve(pattern, unmatched)
    if resolved != own:
        raise ValueError(f"the base cuts text by {own}, not by {resolved}: leave pattern and unmatched out")
    return own


def ties_of(base: Tokenizer | None, ties: Ties | None) -> Ties:
    """Return the rule for ties, which a trained base decides."""
    if ties is not None:
        arguments.one_of("ties", ties, choices.Ties)
    record = base._core.record() if base else None
    if record is None:
        return ties or "bytes"
    own = cast(Ties, record[0])
    if ties not in (None, own):
        raise ValueError(f"the base was trained with ties={shown(own)}, not {shown(ties)}: leave ties out")
    return own


def forced_bytes(tokens: Iterable[str | bytes]) -> list[bytes]:
    """Return the bytes of forced tokens, checked."""
    if isinstance(tokens, (str, bytes)):
        raise TypeError(f"forced_tokens is a list of tokens: write [{shown(tokens)}]")
    forced = []
    for index, token in enumerate(arguments.listed("forced_tokens", tokens, "tokens")):
        if not isinstance(token, (str, bytes)):
            raise TypeError(f"a forced token is str or bytes, not {type(token).__name__}: {shown(token)}")
        forced.append(token if isinstance(token, bytes) else arguments.utf8(f"forced token {shown(token)}", token))
        if not token:
            raise ValueError(f"forced token number {index} is empty: leave it out")
    return forced
