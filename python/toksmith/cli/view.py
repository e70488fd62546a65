"""`toksmith view`."""

import itertools
import sys
from collections.abc import Iterable, Iterator

from .._internal.messages import printable, size
from ..formats import sources
from ..lab import terminal
from ..lab.spans import visible
from ..lab.view import LIMIT, View
from . import options, streams
from .command_line import UsageError, command, option

EXAMPLES = f"""\
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


@command(EXAMPLES)
@options.tokenizers
@options.file
@options.text
@option("--ids", "Show the id below each token, before it with --lines.")
@option("--lines", "Write one token a line, and no counts.", name="as_lines")
@option(
    "--limit N", f"Draw the first N tokens; 0 shows the counts alone. Default: {LIMIT:,} on a terminal, else all."
)
@option("--all", "Draw all tokens, on a terminal too.", name="no_limit")
@option("--html OUT", "Write a web page that shows the tokens of what is typed. It starts with the text, if any.")
@options.special
@options.errors
@options.parts
def view(
    tokenizers: list[str],
    parts: options.Parts,
    ids: bool,
    as_lines: bool,
    no_limit: bool,
    special: bool,
    file: str | None = None,
    text: str | None = None,
    limit: int | None = None,
    html: str | None = None,
    errors: str = "strict",
) -> None:
    """Show the tokens of a text in colours, for one tokenizer or several."""
    if limit is not None and no_limit:
        raise UsageError("--limit and --all are mutually exclusive")
    if limit is not None and limit < 0:
        raise UsageError(f"--limit is at least 0, not {limit}")
    if html is not None and (ids or as_lines or no_limit or not special or limit is not None):
        raise UsageError("--html takes no --ids, --lines, --limit, --all or --no-special: the page has switches")
    source = streams.Input(file, text)
    if html is not None:
        # A page without a text begins with nothing, and not with standard input.
        streams.check(html, itertools.chain(*map(sources.files_of, tokenizers), [] if file is None else source.files))
    loaded = options.load_all(tokenizers, parts)
    whole = "" if html is not None and file is None and text is None else "".join(source.text(errors))
    if html is not None:
        from ..lab.page.document import document  # imports NumPy and regex

        written = streams.write(html, [document(dict(loaded), whole).encode()])
        streams.say_written(html, f"{size(written)}, {printable(', '.join(dict(loaded)))}")
        return
    if limit is None and not no_limit and streams.is_terminal(sys.stdout):
        limit = LIMIT
    views = (
        (visible(name), View(tokenizer, whole, special=special, show_ids=ids, limit=limit))
        for name, tokenizer in loaded
    )
    colours = not as_lines and terminal.has_colours()
    try:
        streams.write("-", map(str.encode, _drawn(views, len(loaded) > 1, as_lines, colours)))
    except (KeyboardInterrupt, SystemExit):
        if colours:
            streams.write("-", [terminal.END.encode()])  # the output may have been cut off inside a colour
        raise


def _drawn(views: Iterable[tuple[str, View]], are_several: bool, as_lines: bool, colours: bool) -> Iterator[str]:
    """Yield views one below the other, with the names of the tokenizers if there are several."""
    for number, (name, view) in enumerate(views):
        if as_lines:
            yield from view.lines(name if are_several else None)
            continue
        if are_several:
            heading = f"{terminal.BOLD}{name}{terminal.END}" if colours else name
            yield "\n" * (number > 0) + f"{heading}\n"
        yield from view.drawn(colours=colours)
