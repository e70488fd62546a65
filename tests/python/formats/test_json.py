"""JSON of files: the core's reader gives what the standard library gives, or leaves the text to it."""

import json
import random
from typing import Any

import pytest

from toksmith import _core
from toksmith.files import text_files

WORDS = ("", "a", "id", "é", "日", "\U0001f44d", "\u0000", '"', "\\", "\n", "\u2028", "x" * 300)


def value(below: random.Random, depth: int) -> Any:
    kind = below.randrange(8 if depth else 5)
    if kind < 2:
        return "".join(below.choices(WORDS, k=below.randrange(4)))
    if kind < 3:
        return below.choice([0, 7, -1, 2**31, 2**32, 2**63 - 1, -(2**63), 2**64 - 1])
    if kind < 5:
        return below.choice([True, False, None])
    if kind < 6:
        return [value(below, depth - 1) for _ in range(below.randrange(5))]
    return {below.choice(WORDS) + str(at): value(below, depth - 1) for at in range(below.randrange(5))}


def shape(found: Any) -> Any:
    """A value in which 1 and True, 0 and 0.0 differ, and the order of keys counts."""
    if isinstance(found, dict):
        return [(key, shape(each)) for key, each in found.items()]
    if isinstance(found, list):
        return [None, *map(shape, found)]
    return type(found), found


def test_random_values_are_those_of_the_standard_library() -> None:
    for seed in range(3000):
        below = random.Random(seed)
        made = value(below, 4)
        text = json.dumps(made, ensure_ascii=below.random() < 0.5, indent=below.choice([None, 1]))
        assert shape(_core.parse_json(text)) == shape(json.loads(text)) == shape(made), text


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "{",
        "[1,]",
        "{'a': 1}",
        '{"a": 1} x',
        "1.5",
        "-0",
        "1e3",
        "[1, 18446744073709551616]",
        "NaN",
        "[Infinity]",
        '"\\ud800"',
        '"\t"',
        "\ufeff{}",
        '{"a": {"b": 1, "b": 1}}',
        "[" * 200 + "]" * 200,
        "[" * 100_000,
    ],
)
def test_what_the_core_leaves_to_the_standard_library(text: str) -> None:
    assert _core.parse_json(text) is None


def test_a_text_that_the_core_leaves_is_read_all_the_same() -> None:
    found = text_files.parse_object('{"a": 1.5, "b": [-0, 18446744073709551616], "c": "\\ud800"}', "it", "file")
    assert found == {"a": 1.5, "b": [0, 18446744073709551616], "c": "\ud800"}
