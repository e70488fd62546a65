"""`MarkedText` does what `str` does, and each character keeps its flags."""

from __future__ import annotations

import random
from typing import Any

import pytest

pytest.importorskip("jinja2")
from toksmith.chat.marked_text import UNKNOWN, MarkedText, flags, joined

LETTERS = "abcdefghijklmnopqrstuvwxyzäößĞ中日"
SPACES = " \n\t,;"


def text_of(rng: random.Random) -> MarkedText:
    """Return a text in which no letter comes twice; the flags of a letter are its place among the letters."""
    letters = rng.sample(LETTERS, k=rng.randrange(len(LETTERS)))
    text = "".join(each + "".join(rng.choices(SPACES, k=rng.choice((0, 0, 1, 3)))) for each in letters)
    text = "".join(rng.choices(SPACES, k=rng.randrange(3))) + text
    return MarkedText(text, bytes(LETTERS.find(each) + 1 for each in text))


def check(value: Any, expected: Any) -> None:
    """The value is the expected one, and all letters in it have their flags."""
    assert value == expected and type(value) in (type(expected), MarkedText)
    if isinstance(value, (list, tuple)):
        for one, other in zip(value, expected, strict=True):
            check(one, other)
    elif isinstance(value, str):
        assert len(flags(value)) == len(value)
        wanted = [LETTERS.find(each) + 1 for each in value.lower()]
        assert [flag for flag, place in zip(flags(value), wanted, strict=False) if place] == [p for p in wanted if p]


METHODS: list[tuple[str, list[tuple[Any, ...]]]] = [
    *((name, [(), (" ",), (",;",), ("a \n",)]) for name in ("strip", "lstrip", "rstrip")),
    *((name, [(), (" ",), (",",), (", ",), (None, 2), (";", 1), ("\n\n",)]) for name in ("split", "rsplit")),
    ("splitlines", [(), (True,), (False,)]),
    *((name, [(" ",), (",",), ("\n",), ("zz",)]) for name in ("partition", "rpartition")),
    ("__getitem__", [(slice(2, 9),), (slice(None, None, -1),), (slice(-3, None),), (slice(1, 20, 3),)]),
    ("__mul__", [(0,), (2,)]),
]


@pytest.mark.parametrize(("name", "arguments"), METHODS, ids=[name for name, _ in METHODS])
def test_methods_are_those_of_str(name: str, arguments: list[tuple[Any, ...]]) -> None:
    rng = random.Random(name)
    for _ in range(200):
        text = text_of(rng)
        for each in arguments:
            check(getattr(text, name)(*each), getattr(str.__str__(text), name)(*each))


def test_named_arguments() -> None:
    text = MarkedText("a,b,c", b"\1\0\2\0\3")
    check(text.split(",", maxsplit=1), ["a", "b,c"])
    check(text.rsplit(sep=",", maxsplit=1), ["a,b", "c"])


def test_overlapping_separators() -> None:
    for sep in ("aa", "ab", "aba"):
        rng = random.Random(sep)
        for _ in range(300):
            plain = "".join(rng.choices("ab", k=12))
            text = MarkedText(plain, bytes(range(12)))
            for name in ("split", "rsplit", "partition", "rpartition"):
                pieces = getattr(text, name)(sep)
                assert [*pieces] == [*getattr(plain, name)(sep)]
                seen = [flag for piece in pieces for flag in flags(piece)]
                assert seen == sorted(seen)
                assert all(
                    plain[flag] == each for piece in pieces for flag, each in zip(flags(piece), piece, strict=True)
                )
            assert text.replace(sep, "c") == plain.replace(sep, "c")


def test_joining() -> None:
    rng = random.Random(0)
    for _ in range(100):
        parts = [text_of(rng) for _ in range(rng.randrange(4))]
        check(joined(parts), "".join(parts))
        check(MarkedText(", ", 0).join(parts), ", ".join(map(str.__str__, parts)))
        check(joined([*parts, ", ", *parts]), "".join([*parts, ", ", *parts]))
    assert flags("a" + MarkedText("b", 1) + "c") == bytes([UNKNOWN, 1, UNKNOWN])
    assert flags(joined([1, MarkedText("b", 1), None])) == bytes([UNKNOWN, 1, *[UNKNOWN] * 4])
    assert [flags(each) for each in MarkedText("ab", b"\1\2")] == [b"\1", b"\2"]


def test_what_makes_new_text_is_not_known() -> None:
    text = MarkedText("ab", 1)
    for made in (
        text.center(4),
        f"{text:>4}",
        str.__mod__("%s ", text),
        MarkedText("{}", 1).format(1),
        text.zfill(4),
        text.title(),
    ):
        assert set(flags(made)) == {UNKNOWN}
    assert flags(text.upper()) == flags(text.capitalize()) == b"\1\1"
    assert flags(MarkedText("ßa", 1).upper()) == bytes([UNKNOWN] * 3)
