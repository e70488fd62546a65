"""`toksmith compare`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._internal import choices, numbers
from .._internal.numbers import counted
from .._internal.tables import aligned
from ..files import inputs, outputs
from ..formats import sources
from ..lab.viewing import terminal
from ..lab.viewing.spans import Spans, visible
from . import streams
from .options import (
    DOCUMENTS,
    FILES,
    STRICT,
    Choice,
    ColumnOption,
    ErrorsOption,
    FieldOption,
    GivenPatternOption,
    GivenSpecialsOption,
    GivenUnmatchedOption,
    JsonOption,
    ProgressOption,
    SeparatorOption,
    SpecialsFileOption,
    TextOption,
    UsageError,
    WorkersOption,
    choice_of,
    load_all,
    special_tokens_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..lab.measuring.comparison import Comparison
    from ..lab.measuring.results import Difference
    from ..lab.measuring.tables import Section
    from ..tokenizer import Tokenizer

    PlotFormat = Choice
else:
    PlotFormat = choice_of("PlotFormat", choices.PLOT_FORMATS)

_SVG = PlotFormat("svg")

EXAMPLES = f"""\
Examples:

  toksmith compare gpt-4o gpt2 tokenizer.json --on books/
  toksmith compare mine=tokenizer.json gpt2 --on book.txt --html report.html
  toksmith compare gpt2 gpt-4o --text 'the lowest price'
  toksmith compare gpt2 tokenizer.json --on web.jsonl --language-field lang
  toksmith compare gpt2 gpt-4o --json \\
      --language en=en.txt --language de=de.txt
  toksmith compare gpt2 gpt-4o --parallel en=en.txt --parallel de=de.txt
  cat book.txt | toksmith compare gpt2 tokenizer.json --on - --markdown

