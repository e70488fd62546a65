"""Added tokens: what the file says of each."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple


class AddedToken(NamedTuple):
    """An added token, with the id that the original gives it."""

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


def row_of(token: dict[str, Any]) -> tuple[int, str, bool, bool, bool, bool, bool]:
    """Return the fields of an added token in the order of `AddedToken`."""
    return _fields(token)  # type: ignore[no-any-return]


_fields = operator.itemgetter(*AddedToken._fields)
FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
