"""minbpe's files: `.model`, which is loaded, and `.vocab`, which people read.

A model file has a line "minbpe v1", the pattern, the number of special tokens, a line for each of them (name, a
space, id), and a line of two ids for each merge; the first merge makes id 256.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..._internal.messages import shown
from ...files import text_files
from .render import render_token

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Pair = tuple[int, int]

VERSION = "minbpe v1"
MOST_BYTES = 1 << 26
"""Most bytes of all tokens together. Each line can double the longest token, so 40 lines could fill any memory."""


class Model(NamedTuple):
    """The content of a model file."""

    pattern: str
    special_tokens: dict[str, int]
    merges: dict[Pair, int]


def written(model: Model) -> str:
    """Return the text of a model file.

    Raises:
        ValueError: The pattern or a special token has a line break.
    """
    for what, text in [("pattern", model.pattern), *(("special token", name) for name in model.special_tokens)]:
        if "\n" in text or "\r" in text:
            raise ValueError(
                f"a .model file has one line for the {what}, and {shown(text)} has a line break: "
                "save `tokenizer`, the toksmith.Tokenizer inside, instead"
            )
    lines = [VERSION, model.pattern, str(len(model.special_tokens))]
    lines += [f"{name} {id}" for name, id in model.special_tokens.items()]
    lines += [f"{left} {right}" for left, right in model.merges]
    return "\n".join(lines) + "\n"


def parsed(text: str, name: str) -> Model:
    """Return the content of the text of a model file; `name` is for errors.

    Raises:
        ValueError: The text is no model file, or breaks off; names file and line.
    """
    lines = text_files.lines(text)
    if not lines or lines[0].strip() != VERSION:
        raise ValueError(f"{name}, line 1: expected {shown(VERSION)}, got {shown((lines or [''])[0])}")
    if len(lines) < 3:
        raise ValueError(f"{name}: the file breaks off before the number of special tokens, in line 3")
    count = _number(lines[2].strip(), f"{name}, line 3")
    if count > len(lines) - 3:
        raise ValueError(f"{name}, line 3: {count} special tokens, but only {len(lines) - 3} lines follow")
    special_tokens: dict[str, int] = {}
    for number, line in enumerate(lines[3 : 3 + count], 4):
        token, _, id = line.rpartition(" ")
        if not token:
            raise ValueError(f"{name}, line {number}: expected a special token and its id, got {shown(line)}")
        if token in special_tokens:
            raise ValueError(f"{name}, line {number}: the special token {shown(token)} is there twice")
        special_tokens[token] = _number(id, f"{name}, line {number}")
    return Model(lines[1], special_tokens, _merges(lines, 3 + count, name))


def _merges(lines: list[str], first: int, name: str) -> dict[Pair, int]:
    pairs = _Pairs()
    for number, line in enumerate(lines[first:], first + 1):
        place = f"{name}, line {number}"
        ids = line.split()
        if len(ids) != 2:
            raise ValueError(f"{place}: expected the two ids of a merge, got {shown(line)}")
        pairs.add((_number(ids[0], place), _number(ids[1], place)), place)
    return pairs.merges


def checked_merges(merges: Mapping[Pair, int]) -> dict[Pair, int]:
    """Return merges in the order of their ids.

    Raises:
        ValueError: The ids do not count up from 256, or a merge is made of an id that does not exist yet.
    """
    pairs = _Pairs()
    for i, (pair, id) in enumerate(sorted(merges.items(), key=lambda item: item[1])):
        if id != 256 + i:
            raise ValueError(f"the merge {pair} has the id {id}, not {256 + i}: the ids of merges count up from 256")
        pairs.add(pair, f"the merge into {id}")
    return pairs.merges


class _Pairs:
    """Merges that come one by one, checked before memory is taken for their tokens."""

    def __init__(self) -> None:
        self.merges: dict[Pair, int] = {}
        self.lengths = [1] * 256
        self.bytes = 0

    def add(self, pair: Pair, place: str) -> None:
        left, right = pair
        for id in pair:
            if not 0 <= id < len(self.lengths):
                raise ValueError(f"{place}: {left} {right}: there is no token {id} yet")
        if pair in self.merges:
            raise ValueError(f"{place}: {left} {right} is there already, as the merge into {self.merges[pair]}")
        self.merges[pair] = len(self.lengths)
        self.lengths.append(self.lengths[left] + self.lengths[right])
        self.bytes += self.lengths[-1]
        if self.bytes > MOST_BYTES:
            raise ValueError(f"{place}: the tokens up to here have more than {MOST_BYTES:,} bytes")


def _number(text: str, place: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 10 or int(text) >= 2**32:
        raise ValueError(f"{place}: {shown(text)} is not a whole number below 2^32")
    return int(text)


def vocab_lines(vocab: Mapping[int, bytes], merges: Mapping[Pair, int]) -> Iterator[str]:
    """Yield the lines of a `.vocab` file: each token, with the two tokens that it was made of."""
    parts = {id: pair for pair, id in merges.items()}
    for id, token in vocab.items():
        made_of = "".join(f"[{render_token(vocab[part])}]" for part in parts.get(id, ()))
        arrow = " -> " if made_of else ""
        yield f"{made_of}{arrow}[{render_token(token)}] {id}\n"
