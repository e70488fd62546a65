"""The options of a training, checked before any text is read, and the ids of its result."""

from __future__ import annotations

import collections
import operator

from .. import _core, patterns
from .._internal import arguments, choices
from .._internal.messages import shown
from ..formats.parts import Parts
from ..formats.training_record import Record
from ..tokenizer import Tokenizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, NamedTuple

    from ..patterns import Pattern

    class Layout(NamedTuple):
        """Ids: of the bytes, of the first merge, and of special tokens."""

        bytes: list[int]
        first: int
        specials: list[tuple[str, int]]

else:
    Layout = collections.namedtuple("Layout", "bytes first specials")


class Options:
    """The options of a training that decide its merges and its ids. They are checked before any text is read.

    An option that was not given is `...`, since None is a pattern.
    """

    def __init__(
        self,
        vocab_size: int,
        *,
        special_tokens: Iterable[str] = (),
        pattern: Any = ...,
        unmatched: Any = ...,
        ties: Any = ...,
        special_ids: Any = ...,
        byte_order: Any = ...,
        min_frequency: Any = 1,
        max_token_length: Any = None,
        forced_tokens: Iterable[str | bytes] = (),
        base: Tokenizer | None = None,
    ) -> None:
        self.vocab_size = operator.index(vocab_size)
        self.base = base
        for name, value, allowed in (
            ("ties", ties, choices.TIES),
            ("special_ids", special_ids, choices.SPECIAL_IDS),
            ("byte_order", byte_order, choices.BYTE_ORDERS),
        ):
            if value is not ...:
                arguments.one_of(name, value, allowed)
        self.new_specials = arguments.special_names(special_tokens)
        self.special_ids, self.byte_order = given_or("first", special_ids), given_or("value", byte_order)
        if base is None:
            self.ties: Any = given_or("bytes", ties)
            self.pattern = patterns.resolve(given_or("gpt2", pattern), given_or("keep", unmatched))
            self.pattern_given = pattern is not ... or unmatched is not ...
        else:
            self._extend(base, pattern, unmatched, ties, special_ids, byte_order)
        self._check_size()
        self.min_frequency = operator.index(min_frequency)
        if not 0 <= self.min_frequency <= 2**63:
            raise ValueError(f"min_frequency is {self.min_frequency}, not between 0 and 2^63")
        self.max_token_length = _checked_length(max_token_length)
        self.forced_tokens = _checked_forced(forced_tokens, self.special_tokens, self.max_token_length)

    def _extend(self, base: Any, pattern: Any, unmatched: Any, ties: Any, special_ids: Any, byte_order: Any) -> None:
        """Take the options that the base decides from it, and refuse options that differ from them."""
        if not isinstance(base, Tokenizer):
            raise TypeError(f"base is a Tokenizer, not {type(base).__name__}")
        if base.pipeline is not None and not base.pipeline.is_plain:
            why = " and ".join(base.pipeline.reasons())
            raise ValueError(f"the base has {why}, which training does not have: it cannot be extended")
        for name, value in (("special_ids", special_ids), ("byte_order", byte_order)):
            if value is not ...:
                raise ValueError(f"{name} cannot be given with a base: its ids stay, and new ones follow the highest")
        self.pattern = base._pattern
        self.pattern_given = True
        drops = given_or(self.pattern.unmatched, unmatched)
        if pattern is ...:
            given = patterns.of_source(self.pattern.text, self.pattern.flags, drops)
        else:
            given = patterns.resolve(pattern, drops)
        if given != self.pattern:
            raise ValueError(f"the base cuts text by {self.pattern}, not by {given}: leave pattern and unmatched out")
        record = base._record
        known = record.ties if record else ...
        if known is not ... and ties not in (..., known):
            raise ValueError(f"the base was trained with ties={shown(known)}, not {shown(ties)}: leave ties out")
        self.ties = given_or(given_or("bytes", ties), known)
        self.new_specials = [name for name in self.new_specials if name not in base.special_tokens]

    @property
    def special_tokens(self) -> list[str]:
        """All special tokens, which separate documents."""
        return [*(self.base.special_tokens if self.base else ()), *self.new_specials]

    @property
    def for_counting(self) -> dict[str, Any]:
        """The options that counting needs."""
        return {
            "special_tokens": self.special_tokens,
            "pattern": self.pattern,
            "unmatched": self.pattern.unmatched,
        }

    def with_specials_of(self, names: Iterable[str]) -> None:
        """Take the special tokens of counts, if none were given.

        Raises:
            ValueError: The counts lack a special token of the base.
        """
        old = self.base.special_tokens if self.base else {}
        counted = list(names)
        if missing := [name for name in old if name not in counted]:
            raise ValueError(f"the counts were made without the special tokens {missing} of the base: count anew")
        self.new_specials = [name for name in counted if name not in old]
        self._check_size()
        _check_no_special(self.forced_tokens, self.special_tokens)

    def _check_size(self) -> None:
        specials = len(self.new_specials)
        old = self.base.vocab_size if self.base else 256
        least = old + specials
        if self.vocab_size < least:
            what = f"the {old} of the base" if self.base else "256 bytes"
            raise ValueError(
                f"vocab_size is {self.vocab_size}, less than the {least} tokens that are always there: "
                f"{what} and {specials} special tokens"
            )
        highest = self.base.max_id + 1 if self.base else 256
        if self.vocab_size - old + highest > 2**32 - 1:
            raise ValueError(f"vocab_size is {self.vocab_size}, more than the 2^32 - 1 ids there are")
        self.max_merges = self.vocab_size - least

    def fingerprint(self) -> dict[str, Any]:
        """Return all options that the merges depend on, besides the counts, for a checkpoint."""
        pattern: Pattern = self.pattern
        return {
            "base": self.base.fingerprint if self.base else None,
            "vocab_size": self.vocab_size,
            "special_tokens": sorted(self.special_tokens),
            "pattern": pattern.text,
            "pattern_flags": pattern.flags,
            "unmatched": pattern.unmatched,
            "unicode": pattern.unicode,
            "ties": self.ties,
            "min_frequency": self.min_frequency,
            "max_token_length": self.max_token_length,
            "forced_tokens": [token.hex() for token in self.forced_tokens],
        }

    def tokenizer(self, learned: _core.Learned) -> Tokenizer:
        """Return the tokenizer of these merges, with ids for all tokens."""
        layout = self._extended_ids() if self.base else self._ids(learned.added())
        base = self.base._core if self.base else None
        core = _core.build_tokenizer(learned, base, layout.bytes, layout.first, layout.specials, self.pattern.core())
        parts = None if self.base is None else self.base._parts
        record = Record.of_training(
            self.ties,
            self.vocab_size - self.max_merges,
            0 if parts is None else len(parts.core.merges()),
            None if parts is None else parts.record,
            learned,
        )
        return Tokenizer._of(Parts(core, self.pattern, None, record))

    def _ids(self, merges: int) -> Layout:
        """Give bytes, special tokens and merges their ids."""
        sizes = {"special": len(self.new_specials), "byte": 256, "merge": merges}
        order = {
            "first": ("special", "byte", "merge"),
            "after_bytes": ("byte", "special", "merge"),
            "last": ("byte", "merge", "special"),
        }[self.special_ids]
        starts, next_id = {}, 0
        for kind in order:
            starts[kind] = next_id
            next_id += sizes[kind]
        by_byte = [0] * 256
        for id, byte in enumerate(_byte_order(self.byte_order), starts["byte"]):
            by_byte[byte] = id
        specials = [(name, id) for id, name in enumerate(self.new_specials, starts["special"])]
        return Layout(by_byte, starts["merge"], specials)

    def _extended_ids(self) -> Layout:
        """Give new special tokens, and then new merges, the ids above those of the base."""
        assert self.base is not None
        start = self.base.max_id + 1
        new = [(name, id) for id, name in enumerate(self.new_specials, start)]
        return Layout([], start + len(new), [*self.base.special_tokens.items(), *new])


