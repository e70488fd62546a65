"""`toksmith convert`."""

from __future__ import annotations

import shlex
import warnings
from pathlib import Path
from typing import Literal

import click

from .. import _core, patterns
from .._internal.choices import FileFormat
from .._internal.messages import counted
from ..compat.minbpe import base as minbpe
from ..files import whole_files
from ..formats import sources
from ..tokenizer import Tokenizer
from . import options, streams
from .command_line import UsageError, command, option

EXAMPLES = """\
  toksmith convert tokenizer.json hf/ --to huggingface
  toksmith convert hf/ tokenizer.toksmith --to toksmith
  toksmith convert gpt-4o o200k/ --to huggingface
  toksmith convert my.tiktoken gpt2/ --pattern gpt2 --to gpt2
  toksmith convert trained.model ranks.tiktoken --to tiktoken
  toksmith convert org/name vocab.gguf --to gguf --download

IN is what encode -t takes, or a .model file of minbpe. What was written is read
back, by the library that it is for where that is installed, and its ids are
compared, before it takes its name. A tokenizer that a format cannot hold
exactly is refused, by the name of the part. Rank files, and vocab.json with
merges.txt, hold no pattern and do not say which tokens are special: a warning
says how to load them again."""


Format = Literal[FileFormat, "huggingface", "minbpe"]
# What becomes of unmatched text if a loaded file does not say it.
_UNMATCHED = {"gpt2": "keep", "tiktoken": "drop"}
# Special tokens that a warning names.
_MOST_NAMED = 3


@command(EXAMPLES)
@click.argument("source", metavar="IN", help=options.TOKENIZER)
@click.argument("out", metavar="OUT", help="The file or folder to write.")
@option(
    "--to",
    "; ".join(f"{name}: {about}" for name, (about, _) in _core.FORMATS.items()) + ".",
    Format,
    required=True,
)
@options.parts
def convert(source: str, out: str, to: Format, parts: options.Parts) -> None:
    """Write a tokenizer in another format."""
    _check_out(out, to, sources.files_of(source))
    tokenizer = options.load(source, parts)
    try:
        if to == "huggingface":
            tokenizer.save_huggingface(out)
        elif to == "minbpe":
            minbpe.save(tokenizer._core, out)
        else:
            with warnings.catch_warnings():
                if to == "gpt2":  # `_warn_of_losses` says that the files hold no pattern
                    warnings.simplefilter("ignore")
                tokenizer.save(out, format=to)
    except ValueError as error:
        raise ValueError(str(error).replace("save() keeps everything", "--to toksmith keeps everything")) from None
    specials = f", {len(tokenizer.special_tokens):,} of them special" if tokenizer.special_tokens else ""
    streams.say_written(out, f"{to}, {counted(tokenizer.vocab_size, 'token')}{specials}")
    _warn_of_losses(tokenizer, out, to)


def _check_out(out: str, to: Format, read: list[Path]) -> None:
    if out == "-":
        raise UsageError("convert writes a file or a folder, not standard output")
    if _core.FORMATS[to][1]:
        if Path(out).exists() and not Path(out).is_dir():
            raise UsageError(f"{out}: {to} is a folder of several files, and this is a file")
        for path in sources.files_of(out) if Path(out).is_dir() else ():
            whole_files.check_not_read(path, read)
        return
    streams.check(out, read)
    suffix = Path(out).suffix
    if to == "minbpe" and suffix != ".model":
        raise UsageError(f"{out}: minbpe reads files whose name ends in .model")
    if to != "tiktoken" and suffix == ".tiktoken":
        raise UsageError(f"{out}: -t would read a file of this name as a rank file: give it another ending")


def _warn_of_losses(tokenizer: Tokenizer, out: str, to: Format) -> None:
    """Say which options load the file again, where it does not hold everything."""
    if to not in _UNMATCHED:
        return
    cut = patterns.of_core(tokenizer._core)
    is_known = to == "gpt2" and cut.name == "gpt2"
    flags = [] if is_known else ["--pattern", cut.name or cut.text or "none"]
    if cut.text is not None and cut.name is None and cut.unmatched != _UNMATCHED[to]:
        flags += ["--unmatched", cut.unmatched]
    specials = list(tokenizer.special_tokens.items())
    for name, id in specials[:_MOST_NAMED]:
        flags += ["--special-token", f"{name}={id}"]
    if not flags:
        return
    more = (
        f" and {len(specials) - _MOST_NAMED:,} special tokens more, or all in --special-tokens FILE"
        if len(specials) > _MOST_NAMED
        else ""
    )
    parts = [*([] if is_known else ["pattern"]), *(["special tokens"] if specials else [])]
    warnings.warn(f"{out} holds no {' and no '.join(parts)}: load it with {shlex.join(flags)}{more}", stacklevel=2)
