"""The command line before commands read it: what typer cannot express."""

from __future__ import annotations

from collections import Counter
from typing import Any, get_args

from typer.core import TyperCommand

from .options import Progress, UsageError

_WITH_VALUE = {"--progress": "--progress=bar", "--no-progress": "--progress=none"}


class Command(TyperCommand):
    """A command that refuses to take a single-valued option twice: click would use the last."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, in which a single-valued option appears once at most."""
        if not ctx.resilient_parsing:
            _, _, order = self.make_parser(ctx).parse_args(args=list(args))
            for param, count in Counter(order).items():
                if (
                    count > 1
                    and param.param_type_name == "option"
                    and not (getattr(param, "multiple", False) or getattr(param, "is_flag", False))
                ):
                    raise UsageError(f"{' / '.join(param.opts)} takes one value, but appears {count} times")
        return super().parse_args(ctx, args)


def prepared(args: list[str]) -> tuple[list[str], bool]:
    """Return arguments that typer takes, and whether `--debug`, which may stand anywhere before `--`, is among them.

    `--progress` gets a value, `--no-progress` becomes `--progress=none`, and each file behind an `--on` gets its own:
    the shell replaces a glob by several files, and typer takes one value for each option.

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
