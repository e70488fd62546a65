"""The command line before commands read it: what typer cannot express."""

from __future__ import annotations

from collections import Counter
from typing import Any, get_args

from typer.core import TyperCommand

from .options import Progress, UsageError


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


def with_progress_named(args: list[str]) -> list[str]:
    """Return arguments in which each `--progress` has a value, and `--no-progress` is `--progress=none`.

    >>> with_progress_named(["train", "--progress", "a.txt", "--no-progress", "--progress", "json"])
    ['train', '--progress=bar', 'a.txt', '--progress=none', '--progress=json']
    """
    named: list[str] = []
    end = args.index("--") if "--" in args else len(args)
    for argument in args[:end]:
        if named and named[-1] == "--progress":
            is_value = argument in get_args(Progress)
            named[-1] = f"--progress={argument if is_value else 'bar'}"
            if is_value:
                continue
        named.append("--progress=none" if argument == "--no-progress" else argument)
    if named and named[-1] == "--progress":
        named[-1] = "--progress=bar"
    return named + args[end:]


def with_files_named(args: list[str]) -> list[str]:
    """Return arguments in which each file behind an `--on` has its own `--on`.

    The shell replaces a glob by several files, and typer takes one value for each option.

    >>> with_files_named(["compare", "gpt2", "--on", "a.txt", "b.txt", "--json", "c.txt"])
    ['compare', 'gpt2', '--on=a.txt', '--on=b.txt', '--json', 'c.txt']
    """
    end = args.index("--") if "--" in args else len(args)
    named: list[str] = []
    is_file = False
    for argument in args[:end]:
        if argument == "--on":
            is_file = True
            named.append(argument)
        elif is_file and (argument == "-" or not argument.startswith("-")):
            if named[-1] == "--on":
                named.pop()
            named.append(f"--on={argument}")
        else:
            is_file = False
            named.append(argument)
    return named + args[end:]


def without_debug(args: list[str]) -> tuple[list[str], bool]:
    """Return arguments without `--debug`, which may stand anywhere before `--`, and whether it was there.

    >>> without_debug(["encode", "--debug", "-t", "gpt2", "--", "--debug"])
    (['encode', '-t', 'gpt2', '--', '--debug'], True)
    """
    end = args.index("--") if "--" in args else len(args)
    kept = [argument for argument in args[:end] if argument != "--debug"]
    return kept + args[end:], len(kept) < end
