"""Truncation and padding, which set the length of an encoding or of a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...common.messages import shown
from .encoding import check_direction

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .encoding import Encoding

MAX_PADDED = 1 << 24
"""Most ids to which a file may pad an encoding: more than the longest context of any model."""

Settings = dict[str, Any]

_STRATEGIES = {"longest_first": "LongestFirst", "only_first": "OnlyFirst", "only_second": "OnlySecond"}
_DIRECTIONS = {"right": "Right", "left": "Left"}


def check_truncation(given: Settings, added: int) -> None:
    """Check the arguments of `enable_truncation`; `added` is how many tokens the post-processor adds to one text."""
    if given["strategy"] not in _STRATEGIES:
        known = "`longest_first`, `only_first`, or `only_second`"
        raise ValueError(f"Unknown `strategy`: `{given['strategy']}`. Use one of {known}")
    check_direction(given["direction"])
    for name in ("max_length", "stride"):
        if given[name] < 0:
            raise OverflowError(f"{name} is {given[name]}, which is negative")
    room = given["max_length"] - added
    if 0 <= room < given["stride"]:
        raise ValueError(
            f"tokenizer stride set to {given['stride']}, which is greater than or equal to its effective max length "
            f"of {room} (= {given['max_length']} original max length - {added} added special tokens), "
        )


def check_padding(given: Settings) -> None:
    """Check the arguments of `enable_padding`."""
    check_direction(given["direction"])
    for name in ("length", "pad_to_multiple_of", "pad_id", "pad_type_id"):
        if given[name] is not None and given[name] < 0:
            raise OverflowError(f"{name} is {given[name]}, which is negative")


def truncate(encodings: Sequence[Encoding], given: Mapping[str, Any], added: int) -> None:
    """Cut one or two encodings so that with `added` tokens they have at most `max_length`.

    As in `tokenizers`, nothing is cut if there is no room for the added tokens alone.

    Raises:
        ValueError: The strategy cannot cut enough.
    """
    room, stride, direction = given["max_length"] - added, given["stride"], given["direction"]
    if room < 0:
        return
    counts = [len(encoding) for encoding in encodings]
    excess = sum(counts) - room
    if room == 0:
        for encoding in encodings:
            encoding.truncate(0, stride, direction)
    elif excess > 0:
        for encoding, length in zip(encodings, _lengths(counts, room, excess, given["strategy"]), strict=True):
            encoding.truncate(length, stride, direction)


def _lengths(counts: list[int], room: int, excess: int, strategy: str) -> list[int]:
    """Return the length to cut each of one or two encodings to."""
    if strategy == "longest_first":
        return [room] if len(counts) == 1 else _both(counts[0], counts[1], room)
    which = 0 if strategy == "only_first" else 1
    if which >= len(counts):
        raise ValueError("Truncation error: Second sequence not provided")
    if counts[which] <= excess:
        raise ValueError("Truncation error: Sequence to truncate too short to respect the provided max_length")
    return [count - excess if i == which else count for i, count in enumerate(counts)]


def _both(first: int, second: int, room: int) -> list[int]:
    """Cut the longer of two to the room that the shorter leaves; if that is not enough, cut both to a half."""
    shorter = min(first, second)
    longer = shorter if shorter > room else max(shorter, room - shorter)
    if shorter + longer > room:
        shorter, longer = room // 2, room // 2 + room % 2
    return [longer, shorter] if first > second else [shorter, longer]


def pad(encodings: Sequence[Encoding], given: Mapping[str, Any]) -> None:
    """Pad encodings to the given length, else to the length of the longest."""
    if not encodings:
        return
    length = given["length"] if given["length"] is not None else max(map(len, encodings))
    multiple = given["pad_to_multiple_of"]
    if multiple:
        length += -length % multiple
    for encoding in encodings:
        encoding.pad(length, given["direction"], given["pad_id"], given["pad_type_id"], given["pad_token"])


# In a `tokenizer.json`


def truncation_content(given: Settings | None) -> Settings | None:
    """Return truncation as a `tokenizer.json` has it."""
    if given is None:
        return None
    names = {"direction": _DIRECTIONS[given["direction"]], "strategy": _STRATEGIES[given["strategy"]]}
    return {
        "direction": names["direction"],
        "max_length": given["max_length"],
        "strategy": names["strategy"],
        "stride": given["stride"],
    }


def truncation_of(content: Settings | None) -> Settings | None:
    """Return truncation as `enable_truncation` takes it."""
    if content is None:
        return None
    strategies, directions = _turned(_STRATEGIES), _turned(_DIRECTIONS)
    return {
        "max_length": content["max_length"],
        "stride": content["stride"],
        "strategy": strategies[content["strategy"]],
        "direction": directions[content.get("direction", "Right")],
    }


def padding_content(given: Settings | None) -> Settings | None:
    """Return padding as a `tokenizer.json` has it."""
    if given is None:
        return None
    fixed = given["length"]
    return {
        "strategy": "BatchLongest" if fixed is None else {"Fixed": fixed},
        "direction": _DIRECTIONS[given["direction"]],
        **{name: given[name] for name in ("pad_to_multiple_of", "pad_id", "pad_type_id", "pad_token")},
    }


def padding_of(content: Settings | None) -> Settings | None:
    """Return padding as `enable_padding` takes it."""
    if content is None:
        return None
    fixed = content["strategy"]
    length, multiple = fixed["Fixed"] if isinstance(fixed, dict) else None, content.get("pad_to_multiple_of")
    for number in (length, multiple):
        if number is not None and not (isinstance(number, int) and 0 <= number <= MAX_PADDED):
            raise ValueError(f"$.padding: {shown(number)} is not a length from 0 to {MAX_PADDED}")
    return {
        "length": length,
        "pad_to_multiple_of": multiple,
        "pad_id": content["pad_id"],
        "pad_token": content["pad_token"],
        "pad_type_id": content["pad_type_id"],
        "direction": _turned(_DIRECTIONS)[content["direction"]],
    }


def _turned(names: Mapping[str, str]) -> dict[str, str]:
    return {value: key for key, value in names.items()}
