"""Run an unchanged program on toksmith: `python -m toksmith.run [--as tiktoken,rustbpe] script.py …`.

The stand-ins of `toksmith.compat` have the names of their libraries while it runs. The libraries need not be
installed. Child processes started by "fork" have them too; those by "spawn" and "forkserver" must call `install()`.
"""

import argparse
import importlib
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

from .compat import aliases

_KNOWN = {**aliases.STAND_INS, "transformers": "toksmith.compat.huggingface"}
"""Names that `--as` takes: libraries with a stand-in, and `transformers`, whose tokenizers get toksmith inside."""


def main(arguments: Sequence[str]) -> None:
    """Run the program that command line arguments name."""
    known = ", ".join(sorted(_KNOWN))
    parser = argparse.ArgumentParser("python -m toksmith.run", description=__doc__, allow_abbrev=False)
    parser.add_argument(
        "--as",
        dest="names",
        default="tiktoken",
        help=f"libraries, with commas between them: {known} (default: tiktoken)",
    )
    parser.add_argument("-m", dest="as_module", action="store_true", help="PROGRAM is a module, not a file")
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="PROGRAM ...", help="with its own arguments")
    options = parser.parse_args(arguments)
    if not options.program or options.program[0].startswith("-"):
        parser.error("name a program")
    for name in map(str.strip, options.names.split(",")):
        if name not in _KNOWN:
            parser.error(f"there is no stand-in for {name!r}: known are {known}")
        importlib.import_module(_KNOWN[name]).install()
    sys.argv = options.program
    if options.as_module:
        sys.path[0] = ""
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(Path(sys.argv[0]).absolute().parent)
        runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
