"""`toksmith inspect`."""

from __future__ import annotations

import json
from typing import Annotated

import typer

import toksmith

from . import options, streams
from .options import UsageError

EXAMPLES = f"""\
Examples:

  toksmith inspect gpt2
  toksmith inspect tokenizer.json --on corpus/
  toksmith inspect o200k_base --on 'web/*.jsonl.zst' --field text --json
  cat book.txt | toksmith inspect gpt2 --on - --top 20

{options.DOCUMENTS} Without --on, the
vocabulary alone is looked at. Control characters in tokens are shown, never
obeyed: a space is ␣, a byte that is not part of a character is \\xNN."""


def inspect(
    tokenizer: options.TokenizerArgument,
    on: Annotated[
        list[str] | None,
        typer.Option(metavar="FILES...", help=f"Count the uses of each token in these. {options.FILES}."),
    ] = None,
    text: options.TextOption = None,
    *,
    top: Annotated[int, typer.Option(metavar="N", help="How many tokens each list of examples has at most.")] = 10,
    as_json: options.JsonOption = False,
    reading: options.Reading,
    no_special: options.NoSpecialOption = False,
    workers: options.WorkersOption = None,
    parts: options.TokenizerParts,
    progress: options.ProgressOption = None,
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
        on or (None if text is None else iter([text])),
        top=top,
        special=not no_special,
        **reading,
        workers=workers,
        progress=streams.progress_of(progress, ""),
    )
    shown = json.dumps(inspection.to_dict(), ensure_ascii=True) if as_json else str(inspection)
    streams.write("-", [shown.encode(), b"\n"])
