"""Run an unchanged program on toksmith: `python -m toksmith.run [--as tiktoken,rustbpe] script.py …`.

The stand-ins of `toksmith.compat` have the names of their libraries while it runs. The libraries need not be
installed.
"""

from __future__ import annotations

import importlib
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

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
    program, names = list(arguments), ["tiktoken"]
    while program and program[0].startswith("--as"):
        option, equals, value = program.pop(0).partition("=")
        if option != "--as" or not (equals or program):
            raise SystemExit(USAGE)
        names = (value if equals else program.pop(0)).split(",")
    if program[:1] in (["-h"], ["--help"]):
        print(USAGE, end="")
        return
    as_module = program[:1] == ["-m"]
    program = program[as_module:]
    if not program or program[0].startswith("-"):
        raise SystemExit(USAGE)
    for name in names:
        _install(name.strip())
    sys.argv = program
    if as_module:
        sys.path[0] = ""
        runpy.run_module(program[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(Path(program[0]).absolute().parent)
        runpy.run_path(program[0], run_name="__main__")


def _install(name: str) -> None:
    if name not in _KNOWN:
        known = ", ".join(sorted(_KNOWN))
        raise SystemExit(f"toksmith.run: there is no stand-in for {name!r}: known are {known}")
    importlib.import_module(_KNOWN[name]).install()


if __name__ == "__main__":
    main(sys.argv[1:])
