"""`toksmith view`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from .. import anatomy
from .._internal.numbers import size
from ..formats import sources
from ..lab import terminal
from ..lab.spans import Spans, visible
from ..lab.view import LIMIT
from ..tokenizer import Tokenizer
from . import options, streams
from .options import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Text: TypeAlias = "Callable[[], Iterator[str]]"

EXAMPLES = f"""\
Examples:

  toksmith view --text 'the lowest price' -t gpt2
  toksmith view --text 'the lowest price' -t gpt2 -t gpt-4o --ids
  toksmith view book.txt -t tokenizer.json -t gpt-4o --limit 0
  toksmith view book.txt -t tokenizer.json --lines | sort | uniq -c
  echo 'the lowest price' | toksmith view -t gpt2
  toksmith view --html page.html -t gpt2 -t gpt-4o

FILE is UTF-8 text. On a terminal tokens have two colours in turn, and special
tokens a third; the first {LIMIT:,} are drawn. Without colours, as in a pipe, tokens are
separated by │, special ones stand in ⟦ and ⟧, a space is ␣, and all are drawn.
A newline is shown as \\n, a character that cannot be seen as \\u{{...}}, and a
byte that is not part of a whole character of its token as \\xNN. Below are the
numbers of tokens and bytes of the whole text. --lines is for programs: columns
are separated by tabs, and a special token has the word special behind it."""


def view(
    tokenizers: options.TokenizersOption,
    file: options.InArgument = None,
    text: options.TextOption = None,
    ids: Annotated[bool, typer.Option("--ids", help="Show the id below each token, before it with --lines.")] = False,
    as_lines: Annotated[bool, typer.Option("--lines", help="Write one token a line, and no counts.")] = False,
    limit: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help=f"Draw the first N tokens; 0 shows the counts alone. Default: {LIMIT:,} on a terminal, else all.",
            show_default=False,
        ),
    ] = None,
    no_limit: Annotated[bool, typer.Option("--all", help="Draw all tokens, on a terminal too.")] = False,
    html: Annotated[
        str | None,
        typer.Option(
            metavar="OUT",
            help="Write a page in which people type and see tokens; it begins with the text, or with nothing.",
            show_default=False,
        ),
    ] = None,
    no_special: options.NoSpecialOption = False,
    errors: options.ErrorsOption = "strict",
    parts: options.TokenizerParts = options.NO_PARTS,
) -> None:
    """Show the tokens of a text in colours, for one tokenizer or several."""
    if limit is not None and no_limit:
        raise UsageError("--limit and --all are mutually exclusive")
    if limit is not None and limit < 0:
        raise UsageError(f"--limit is at least 0, not {limit}")
    if html is not None and (ids or as_lines or no_limit or no_special or limit is not None):
        raise UsageError("--html takes no --ids, --lines, --limit, --all or --no-special: the page has switches")
    source = streams.Input(file, text)
    if html is not None:
        # A page without a text begins with nothing, and not with standard input.
        streams.check(html, itertools.chain(*map(sources.files_of, tokenizers), [] if file is None else source.files))
    loaded = options.load_all(tokenizers, parts)
    if html is not None:
        is_empty = file is None and text is None
        _write_page(html, loaded, "" if is_empty else "".join(source.text(errors)))
        return
    if limit is None and not no_limit and terminal.is_terminal():
        limit = LIMIT
    drawing = Drawing(not no_special, ids, as_lines, limit)
    read = _reader(source, errors, len(loaded) > 1)
    try:
        streams.write("-", map(str.encode, drawing.of_all(loaded, read)))
    except (KeyboardInterrupt, SystemExit):
        if drawing.colours:
            streams.write("-", [terminal.END.encode()])  # the output may have been cut off inside a colour
        raise


def _write_page(path: str, tokenizers: Sequence[tuple[str, Tokenizer]], text: str) -> None:
    """Write a page of tokenizers, each with the name after `-t`, and say how large it is."""
    from ..lab.page.document import document  # imports NumPy and regex

    named: dict[str, Tokenizer] = {}
    for source, tokenizer in tokenizers:
        named[_new_name(source, named)] = tokenizer
    written = streams.write(path, [document(named, text).encode()])
    streams.say_written(path, f"{size(written)}, {visible(', '.join(named))}")


def _new_name(source: str, named: dict[str, Tokenizer]) -> str:
    """Return the name of a tokenizer in a page: of a path its last part, with a number where it is taken.

    >>> _new_name("models/one/tokenizer.json", {}), _new_name("o200k_base", {})
    ('one/tokenizer.json', 'o200k_base')
    """
    path = Path(source)
    generic = path.name in ("tokenizer.json", "vocab.json", "merges.txt")
    name = "/".join(path.parts[-2:]) if generic else path.name or source
    number = 2
    while name in named:
        name = f"{name.partition(' (')[0]} ({number})"
        number += 1
    return name


def _reader(source: streams.Input, errors: str, is_read_again: bool) -> Text:
    """Return a function that returns the text in pieces, each time anew. A pipe that is read again is held whole."""
    if is_read_again and source.path is not None and not Path(source.path).is_file():
        pieces = list(source.text(errors))
        return lambda: iter(pieces)
    return lambda: source.text(errors)


class Drawing:
    """How the tokens of a text are written."""

    def __init__(self, special: bool, ids: bool, as_lines: bool, limit: int | None) -> None:
        self.special, self.ids, self.as_lines, self.limit = special, ids, as_lines, limit
        self.colours = not as_lines and terminal.has_colours()

    def of_all(self, tokenizers: Sequence[tuple[str, Tokenizer]], text: Text) -> Iterator[str]:
        """Yield the drawings for all tokenizers, one below the other, with their names if there are several."""
        are_several = len(tokenizers) > 1
        for number, (name, tokenizer) in enumerate(tokenizers):
            if self.as_lines:
                ids = tokenizer.encode_chunks(text(), special=self.special)
                shown_name = visible(name) if are_several else None
                yield from terminal.lines(Spans(tokenizer), self._first(ids), ids=self.ids, name=shown_name)
                continue
            if are_several:
                heading = f"{terminal.BOLD}{visible(name)}{terminal.END}" if self.colours else visible(name)
                yield "\n" * (number > 0) + f"{heading}\n"
            yield from self._drawn(tokenizer, text)

    def _drawn(self, tokenizer: Tokenizer, text: Text) -> Iterator[str]:
        counted = Counted(tokenizer, text(), self.special)
        if self.limit != 0:
            first = self._first(counted.ids())
            yield from terminal.drawn(Spans(tokenizer), first, colours=self.colours, ids=self.ids)
        for _ in counted.ids():  # those that are not drawn are counted
            pass
        if self.limit:
            yield terminal.more(counted.tokens - self.limit)
        yield counted.line()

    def _first(self, blocks: Iterable[NDArray[np.uint32]]) -> Iterator[NDArray[np.uint32]]:
        """Yield the ids that are drawn, and ask for no block behind them."""
        remaining = self.limit
        for block in blocks if remaining != 0 else ():
            yield block if remaining is None else block[:remaining]
            if remaining is not None:
                remaining -= len(block)
                if remaining <= 0:
                    return


class Counted:
    """The ids of a text, in arrays that are yielded once, and how many there were."""

    def __init__(self, tokenizer: Tokenizer, pieces: Iterable[str], special: bool) -> None:
        self.tokens = self.bytes = 0
        self._tokenizer = tokenizer
        self._blocks = tokenizer.encode_chunks(self._measured(pieces), special=special)
        # A pattern may lose text. The steps of a pipeline may do so on purpose.
        drops = anatomy.pattern(tokenizer).unmatched == "drop" and tokenizer.pipeline is None
        self._bytes_of_tokens = 0 if drops else None

    def _measured(self, pieces: Iterable[str]) -> Iterator[str]:
        for piece in pieces:
            self.bytes += len(piece.encode())
            yield piece

    def ids(self) -> Iterator[NDArray[np.uint32]]:
        """Yield the arrays that were not yielded yet."""
        for block in self._blocks:
            self.tokens += len(block)
            if self._bytes_of_tokens is not None:
                self._bytes_of_tokens += len(self._tokenizer.decode_bytes(block))
            yield block

    def line(self) -> str:
        """Return the counts, and what the pattern has lost."""
        line = terminal.counts(self.tokens, self.bytes)
        if self._bytes_of_tokens is not None and self._bytes_of_tokens < self.bytes:
            lost = self.bytes - self._bytes_of_tokens
            line += f"; {lost:,} bytes are in no token: the pattern does not match them"
        return line + "\n"
