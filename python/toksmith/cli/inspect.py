"""`toksmith inspect`."""

import json
from typing import Any

import click

import toksmith

from ..corpus import Corpus
from . import options, streams
from .command_line import Progress, UsageError, command, option

EXAMPLES = f"""\
  toksmith inspect gpt2
  toksmith inspect tokenizer.json --on corpus/
  toksmith inspect o200k_base --on 'web/*.jsonl.zst' --field text --json
  cat book.txt | toksmith inspect gpt2 --on - --top 20

{options.DOCUMENTS} Without --on, the
vocabulary alone is looked at. Control characters in tokens are shown, never
obeyed: a space is ␣, a byte that is not part of a character is \\xNN."""


@command(EXAMPLES)
@click.argument("tokenizer", help=options.TOKENIZER)
@option("--on FILES...", f"Count the uses of each token in these. {options.FILES}.", multiple=True)
@options.text
@option("--top N", "How many tokens each list of examples has at most. Default: 10.")
@options.as_json
@options.reading
@options.special
@options.workers
@options.parts
@options.progress
def inspect(
    tokenizer: str,
    parts: options.Parts,
    reading: dict[str, Any],
    as_json: bool,
    on: list[str] | None = None,
    text: str | None = None,
    progress: Progress | None = None,
    **counting: Any,
) -> None:
    """Show the composition of a vocabulary, its unreachable tokens, and how texts use it."""
    for name in ("field", "column", "input_format"):
        if name in reading and not on:
            raise UsageError(f"--{name.replace('_', '-')} is for texts: give --on with it")
    streams.check_inputs(on or [], text, argument="--on")
    loaded = options.load(tokenizer, parts)
    # A bar is gone before the output comes, so both may be on one terminal.
    inspection = toksmith.lab.inspect(
        loaded,
        Corpus(on, **reading) if on else None if text is None else Corpus(iter([text]), **reading),
        progress=streams.progress_of(progress, ""),
        **counting,
    )
    shown = json.dumps(inspection.to_dict(), ensure_ascii=True) if as_json else str(inspection)
    streams.write("-", [shown.encode(), b"\n"])
