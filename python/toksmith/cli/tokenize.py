"""`toksmith tokenize`."""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import click

from .._internal import choices
from .._internal.messages import counted, printable
from ..corpus import Corpus
from ..data import manifest as manifests
from ..data.folder import UNFINISHED
from ..data.repair import REPAIR
from ..data.tokenize import tokenize as tokenizing
from ..files import text_files
from . import options, streams
from .command_line import Progress, command, option

EXAMPLES = """\
  toksmith tokenize corpus.txt -t gpt2 -o data --append '<|endoftext|>'
  toksmith tokenize 'web/*.jsonl.zst' --field text -t tokenizer.json -o data \\
      --append '<|endoftext|>' --split val=0.01
  toksmith tokenize stories.txt --document-separator '<|endoftext|>' \\
      -t tokenizer.json -o data --append '<|endoftext|>' --shuffle 1
  toksmith tokenize tables/ --column text -t gpt2 -o data \\
      --append '<|endoftext|>' --format megatron
  toksmith tokenize 'web/*.jsonl.zst' -t gpt2 -o data \\
      --append '<|endoftext|>' --format nanogpt --split val=0.0005
  toksmith tokenize chats.jsonl -t ./model -o data --messages
  zcat dump.jsonl.gz | toksmith tokenize - --field text -t gpt2 -o data \\
      --append '<|endoftext|>'

OUT is a folder of shards, an index of the documents in each, and a manifest.
It depends on the sources and the options alone, not on the number of threads.
If the command is interrupted, run it again: it continues where it was. If OUT
is finished, missing and damaged files are written again."""


@command(EXAMPLES)
@click.argument(
    "sources",
    nargs=-1,
    required=True,
    help="Files, globs and folders: text, JSON, CSV, Parquet, Arrow, tar and WARC, also compressed. URLs need "
    "fsspec. - is standard input.",
)
@options.tokenizer
@option("-o, --output OUT", "The folder to write.", name="out", required=True)
@option(
    "--format",
    "bin: bare ids; nanogpt: the same, in one file for each split, train.bin and val.bin with --split "
    "val=0.0005; llm.c: ids behind a header; megatron: .bin and .idx; npy: NumPy files; parquet: a list of ids in "
    "each row. Default: bin.",
    choices.ShardFormat,
)
@option("--dtype", "The type of the ids. Default: uint16 if no id needs more.", Literal["uint16", "uint32"])
@option("--shard-size N", "Close a shard when it has N ids. Default: 100000000.")
@option(
    "--split NAME=SHARE",
    "A split with this share of the documents, such as val=0.01. Repeat the option for each one.",
    multiple=True,
)
@option("--seed N", "The seed of the hash that divides documents among splits. Default: 0.")
@option("--append TOKEN", "A special token that ends each document, or none. Repeat it for more.", multiple=True)
@option("--prepend TOKEN", "A special token that begins each document. Repeat it for more.", multiple=True)
@option(
    "--template/--no-template",
    "Put the tokens of the tokenizer's own template (BOS, EOS) around each document.",
    default=None,
)
@option("--shuffle SEED", "Shuffle the documents within a buffer.")
@option("--shuffle-buffer N", "The number of ids in the buffer. Default: 20000000.")
@option("--pack N", "Put documents within the buffer into rows of exactly N ids.")
@option("--long", "What becomes of a document longer than a row. Default: split.", choices.LongDocument)
@option("--pad TOKEN", "The special token that fills rows. Default: the last --append, or the end of a text.")
@option(
    "--messages",
    "The documents are conversations: records with messages, or with a prompt and a completion. Each id has a mask.",
)
@option("--train-on", "What the mask says a model is trained on. Default: assistant.", choices.TrainOn)
@option(
    "--untrained",
    "What it is not trained on although the assistant says it. Repeat the option for both.",
    choices.Untrained,
    multiple=True,
)
@option("--end-of-turn/--no-end-of-turn", "Train on the token that ends a turn. Default: yes.", default=True)
@option("--chat-template FILE", "A template in place of the tokenizer's own.")
@option("--chat NAME=VALUE", "A variable of the template: JSON, or text. Repeat the option for more.", multiple=True)
@option(
    "--on-error", "Stop at a document that cannot be read, or skip it and list it. Default: stop.", choices.OnError
)
@option("--verify", "If OUT is finished, compare its files with their checksums, not only with their sizes.")
@options.special
@options.reading
@options.workers
@options.parts
@options.progress
def tokenize(
    sources: list[str],
    tokenizer: str,
    out: str,
    parts: options.Parts,
    reading: dict[str, Any],
    chat: Sequence[str] = (),
    chat_template: str | None = None,
    progress: Progress | None = None,
    **sharding: Any,
) -> None:
    """Turn documents into a folder of ids for training."""
    streams.check_inputs(sources, None, None, argument="SOURCES")
    start = time.monotonic()
    was_finished = (Path(out) / manifests.NAME).exists()
    with streams.resumable(Path(out) / (REPAIR if was_finished else UNFINISHED), out):
        manifest = tokenizing(
            Corpus(sources, **reading),
            options.load(tokenizer, parts),
            out,
            chat=_chat(chat, chat_template),
            progress=streams.progress_of(progress, out),
            **sharding,
        )
    if progress in (None, "bar"):
        name = f"{out} is complete" if was_finished else out
        print(printable(summary(manifest, name, time.monotonic() - start)), file=sys.stderr)


def _chat(variables: Sequence[str], template: str | None) -> dict[str, Any] | None:
    chat: dict[str, Any] = {} if template is None else {"chat_template": text_files.read_text(template)}
    for variable in variables:
        name, equals, value = variable.partition("=")
        if not equals:
            raise click.UsageError(f"--chat is a name and a value, such as enable_thinking=false, not {variable}")
        try:
            chat[name] = json.loads(value)
        except ValueError:
            chat[name] = value
    return chat or None


def summary(manifest: manifests.JsonObject, name: str, seconds: float) -> str:
    """Return what a command says at its end.

    >>> totals = {"documents": 1200, "text_bytes": 4_500_000, "tokens": 1_000_000, "skipped": 0}
    >>> splits = {"train": {"shards": [{}, {}]}, "val": {"shards": [{}]}}
    >>> summary({"totals": totals, "splits": splits}, "data", 2.04)
    'data: 1,200 documents, 4.5 MB of text, 1,000,000 tokens (4.50 bytes each) in 3 shards, 2.0 s'
    """
    totals = manifest["totals"]
    shards = sum(len(split["shards"]) for split in manifest["splits"].values())
    trained = totals.get("trained_tokens")
    share = "" if trained is None or not totals["tokens"] else f", {trained / totals['tokens']:.1%} trained on"
    if "padding_tokens" in totals and totals["tokens"]:
        share += f", {totals['padding_tokens'] / totals['tokens']:.2%} padding"
    each = f" ({totals['text_bytes'] / totals['tokens']:.2f} bytes each{share})" if totals["tokens"] else ""
    special = totals.get("special_tokens")
    of_text = f", {counted(special, 'special token')} in the text" if special else ""
    left_out = f", {totals['skipped']:,} left out" if totals["skipped"] else ""
    return (
        f"{name}: {counted(totals['documents'], 'document')}{left_out}, "
        f"{totals['text_bytes'] / 1e6:,.1f} MB of text, "
        f"{counted(totals['tokens'], 'token')}{each}{of_text} in {counted(shards, 'shard')}, {seconds:.1f} s"
    )
