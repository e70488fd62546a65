"""`toksmith decode`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..common.progress import reporter
from . import streams
from .options import (
    GivenPatternOption,
    GivenSpecialsOption,
    GivenUnmatchedOption,
    InArgument,
    OutOption,
    ProgressOption,
    TokenizerOption,
    load,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..common.progress import Report
    from ..tokenizer import Tokenizer

EXAMPLES = """\
Examples:

  toksmith decode -t tokenizer.json book.ids -o book.txt
  echo 72 101 108 108 111 | toksmith decode -t tokenizer.json
  toksmith encode -t tokenizer.json book.txt | toksmith decode -t tokenizer.json | cmp - book.txt

Ids are separated by spaces or line ends, or are a JSON list. What comes out is the very bytes that
the ids stand for: the exact inverse of encode, with no newline added."""

_SPACES = b" \t\n\r\v\f"
_LIST_MARKS = bytes.maketrans(b"[,]", b"   ")
_LONGEST = 20  # digits of an id, with room for leading zeros


def decode(
    tokenizer: TokenizerOption,
    file: InArgument = "-",
    out: OutOption = "-",
    pattern: GivenPatternOption = None,
    special_tokens: GivenSpecialsOption = None,
    unmatched: GivenUnmatchedOption = None,
    progress: ProgressOption = None,
) -> None:
    """Turn ids into text."""
    streams.check(out)
    loaded = load(tokenizer, pattern, special_tokens, unmatched)
    with reporter(streams.wants_bar(progress, out)) as report:
        streams.write(out, _decoded(loaded, file, report))


def _decoded(tokenizer: Tokenizer, path: str, report: Report | None) -> Iterator[bytes]:
    done = 0
    for words in _words(path, report):
        try:
            yield _bytes(tokenizer, words)
        except (KeyError, ValueError):
            _name_the_first_bad(tokenizer, words, path, done)
            raise
        done += len(words)


def _words(path: str, report: Report | None) -> Iterator[list[bytes]]:
    """Yield lists of words, none of them cut in two."""
    held = b""
    for window in streams.windows(path, "decode", report):
        data = held + window.translate(_LIST_MARKS)
        words = data.split()
        whole = data[-1:] in _SPACES
        # A word that is too long for an id is passed on even if it is cut: it is refused anyway.
        held = b"" if whole or len(words[-1]) > _LONGEST else words.pop()
        yield words
    yield held.split()


def _bytes(tokenizer: Tokenizer, words: list[bytes]) -> bytes:
    if words and not b"".join(words).isdigit():
        raise ValueError("not all of these are whole numbers")
    return tokenizer.decode_bytes(map(int, words))


def _name_the_first_bad(tokenizer: Tokenizer, words: list[bytes], path: str, done: int) -> None:
    """Raise a `ValueError` that says which of `words` is no id; `done` words came before them."""
    for number, word in enumerate(words, done + 1):
        place = f"{streams.input_name(path)}: number {number}"
        shown = word[:40].decode("ascii", "backslashreplace")
        if not word.isdigit():
            raise ValueError(f"{place} is {shown!r}, not an id")
        try:
            tokenizer.token_bytes(int(word))
        except (KeyError, ValueError):
            raise ValueError(f"{place} is {shown}: there is no token of this id") from None
