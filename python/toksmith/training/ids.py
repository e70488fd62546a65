"""Which ids the tokens of a training get."""

from __future__ import annotations

from dataclasses import dataclass

from .._internal import arguments, choices
from .._internal.choices import ByteOrder, SpecialIds


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
