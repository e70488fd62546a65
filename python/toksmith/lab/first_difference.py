"""Comparing the ids that two tokenizers give, up to the first difference."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator

from ..formats.verification import first_difference

_AROUND = 30  # characters of context to both sides
_SHOWN = 6  # ids from the first that differs on


@dataclasses.dataclass(frozen=True)
class Side:
    """One of two tokenizers: its name, a function that encodes a text, and one that decodes ids to bytes."""

    name: str
    encode: Callable[[str], list[int]]
    decode_bytes: Callable[[list[int]], bytes]


@dataclasses.dataclass(frozen=True)
class Difference:
    """The first place where two tokenizers give different ids, after `index` equal ones.

    Line and character, from 1, are those where the first id that differs starts. `sides` has the name of each
    tokenizer, and its next ids with their text, or its error.
    """

    text: str
    line: int
    column: int
    index: int
    before: str
    after: str
    sides: tuple[tuple[str, str], tuple[str, str]]

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self.sides)
        lines = [
            f"{self.text}, line {self.line}, character {self.column}: different ids, after {self.index:,} equal ones",
            f"  {'text':{width}}  {self.before!r} | {self.after!r}",
        ]
        lines += [f"  {name:{width}}  {shown}" for name, shown in self.sides]
        return "\n".join(lines)


@dataclasses.dataclass
class Report:
    """How many texts, bytes and ids were compared, and the first difference, if there is one."""

    texts: int = 0
    bytes: int = 0
    ids: int = 0
    difference: Difference | None = None


def compare(ours: Side, theirs: Side, texts: Iterable[tuple[str, Iterable[str]]]) -> Report:
    """Encode texts, each a name and its pieces, with both, up to the first difference."""
    report = Report()
    for name, pieces in texts:
        report.texts += 1
        line, column = 1, 1
        for piece in pieces:
            report.difference = difference(ours, theirs, piece, name, line, column)
            if report.difference is not None:
                return report
            report.bytes += len(piece.encode())
            report.ids += len(ours.encode(piece))
            line, column = _moved(line, column, piece)
    return report


def difference(
    ours: Side, theirs: Side, text: str, name: str = "text", line: int = 1, column: int = 1
) -> Difference | None:
    """Return the first difference between the ids of two sides for a text that begins at this place."""
    attempts = [_attempt(side, text) for side in (ours, theirs)]
    if attempts[0] == attempts[1] and isinstance(attempts[0], list):
        return None
    lists = [ids if isinstance(ids, list) else [] for ids in attempts]
    index = first_difference(*lists)
    at = len(ours.decode_bytes(lists[0][:index]).decode("utf-8", "ignore"))
    line, column = _moved(line, column, text[:at])
    sides = [
        (side.name, ids if isinstance(ids, str) else _shown(side, ids[index : index + _SHOWN]))
        for side, ids in zip((ours, theirs), attempts, strict=True)
    ]
    return Difference(
        name, line, column, index, text[max(0, at - _AROUND) : at], text[at : at + _AROUND], (sides[0], sides[1])
    )


def _attempt(side: Side, text: str) -> list[int] | str:
    """Return the ids; or the error of the side, even if it is a panic of Rust code, which is no `Exception`."""
    try:
        return side.encode(text)
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:
        return f"{type(error).__name__}: {error}"


def _shown(side: Side, ids: list[int]) -> str:
    pieces = [f"{id} {side.decode_bytes([id]).decode('utf-8', 'backslashreplace')!r}" for id in ids]
    return ", ".join(pieces) or "(no more ids)"


def _moved(line: int, column: int, text: str) -> tuple[int, int]:
    newlines = text.count("\n")
    if not newlines:
        return line, column + len(text)
    return line + newlines, len(text) - text.rfind("\n")


def pieces_of(texts: Iterable[str], size: int = 1 << 20) -> Iterator[str]:
    r"""Yield a text, given in any parts, in pieces of up to `size` characters, which end with a line if possible.

    >>> list(pieces_of(["ab\ncd", "\nef"], size=4))
    ['ab\n', 'cd\n', 'ef']
    """
    pending = ""
    for part in texts:
        pending += part
        while len(pending) > size:
            end = pending.rfind("\n", 0, size) + 1 or size
            yield pending[:end]
            pending = pending[end:]
    if pending:
        yield pending
