"""Patterns: the scanners against `regex`, and translated patterns against the engines that they come from."""

from __future__ import annotations

import contextlib
import functools
import itertools
import random
import signal

import regex
import tiktoken
import tokenizers
from choices import Input

from toksmith import Encoding, _core, patterns
from toksmith.regex_dialects import from_oniguruma

LETTERS = ["a", "s", "l", "v", "e", "A", "S", "L", "é", "ſ", "ǅ", "ʰ", "中", "𐐷", "1", "٣", "²", " ", " ", "\n",
"\r", "\t",
           "\u00a0", "\u3000", ".", "'", "'", "/", "\u0301", "。", "😀", "\x1c", "\u0085", "\u200b", "İ",
           "K"]  # fmt: skip

PIECES = [
    "a", "b", "A", "é", " ", "1", "s", ".", "|", "|", "(", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:",
    "(?i)", "(?s:",
    "(?m:", "(?x:", ")", ")", ")", "[", "[^", "]", "]", "-", "&&", "*", "+", "?", "*?", "++", "{2}", "{1,3}",
    "{,2}", "{2,}",
    r"\s", r"\S", r"\d", r"\w", r"\W", r"\b", r"\B", r"\h", r"\H", r"\R", r"\A", r"\z", r"\Z", "^", "$", r"\p{L}",
    r"\p{N}",
    r"\P{L}", r"\p{Han}", r"\p{Lu}", r"\p{^L}", "[:alpha:]", r"\x41", r"\x{e9}", r"\u00e9", r"\n", r"\r\n", r"\.",
    r"\-",
    r"\1", r"\K", r"\G", "'", "#", "ß", "ſ", "K", "\n", r"\t", "a-z", "0-9", r"\X", r"\O", r"\N", r"(?<n>", r"\k<n>",
]  # fmt: skip


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


@functools.cache
def _ranks() -> dict[bytes, int]:
    letters = "abAs1 .'é\n"
    pairs = [(one + other).encode() for one, other in itertools.product(letters, repeat=2)]
    return {token: id for id, token in enumerate([bytes([byte]) for byte in range(256)] + pairs)}


@contextlib.contextmanager
def _seconds(limit: int):
    """A pattern that backtracks for ever is what its author asked for."""

    def stop(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(limit)
    try:
        yield
    finally:
        signal.alarm(0)


def _pattern(input: Input) -> tuple[str, str]:
    return input.text(PIECES, 12 + input.below(20)), input.text(
        ["a", "b", "A", "s", "1", " ", ".", "'", "é", "\n"], 14
    )


def tiktoken_patterns(data: bytes) -> None:
    """Patterns in tiktoken's dialect against tiktoken, whose engine has no empty matches."""
    pattern, text = _pattern(Input(data))
    try:
        encoding = Encoding("x", pat_str=pattern, mergeable_ranks=_ranks(), special_tokens={})
    except ValueError as error:
        assert len(str(error)) < 3000
        return
    with contextlib.suppress(TimeoutError), _seconds(5):
        if not all(match.group() for match in encoding._pattern.compiled().finditer(text)):
            return
        try:
            other = tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=_ranks(), special_tokens={})
            expected = other.encode_ordinary(text)
        except ValueError:
            return
        found = encoding.encode_ordinary(text)
        assert found == expected, (pattern, text, found, expected)


def huggingface_patterns(data: bytes) -> None:
    """Splits by patterns in Oniguruma's dialect against Hugging Face's library."""
    input = Input(data)
    behavior, invert = input.pick(BEHAVIORS), bool(input.below(2))
    pattern, text = _pattern(input)
    try:
        found = from_oniguruma.analyse(pattern)
        compiled = patterns.of_source(found.pattern, 0, "keep").compiled()
    except ValueError as error:
        assert len(str(error)) < 3000
        return
    name = "".join(part.capitalize() for part in behavior.split("_"))
    stage = ("nullable" if found.nullable else "pattern", compiled, name, invert)
    with contextlib.suppress(TimeoutError), _seconds(5):
        try:
            split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), behavior, invert)
        except Exception:  # Oniguruma refuses some that are no worse than others
            return
        try:
            expected = [piece for piece, _ in split.pre_tokenize_str(text)]
        except BaseException as error:
            if type(error).__name__ != "PanicException":
                raise
            return  # Oniguruma stops after too many steps
        pieces = _core.Pretokenizer.of_stages([stage]).split(text.encode())
        assert [piece.decode() for piece in pieces] == expected, (
            pattern,
            found,
            behavior,
            invert,
            text,
            pieces,
            expected,
        )
