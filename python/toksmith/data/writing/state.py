"""The state of an unfinished run in a file: what it has written, and the place in its sources to continue from.

The file has a checksum, and each of its values is checked, so a damaged state is refused. A forged state decides what
the run writes, but the run touches no file outside its folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from ...files import text_files, whole_files

if TYPE_CHECKING:
    from pathlib import Path

_KIND = "toksmith unfinished run"
# In version 1 the shards had other checksums.
_VERSION = 2
# Shapes of values: a type; a list of one shape, for any number of values of that shape; a tuple, for a row of values
# of its shapes; a frozen set of one shape, for a value of that shape or None.
_NUMBER, _TEXT = int, str
_SNAPSHOT = (
    (_NUMBER, _NUMBER, _NUMBER, bool),
    (_NUMBER, _NUMBER),
    [(_NUMBER, _NUMBER, _NUMBER)],
    frozenset({_NUMBER}),
    [(_NUMBER, _NUMBER)],
    [_NUMBER],
    _NUMBER,
    [(_NUMBER, frozenset({_NUMBER}), _NUMBER, frozenset({_TEXT}))],
    _NUMBER,
)
_SHARDS = [(_NUMBER, _NUMBER, dict)]
_SKIPPED = [(_NUMBER, _NUMBER, _TEXT)]
_MAX_NUMBER = 2**64 - 1
_MAX_SHARDS = 2**32 - 1


class State(NamedTuple):
    """The facts that a later run needs to continue.

    Attributes:
        run: The settings that decide what the run writes; a later run must have the same.
        snapshot: A snapshot, as the core gives and takes it.
        skipped: Rows of tables that were left out: number of the source, texts before it, what is wrong.
        shards: The shards that are whole: number of the split, number of the shard, and the entry for the manifest.
    """

    run: dict[str, Any]
    snapshot: Any
    skipped: list[tuple[int, int, str]]
    shards: list[tuple[int, int, dict[str, Any]]]


def write(path: Path, state: State) -> None:
    """Write a state; the file is whole afterwards, or as it was before.

    Raises:
        OSError: The file cannot be written.
    """
    kept = state._asdict()
    content = {"format": _KIND, "version": _VERSION, "sha256": _digest(kept), "state": kept}
    whole_files.write(path, [json.dumps(content).encode()])


def read(path: Path) -> State:
    """Read a state.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is not a file that `write` wrote.
    """
    # One error whatever is wrong: nobody writes such a file by hand.
    with contextlib.suppress(ValueError):
        content = text_files.read_object(path, _KIND)
        kept = content.get("state")
        head = (content.get("format"), content.get("version"))
        if head == (_KIND, _VERSION) and isinstance(kept, dict) and content.get("sha256") == _digest(kept):
            return _state(kept)
    raise ValueError(
        f"{path}: this is no whole state of a run of this version of toksmith: remove the folder {path.parent} to "
        "begin anew"
    )


def _digest(kept: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


class _MalformedError(ValueError):
    pass


def _state(kept: dict[str, Any]) -> State:
    state = State(
        _shaped(kept.get("run"), dict),
        _shaped(kept.get("snapshot"), _SNAPSHOT),
        _shaped(kept.get("skipped"), _SKIPPED),
        _shaped(kept.get("shards"), _SHARDS),
    )
    numbers = {(split, number) for split, number, _ in state.shards}
    if any(split >= len(state.snapshot[2]) for split, _ in numbers):
        raise _MalformedError
    for split, (open_number, _, _) in enumerate(state.snapshot[2]):
        # All shards below the open one must be listed. The listed ones are counted, so a forged number costs no time.
        if (
            open_number > _MAX_SHARDS
            or sum(of == split and number < open_number for of, number in numbers) != open_number
        ):
            raise _MalformedError
    for _, _, told in state.shards:
        parts = _shaped(told.get("parts"), dict)
        if not all(_is_plain(name) for pair in parts.items() for name in pair):
            raise _MalformedError
    return state


def _is_plain(name: Any) -> bool:
    """Whether `name` is the name of a file, with no folder before it."""
    return isinstance(name, str) and name not in ("", ".", "..") and not set(name) & set("/\\:\0")


def _shaped(value: Any, shape: Any) -> Any:
    """Return a value of a shape, with rows as tuples."""
    if isinstance(shape, frozenset):
        return None if value is None else _shaped(value, *shape)
    if isinstance(shape, list) and isinstance(value, list):
        return [_shaped(one, shape[0]) for one in value]
    if isinstance(shape, tuple) and isinstance(value, list) and len(value) == len(shape):
        return tuple(map(_shaped, value, shape))
    is_number = type(value) is int and 0 <= value <= _MAX_NUMBER
    if is_number if shape is int else type(value) is shape:
        return value
    raise _MalformedError
