"""The `toksmith` command: its parts, its exit status, and its error messages.

A command raises the errors of the library. This module turns an error into one line on standard error and one of
`STATUSES`.
"""

from __future__ import annotations

import errno
import importlib
import signal
import sys
import traceback
import warnings
from collections.abc import Iterable
from typing import Annotated, NoReturn

import typer

from .. import __version__
from .._internal.messages import printable
from . import streams
from .command_line import Command, prepared
from .messages import in_options
from .options import UsageError, expanded

COMMANDS = (
    "train", "encode", "decode", "tokenize", "data", "count", "view", "explain", "inspect", "compare", "convert",
    "fetch", "verify",
)  # fmt: skip
"""The commands, in the order of the help. Each is the function of its name in the module of its name."""

STATUSES = {
    0: "done",
    1: "an error, or a difference that verify or data --check reports",
    2: "a command line that cannot be understood",
    130: "ended by Ctrl-C (SIGINT)",
    141: "ended because the reader of the output has gone (SIGPIPE)",
    143: "ended by kill (SIGTERM)",
}
"""The exit statuses of a command, with their meanings."""

EXAMPLES = """\
Examples:

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


def _epilog(text: str) -> str:
    """Return an epilog in which examples, which are indented, keep their lines: a mark before them says so."""
    paragraphs = text.split("\n\n")
    return "\n\n".join(f"\b\n{text}" if text.startswith("  ") else text for text in paragraphs)


def build_app(commands: Iterable[str] = COMMANDS) -> typer.Typer:
    """Return the command line with some of `COMMANDS`, whose modules are imported."""
    app = typer.Typer(
        name="toksmith",
        help="Byte-level BPE: train a tokenizer on text, turn text into ids and ids into text, exactly.",
        epilog=_epilog(EXAMPLES),
        # Plain help: tables would cut long options off where a terminal has 80 columns.
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for name in commands:
        module = importlib.import_module(f".{name}", __package__)
        command = getattr(module, name)
        # An explicit short help is wrapped; the one that typer makes of the help is cut off.
        app.command(
            cls=Command,
            help=command.__doc__,
            short_help=(command.__doc__ or "").partition("\n")[0],
            epilog=_epilog(module.EXAMPLES),
        )(expanded(command))
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"toksmith {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show a traceback on errors. May follow the command.")
    ] = False,
) -> None:
    """Take the options that stand before the command."""


def run(args: list[str]) -> int:
    """Run the command line `args`; return its exit status."""
    signal.signal(signal.SIGTERM, _end)
    streams.print_utf8()
    args, debug = prepared(args)
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            return _run(args or ["--help"])
        except (KeyboardInterrupt, typer.Abort):
            return 130
        except BrokenPipeError:
            streams.drop_output()
            return 141
        except Exception as error:
            if debug:
                traceback.print_exc()
            _say("error", _message(error))
            # Errors of the command line itself have an exit status of their own.
            return getattr(error, "exit_code", 1)


def _run(args: list[str]) -> int:
    try:
        first = next((argument for argument in args if not argument.startswith("-")), None)
        # Only the command that runs is imported: all take 0.1 s.
        app = build_app([first] if first in COMMANDS else COMMANDS)
        status = app(args, prog_name="toksmith", standalone_mode=False) or 0
    except SystemExit as ended:
        # click has turned the error into a status of 1.
        if isinstance(ended.__context__, BrokenPipeError):
            raise ended.__context__ from None
        raise
    except OSError as error:
        # Errors of writing a file name the file: without a name, the error is of standard output.
        if error.errno in (errno.ENOSPC, errno.EFBIG) and error.filename is None:
            streams.drop_output()
            error.filename = streams.output_name("-")
        raise
    streams.flush_output()
    return status


def _end(*_: object) -> NoReturn:
    """End as `kill` asks, but through every `finally`, so that no temporary file stays."""
    sys.exit(143)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    _say("warning", in_options(str(message)))


def _say(kind: str, message: str) -> None:
    line = " ".join(part.strip() for part in message.splitlines())
    # The name of a file in it may be a stranger's.
    streams.say(f"toksmith: {kind}: {printable(line)}")


def _message(error: Exception) -> str:
    if hasattr(error, "format_message"):  # an error of typer's; its class has no public name
        command = getattr(getattr(error, "ctx", None), "command_path", "toksmith")
        return f"{error.format_message().replace('Value error, ', '')} (see {command} --help)"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    if isinstance(error, KeyError) and error.args:
        return str(error.args[0])
    if isinstance(error, UsageError):
        return str(error)
    if isinstance(error, (ValueError, OSError, MemoryError, ImportError)) and str(error):
        return in_options(str(error))
    return in_options(f"{type(error).__name__}: {error}".removesuffix(": ") + " (--debug shows where)")
