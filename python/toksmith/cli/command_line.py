"""Commands made of functions, and the command line before they read it."""

from collections import Counter
from collections.abc import Callable
from typing import Any, Literal, TypeVar, get_args

import click

Function = TypeVar("Function", bound=Callable[..., Any])
Progress = Literal["bar", "json", "none"]

_WITH_VALUE = {"--progress": "--progress=bar", "--no-progress": "--progress=none"}


class UsageError(Exception):
    """The command line is wrong: an option is missing, has a wrong value, or does not go with another one."""

    exit_code = 2


class Command(click.Command):
    """A command that refuses a second value for an option that takes one: click would use the last.

    Its function gets lists, and nothing for an option that is not given: then the default of the library holds.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments."""
        if all(param.name != "progress" for param in self.params):  # an error names the option that was given
            args = ["--no-progress" if argument == "--progress=none" else argument for argument in args]
        if not ctx.resilient_parsing:
            _, _, order = self.make_parser(ctx).parse_args(args=list(args))
            for param, count in Counter(order).items():
                if count > 1 and isinstance(param, click.Option) and not (param.multiple or param.is_flag):
                    raise UsageError(f"{' / '.join(param.opts)} takes one value, but appears {count} times")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Call the function."""
        values = {name: value for name, value in ctx.params.items() if value not in (None, ())}
        ctx.params = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        return super().invoke(ctx)


def command(examples: str) -> Callable[[Callable[..., None]], Command]:
    """Return a decorator that makes a command of a function: the help is its docstring, with examples at the end."""
    return click.command(cls=Command, epilog=epilog(examples))


def option(
    spec: str, text: str, values: object = None, *, name: str | None = None, **settings: Any
) -> Callable[[Function], Function]:
    """Return a decorator that gives a command an option, which is written as the help shows it: "-o, --output OUT".

    `values` is the `Literal` of the values that it takes. Without these, "N" and "SEED" are whole numbers, other
    words are strings, and an option without a word is a switch.
    """
    *names, last = spec.split(", ")
    last, _, metavar = last.partition(" ")
    if values is not None:
        settings["type"] = click.Choice(get_args(values))
    elif metavar in ("N", "SEED"):
        settings["type"] = int
    elif not metavar and "flag_value" not in settings:
        settings["is_flag"] = True
    return click.option(*names, last, *filter(None, [name]), metavar=metavar or None, help=text, **settings)


def epilog(examples: str) -> str:
    """Return the end of a help: examples, which are indented and keep their lines, and what is said of them."""
    paragraphs = ["Examples:", *examples.split("\n\n")]
    return "\n\n".join(f"\b\n{text}" if text.startswith("  ") else text for text in paragraphs)


def prepared(args: list[str]) -> tuple[list[str], bool]:
    """Return arguments that click takes, and whether `--debug`, which may stand anywhere before `--`, is among them.

    `--progress` gets a value, `--no-progress` becomes `--progress=none`, and each file behind an `--on` gets its own:
    the shell replaces a glob by several files, and click takes one value for each option.

    >>> prepared(["train", "--progress", "a.txt", "--no-progress", "--progress", "json"])
    (['train', '--progress=bar', 'a.txt', '--progress=none', '--progress=json'], False)
    >>> prepared(["compare", "gpt2", "--debug", "--on", "a.txt", "b.txt", "--json", "c.txt", "--", "--debug"])
    (['compare', 'gpt2', '--on=a.txt', '--on=b.txt', '--json', 'c.txt', '--', '--debug'], True)
    """
    end = args.index("--") if "--" in args else len(args)
    named: list[str] = []
    option = ""  # whose value may come next
    for argument in args[:end]:
        if argument == "--debug":
            continue
        if option == "--progress" and argument in get_args(Progress):
            named[-1] = f"--progress={argument}"
            option = ""
        elif option == "--on" and (argument == "-" or not argument.startswith("-")):
            if named[-1] == "--on":
                named.pop()
            named.append(f"--on={argument}")
        else:
            option = argument
            named.append(_WITH_VALUE.get(argument, argument))
    return named + args[end:], "--debug" in args[:end]
