"""`toksmith inspect`."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

import toksmith

from . import streams
from .options import (
    DOCUMENTS,
    FILES,
    STRICT,
    ColumnOption,
    ErrorsOption,
    FieldOption,
    GivenPatternOption,
    GivenSpecialsOption,
    GivenUnmatchedOption,
    JsonOption,
    NoSpecialOption,
    ProgressOption,
    SeparatorOption,
    SpecialsFileOption,
    TextOption,
    TokenizerArgument,
    UsageError,
    WorkersOption,
    load,
    special_tokens_of,
)

EXAMPLES = f"""\
Examples:

  toksmith inspect gpt2
  toksmith inspect tokenizer.json --on corpus/
  toksmith inspect o200k_base --on 'web/*.jsonl.zst' --field text --json
  cat book.txt | toksmith inspect gpt2 --on - --top 20

{DOCUMENTS} More of them may follow
--on. Without --on, the vocabulary alone is looked at. Control
characters in tokens are shown, never obeyed: a space is ␣, a byte that is not
part of a character is \\xNN."""


def inspect(
    tokenizer: TokenizerArgument,
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILES", help="More files of --on.", show_default=False)
    ] = None,
    on: Annotated[
        list[str] | None,
        typer.Option(
            "--on",
            metavar="FILES...",
            help=f"Count the uses of each token in these. {FILES}.",
        ),
    ] = None,
    text: TextOption = None,
    top: Annotated[
        int, typer.Option("--top", metavar="N", help="How many tokens each list of examples has at most.")
    ] = 10,
    as_json: JsonOption = False,
    field: FieldOption = None,
    column: ColumnOption = None,
    document_separator: SeparatorOption = None,
    no_special: NoSpecialOption = False,
    errors: ErrorsOption = STRICT,
    workers: WorkersOption = None,
    pattern: GivenPatternOption = None,
    special_tokens: GivenSpecialsOption = None,
    special_file: SpecialsFileOption = None,
    unmatched: GivenUnmatchedOption = None,
    progress: ProgressOption = None,
) -> None:
    """Show what a vocabulary is made of, which tokens no text gives, and what texts use of it."""
    if not on:
        for name, value in (("FILES", files), ("--field", field), ("--column", column)):
            if value:
                raise UsageError(f"{name} is for texts: give --on before the files")
    streams.check_inputs([*(on or []), *(files or [])], text, argument="--on")
    if "-" in (on or []):
        streams.tell_of_terminal()
    chosen: Any = errors.value
    loaded = load(tokenizer, pattern, special_tokens_of(special_tokens, special_file), unmatched)
    # A bar is gone before the output comes, so both may be on one terminal.
    with streams.reporting(progress, "") as report:
        inspection = toksmith.inspect(
            loaded,
            [*on, *(files or [])] if on else None if text is None else iter([text]),
            top=top,
            special=not no_special,
            field=field,
            column=column,
            document_separator=document_separator,
            errors=chosen,
            workers=workers,
            progress=report,
        )
    shown = json.dumps(inspection.to_dict(), ensure_ascii=True) if as_json else str(inspection)
    streams.write("-", [shown.encode(), b"\n"])
