"""`toksmith train`."""

from pathlib import Path
from typing import Any

import click

from .._internal import choices
from ..corpus import Corpus
from ..files import whole_files
from ..formats import sources
from ..training.options import IdOrder
from ..training.plan import Plan, Request
from . import options, streams
from .command_line import Progress, UsageError, command, option

EXAMPLES = """\
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


@command(EXAMPLES)
@click.argument("files", nargs=-1, required=True, help=f"{options.FILES}.")
@option("--vocab-size N", "The number of tokens: 256 bytes, special tokens and merges.", required=True)
@option("-o, --output OUT", "The tokenizer to write; - is standard output.", name="out", required=True)
@option(
    "--special-token NAME", "A special token. Repeat the option for each one.", name="special_tokens", multiple=True
)
@option("--special-tokens FILE", "A JSON file with a list of them, in place of --special-token.", name="special_file")
@option(
    "--pattern PATTERN",
    f"The pattern that cuts text into pretokens: {options.PATTERN[0].lower()}{options.PATTERN[1:]}. Default: gpt2.",
)
@option("--unmatched", "Keep or drop text that the pattern does not match. Default: keep.", choices.Unmatched)
@option("--ties", "The rule for pairs that occur equally often. Default: bytes, as in CS336.", choices.Ties)
@option("--special-ids", "Where the ids of special tokens are. Default: first.", choices.SpecialIds)
@option("--byte-order", "The order of the ids of single bytes. Default: value.", choices.ByteOrder)
@option("--min-frequency N", "Do not merge pairs that occur less often than N times. Default: 1.")
@option("--max-token-length N", "Make no token of more than N bytes.")
@option(
    "--forced-token TEXT",
    "A token that the result has whatever the counts are. Repeat the option for each one.",
    name="forced_tokens",
    multiple=True,
)
@option("--checkpoint FILE", "Write the merges to this file every 30 seconds, and resume from it if there.")
@option("--log FILE", "Write one row for each merge to this .csv or .jsonl file.")
@option("--workers N", "The number of threads that count. Default: all cores.")
@option(
    "--memory-limit SIZE",
    "The memory that training may take, such as 2GB; different pretokens may take three quarters of it. Default: "
    "half of the memory of the machine for counting, no limit for learning merges.",
)
@option("--min-pretoken-count N", "Leave out pretokens that occur less often than N times. Default: 1.")
@option(
    "--superwords",
    "Make the last tokens of several words, across single spaces, or across punctuation too.",
    choices.SuperwordRule,
)
@option(
    "--base TOKENIZER",
    "A tokenizer to extend to N tokens: a name, a file or a folder, as for encode -t. A rank file needs "
    "--pattern; with special tokens, toksmith convert it before.",
)
@options.download
@options.reading
@options.progress
def train(
    files: list[str],
    vocab_size: int,
    out: str,
    reading: dict[str, Any],
    special_tokens: list[str] | None = None,
    special_file: str | None = None,
    pattern: str | None = None,
    base: str | None = None,
    download: bool | None = None,
    progress: Progress | None = None,
    **learning: Any,
) -> None:
    """Train a tokenizer on files, and save it."""
    streams.check_inputs(files, None, None, argument="FILES")
    corpus, checkpoint = Corpus(files, **reading), learning.get("checkpoint")
    read = [*corpus.paths, *(() if base is None else sources.files_of(base)), *filter(None, [checkpoint])]
    for path in filter(None, (out, learning.get("log"))):
        streams.check(path, read)
    whole_files.check_different(filter(None, (out, learning.get("log"), checkpoint)))
    if out.endswith(".tiktoken"):
        raise UsageError(
            f"{out}: this command writes toksmith's own files, and -t would read one of this name as a rank file; "
            "toksmith convert --to tiktoken writes those"
        )
    if base is not None:
        parts = options.Parts(download=download)
        if Path(base).exists() and sources.takes_options(base):  # another base has a pattern, which training compares
            parts = options.Parts(pattern, unmatched=learning.get("unmatched"), download=download)
        learning["base"] = options.load(base, parts)
    state, hint = (None, " (--checkpoint FILE keeps merges)") if checkpoint is None else (Path(checkpoint), "")
    order = {name: learning.pop(name) for name in ("special_ids", "byte_order") if name in learning}
    with streams.resumable(state, out, f"nothing was written{hint}"):
        request = Request(
            sources=corpus,
            vocab_size=vocab_size,
            special_tokens=_special_names(special_tokens, special_file),
            pattern=... if pattern is None else options.pattern_of(pattern),
            ids=IdOrder(order.get("special_ids", "first"), order.get("byte_order", "value")) if order else None,
            progress=streams.progress_of(progress, out),
            **learning,
        )
        tokenizer = Plan(request).run()
    if out == "-":
        streams.write(out, tokenizer._core.written("toksmith"))
    else:
        tokenizer.save(out)
    size = f"{tokenizer.vocab_size:,} tokens, {len(tokenizer.merges):,} of them merged"
    streams.say_written(out, size, progress)


def _special_names(names: list[str] | None, file: str | None) -> list[str]:
    if file is None:
        return names or []
    content = options.special_tokens_of(names, file)
    if isinstance(content, dict):
        raise UsageError(f"{file} holds ids, and training gives ids itself (see --special-ids): give a list of names")
    return content or []
