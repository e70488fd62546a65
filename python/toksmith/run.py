"""Run an unchanged program on toksmith: `python -m toksmith.run [--as tiktoken,rustbpe] script.py …`.

The stand-ins of `toksmith.compat` have the names of their libraries while it runs. The libraries need not be
installed.
"""

from __future__ import annotations

import importlib
import os
import runpy
import sys
from collections.abc import Sequence

from .compat import aliases

_KNOWN = {**aliases.STAND_INS, "transformers": "toksmith.compat.huggingface"}
"""Names that `--as` takes: libraries with a stand-in, and `transformers`, whose tokenizers get toksmith inside."""

USAGE = f"""usage: python -m toksmith.run [--as NAMES] (SCRIPT | -m MODULE) [ARGUMENTS …]

Run a Python program with toksmith in place of tokenizer libraries.

  --as NAMES  the libraries, with commas between them: {", ".join(sorted(_KNOWN))} (default: tiktoken)
"""


def main(arguments: Sequence[str]) -> None:
    """Run the program that command line arguments name.

    Raises:
        SystemExit: The arguments name no program, or a library without a stand-in; or the program raises it.
    """
    arguments, names = list(arguments), ["tiktoken"]
    while arguments and arguments[0].startswith("--as"):
        option, equals, value = arguments.pop(0).partition("=")
        if option != "--as" or not (equals or arguments):
            raise SystemExit(USAGE)
        names = (value if equals else arguments.pop(0)).split(",")
    if arguments[:1] in (["-h"], ["--help"]):
        print(USAGE, end="")
        return
    as_module = arguments[:1] == ["-m"]
    program = arguments[1:] if as_module else arguments
    if not program or program[0].startswith("-"):
        raise SystemExit(USAGE)
    for name in names:
        _install(name.strip())
    sys.argv = program
    if as_module:
        sys.path[0] = ""
        runpy.run_module(program[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(program[0]))  # noqa: PTH100, PTH120
        runpy.run_path(program[0], run_name="__main__")


def _install(name: str) -> None:
    if name not in _KNOWN:
        known = ", ".join(sorted(_KNOWN))
        raise SystemExit(f"toksmith.run: there is no stand-in for {name!r}: known are {known}")
    importlib.import_module(_KNOWN[name]).install()


if __name__ == "__main__":
    main(sys.argv[1:])
