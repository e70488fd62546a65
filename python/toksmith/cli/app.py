"""The `toksmith` command: its parts, its exit status, and its error messages.

A command raises the errors of the library. This module turns an error into one line on standard error and an exit
status, of which docs/cli.md has the table.
"""

import errno
import functools
import importlib
import os
import re
import signal
import sys
import warnings

import click

from .. import __version__
from .._internal.messages import printable
from . import standard
from .command_line import UsageError, epilog, prepared

COMMANDS = {
    "train": "Train a tokenizer on files, and save it.",
    "encode": "Turn text into ids.",
    "decode": "Turn ids into text.",
    "tokenize": "Turn documents into a folder of ids for training.",
    "data": "Show, check or pack a folder of training data, or show a document of it.",
    "count": "Count the tokens of files, as wc counts words.",
    "view": "Show the tokens of a text in colours, for one tokenizer or several.",
    "explain": "Show how a text becomes ids, merge by merge.",
    "inspect": "Show the composition of a vocabulary, its unreachable tokens, and how texts use it.",
    "compare": "Compare tokenizers on texts: compression, and parity of languages.",
    "convert": "Write a tokenizer in another format.",
    "fetch": "Download the files of published encodings, to use them later without a network.",
    "verify": "Encode texts with toksmith and with another library, and show the first difference.",
}
"""The commands with their help, in its order. Each is the function of its name in the module of its name."""

EXAMPLES = """\
  toksmith train corpus/ --vocab-size 32000 -o tokenizer.json
  toksmith encode -t tokenizer.json book.txt -o book.ids
  toksmith decode -t tokenizer.json book.ids | cmp - book.txt
  toksmith tokenize corpus/ -t tokenizer.json -o data
  toksmith view -t tokenizer.json --text 'the lowest price'
  toksmith explain -t tokenizer.json --text 'the lowest price'
  echo 'Hello' | toksmith encode -t gpt-4o
  toksmith count --model gpt-4o book.txt
  toksmith inspect gpt2 --on book.txt
  toksmith compare gpt-4o tokenizer.json --on book.txt
  toksmith verify cl100k_base --against tiktoken

Each command has examples of its own: toksmith train --help"""


