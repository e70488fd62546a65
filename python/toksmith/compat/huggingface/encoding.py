"""`Encoding`: the result of `encode`, with the attributes and methods of `tokenizers.Encoding`.

Only the ids are made at once. Tokens, offsets and words are made from the text when they are asked for, even after
truncation, padding and merging: an encoding is a list of runs, each a part of a text, or one token several times.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

from .texts import Text, Trimmed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Span = tuple[int, int]


class Run(NamedTuple):
    """Some tokens of an encoding: those of a text from `start` on, or, without a text, `token` for each id.

    `added` is 1 for tokens that are not of a text: padding, and the tokens of a template.
    """

    ids: list[int]
    type_id: int
    text: Text | Trimmed | Shifted | None = None
    start: int = 0
    token: str = ""
    attended: int = 1
    added: int = 0

    def part(self, start: int, stop: int) -> Run:
        """Return some of its tokens."""
        return self._replace(ids=self.ids[start:stop], start=self.start + start)

    def column(self, name: str) -> Sequence[Any]:
        """Return an attribute of each token."""
        count = len(self.ids)
        if name == "ids":
            return self.ids
        if name == "type_ids":
            return [self.type_id] * count
        if name == "attention_mask":
            return [self.attended] * count
        if name == "special_tokens_mask":
            return [self.added] * count
        if self.text is not None:
            return self.text.column(name)[self.start : self.start + count]
        return [{"tokens": self.token, "offsets": (0, 0), "word_ids": None}[name]] * count


class Shifted:
    """The columns of a run whose offsets start after those of the text before it."""

    __slots__ = ("_by", "_run")

    def __init__(self, run: Run, by: int) -> None:
        self._run, self._by = run, by

    def column(self, name: str) -> list[Any]:
        """Return "tokens", "offsets" or "word_ids"."""
        values = list(self._run.column(name))
        return [(start + self._by, end + self._by) for start, end in values] if name == "offsets" else values


class Encoding:
    """Ids, with attributes of each. `truncate`, `pad` and `set_sequence_id` change the encoding in place."""

    __slots__ = ("_overflowing", "_ranges", "_runs")

    def __init__(self, runs: Iterable[Run] = ()) -> None:
        self._runs = list(runs)
        self._ranges: dict[int, Span] = {}
        self._overflowing: list[Encoding] = []

    def __len__(self) -> int:
        return sum(len(run.ids) for run in self._runs)

    def __repr__(self) -> str:
        names = "ids, type_ids, tokens, offsets, attention_mask, special_tokens_mask, overflowing"
        return f"Encoding(num_tokens={len(self)}, attributes=[{names}])"

    def _column(self, name: str) -> list[Any]:
        return [*itertools.chain.from_iterable(run.column(name) for run in self._runs)]

    @property
    def ids(self) -> list[int]:
        """The ids."""
        return self._runs[0].ids.copy() if len(self._runs) == 1 else self._column("ids")

    @property
    def tokens(self) -> list[str]:
        """The tokens as the vocabulary spells them."""
        return self._column("tokens")

    @property
    def offsets(self) -> list[Span]:
        """Where each token stands in its text, in characters."""
        return self._column("offsets")

    @property
    def type_ids(self) -> list[int]:
        """For each token, the type id of its sequence."""
        return self._column("type_ids")

    @property
    def attention_mask(self) -> list[int]:
        """0 for padding, else 1."""
        return self._column("attention_mask")

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for tokens that a template or padding added, else 0."""
        return self._column("special_tokens_mask")

    @property
    def word_ids(self) -> list[int | None]:
        """For each token, the number of its pretoken in the text, or of its word if the text was given as words."""
        return self._column("word_ids")

    @property
    def words(self) -> list[int | None]:
        """As `word_ids`."""
        return self.word_ids

    @property
    def overflowing(self) -> list[Encoding]:
        """The tokens that truncation cut off, as encodings of their own."""
        return list(self._overflowing)

    @property
    def n_sequences(self) -> int:
        """How many sequences the encoding is made of."""
        return len(self._ranges) or 1

    @property
    def sequence_ids(self) -> list[int | None]:
        """For each token, the number of its sequence."""
        found: list[int | None] = [None] * len(self)
        for number in range(self.n_sequences):
            start, stop = self._range(number)
            found[start:stop] = [number] * (stop - start)
        return found

    def _range(self, sequence: int) -> Span:
        return self._ranges.get(sequence, (0, len(self)))

    # Where something is

    def token_to_sequence(self, token_index: int) -> int | None:
        """Return the number of a token's sequence."""
        if token_index > len(self):
            return None
        if not self._ranges:
            return 0
        inside = (number for number, (start, stop) in self._ranges.items() if start <= token_index < stop)
        return next(inside, None)

    def token_to_chars(self, token_index: int) -> Span | None:
        """Return where a token stands in its text."""
        offsets = self.offsets
        known = self.token_to_sequence(token_index) is not None and token_index < len(offsets)
        return offsets[token_index] if known else None

    def token_to_word(self, token_index: int) -> int | None:
        """Return the number of a token's word."""
        words = self.word_ids
        known = self.token_to_sequence(token_index) is not None and token_index < len(words)
        return words[token_index] if known else None

    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Return the first token over a character."""
        first, stop = self._range(sequence_index)
        offsets = self.offsets
        return next((i for i in range(first, stop) if offsets[i][0] <= char_pos < offsets[i][1]), None)

    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Return the number of the word over a character."""
        token = self.char_to_token(char_pos, sequence_index)
        return None if token is None else self.token_to_word(token)

    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> Span | None:
        """Return the first token of a word, and the one after its last."""
        first, stop = self._range(sequence_index)
        words, found = self.word_ids, []
        for i in range(first, stop):
            word = words[i]
            if word is not None and word > word_index:
                break
            if word == word_index:
                found.append(i)
        return (found[0], found[-1] + 1) if found else None

    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> Span | None:
        """Return where a word stands in its text."""
        tokens = self.word_to_tokens(word_index, sequence_index)
        if tokens is None:
            return None
        offsets = self.offsets
        return offsets[tokens[0]][0], offsets[tokens[1] - 1][1]

    # Changing it

    def set_sequence_id(self, sequence_id: int) -> None:
        """Make all its tokens those of one sequence."""
        self._ranges[sequence_id] = (0, len(self))

    def _set_type_id(self, type_id: int) -> None:
        self._runs = [run._replace(type_id=type_id) for run in self._runs]

    def _slice(self, start: int, stop: int) -> Encoding:
        runs, at = [], 0
        for run in self._runs:
            low, high = max(start - at, 0), min(stop - at, len(run.ids))
            if low < high:
                runs.append(run.part(low, high))
            at += len(run.ids)
        return Encoding(runs)

    def _trim(self, prefixed: bool) -> None:
        """Leave whitespace at the ends of tokens out of their offsets."""
        trimmed, at = [], 0
        for run in self._runs:
            first = run.start if at == 0 else None
            trimmed.append(run if run.text is None else run._replace(text=Trimmed(run.text, prefixed, first)))
            at += len(run.ids)
        self._runs = trimmed
        for other in self._overflowing:
            other._trim(prefixed)

    def truncate(self, max_length: int, stride: int = 0, direction: str = "right") -> None:
        """Keep `max_length` tokens; the rest goes to `overflowing`, each part with `stride` tokens of the one before.

        Raises:
            ValueError: `stride` is not below `max_length`, or `direction` is neither "left" nor "right".
        """
        check_direction(direction, "truncation_direction")
        count = len(self)
        if max_length >= count:
            return
        if max_length == 0:
            whole = self._slice(0, count)
            whole._overflowing, whole._ranges = self._overflowing, self._ranges
            self._runs, self._ranges, self._overflowing = [], {}, [whole]
            return
        if stride >= max_length:
            raise ValueError(f"stride ({stride}) must be less than the length to truncate to ({max_length})")
        spans = _windows(count, max_length, max_length - stride, direction == "left")
        first, *rest = (self._slice(start, stop) for start, stop in spans)
        self._runs, self._ranges, self._overflowing = first._runs, {}, rest

    def pad(
        self,
        length: int,
        direction: str = "right",
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",
    ) -> None:
        """Fill up to `length` tokens, and so each of `overflowing`."""
        check_direction(direction)
        for other in self._overflowing:
            other.pad(length, direction, pad_id, pad_type_id, pad_token)
        missing = length - len(self)
        if missing <= 0:
            return
        run = Run([pad_id] * missing, pad_type_id, token=pad_token, attended=0, added=1)
        if direction == "right":
            self._runs.append(run)
        else:
            self._runs.insert(0, run)
            moved = self._ranges.items()
            self._ranges = {number: (start + missing, stop + missing) for number, (start, stop) in moved}

    def _copy(self) -> Encoding:
        copy = Encoding(self._runs)
        copy._ranges, copy._overflowing = dict(self._ranges), [other._copy() for other in self._overflowing]
        return copy

    def _add(self, other: Encoding, growing: bool) -> None:
        """Append another encoding; every overflowing part of each is combined with every part of the other."""
        overflowing = []
        for part in self._overflowing:
            for follower in (other, *other._overflowing):
                overflowing.append(part._copy())
                overflowing[-1]._add(follower._copy(), growing)
        for follower in other._overflowing:
            overflowing.append(self._copy())
            overflowing[-1]._add(follower._copy(), growing)
        count = len(self)
        self._ranges.update({n: (start + count, stop + count) for n, (start, stop) in other._ranges.items()})
        by = self.offsets[-1][1] if growing and count else 0
        self._runs += [run._replace(text=Shifted(run, by), start=0) for run in other._runs] if by else other._runs
        self._overflowing = overflowing

    @staticmethod
    def merge(encodings: Sequence[Encoding], growing_offsets: bool = True) -> Encoding:
        """Return the encodings joined in order; with `growing_offsets`, as if the texts stood behind each other."""
        merged = Encoding()
        for encoding in encodings:
            if not isinstance(encoding, Encoding):
                raise TypeError(f"expected an Encoding, not {type(encoding).__name__}")
            merged._add(encoding, growing_offsets)
        return merged


def check_direction(direction: str, name: str = "direction") -> None:
    """Check a direction, as `tokenizers` does."""
    if direction not in ("left", "right"):
        raise ValueError(f"Unknown `{name}`: `{direction}`. Use one of `left` or `right`")


def _windows(count: int, size: int, step: int, from_the_right: bool) -> list[Span]:
    """Return the parts of `count` tokens: of `size`, each `step` further, up to the first that reaches the end."""
    if from_the_right:
        return [(count - stop, count - start) for start, stop in _windows(count, size, step, False)]
    windows: list[Span] = []
    for start in range(0, count, step):
        windows.append((start, min(start + size, count)))
        if windows[-1][1] == count:
            break
    return windows
