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
        """Whether the token is found wherever its content occurs, and takes no whitespace around it."""
        return not (self.single_word or self.lstrip or self.rstrip)


FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


def read(rows: Any, vocab: dict[str, int], keep_ids: bool = False) -> list[AddedToken]:
    """Return the added tokens with the ids that the original gives them.

    They may differ from the ids in the file: a token that the vocabulary has keeps its id there, and any other gets
    the next id after the vocabulary's size and the earlier added tokens. A warning names an id that differs from the
    file's.

    Args:
        rows: The added tokens.
        vocab: The vocabulary of the model.
        keep_ids: Whether the ids of new tokens are those of the rows, since the rows come from no file.

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
        if id is None and keep_ids:
            id = wanted
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
