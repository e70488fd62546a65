"""`toksmith compare`."""

import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

import toksmith

from .._internal.messages import counted, printable
from .._internal.messages import size as bytes_as_text
from ..corpus import Corpus
from ..files import inputs, whole_files
from ..formats import sources
from ..lab.comparison import plots as drawing
from ..lab.comparison.comparison import Comparison
from . import options, streams
from .command_line import Progress, UsageError, command, option

EXAMPLES = f"""\
  toksmith compare gpt-4o gpt2 tokenizer.json --on books/
  toksmith compare mine=tokenizer.json gpt2 --on book.txt -o report.html
  toksmith compare gpt2 gpt-4o --text 'the lowest price'
  toksmith compare gpt2 tokenizer.json --on web.jsonl --language-field lang
  toksmith compare gpt2 gpt-4o --json \\
      --language en=en.txt --language de=de.txt
  toksmith compare gpt2 gpt-4o --parallel en=en.txt --parallel de=de.txt
  cat book.txt | toksmith compare gpt2 tokenizer.json --on - -o table.txt

{options.DOCUMENTS} All other tokenizers are
compared with the first. Special tokens in the text are read as ordinary text.
docs/comparing.md says what each figure is."""


@command(EXAMPLES)
@click.argument(
    "tokenizers",
    nargs=-1,
    required=True,
    metavar="[NAME=]TOKENIZER...",
    help="Published encodings, models or paths, as for encode -t. NAME is what a tokenizer is called in the results; "
    "default: what is given for it.",
)
@option("--on FILES...", f"{options.FILES}.", multiple=True)
@options.text
@option("--language NAME=FILES", "Files of one language, in place of --on. Repeat it for each one.", multiple=True)
@option(
    "--parallel NAME=FILE",
    "The same sentences in each language, one a line. Repeat it for each language.",
    multiple=True,
)
@options.as_json
@option(
    "-o, --output OUT",
    "Write the result to this file too, as its suffix says: .html is a report with plots, .json all figures, "
    ".txt the tables. Repeat it for each file.",
    multiple=True,
)
@option("--plots OUT", "Write the plots as SVG to this folder too. Needs matplotlib.")
@option("--language-field NAME", "The field or column with the language of a record.")
@option("--reference NAME", "The parallel language that the others are compared with. Default: the first.")
@option("--resamples N", "Resamples of the bootstrap; 0 for no intervals. Default: 1000.")
@options.workers
@options.reading
@options.parts
@options.progress
def compare(
    tokenizers: list[str],
    parts: options.Parts,
    reading: dict[str, Any],
    as_json: bool,
    on: Sequence[str] = (),
    text: str | None = None,
    language: Sequence[str] = (),
    parallel: Sequence[str] = (),
    output: Sequence[str] = (),
    plots: str | None = None,
    progress: Progress | None = None,
    **measuring: Any,
) -> None:
    """Compare tokenizers on texts: compression, and parity of languages."""
    values = {"--on": on or None, "--language": language or None, "--text": text}
    asked = [name for name, value in values.items() if value is not None]
    if len(asked) > 1:
        raise UsageError(f"{asked[0]} and {asked[1]} are mutually exclusive")
    if not asked and not parallel:
        raise UsageError("name what to compare on, with --on, --text, --language or --parallel")
    streams.check_inputs(on, text, argument="--on")
    named, languages = _named(tokenizers), _files_of(language, "--language")
    translations = _files_of(parallel, "--parallel")
    if len(translations) < len(parallel):
        raise UsageError("--parallel names a language twice: each has one file")
    of_languages = [*itertools.chain(*languages.values(), *translations.values())]
    streams.check_inputs(of_languages, None, None, argument="NAME=FILE")
    files = [*on, *of_languages]
    pictures = [] if plots is None else [str(Path(plots, f"{name}.svg")) for name in drawing.TITLES]
    if output or pictures:
        read: list[str | Path] = [path for tokenizer in named.values() for path in sources.files_of(tokenizer)]
        read += [path for file in files if file != "-" for path in inputs.expand(file)]
        _check_outputs(output, pictures, read)
    loaded = options.load_all(list(named.values()), parts)
    errors = reading.get("errors", "strict")
    corpora: Corpus | dict[str, Corpus] | None = None
    if languages:
        corpora = {name: Corpus(files, **reading) for name, files in languages.items()}
    elif on or text is not None:
        corpora = Corpus(on if text is None else iter([text]), **reading)
    comparison = toksmith.lab.compare(
        {name: tokenizer for name, (_, tokenizer) in zip(named, loaded, strict=True)},
        corpora,
        parallel={name: Corpus(files, errors=errors) for name, files in translations.items()} or None,
        progress=streams.progress_of(progress, "-"),
        **measuring,
    )
    for out in output:
        written = streams.write(out, [_FORMS[Path(out).suffix](comparison).encode()])
        streams.say_written(out, bytes_as_text(written), progress)
    if plots is not None:
        drawn = comparison.save_plots(plots)
        streams.say_written(plots, counted(len(drawn), "plot"), progress)
    shown = f"{comparison.to_json()}\n" if as_json else comparison.to_text()
    streams.write("-", [shown.encode()])


_FORMS = {".html": Comparison.to_html, ".json": Comparison.to_json, ".txt": Comparison.to_text}


def _check_outputs(files: Sequence[str], pictures: list[str], read: list[str | Path]) -> None:
    """Check the files to write before any work is done for them."""
    for out in files:
        if Path(out).suffix not in _FORMS:
            raise UsageError(f"--output ends in .html, .json or .txt: {printable(out)} does not")
        streams.check(out, read)
    for picture in pictures:
        whole_files.check_not_read(picture, read)
    if pictures and not drawing.available():
        raise ImportError(drawing.MISSING)


def _named(arguments: list[str]) -> dict[str, str]:
    """Return what each tokenizer is loaded from, by its name: the name in NAME=TOKENIZER, else the whole argument."""
    named: dict[str, str] = {}
    for argument in arguments:
        name, equals, source = argument.partition("=")
        if not equals or not name or os.path.exists(argument):  # noqa: PTH110
            name, source = argument, argument
        if name in named:
            raise UsageError(f"two tokenizers are called {name}: give one another name, as NAME=TOKENIZER")
        named[name] = source
    return named


def _files_of(arguments: Sequence[str], option: str) -> dict[str, list[str]]:
    files: dict[str, list[str]] = {}
    for argument in arguments:
        name, _, file = argument.partition("=")
        if not (name and file):
            raise UsageError(f"{option} is NAME=FILE, such as de=german.txt, not {printable(argument)}")
        files.setdefault(name, []).append(file)
    return files
