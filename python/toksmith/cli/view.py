"""`toksmith view`."""

from __future__ import annotations

import contextlib
import itertools
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..files.new_file import NewFile
from ..formats import sources
from ..lab.viewing import flow, terminal
from ..lab.viewing.spans import Spans, visible
from ..lab.viewing.view import LIMIT
from . import page, streams
from .options import (
    STRICT,
    ErrorsOption,
    GivenPatternOption,
    GivenSpecialsOption,
    GivenUnmatchedOption,
    InArgument,
    NoSpecialOption,
    SpecialsFileOption,
    TextOption,
    TokenizersOption,
    UsageError,
    load_all,
    special_tokens_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from ..tokenizer import Tokenizer

    Text = Callable[[], Iterator[str]]

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
    tokenizers: TokenizersOption,
    file: InArgument = None,
    text: TextOption = None,
    ids: Annotated[bool, typer.Option("--ids", help="Show the id below each token, before it with --lines.")] = False,
    as_lines: Annotated[bool, typer.Option("--lines", help="Write one token a line, and no counts.")] = False,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            metavar="N",
            help=f"Draw the first N tokens; 0 shows the counts alone. Default: {LIMIT:,} on a terminal, else all.",
            show_default=False,
        ),
    ] = None,
    no_limit: Annotated[bool, typer.Option("--all", help="Draw all tokens, on a terminal too.")] = False,
    html: Annotated[
        str | None,
        typer.Option(
            "--html",
            metavar="OUT",
            help="Write a page in which people type and see tokens; it begins with the text, or with nothing.",
            show_default=False,
        ),
    ] = None,
    no_special: NoSpecialOption = False,
    errors: ErrorsOption = STRICT,
    pattern: GivenPatternOption = None,
    special_tokens: GivenSpecialsOption = None,
    special_file: SpecialsFileOption = None,
    unmatched: GivenUnmatchedOption = None,
) -> None:
    """Show the tokens of a text in colours, for one tokenizer or several."""
    if limit is not None and no_limit:
        raise UsageError("--limit and --all are two things to do: give one of them")
    if limit is not None and limit < 0:
        raise UsageError(f"--limit is at least 0, not {limit}")
    if html is not None and (ids or as_lines or no_limit or no_special or limit is not None):
        raise UsageError("--html takes no --ids, --lines, --limit, --all or --no-special: the page has switches")
    source = streams.Input(file, text)
    if html is not None:
        # A page without a text begins with nothing, and not with standard input.
        read = [] if file is None else source.files
        streams.check(html, itertools.chain(*map(sources.files_of, tokenizers), read))
    loaded = load_all(tokenizers, pattern, special_tokens_of(special_tokens, special_file), unmatched)
    if html is not None:
        is_empty = file is None and text is None
        page.write(html, loaded, "" if is_empty else "".join(source.text(errors.value)))
        return
    if limit is None and not no_limit and terminal.is_terminal():
        limit = LIMIT
    drawing = Drawing(not no_special, ids, as_lines, limit)
    with _opened(source, errors.value, len(loaded) > 1) as opened:
        try:
            streams.write("-", map(str.encode, drawing.of_all(loaded, opened)))
        except (KeyboardInterrupt, SystemExit):
            if drawing.colours:
                streams.write("-", [flow.END.encode()])  # the output may have been cut off inside a colour
            raise


@contextlib.contextmanager
def _opened(source: streams.Input, errors: str, is_read_again: bool) -> Iterator[Text]:
    """Yield what returns the text in pieces, each time anew."""
    path = source.path
    if is_read_again and path is not None and (path == "-" or not stat.S_ISREG(Path(path).stat().st_mode)):
        with NewFile(Path(tempfile.gettempdir()), "text") as spool:
            with streams.naming(tempfile.gettempdir()):
                spool.file.writelines(map(str.encode, source.text(errors)))
                spool.file.flush()
            yield lambda: streams.text(str(spool.path), errors)
    else:
        yield lambda: source.text(errors)


# The drawing


class Drawing:
    """How the tokens of a text are written."""

    def __init__(self, special: bool, ids: bool, as_lines: bool, limit: int | None) -> None:
        self.special, self.ids, self.as_lines, self.limit = special, ids, as_lines, limit
        self.colours = not as_lines and terminal.has_colours()

    def of_all(self, tokenizers: Sequence[tuple[str, Tokenizer]], text: Text) -> Iterator[str]:
        """Yield the drawings for all tokenizers, one below the other, with their names if there are several."""
        for number, (name, tokenizer) in enumerate(tokenizers):
            if self.as_lines:
                yield from self._lines(visible(name) if len(tokenizers) > 1 else None, tokenizer, text)
                continue
            if len(tokenizers) > 1:
                yield "\n" * (number > 0) + terminal.heading(visible(name), self.colours)
            yield from self._drawn(tokenizer, text)

    def _lines(self, name: str | None, tokenizer: Tokenizer, text: Text) -> Iterator[str]:
        ids = tokenizer.encode_chunks(text(), special=self.special)
        first = ids if self.limit is None else _first(ids, self.limit)
        return flow.lines(Spans(tokenizer), first, ids=self.ids, name=name)

    def _drawn(self, tokenizer: Tokenizer, text: Text) -> Iterator[str]:
        counted = Counted(tokenizer, text(), self.special)
        if self.limit != 0:
            first = counted.ids() if self.limit is None else _first(counted.ids(), self.limit)
            yield from terminal.drawn(Spans(tokenizer), first, colours=self.colours, ids=self.ids)
        for _ in counted.ids():  # those that are not drawn are counted
            pass
        if self.limit:
            yield terminal.more(counted.tokens - self.limit)
        yield counted.line()


class Counted:
    """The ids of a text, in arrays that are given out once, and how many there were."""

    def __init__(self, tokenizer: Tokenizer, pieces: Iterable[str], special: bool) -> None:
        self.tokens = self.bytes = 0
        self._tokenizer = tokenizer
        self._blocks = tokenizer.encode_chunks(self._measured(pieces), special=special)
        # A pattern may lose text. The stages around a core may do so on purpose.
        self._held = 0 if tokenizer._pattern.unmatched == "drop" and tokenizer.pipeline is None else None

    def _measured(self, pieces: Iterable[str]) -> Iterator[str]:
        for piece in pieces:
            self.bytes += len(piece.encode())
            yield piece

    def ids(self) -> Iterator[NDArray[Any]]:
        """Yield the arrays that were not given out yet."""
        for block in self._blocks:
            self.tokens += len(block)
            if self._held is not None:
                self._held += len(self._tokenizer.decode_bytes(block))
            yield block

    def line(self) -> str:
        """Return the counts, and what the pattern has lost."""
        line = terminal.counts(self.tokens, self.bytes)
        if self._held is not None and self._held < self.bytes:
            line += f"; {self.bytes - self._held:,} bytes are in no token: the pattern does not match them"
        return line + "\n"


def _first(blocks: Iterable[NDArray[Any]], limit: int) -> Iterator[NDArray[Any]]:
    """Yield the first ids of blocks, and ask for no block behind them."""
    if limit == 0:
        return
    for block in blocks:
        yield block[:limit]
        limit -= len(block)
        if limit <= 0:
            return
