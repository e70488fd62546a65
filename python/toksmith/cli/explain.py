"""`toksmith explain`."""

import toksmith

from . import options, streams
from .command_line import command

EXAMPLES = """\
  toksmith explain -t tokenizer.json --text 'the lowest price<|endoftext|>'
  echo 'the lowest price' | toksmith explain -t tokenizer.json

Each pretoken starts as single bytes. The pair of pieces with the lowest rank
merges, the leftmost of equal pairs first, until no pair has a rank. The pieces
that are left are the tokens. A tokenizer that looks up whole pretokens, as
tiktoken does, encodes one that is a token without merging. Its merges are shown
all the same, and a last row where they do not make it. A space is shown as ␣, and a byte that is not
part of a character as \\xNN. Of a pretoken with more than 200 merges, the first
100 and the last 100 are shown."""


@command(EXAMPLES)
@options.tokenizer
@options.file
@options.text
@options.errors
@options.special
@options.parts
def explain(
    tokenizer: str,
    parts: options.Parts,
    special: bool,
    file: str | None = None,
    text: str | None = None,
    errors: str = "strict",
) -> None:
    """Show how a text becomes ids, merge by merge."""
    source = streams.Input(file, text)
    loaded = options.load(tokenizer, parts)
    whole = "".join(source.text(errors))
    explanations = toksmith.lab.explain(loaded, whole, special=special)
    from ..lab.merge_table import rendered  # imports parts of rich

    streams.write("-", [rendered(whole, explanations).encode()])
