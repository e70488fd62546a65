"""`toksmith train`."""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from .._internal import choices
from ..corpus import Corpus
from ..files.new_file import NewFile
from ..formats import sources
from ..tokenizer import Tokenizer
from ..training import train as training
from ..training.superwords import Superwords
from . import options, streams
from .options import UsageError

EXAMPLES = """\
Examples:

  toksmith train corpus.txt --vocab-size 10000 -o tokenizer.json \\
      --special-token '<|endoftext|>'
  toksmith train books/ 'more/**/*.md' --vocab-size 32000 --pattern o200k \\
      -o tokenizer.json
  toksmith train new.txt --base tokenizer.json --vocab-size 12000 \\
      -o larger.json
  toksmith train 'web/*.jsonl.zst' --field text --memory-limit 4GB \\
      --vocab-size 50000 -o tokenizer.json

Each file is a document, and special tokens separate documents in a file. The
result depends on the text and the options alone, not on the number of threads
or on the machine."""


def train(
    files: Annotated[list[str], typer.Argument(metavar="FILES", help=f"{options.FILES}.")],
    vocab_size: Annotated[
        int, typer.Option(metavar="N", help="The number of tokens: 256 bytes, special tokens and merges.")
    ],
    out: Annotated[
        str, typer.Option("-o", "--output", metavar="OUT", help="The tokenizer to write; - is standard output.")
    ],
    special_tokens: options.SpecialsOption = None,
    special_file: options.TrainingSpecialsFileOption = None,
    pattern: options.TrainingPatternOption = None,
    unmatched: options.TrainingUnmatchedOption = None,
    ties: Annotated[
        choices.Ties | None,
        typer.Option(help="The rule for pairs that occur equally often. Default: bytes, as in CS336."),
    ] = None,
    special_ids: Annotated[
        choices.SpecialIds | None, typer.Option(help="Where the ids of special tokens are. Default: first.")
    ] = None,
    byte_order: Annotated[
        choices.ByteOrder | None, typer.Option(help="The order of the ids of single bytes. Default: value.")
    ] = None,
    min_frequency: Annotated[
        int, typer.Option(metavar="N", help="Do not merge pairs that occur less often than N times.")
    ] = 1,
    max_token_length: Annotated[
        int | None, typer.Option(metavar="N", help="Make no token of more than N bytes.")
    ] = None,
    forced_tokens: Annotated[
        list[str] | None,
        typer.Option(
            "--forced-token",
            metavar="TEXT",
            help="A token that the result has whatever the counts are. Repeat the option for each one.",
        ),
    ] = None,
    superwords: Annotated[
        choices.SuperwordRule | None,
        typer.Option(help="Make the last tokens of several words, across single spaces, or across punctuation too."),
    ] = None,
    transition: Annotated[
        float,
        typer.Option(metavar="PART", help="The part of the tokens that --superwords learns first, within words."),
    ] = Superwords.transition,
    max_words: Annotated[
        int, typer.Option(metavar="N", help="Make no token of more than N words with --superwords.")
    ] = Superwords.max_words,
    base: Annotated[
        str | None,
        typer.Option(
            metavar="TOKENIZER",
            help="A tokenizer to extend to N tokens: a name, a file or a folder, as for encode -t. A rank file needs "
            "--pattern.",
        ),
    ] = None,
    base_specials: Annotated[
        list[str] | None,
        typer.Option(
            "--base-special-token",
            metavar="NAME[=ID]",
            help="A special token of a base that is a rank file, or vocab.json and merges.txt. Repeat the option "
            "for each one.",
        ),
    ] = None,
    base_special_file: Annotated[
        str | None,
        typer.Option(
            "--base-special-tokens",
            metavar="FILE",
            help="A JSON file of them, in place of --base-special-token: an object of names and ids, or a list.",
        ),
    ] = None,
    download: options.DownloadOption = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Write the merges to this file every 30 seconds, and resume from it if it exists."
        ),
    ] = None,
    log: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write one row for each merge to this .csv or .jsonl file.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(metavar="N", help="The number of threads that count. Default: all cores.")
    ] = None,
    memory_limit: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="The memory that training may take, such as 2GB; different pretokens may take three quarters of it. "
            "Default: half of the memory of the machine for counting, no limit for learning merges.",
        ),
    ] = None,
    min_pretoken_count: Annotated[
        int, typer.Option(metavar="N", help="Leave out pretokens that occur less often than N times.")
    ] = 1,
    reading: options.Reading = options.DEFAULT_READING,
    errors: options.ErrorsOption = "strict",
    progress: options.ProgressOption = None,
) -> None:
    """Train a tokenizer on files, and save it."""
    streams.check_inputs(files, None, None, argument="FILES")
    corpus = Corpus(files, **reading.corpus, errors=errors)
    read = [*corpus.paths, *(() if base is None else sources.files_of(base)), *filter(None, [checkpoint])]
    for path in filter(None, (out, log)):
        streams.check(path, read)
    if out.endswith(".tiktoken"):
        raise UsageError(
            f"{out}: this command writes toksmith's own files, and -t would read one of this name as a rank file; "
            "toksmith convert --to tiktoken writes those"
        )
    if base is None and (base_specials or base_special_file is not None):
        raise UsageError("--base-special-token and --base-special-tokens are for a --base")
    parts = _BaseParts(pattern, base_specials, base_special_file, unmatched, download)
    loaded = None if base is None else _base(base, parts)
    names = _special_names(special_tokens, special_file)
    if "-" in corpus.paths:
        streams.tell_of_terminal()
    with contextlib.ExitStack() as stack:
        state, hint = (None, " (--checkpoint FILE keeps merges)") if checkpoint is None else (Path(checkpoint), "")
        stack.enter_context(streams.resumable(state, out, f"nothing was written{hint}"))
        report = stack.enter_context(streams.reporting(progress, out))
        tokenizer = training.train(
            corpus,
            vocab_size,
            special_tokens=names,
            pattern=... if pattern is None else options.pattern_of(pattern),
            unmatched=unmatched,
            ties=ties,
            special_ids=special_ids,
            byte_order=byte_order,
            min_frequency=min_frequency,
            max_token_length=max_token_length,
            forced_tokens=forced_tokens or (),
            base=loaded,
            superwords=None if superwords is None else Superwords(transition, superwords, max_words),
            workers=workers,
            memory_limit=memory_limit,
            min_pretoken_count=min_pretoken_count,
            progress=report,
            checkpoint=checkpoint,
            log=log,
        )
    _save(tokenizer, out)
    size = f"{tokenizer.vocab_size:,} tokens, {len(tokenizer.merges):,} of them merged"
    streams.say_written(out, size, progress)


def _special_names(names: list[str] | None, file: str | None) -> list[str]:
    if file is None:
        return names or []
    content = options.special_tokens_of(names, file)
    if isinstance(content, dict):
        raise UsageError(f"{file} holds ids, and training gives ids itself (see --special-ids): give a list of names")
    return content or []


class _BaseParts(options.TokenizerParts):
    OPTION = "--base-special-token"


def _base(source: str, parts: _BaseParts) -> Tokenizer:
    """Return the tokenizer to extend. Where it holds its own pattern, training compares the option with it."""
    if not Path(source).exists() or not sources.takes_options(source):
        parts = dataclasses.replace(parts, pattern=None, unmatched=None)
    return options.load(source, parts)


def _save(tokenizer: Tokenizer, out: str) -> None:
    if out == "-":
        with NewFile(Path(tempfile.gettempdir()), "tokenizer") as spool:
            tokenizer.save(spool.path)
            streams.write(out, streams.windows(str(spool.path)))
    else:
        tokenizer.save(out)