def taken_by(function: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Return the options, by name, that are keyword parameters of a function."""
    return {name: value for name, value in given.items() if name in function.__kwdefaults__}


def given_or(default: Any, value: Any) -> Any:
    """Return an option, or its default where it was not given."""
    return default if value is ... else value


def _byte_order(name: str) -> Sequence[int]:
    if name == "value":
        return range(256)
    from ..formats.spelling import BYTE_ORDER

    return BYTE_ORDER


def _checked_length(length: Any) -> int | None:
    if length is None:
        return None
    number = operator.index(length)
    if number < 1:
        raise ValueError(f"max_token_length is {number}: a token has at least one byte")
    return min(number, 2**32 - 1)


def _checked_forced(tokens: Iterable[str | bytes], specials: list[str], longest: int | None) -> list[bytes]:
    """Return forced tokens as bytes."""
    if isinstance(tokens, (str, bytes)):
        raise TypeError(f"forced_tokens is a list of tokens: write [{shown(tokens)}]")
    checked = []
    for index, token in enumerate(tokens):
        if not isinstance(token, (str, bytes)):
            raise TypeError(f"a forced token is str or bytes, not {type(token).__name__}: {shown(token)}")
        try:
            data = token if isinstance(token, bytes) else token.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"forced token {shown(token)} has a lone surrogate at {error.start}") from None
        if not data:
            raise ValueError(f"forced token number {index} is empty: leave it out")
        if longest is not None and len(data) > longest:
            raise ValueError(
                f"the forced token {shown(token)} has {len(data)} bytes, more than max_token_length={longest}"
            )
        checked.append(data)
    _check_no_special(checked, specials)
    return checked


def _check_no_special(forced: Iterable[bytes], specials: Iterable[str]) -> None:
    names = {name.encode() for name in specials}
    for token in forced:
        if token in names:
            raise ValueError(
                f"{shown(token)} is both a special and a forced token: text never reaches the forced one"
            )
