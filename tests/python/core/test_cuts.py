"""Where text may be cut, and which pretokens are final: brute force, `regex` running the patterns."""

import itertools
import random
from collections.abc import Iterator

import pytest
import regex

from toksmith import Tokenizer, patterns

NAMES = ["gpt2", "cl100k", "cl100k_old", "llama3", "qwen2", "nanochat", "o200k", "qwen3.5", "tekken"]
CORE = {name: patterns.resolve(name).core() for name in NAMES}
HARD = "aAbltvreSs12 \n\r\t.!'/_é日。\u3000\xa0\u0301٣\u2028ʰǅ\x85\x1cſЯя"

pytestmark = pytest.mark.parametrize("name", NAMES)


def ends_of(name: str, text: str) -> list[int]:
    """Return where the pretokens of `text` end, in characters."""
    pattern = regex.compile(patterns.NAMED[name])
    return [match.end() for match in pattern.finditer(text)]


def byte_offsets(text: str) -> list[int]:
    """Return where each character of `text` starts, in bytes, and where the last one ends."""
    lengths = (len(char.encode("utf-8", "surrogateescape")) for char in text)
    return list(itertools.accumulate(lengths, initial=0))


def cut_ends(name: str, text: str, at: int) -> list[int]:
    """Return where the pretokens end if `text` is cut at the character `at`."""
    return ends_of(name, text[:at]) + [at + end for end in ends_of(name, text[at:])]


def hard_strings(seed: int, times: int, lengths: range) -> Iterator[str]:
    """Yield strings over all hard characters, and over few of them, where runs are longer."""
    rng = random.Random(seed)
    for _ in range(times):
        some = rng.sample(HARD, rng.choice((2, 3, 5, 8, len(HARD))))
        yield "".join(rng.choices(some, k=rng.choice(lengths)))


def check_cuts(name: str, text: str) -> int:
    character_at = {offset: i for i, offset in enumerate(byte_offsets(text))}
    cuts = CORE[name].cuts(text.encode())
    whole = ends_of(name, text)
    for at in cuts:
        assert cut_ends(name, text, character_at[at]) == whole, (text, at)
    return len(cuts)


def check_settled(name: str, text: str) -> int:
    """Cut off `text` at every byte; what is said to be final must be in the whole, and nothing else."""
    data = text.encode()
    offsets = byte_offsets(text)
    whole = [offsets[end] for end in ends_of(name, text)]
    final = 0
    for length in range(len(data)):
        bound = CORE[name].settled_end(data[:length])
        if bound == 0:
            continue
        begun = data[:length].decode("utf-8", "surrogateescape")
        offsets = byte_offsets(begun)
        found = [offsets[end] for end in ends_of(name, begun)]
        expected = [end for end in whole if end <= bound]
        assert [end for end in found if end <= bound] == expected, (text, length, bound)
        final += len(expected)
    return final


def test_a_cut_changes_nothing(name: str) -> None:
    assert sum(check_cuts(name, text) for text in hard_strings(1, 5_000, range(2, 13))) > 1_250


def test_settled_pretokens_stay(name: str) -> None:
    short = sum(check_settled(name, text) for text in hard_strings(2, 500, range(2, 13)))
    long = sum(check_settled(name, text) for text in hard_strings(3, 175, range(13, 40)))
    assert min(short, long) > 1_250


def test_settled_pretokens_stay_in_every_short_string(name: str) -> None:
    """GPT-2's margin is the smallest there is, so every way to need more is tried."""
    for length in range(1, 5):
        for parts in itertools.product("'lvea1 \n\u3000.", repeat=length):
            check_settled(name, "".join(parts))


@pytest.mark.long
def test_cuts_and_settled_pretokens_of_many_strings(name: str) -> None:
    for text in hard_strings(4, 150_000, range(2, 13)):
        check_cuts(name, text)
    for text in hard_strings(5, 15_000, range(2, 50)):
        check_settled(name, text)


# Where a rule of another pattern would cut wrongly: each has to be refused, and would do harm.
REFUSED = {
    "gpt2": ["\n\n|a", "a \n|b", " |  a", "\u3000|  a", "'|s", "a|b"],
    "cl100k": ["!|\n", " |  a", "\n|\n", "\u3000|  a", "'|s", "\u0301|\n"],
    "cl100k_old": ["!|\n", " |  a", "\n|\n", "\u3000|  a", "'|s", "a \n| \n"],
    "llama3": ["!|\n", "。|\n", "\n|\n"],
    "qwen2": ["!|\n", "。|\n", "\n|\n"],
    "nanochat": ["!|\n", "。|\n", "\n|\n", "1|2"],
    "o200k": ["!\n|/", "!|\n", "。|\n", "!/|\n", "\n|\n", "a|'s"],
    "qwen3.5": ["!|\n", "。|\n", "\n|\n", "\u0301|\u0301"],
    "tekken": ["!\n|/", "!|\n", "。|\n", "!/|\n", "\n|\n"],
}


def test_what_must_not_be_cut(name: str) -> None:
    for case in REFUSED[name]:
        before, after = case.split("|")
        text = before + after
        assert len(before.encode()) not in CORE[name].cuts(text.encode()), case
        assert cut_ends(name, text, len(before)) != ends_of(name, text), case


# A buffer, what may follow it, and an end in it (in characters) that this undoes: not to be called final.
OPEN = {
    "gpt2": [("'l", "l", 1), ("x  ", "y", 3), ("\u3000\u3000", " ", 2)],
    "cl100k": [("x!", "\n", 2), ("x  ", "y", 3)],
    "cl100k_old": [("\n" + " " * 30, "\n", 1), ("x!", "\n", 2)],
    "llama3": [("\n  ", "\n", 1), ("12", "3", 2)],
    "qwen2": [("\n  ", "\n", 1), ("x!", "\n", 2)],
    "nanochat": [("\n  ", "\n", 1), ("1", "2", 1)],
    "o200k": [("Aʰ" + "B" * 30, "c", 2), ("can'l", "l", 3), ("\n" + " " * 30, "\n", 1), ("!\n", "/", 2)],
    "qwen3.5": [("\n  ", "\n", 1), ("x!", "\n", 2), ("!a", "\u0301", 2)],
    "tekken": [("Aʰ" + "B" * 30, "c", 2), ("\n" + " " * 30, "\n", 1), ("!\n", "/", 2)],
}


def test_what_is_not_final(name: str) -> None:
    for buffer, more, end in OPEN[name]:
        assert end in ends_of(name, buffer) and end not in ends_of(name, buffer + more), (buffer, more)
        assert CORE[name].settled_end(buffer.encode()) < byte_offsets(buffer)[end], (buffer, more)


@pytest.mark.parametrize("special", [(), ("<|a b|>", "w l")])
def test_a_late_cut_is_near_the_last_place(name: str, special: tuple[str, ...]) -> None:
    """Also before a long text without a place for a cut, which would otherwise be read again for each word."""
    core = Tokenizer(pattern=name, special_tokens=special)._core
    for words in (1, 10, 200, 5000, 100_000):
        for tail in (0, 20, 500, 7000, 150_000, 1_000_000):
            text = "low lower\n" * words + "y" * tail
            last = text.rfind(" ", 0, max(0, len(text) - 12))
            assert (last > 0) * (last - 90) <= core.late_cut(text, True) <= max(0, len(text) - 12)
