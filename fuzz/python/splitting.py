"""Patterns: the scanners against `regex`, and translated patterns against the engines that they come from."""

from __future__ import annotations

import collections
import contextlib
import functools
import itertools
import json
import random
import signal
from typing import TYPE_CHECKING, Any

import regex
import regexes
import tiktoken
import tokenizers
from choices import Input

from toksmith import Encoding, _core, patterns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LETTERS = ["a", "s", "l", "v", "e", "A", "S", "L", "é", "ſ", "ǅ", "ʰ", "中", "𐐷", "1", "٣", "²", " ", " ", "\n",
"\r", "\t",
           "\u00a0", "\u3000", ".", "'", "'", "/", "\u0301", "。", "😀", "\x1c", "\u0085", "\u200b", "İ",
           "K"]  # fmt: skip


def named(data: bytes) -> None:
    """The named patterns against `regex`."""
    input = Input(data)
    name = input.pick(sorted(patterns.NAMED))
    # Nothing here is counted that would tell a new text from an old one: so most of it is random.
    rng = random.Random(data)
    few = rng.choices(LETTERS, k=rng.randrange(1, 12))
    text = input.text(LETTERS) + "".join(rng.choices(few, k=rng.randrange(150)))
    expected = [match.group().encode() for match in regex.finditer(patterns.NAMED[name], text) if match.group()]
    found = patterns.resolve(name).core().split(text.encode())
    assert found == expected, (name, text, found, expected)


BEHAVIORS = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]

TEXTS = 8
"""Texts for each pattern."""

outcomes: collections.Counter[str] = collections.Counter()
"""How many pairs of a pattern and a text were compared, and why the others were not."""


@contextlib.contextmanager
def within_seconds(limit: int) -> Iterator[None]:
    """A pattern that backtracks for ever is what its author asked for."""

    def stop(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(limit)
    try:
        yield
    except TimeoutError:
        outcomes["too slow"] += 1
    finally:
        signal.alarm(0)


def without_panic(call: Callable[[], Any]) -> Any:
    """Return what another library returns; None where it refuses the pattern, panics, or gives up."""
    try:
        return call()
    except TimeoutError:
        raise
    except BaseException as error:
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            outcomes["refused or given up there"] += 1
            return None
        raise


def _alphabet(theirs: Callable[[str, str], set[str]], ours: Callable[[str, str], set[str]]) -> list[str]:
    """Return characters of all planes that are in the same classes in both engines.

    Args:
        theirs: Returns the characters of a text that a class has in the other engine.
        ours: Returns those that it has here.
    """
    rng = random.Random(0)
    points = [
        *range(1, 0x250),
        *range(0x370, 0x400),
        *range(0x10400, 0x10450),
        0x1E9E,
        0x2028,
        0x2029,
        0x212A,
        0x3000,
    ]
    points += (point for plane in range(17) for point in rng.sample(range(plane << 16, (plane + 1) << 16), 40))
    some = "".join(sorted({chr(point) for point in points if not 0xD800 <= point < 0xE000}))
    unequal: set[str] = set()
    for source in [*regexes.PROPERTIES, *regexes.CLASSES]:
        unequal |= theirs(source, some) ^ ours(source, some)
    return [*sorted(set(some) - unequal), *(LETTERS * 8)]


def _ranks(texts: list[str]) -> dict[bytes, int]:
    """Return ranks of all bytes and of pairs of characters, in random order. No pair is merged across pieces."""
    pairs = sorted({(left + right).encode() for text in texts for left, right in itertools.pairwise(text)})
    random.Random(len(pairs)).shuffle(pairs)
    bytes_alone = [bytes([byte]) for byte in range(256)]
    return {token: rank for rank, token in enumerate([*bytes_alone, *(pair for pair in pairs if len(pair) > 1)])}


def _encoded(kind: Any, pattern: str, texts: list[str]) -> list[list[int]]:
    """Encode with an `Encoding` of either library. An empty token keeps tiktoken from a panic at empty matches."""
    ranks = _ranks(texts)
    empty = {} if kind is Encoding else {b"": len(ranks)}
    encoding = kind("x", pat_str=pattern, mergeable_ranks=ranks | empty, special_tokens={})
    return [[id for id in encoding.encode_ordinary(text) if id != len(ranks)] for text in texts]


@functools.cache
def _tiktoken_alphabet() -> list[str]:
    def members(kind: Any) -> Callable[[str, str], set[str]]:
        bytes_alone = {bytes([byte]): byte for byte in range(256)}
        return lambda source, text: set(
            bytes(
                kind("x", pat_str=source, mergeable_ranks=bytes_alone, special_tokens={}).encode_ordinary(text)
            ).decode()
        )

    return _alphabet(members(tiktoken.Encoding), members(Encoding))


def tiktoken_patterns(data: bytes) -> None:
    """Patterns in tiktoken's dialect against tiktoken, and the two engines that may run them against each other."""
    maker = regexes.Maker(Input(data))
    pattern = maker.pattern()
    texts = [maker.text(_tiktoken_alphabet()) for _ in range(TEXTS)]
    with within_seconds(10):
        try:
            found = _encoded(Encoding, pattern, texts)
        except ValueError as error:
            assert len(str(error)) < 3000
            outcomes["refused here"] += 1
            return
        expected = without_panic(lambda: _encoded(tiktoken.Encoding, pattern, texts))
        if expected is None:
            return
        assert found == expected, (pattern, texts, found, expected)
        resolved = patterns.of_tiktoken_source(pattern)
        by_regex = _core.Pretokenizer(
            functools.partial(patterns.spans, resolved.searched()), unmatched=resolved.unmatched
        )
        for text in texts:
            pieces = resolved.core().split(text.encode())
            assert pieces == by_regex.split(text.encode()), (pattern, text, pieces)
        outcomes[f"compared ({resolved.engine().engine})"] += TEXTS


def _split_there(pattern: str, text: str, behavior: str, invert: bool) -> list[str]:
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), behavior, invert)
    return [piece for piece, _ in split.pre_tokenize_str(text)]


def _split_here(pattern: str, text: str, behavior: str, invert: bool) -> list[str]:
    name = "".join(part.capitalize() for part in behavior.split("_"))
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": name, "invert": invert}
    return [piece for piece, _ in _steps_of(json.dumps(split)).pre_tokenize(text)]


@functools.lru_cache(maxsize=8)
def _steps_of(split: str) -> Any:
    return _core.Pipeline(json.dumps({"pre_tokenizer": json.loads(split)}))


@functools.cache
def _huggingface_alphabet() -> list[str]:
    def members(split: Callable[..., list[str]]) -> Callable[[str, str], set[str]]:
        return lambda source, text: set(text).difference(*split(source, text, "removed", False))

    return _alphabet(members(_split_there), members(_split_here))


def huggingface_patterns(data: bytes) -> None:
    """Splits by patterns in Oniguruma's dialect against Hugging Face's library."""
    input = Input(data)
    behavior, invert = input.pick(BEHAVIORS), bool(input.below(2))
    maker = regexes.Maker(input)
    pattern = maker.pattern()
    texts = [maker.text(_huggingface_alphabet()) for _ in range(TEXTS)]
    with within_seconds(10):
        try:
            found = [_split_here(pattern, text, behavior, invert) for text in texts]
        except ValueError as error:
            assert len(str(error)) < 3000
            outcomes["refused here"] += 1
            return
        expected = without_panic(lambda: [_split_there(pattern, text, behavior, invert) for text in texts])
        if expected is None:
            return
        assert found == expected, (pattern, behavior, invert, texts, found, expected)
        outcomes["compared"] += TEXTS