class Commands(click.Group):
    """The commands. Only the one that runs is imported; for help and completion the names of the others suffice."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help."""
        return list(COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the name of the command that runs, the command, and its arguments."""
        name, command, args = super().resolve_command(ctx, args)
        return name, command and load(name or ""), args


def load(name: str) -> click.Command:
    """Import a command."""
    command: click.Command = getattr(importlib.import_module(f".{name}", __package__), name)
    return command


def _complete(context: click.Context, option: click.Parameter, is_asked: bool) -> None:
    if is_asked and not context.resilient_parsing:
        from . import completion

        click.echo(getattr(completion, option.name)(context.command))
        context.exit()


_completion = functools.partial(click.option, is_flag=True, is_eager=True, expose_value=False, callback=_complete)


@click.group(
    cls=Commands,
    commands={name: click.Command(name, short_help=text) for name, text in COMMANDS.items()},
    epilog=epilog(EXAMPLES),
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, message="%(prog)s %(version)s", help="Print the version and exit.")
@click.option("--debug", is_flag=True, expose_value=False, help="Show a traceback on errors. May follow the command.")
@_completion("--install-completion", help="Install completion for the current shell.")
@_completion(
    "--show-completion", help="Show completion for the current shell, to copy it or customize the installation."
)
def toksmith() -> None:
    """Byte-level BPE: train a tokenizer on text, turn text into ids and ids into text, exactly."""


def run(args: list[str]) -> int:
    """Run the command line `args`; return its exit status."""
    # End as `kill` asks, but through every `finally`, so that no temporary file stays.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    standard.print_utf8()
    args, debug = prepared(args)
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: _say("warning", in_options(str(message)))
        try:
            return _run(args or ["--help"])
        except KeyboardInterrupt:
            return 130
        except BrokenPipeError:
            standard.drop_output()
            return 141
        except Exception as error:
            if debug:
                sys.excepthook(type(error), error, error.__traceback__)
            _say("error", _message(error))
            # Errors of the command line itself have an exit status of their own.
            return getattr(error, "exit_code", 1)


def _run(args: list[str]) -> int:
    if instruction := os.environ.get("_TOKSMITH_COMPLETE"):
        from click import shell_completion

        return shell_completion.shell_complete(toksmith, {}, "toksmith", "_TOKSMITH_COMPLETE", instruction)
    status = 0
    try:
        # Not `main` of click, which prints a line on Ctrl-C and hides that a pipe is broken.
        with toksmith.make_context("toksmith", args) as context:
            toksmith.invoke(context)
    except click.exceptions.Exit as end:
        status = end.exit_code
    except OSError as error:
        # Errors of writing a file name the file: without a name, the error is of standard output.
        if error.errno in (errno.ENOSPC, errno.EFBIG) and error.filename is None:
            standard.drop_output()
            error.filename = standard.name_of("-")
        raise
    standard.flush_output()
    return status


def _say(kind: str, message: str) -> None:
    line = " ".join(part.strip() for part in message.splitlines())
    # The name of a file in it may be a stranger's.
    standard.say(f"toksmith: {kind}: {printable(line)}")


def _message(error: Exception) -> str:
    if isinstance(error, click.ClickException):
        command = getattr(getattr(error, "ctx", None), "command_path", "toksmith")
        return f"{error.format_message()} (see {command} --help)"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    if isinstance(error, KeyError) and error.args:
        return str(error.args[0])
    if isinstance(error, UsageError):
        return str(error)
    if isinstance(error, (ValueError, OSError, MemoryError, ImportError)) and str(error):
        return in_options(str(error))
    return in_options(f"{type(error).__name__}: {error}".removesuffix(": ") + " (--debug shows where)")


# Messages of the library: names of arguments become names of options

_NAMES = (
    "vocab_size|special_tokens|special_ids|byte_order|min_frequency|max_token_length|forced_tokens|memory_limit|"
    "min_pretoken_count|document_separator|max_record_bytes|pattern|unmatched|ties|base|append|workers|field|column|input_format|errors|checkpoint|"
    "log|dtype|shard_size|shuffle_buffer|split|shuffle|on_error|language_field|reference|examples|resamples|seed|template|top|"
    "messages|train_on|untrained|end_of_turn|chat|chat_template|pack|long|pad|length"
)
OPTIONS = {name: f"--{name.replace('_', '-')}" for name in _NAMES.split("|")}
OPTIONS |= {"forced_tokens": "--forced-token", "length": "--pack"}
"""Arguments of the library, with the option that gives each."""

_VALUES = {"True": "", "…": " NAME"}
# A name with a value, as in `errors="replace"`, `field='body'`, `min_pretoken_count=2` and `column=…`; a name with an
# underscore, unless it is part of a path or in quotes; and any name that is the subject of the message.
_ARGUMENT = (
    rf"""(?<![\w./'"-])(?:({_NAMES})=("[^"]*"|'[^']*'|…|[\w.]+)"""
    rf"""|({"|".join(name for name in OPTIONS if "_" in name)})(?!\.?\w|[/:'"=-])"""
    rf"""|\A({_NAMES})(?= (?:is|must be)\b))"""
)


def in_options(message: str) -> str:
    """Return a message with the options of the command line where it names arguments of the library.

    >>> in_options("there is no column 'text': name one with column=…")
    "there is no column 'text': name one with --column NAME"
    >>> in_options('choose append="<|end|>", or append="none"')
    "choose --append '<|end|>', or --append none"
    >>> in_options("they may take 150.0 MB, three quarters of memory_limit. Raise it")
    'they may take 150.0 MB, three quarters of --memory-limit. Raise it'
    """
    return re.sub(_ARGUMENT, _option, message)


def _option(match: re.Match[str]) -> str:
    import shlex  # for errors alone

    option = OPTIONS[match[1] or match[3] or match[4]]
    value = match[2] and match[2].strip("\"'")
    if value == "False":
        return f"--no-{match[1]}"
    return option if value is None else option + _VALUES.get(value, f" {shlex.quote(value)}")
