"""Added tokens: the ids that the original gives them, and how they are found."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from .checks import checked, checked_id, field, refused, shown


class AddedToken(NamedTuple):
    """An added token as the file describes it."""

    id: int
    content: str
    single_word: bool
    lstrip: bool
    rstrip: bool
    normalized: bool
    special: bool

    @property
    def is_plain(self) -> bool:
        """Whether it is found wherever its content stands, and takes nothing else."""
        return not (self.single_word or self.lstrip or self.rstrip)


FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


def read(rows: Any, vocab: dict[str, int]) -> list[AddedToken]:
    """Return the added tokens with the ids that the original gives them.

    Those are not the ids in the file: a token that the vocabulary has keeps the id there, any other gets the next one
    behind the vocabulary's size and the added tokens. Where that is another id than the file says, a warning says so.

    Raises:
        ValueError: A row is malformed; names it.
    """
    by_content: dict[str, int] = {}
    by_id: dict[int, AddedToken] = {}
    next_id = len(vocab)
    for i, row in enumerate(checked(rows, list, "$.added_tokens")):
        place = f"$.added_tokens[{i}]"
        content = field(checked(row, dict, place), "content", str, place)
        wanted = checked_id(row.get("id"), f"{place}.id")
        if content == "":
            continue
        id = by_content.get(content, vocab.get(content))
        if id is None:
            id, next_id = next_id, next_id + 1
        if id != wanted:
            warnings.warn(
                f"{place}: {shown(content)} has the id {wanted} in the file; the original gives it {id}, and so does "
                "toksmith",
                stacklevel=5,
            )
        token = AddedToken(id, content, *(field(row, flag, bool, place) for flag in FLAGS))
        by_content[content] = id
        by_id[id] = token
    if len(by_id) < len(by_content):
        clash = next(content for content, id in by_content.items() if by_id[id].content != content)
        raise refused("$.added_tokens", f"two of them share the id {by_content[clash]}: {shown(clash)} is one")
    return list(by_id.values())


def overlap(first: list[str], second: list[str]) -> bool:
    """Return whether an occurrence of one of `first` could share a character with one of `second`.

    Cost: linear in the characters of both, times the longest length of the other.
    """
    return _runs_into(first, second) or _runs_into(second, first) or _contains(first, second)


def _runs_into(left: list[str], right: list[str]) -> bool:
    """Whether an end of one is the beginning of another."""
    beginnings = {text[:length] for text in right for length in range(1, len(text) + 1)}
    return any(text[start:] in beginnings for text in left for start in range(len(text)))


def _contains(first: list[str], second: list[str]) -> bool:
    sets = (set(first), second), (set(second), first)
    for inner, outer in sets:
        lengths = sorted({len(text) for text in inner})
        for text in outer:
            for length in lengths:
                if any(text[at : at + length] in inner for at in range(len(text) - length + 1)):
                    return True
    return False