{DOCUMENTS} All other tokenizers are
compared with the first. Special tokens in the text are read as ordinary text.
docs/comparing.md says what each figure is."""


def compare(
    tokenizers: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]TOKENIZER",
            help="Published encodings, models or paths, as for encode -t. NAME is what a tokenizer is called in the "
            "results; default: what is given for it.",
        ),
    ],
    on: Annotated[
        list[str] | None,
        typer.Option("--on", metavar="FILES...", help=f"{FILES}."),
    ] = None,
    text: TextOption = None,
    language: Annotated[
        list[str] | None,
        typer.Option(
            "--language",
            metavar="NAME=FILES",
            help="Files of one language, in place of --on. Repeat it for each one.",
        ),
    ] = None,
    language_field: Annotated[
        str | None,
        typer.Option("--language-field", metavar="NAME", help="The field or column with the language of a record."),
    ] = None,
    parallel: Annotated[
        list[str] | None,
        typer.Option(
            "--parallel",
            metavar="NAME=FILE",
            help="The same sentences in each language, one a line. Repeat it for each language.",
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference",
            metavar="NAME",
            help="The parallel language that the others are compared with. Default: the first.",
        ),
    ] = None,
    as_json: JsonOption = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Write Markdown.")] = False,
    html: Annotated[
        str | None, typer.Option("--html", metavar="OUT", help="Write a report to this file too: one HTML page.")
    ] = None,
    plots: Annotated[
        str | None,
        typer.Option("--plots", metavar="OUT", help="Write the plots to this folder too. Needs matplotlib."),
    ] = None,
    plot_format: Annotated[PlotFormat, typer.Option("--plot-format", help="What kind of file a plot is.")] = _SVG,
    field: FieldOption = None,
    column: ColumnOption = None,
    document_separator: SeparatorOption = None,
    size: Annotated[
        list[int] | None,
        typer.Option(
            "--size",
            metavar="N",
            help="A size of smaller vocabularies. Repeat the option for each one. Default: powers of two.",
        ),
    ] = None,
    alpha: Annotated[float, typer.Option("--alpha", metavar="X", help="The order of the Rényi entropy.")] = 2.5,
    examples: Annotated[
        int, typer.Option("--examples", metavar="N", help="How many documents to show on which two differ most.")
    ] = 3,
    resamples: Annotated[
        int, typer.Option("--resamples", metavar="N", help="Resamples of the bootstrap; 0 for no intervals.")
    ] = 1000,
    level: Annotated[
        float, typer.Option("--level", metavar="X", help="The share of the resamples that an interval holds.")
    ] = 0.95,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="The seed of the bootstrap.")] = 0,
    errors: ErrorsOption = STRICT,
    workers: WorkersOption = None,
    pattern: GivenPatternOption = None,
    special_tokens: GivenSpecialsOption = None,
    special_file: SpecialsFileOption = None,
    unmatched: GivenUnmatchedOption = None,
    progress: ProgressOption = None,
) -> None:
    """Compare tokenizers on texts: compression, vocabularies, languages."""
    if as_json and as_markdown:
        raise UsageError("--json and --markdown are two things to write: give one of them")
    if on and language:
        raise UsageError("--on and --language both name files: give each file to one of them")
    if text is not None and language:
        raise UsageError("--language and --text are mutually exclusive")
    if text is None and not (on or language or parallel):
        raise UsageError("name what to compare on, with --on, --text, --language or --parallel")
    streams.check_inputs(on or [], text, argument="--on")
    if "-" in (on or []):
        streams.tell_of_terminal()
    from ..lab.measuring.compare import compare as comparing
    from ..lab.measuring.plots import MISSING, TITLES, available

    if html is not None:
        streams.check(html, _inputs(tokenizers, on, language, parallel))
    if plots is not None:
        for name in TITLES:
            plot = Path(plots, f"{name}.{plot_format.value}")
            outputs.check_not_read(plot, _inputs(tokenizers, on, language, parallel))
    if plots is not None and not available():
        raise ImportError(MISSING)
    named = _named_tokenizers(tokenizers)
    all_of_them = load_all(list(named.values()), pattern, special_tokens_of(special_tokens, special_file), unmatched)
    loaded = {name: tokenizer for name, (_, tokenizer) in zip(named, all_of_them, strict=True)}
    options: dict[str, Any] = {"errors": errors.value}
    with streams.reporting(progress, "-") as how:
        found = comparing(
            loaded,
            _languages(language) if language else on if text is None else iter([text]),
            parallel=_parallel(parallel),
            reference=reference,
            field=field,
            column=column,
            language_field=language_field,
            document_separator=document_separator,
            alpha=alpha,
            sizes=size,
            examples=examples,
            resamples=resamples,
            level=level,
            seed=seed,
            workers=workers,
            progress=how,
            **options,
        )
    if html is not None:
        written = streams.write(html, [found.to_html().encode()])
        streams.say_written(html, numbers.size(written), progress)
    if plots is not None:
        drawn = found.save_plots(plots, plot_format.value)
        streams.say_written(plots, counted(len(drawn), "plot"), progress)
    if as_json:
        streams.write("-", [found.to_json().encode(), b"\n"])
    elif as_markdown:
        streams.write("-", [found.to_markdown().encode()])
    elif html != "-":
        streams.write("-", (part.encode() for part in _as_text(found, loaded)))


def _named_tokenizers(given: list[str]) -> dict[str, str]:
    """Return what each tokenizer is loaded from, by its name: the one in NAME=TOKENIZER, else what was given."""
    found: dict[str, str] = {}
    for argument in given:
        name, equals, source = argument.partition("=")
        if not equals or not name or os.path.exists(argument):  # noqa: PTH110
            name, source = argument, argument
        if name in found:
            raise UsageError(f"two tokenizers are called {name}: give one another name, as NAME=TOKENIZER")
        found[name] = source
    return found


def _inputs(
    tokenizers: list[str], on: list[str] | None, language: list[str] | None, parallel: list[str] | None
) -> Iterator[str | Path]:
    """Yield the files that are read."""
    for one in tokenizers:
        for source in filter(None, (one, one.partition("=")[2])):
            yield from sources.files_of(source)
    named = (one.partition("=")[2] for one in (*(language or ()), *(parallel or ())))
    for file in filter(None, (*(on or ()), *named)):
        if file != "-":
            yield from inputs.expand(file)


def _languages(given: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for argument in given:
        name, file = _named("--language", argument)
        found.setdefault(name, []).append(file)
    return found


def _parallel(given: list[str] | None) -> dict[str, str] | None:
    if not given:
        return None
    found = dict(_named("--parallel", argument) for argument in given)
    if len(found) < len(given):
        raise UsageError("--parallel names a language twice: each has one file")
    return found


def _named(option: str, argument: str) -> tuple[str, str]:
    name, equals, file = argument.partition("=")
    if not (name and equals and file):
        raise UsageError(f"{option} is NAME=FILE, such as de=german.txt, not {visible(argument)}")
    return name, file


def _as_text(found: Comparison, loaded: dict[str, Tokenizer]) -> Iterator[str]:
    from ..lab.measuring import tables

    group = found.all
    yield f"{tables.about(group)}, {counted(group.words, 'word')}\n"
    for section in tables.of(found):
        note = f"  {visible(section.note)}\n" if section.note else ""
        yield f"\n{section.title}\n{note}{_table(section)}"
    for one in found.differences:
        yield from _difference(one, loaded)


def _table(section: Section) -> str:
    """Return a table. A row without cells is a heading: it is in no column, and the rows below it are indented."""
    has_headings = any(not row.cells for row in section.rows)
    indent = "    " if has_headings else "  "
    rows = [("", *map(visible, section.header))]
    rows += [(f"{indent}{visible(row.label)}", *row.cells) for row in section.rows if row.cells]
    lines = iter(aligned(rows).splitlines())
    found = [next(lines)]
    for row in section.rows:
        found.append(next(lines) if row.cells else f"  {visible(row.label)}")
    return "\n".join(found) + "\n"


def _difference(one: Difference, loaded: dict[str, Tokenizer]) -> Iterator[str]:
    from ..lab.measuring import tables

    colours = terminal.has_colours()
    yield f"\n{tables.change(one.second_count / one.first_count)}  {visible(tables.what(one))}\n"
    for name, tokens in ((one.first, one.passage.first_tokens), (one.second, one.passage.second_tokens)):
        if tokens is not None:
            yield f"  {visible(name)}, {counted(len(tokens), 'token')}:\n"
            yield from terminal.drawn(Spans(loaded[name]), [[token.id for token in tokens]], colours=colours)
