"""`toksmith train`."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from .._internal import choices
from ..corpus import Corpus
from ..files.new_file import NewFile
from ..formats import sources
from ..tokenizer import Tokenizer
from ..training import train as training
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


LEARNING = options.Group(
    training.train,
    unmatched=(choices.Unmatched | None, "Keep or drop text that the pattern does not match. Default: keep."),
    ties=(choices.Ties | None, "The rule for pairs that occur equally often. Default: bytes, as in CS336."),
    special_ids=(choices.SpecialIds | None, "Where the ids of special tokens are. Default: first."),
    byte_order=(choices.ByteOrder | None, "The order of the ids of single bytes. Default: value."),
    min_frequency=(int, "Do not merge pairs that occur less often than N times.", "N"),
    max_token_length=(int | None, "Make no token of more than N bytes.", "N"),
    forced_tokens=(
        list[str] | None,
        "A token that the result has whatever the counts are. Repeat the option for each one.",
        "TEXT",
        "--forced-token",
    ),
    checkpoint=(str | None, "Write the merges to this file every 30 seconds, and resume from it if there.", "FILE"),
    log=(str | None, "Write one row for each merge to this .csv or .jsonl file.", "FILE"),
    workers=(int | None, "The number of threads that count. Default: all cores.", "N"),
    memory_limit=(
        str | None,
        "The memory that training may take, such as 2GB; different pretokens may take three quarters of it. Default: "
        "half of the memory of the machine for counting, no limit for learning merges.",
        "SIZE",
    ),
    min_pretoken_count=(int | None, "Leave out pretokens that occur less often than N times.", "N"),
)


def train(
    files: Annotated[list[str], typer.Argument(metavar="FILES", help=f"{options.FILES}.")],
    vocab_size: Annotated[
        int, typer.Option(metavar="N", help="The number of tokens: 256 bytes, special tokens and merges.")
    ],
    out: Annotated[
        str, typer.Option("-o", "--output", metavar="OUT", help="The tokenizer to write; - is standard output.")
    ],
    *,
    names: Annotated[
        list[str] | None,
        typer.Option("--special-token", metavar="NAME", help="A special token. Repeat the option for each one."),
    ] = None,
    names_file: Annotated[
        str | None,
        typer.Option(
            "--special-tokens", metavar="FILE", help="A JSON file with a list of them, in place of --special-token."
        ),
    ] = None,
    pattern: Annotated[
        str | None,
        typer.Option(
            metavar="PATTERN",
            help="The pattern that cuts text into pretokens: "
            f"{options.PATTERN[0].lower()}{options.PATTERN[1:]}. Default: gpt2.",
        ),
    ] = None,
    learning: Annotated[dict[str, Any], LEARNING],
    superwords: Annotated[
        choices.SuperwordRule | None,
        typer.Option(help="Make the last tokens of several words, across single spaces, or across punctuation too."),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            metavar="TOKENIZER",
            help="A tokenizer to extend to N tokens: a name, a file or a folder, as for encode -t. A rank file needs "
            "--pattern; with special tokens, toksmith convert it before.",
        ),
    ] = None,
    download: options.DownloadOption = None,
    reading: options.Reading,
    progress: options.ProgressOption = None,
) -> None:
    """Train a tokenizer on files, and save it."""
    streams.check_inputs(files, None, None, argument="FILES")
    corpus, checkpoint = Corpus(files, **reading), learning.get("checkpoint")
    read = [*corpus.paths, *(() if base is None else sources.files_of(base)), *filter(None, [checkpoint])]
    for path in filter(None, (out, learning.get("log"))):
        streams.check(path, read)
    if out.endswith(".tiktoken"):
        raise UsageError(
            f"{out}: this command writes toksmith's own files, and -t would read one of this name as a rank file; "
            "toksmith convert --to tiktoken writes those"
        )
    if base is not None:
        learning["base"] = _base(base, options.Parts(pattern, unmatched=learning.get("unmatched"), download=download))
    if superwords is not None:
        learning["superwords"] = superwords
    special_tokens = _special_names(names, names_file)
    state, hint = (None, " (--checkpoint FILE keeps merges)") if checkpoint is None else (Path(checkpoint), "")
    with streams.resumable(state, out, f"nothing was written{hint}"):
        tokenizer = training.train(
            corpus,
            vocab_size,
            special_tokens=special_tokens,
            pattern=... if pattern is None else options.pattern_of(pattern),
            progress=streams.progress_of(progress, out),
            **learning,
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


def _base(source: str, parts: options.Parts) -> Tokenizer:
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
