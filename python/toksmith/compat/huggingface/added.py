"""Added tokens: tokens that are found in a text before all others, and the ids that they get when they are added."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Json = dict[str, Any]
"""An object of JSON."""

FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
_FIELDS = ("content", *FLAGS)


TokenLike = Any
"""An `AddedToken`, or one of `tokenizers`."""


class AddedToken:
    """A token that is found in the text before all others, in place of `tokenizers.AddedToken` if that is missing.

    By default `normalized` is the opposite of `special`.
    """

    def __init__(
        self,
        content: str = "",
        single_word: bool = False,
        lstrip: bool = False,
        rstrip: bool = False,
        normalized: bool | None = None,
        special: bool = False,
    ) -> None:
        self.content, self.single_word, self.lstrip, self.rstrip = content, single_word, lstrip, rstrip
        self._normalized, self.special = normalized, special

    @property
    def normalized(self) -> bool:
        """Whether the token is looked for in the normalized text, and is itself normalized for that."""
        return not self.special if self._normalized is None else self._normalized

    def __getstate__(self) -> Json:
        return {name: getattr(self, name) for name in _FIELDS}

    def __setstate__(self, state: Json) -> None:
        AddedToken.__init__(self, **state)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AddedToken) and self.__getstate__() == other.__getstate__()

    def __hash__(self) -> int:
        return hash(self.content)

    def __str__(self) -> str:
        return self.content

    def __repr__(self) -> str:
        flags = ", ".join(f"{flag}={getattr(self, flag)}" for flag in FLAGS)
        return f'AddedToken("{self.content}", {flags})'


def _row_of(token: TokenLike, special: bool) -> Json:
    """Return an added token as a `tokenizer.json` has it, without id; `special` marks it so, as in `tokenizers`."""
    if isinstance(token, str):
        token = AddedToken(token, special=special)
    if not all(hasattr(token, name) for name in _FIELDS):
        raise TypeError(f"Input must be a List[Union[str, AddedToken]], and one of them is {type(token).__name__}")
    if special and not token.special:
        token.special = True
    return {name: getattr(token, name) for name in _FIELDS}


class Added:
    """The added tokens of a tokenizer. A change gives a new one.

    Attributes:
        rows: Id → the token as a `tokenizer.json` has it.
        ids: Content → id.
        once_special: Contents that were special once: decoding skips them, even if they are added again as others.
        beside: Ids of tokens that the vocabulary of the model does not have.
    """

    def __init__(self, rows: Iterable[Json], beside: Iterable[int], once_special: Iterable[str] = ()) -> None:
        self.rows = {row["id"]: row for row in sorted(rows, key=lambda row: row["id"])}
        self.ids = {row["content"]: id for id, row in self.rows.items()}
        self.once_special = {*once_special, *(row["content"] for row in self.rows.values() if row["special"])}
        self.beside = frozenset(beside)

    def with_tokens(
        self, tokens: Iterable[object], special: bool, model_id: Callable[[str], int | None], model_size: int
    ) -> tuple[Added, int]:
        """Return the added tokens after more were added, and how many of those changed something.

        `model_id` returns the id that the model has for a token.
        """
        if not isinstance(tokens, (list, tuple)):
            raise TypeError(f"the tokens must be a list, not {type(tokens).__name__}")
        new = [_row_of(token, special) for token in tokens]
        rows, ids, beside = dict(self.rows), dict(self.ids), set(self.beside)
        once = {*self.once_special, *(row["content"] for row in new if row["special"] and row["content"])}
        changed, next_id = 0, max(max(ids.values(), default=-1) + 1, model_size)
        for row in new:
            name = row["content"]
            id = ids[name] if name in ids else model_id(name)
            if not name or (id in rows and row.items() <= rows[id].items()):
                continue
            if id is None:
                id, next_id = next_id, next_id + 1
                beside.add(id)
            ids[name], rows[id] = id, {"id": id, **row}
            changed += 1
        return Added(rows.values(), beside, once), changed

    def for_matching(self) -> list[Json]:
        """Return the rows by which tokens are found: a token that was special once is found as a special token."""
        return [
            {**row, "special": row["special"] or row["content"] in self.once_special} for row in self.rows.values()
        ]
